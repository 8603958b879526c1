/* SPDX-License-Identifier: ISC */
/*
 * icctl: a person's access to running sessions. Holds nothing; everything is
 * asked of icsupervisor over the session's control socket, or read from the
 * session's files.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/near.h"
#include "icctl/icctl.h"
#include "icctl/policy/compile/command.h"
#include "icctl/screen/viewer.h"

/* clang-format off */
static const struct command {
	const char *name;
	const char *args;
	int (*fn)(struct icctl *, int, char **);
	const char *help;
	const char *more; /* for its own --help, or NULL */
} commands[] = {
#define COMMAND(name, args, help, more)					\
	{#name, args, icctl_##name, help, more},
#include "icctl/command_rows.h"
};
/* clang-format on */
#define USAGE_LEFT 36U
#define USAGE_ARGS 32U /* longer ones begin on a line of their own */
#define NCOMMANDS nitems(commands)

static void
usage(FILE *to)
{
	fputs("usage: icctl [--json] [--session DIR|ID] COMMAND\n\n", to);
	for (size_t i = 0; i < NCOMMANDS; i++) {
		const char *args = commands[i].args;
		const int n = (int)strcspn(args, "\n");
		char left[96];

		snprintf(left, sizeof(left), "%s %.*s%s", commands[i].name, n,
		    args, args[n] == '\0' ? "" : " ...");
		if (strlen(left) > USAGE_LEFT)
			fprintf(to, "  %s\n", left);
		fprintf(to, "  %-*s %s\n", (int)USAGE_LEFT,
		    strlen(left) > USAGE_LEFT ? "" : left, commands[i].help);
	}
	fputs("\nA call that the policy leaves to you is listed by `icctl "
	      "pending` with a short\nid; `icctl approve ID` approves exactly "
	      "that call, once. Without --session, the\nonly running session "
	      "is used. `icctl COMMAND --help` describes a command;\nicctl(1) "
	      "has the details.\n",
	    to);
}

static bool
is_help(const char *arg)
{
	return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

/*
 * Returns true for a help option after the command, or after a tool of
 * `policy`.
 */
static bool
asks_help(int argc, char **argv)
{
	return (argc > 2 && is_help(argv[2])) ||
	       (argc > 3 && strcmp(argv[1], "policy") == 0 &&
		   is_help(argv[3]) && !compile_is_command(argv[2]));
}

/* Print a command's help; `start`, `policy` and `mcp` have their own. */
static int
help_command(struct icctl *ctl, const struct command *c)
{
	char help[] = "--help",
	     *own[] = {(char *)(uintptr_t)c->name, help, NULL};

	if (c->fn == icctl_start || c->fn == icctl_policy || c->fn == icctl_mcp)
		return c->fn(ctl, 2, own);
	printf("usage: icctl [--json] [--session DIR|ID]%s%s%s%s\n\n%s: %s.\n"
	       "%s%sDetails: icctl(1).\n",
	    strlen(c->args) > USAGE_ARGS ? "\n       " : " ", c->name,
	    c->args[0] != '\0' ? " " : "", c->args, c->name, c->help,
	    c->more != NULL ? c->more : "", c->more != NULL ? "\n" : "");
	return ICCTL_OK;
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static int
find_home(struct icctl *ctl)
{
	const char *home = getenv("IRONCURTAIN_HOME"), *user = getenv("HOME");
	int n;

	if (home != NULL && *home != '\0')
		n = snprintf(ctl->home, sizeof(ctl->home), "%s", home);
	else if (user != NULL && *user != '\0')
		n = snprintf(
		    ctl->home, sizeof(ctl->home), "%s/.ironcurtain", user);
	else
		n = -1;
	if (n < 0 || (size_t)n >= sizeof(ctl->home)) {
		warnx("neither IRONCURTAIN_HOME nor HOME says where sessions "
		      "are; set one");
		return -1;
	}
	return 0;
}

/* Take options before or after the command. Compacts `argv`. */
static int
take_options(struct icctl *ctl, int argc, char **argv)
{
	int out = 1;
	/* Arguments of `start` and after "--" are not icctl's. */
	bool start = false;

	for (int i = 1; i < argc; i++) {
		if (start || strcmp(argv[i], "--") == 0) {
			for (; i < argc; i++)
				argv[out++] = argv[i];
			break;
		}
		if (strcmp(argv[i], "--json") == 0)
			ctl->json = true;
		else if (strcmp(argv[i], "--session") == 0) {
			if (i + 1 == argc) {
				warnx("--session needs a directory or an id");
				exit(ICCTL_USAGE);
			}
			ctl->session = argv[++i];
		} else {
			start = out == 1 && strcmp(argv[i], "start") == 0;
			argv[out++] = argv[i];
		}
	}
	argv[out] = NULL;
	return out;
}

/*
 * Returns the arguments with a command of the TypeScript IronCurtain replaced
 * by ours: "compile-policy" is "policy compile".
 */
static char **
founding_verb(int *argc, char **argv)
{
	static const char *const verbs[][2] = {
	    {"annotate-tools", "annotate"}, {"compile-policy", "compile"},
	    {"customize-policy", "customize"},
	    {"refresh-lists", "refresh-lists"}};
	static char *more[66];

	for (size_t i = 0; *argc > 1 && i < nitems(verbs); i++) {
		if (strcmp(argv[1], verbs[i][0]) != 0)
			continue;
		if ((size_t)*argc + 2 > nitems(more))
			errx(ICCTL_USAGE, "too many arguments");
		more[0] = argv[0];
		more[1] = (char *)(uintptr_t) "policy";
		more[2] = (char *)(uintptr_t)verbs[i][1];
		memcpy(more + 3, argv + 2,
		    (size_t)(*argc - 1) * sizeof(*more));
		(*argc)++;
		return more;
	}
	return argv;
}

/* Report an unknown command or option, and the one that was probably meant. */
static int
unknown(const char *arg)
{
	static const char *const options[] = {
	    "--help", "--json", "--session", "--version", NULL};
	const char *names[NCOMMANDS + 2] = {"help"};
	char shown[256], hint[NEAR_HINT];
	bool option = arg[0] == '-';

	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i + 1] = commands[i].name;
	warnx("no such %s: %s%s (icctl --help lists them)",
	    option ? "option" : "command",
	    log_vis(span_str(arg), shown, sizeof(shown)),
	    near_hint(arg, option ? options : names, hint));
	return ICCTL_USAGE;
}

int
main(int argc, char **argv)
{
	static struct icctl ctl;
	const struct command *c;

	/* icctl starts itself in this way; nobody types it. */
	if (argc > 1 && strcmp(argv[1], VIEWER_HOW_COMMAND) == 0)
		return viewer_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], ICCTL_PANEL) == 0)
		return icctl_panel(&ctl, argc - 1, argv + 1);
	argc = take_options(&ctl, argc, argv);
	argv = founding_verb(&argc, argv);
	if (argc < 2) {
		usage(stderr);
		return ICCTL_USAGE;
	}
	if (strcmp(argv[1], "help") == 0 && argc == 3 &&
	    (c = find_command(argv[2])) != NULL)
		return help_command(&ctl, c);
	if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return ICCTL_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("icctl " IC_VERSION);
		return ICCTL_OK;
	}
	if ((c = find_command(argv[1])) != NULL && c->fn != icctl_start &&
	    asks_help(argc, argv))
		return help_command(&ctl, c);
	if (find_home(&ctl) == -1)
		return ICCTL_NO_SESSION;
	if (c != NULL)
		return c->fn(&ctl, argc - 1, argv + 1);
	return unknown(argv[1]);
}
