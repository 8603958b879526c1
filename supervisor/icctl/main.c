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
#include "icctl/screen/viewer.h"

/* clang-format off */
static const struct command {
	const char *name;
	const char *args;
	int (*fn)(struct icctl *, int, char **);
	const char *help;
	const char *more; /* for its own --help, or NULL */
} commands[] = {
    {"start", "[OPTIONS] [TASK | -- CMD...]", icctl_start,
	"run an agent in a session, in the foreground", NULL},
    {"attach", "[SESSION]", icctl_attach,
	"show the agent's terminal here, and type into it",
	"Ctrl-] d leaves again, and the session goes on; Ctrl-] shows what\n"
	"else there is. SESSION is its directory or id; without it, the only\n"
	"one that runs."},
    {"pending", "", icctl_pending,
	"list pending calls and requests",
	"For each a short id, how long you have, what it would do, and every\n"
	"path, URL and name that it touches."},
    {"show", "ID [--full]", icctl_show,
	"show one pending call in full",
	"ID is what `icctl pending` shows, or any beginning of it that is\n"
	"no other's. Of long texts the middle is left out, but not with\n"
	"--full."},
    {"approve", "ID [--digest HEX] [--for-session|--exact|--times N]",
	icctl_approve, "approve that call, once, or calls like it",
	"ID is what `icctl pending` shows, in full. The call is printed, and\n"
	"exactly that call happens, once; if what it refers to has changed\n"
	"since then, it is refused. In scripts, --digest names the call by\n"
	"the digest in `icctl pending --json`. --for-session lets those like\n"
	"it through as well, until the session ends: which those are is\n"
	"shown first. For calls without a path or URL, --exact allows\n"
	"these arguments until the session ends, and --times N so many\n"
	"calls of the tool, at most 20 within one hour."},
    {"revoke", "ID", icctl_revoke,
	"end what an approval allowed beyond one call",
	"ID is what `icctl status` shows."},
    {"deny", "ID [--because TEXT]", icctl_deny,
	"deny that call, and tell the agent why",
	"ID is what `icctl pending` shows, in full. The agent is told TEXT,\n"
	"of at most 500 characters."},
    {"watch", "", icctl_watch,
	"watch the session live; approve or deny with keys",
	"On a terminal: a and then the first letter of its id approve the\n"
	"call that is shown, s and that letter allow those like it until the\n"
	"session ends, d denies it, n shows the next one, space the rest of\n"
	"a long one, q leaves. Elsewhere, and with --json, what happens is\n"
	"only printed."},
    {"trust", "[SERVER [TOOL]] [--yes]", icctl_trust,
	"inspect tools in quarantine, and allow them",
	"Shows what each was and is, and asks. With --yes, which needs a\n"
	"SERVER, nobody is asked."},
    {"status", "", icctl_status,
	"show what runs, what is in force, and counts", NULL},
    {"stop", "", icctl_stop,
	"end the session",
	"The agent is stopped; workspace and log are kept."},
    {"budget", "[set KEY VALUE|null]", icctl_budget,
	"show what the session costs; change its limits",
	"KEY: maxTotalTokens, maxSteps, maxSessionSeconds or\n"
	"maxEstimatedCostUsd; null takes its limit away. What is set holds\n"
	"in this session alone: for others there is resourceBudget in\n"
	"config.json."},
    {"metrics", "", icctl_metrics,
	"budget and counts as Prometheus text", NULL},
    {"unlock", "", icctl_unlock,
	"use a provider again after an alarm",
	"It was locked because its credential came back in a response:\n"
	"`icctl status` says which. Look into that first."},
    {"keys", "[reload PROVIDER [--file PATH] | forget PROVIDER]", icctl_keys,
	"show credentials and their use; load a new one",
	"reload takes a new credential from where the last one came from\n"
	"(your variable of that name, the file, the command), or from PATH;\n"
	"forget removes logins that began in a session and were kept.\n"
	"Keys are never shown. If the new one does not work, the old one\n"
	"stays in use."},
    {"login", "[NAME]", icctl_login,
	"show which keys and logins are there, and how to add one",
	"NAME is a provider (anthropic, openai, chatgpt, google,\n"
	"openrouter, bedrock, vertex, or one of your own) or a login\n"
	"(claude-code, anthropic-cli, codex, gcloud). Nothing is asked for,\n"
	"and nothing stored."},
    {"audit", "verify [--anchor FILE] [FILE]", icctl_audit,
	"check the log's chain",
	"Without FILE: the log of the newest session, or of the one that\n"
	"--session names. Its end is compared with what audit.anchor of\n"
	"config.json was told, or with --anchor FILE; - reads the output of\n"
	"journalctl -t icsupervisor -o cat."},
    {"close", "DIR", icctl_close,
	"end the log of a session that was killed",
	"Writes the closing record that nobody was left to write, gives the\n"
	"reserved disk back and prints the log's last hash. DIR is a session's\n"
	"directory or id. One that runs is refused; one that is closed stays\n"
	"as it is."},
    {"mcp", "COMMAND ...", icctl_mcp,
	"your own MCP servers: take them over from another program", NULL},
    {"policy", "TOOL ...", icctl_policy,
	"ask, check, test and compare policies", NULL},
    {"doctor", "", icctl_doctor,
	"check this machine and your configuration",
	"Tries what sessions need, then reads config.json, mcp-\n"
	"servers.json, providers/, agents/ and prices.json as a session\n"
	"would, and says what to do. Ends with 1 if something is missing or\n"
	"wrong."},
};
/* clang-format on */
#define USAGE_LEFT 36U
#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
usage(FILE *to)
{
	fputs("usage: icctl [--json] [--session DIR|ID] COMMAND\n\n", to);
	for (size_t i = 0; i < NCOMMANDS; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s %s", commands[i].name,
		    commands[i].args);
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
	       (argc > 3 && strcmp(argv[1], "policy") == 0 && is_help(argv[3]));
}

/* Print a command's help; `start`, `policy` and `mcp` have their own. */
static int
help_command(struct icctl *ctl, const struct command *c)
{
	char help[] = "--help",
	     *own[] = {(char *)(uintptr_t)c->name, help, NULL};

	if (c->fn == icctl_start || c->fn == icctl_policy || c->fn == icctl_mcp)
		return c->fn(ctl, 2, own);
	printf("usage: icctl [--json] [--session DIR|ID] %s%s%s\n\n%s: %s.\n"
	       "%s%sDetails: icctl(1).\n",
	    c->name, c->args[0] != '\0' ? " " : "", c->args, c->name, c->help,
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
