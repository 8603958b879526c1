/* SPDX-License-Identifier: ISC */
/*
 * icctl: a person's access to running sessions. Holds nothing; everything is
 * asked of icsupervisor over the session's control socket, or read from the
 * session's files.
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "base/paths.h"
#include "commit.h"
#include "common/ipc/proto.h"
#include "common/log.h"
#include "common/near.h"
#include "common/wordlist.h"
#include "files/founding.h"
#include "icctl/help.h"
#include "icctl/icctl.h"
#include "icctl/instead.h"
#include "icctl/outcome.h"
#include "icctl/overview/overview.h"
#include "icctl/policy/compile/command.h"
#include "icctl/policy/policy.h"
#include "icctl/screen/offer.h"
#include "icctl/screen/viewer.h"
#include "icctl/talk/talk.h"
#include "icctl/words.h"

/* clang-format off */
static const struct command {
	const char *name;
	const char *args;
	int (*fn)(struct icctl *, int, char **);
	const char *help;
	const char *more; /* for its own --help, or NULL */
	const char *page; /* the manual page that describes it */
} commands[] = {
#define COMMAND(name, args, help, more, page)				\
	{#name, args, icctl_##name, help, more, page},
#include "icctl/command_rows.h"
};
/* clang-format on */
#ifdef __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif
#define USAGE_ARGS 32U /* longer ones begin on a line of their own */
#define NCOMMANDS nitems(commands)

/* Returns true for a command line that the command reads itself. */
static bool
has_own_words(const struct command *c, int argc, char **argv)
{
	/* Its options are those of `icctl start`; its help is as usual. */
	if (c->fn == icctl_driver)
		return argc != 2 || (strcmp(argv[1], "--help") != 0 &&
					strcmp(argv[1], "-h") != 0);
	return c->fn == icctl_start || c->fn == icctl_policy ||
	       c->fn == icctl_mcp ||
	       (c->fn == icctl_persona && argc > 1 &&
		   strcmp(argv[1], "compile") == 0);
}

/*
 * Print a command's help, or that of its own command `sub` unless that is NULL;
 * `start`, `policy` and `mcp` have their own.
 */
static int
help_command(struct icctl *ctl, const struct command *c, char *sub)
{
	char help[] = "--help",
	     *own[] = {(char *)(uintptr_t)c->name, help, NULL, NULL};

	if (sub != NULL && c->fn != icctl_start) {
		own[1] = sub;
		own[2] = help;
	}
	if (c->fn == icctl_start || c->fn == icctl_policy || c->fn == icctl_mcp)
		return c->fn(ctl, own[2] != NULL ? 3 : 2, own);
	printf("usage: icctl [--json] [--session DIR|ID]%s%s%s%s\n\n%s: %s.\n"
	       "%s%sDetails: %s(1).\n",
	    strlen(c->args) > USAGE_ARGS ? "\n       " : " ", c->name,
	    c->args[0] != '\0' ? " " : "", c->args, c->name, c->help,
	    c->more != NULL ? c->more : "", c->more != NULL ? "\n" : "",
	    c->page);
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

/*
 * Returns true for a command that prints while it waits, or writes JSON itself,
 * so that its output cannot be collected.
 */
static bool
streams(const struct command *c, int argc, char **argv)
{
	static int (*const fns[])(struct icctl *, int, char **) = {icctl_attach,
	    icctl_driver, icctl_hub, icctl_relay, icctl_resume, icctl_send,
	    icctl_start, icctl_watch, icctl_web};

	for (size_t i = 0; i < nitems(fns); i++)
		if (c->fn == fns[i])
			return true;
	if (c->fn == icctl_policy)
		return argc > 1 && strcmp(argv[1], "eval") == 0;
	if (c->fn == icctl_audit)
		return argc > 1 && (strcmp(argv[1], "show") == 0 ||
				       strcmp(argv[1], "search") == 0 ||
				       strcmp(argv[1], "export") == 0);
	for (int i = 1; c->fn == icctl_logs && i < argc; i++)
		if (strcmp(argv[i], "-f") == 0)
			return true;
	return false;
}

/*
 * Returns true if the command prints sentences or rows, and neither asks nor
 * waits, so that its long lines can be divided for a terminal.
 */
static bool
divides(const struct command *c, int argc, char **argv)
{
	static int (*const fns[])(struct icctl *, int, char **) = {icctl_agents,
	    icctl_budget, icctl_gc, icctl_grants, icctl_home, icctl_login,
	    icctl_pending, icctl_status, icctl_stop, icctl_usage};
	static const struct {
		int (*fn)(struct icctl *, int, char **);
		const char *word;
	} more[] = {{icctl_config, "ls"}, {icctl_mcp, "ls"},
	    {icctl_persona, "ls"}, {icctl_persona, "show"}, {icctl_job, "ls"},
	    {icctl_job, "show"}, {icctl_project, "ls"}, {icctl_project, "show"},
	    {icctl_project, "check"}, {icctl_project, "diff"},
	    {icctl_audit, "events"}, {icctl_audit, "search"},
	    {icctl_audit, "show"}, {icctl_audit, "verify"},
	    {icctl_policy, "check"}, {icctl_policy, "diff"},
	    {icctl_policy, "explain"}, {icctl_policy, "propose"},
	    {icctl_policy, "reload"}, {icctl_policy, "replay"},
	    {icctl_policy, "test"}};
	const char *word = argc > 1 ? argv[1] : "ls";

	for (size_t i = 0; i < nitems(fns); i++)
		if (c->fn == fns[i])
			return true;
	for (size_t i = 0; i < nitems(more); i++)
		if (c->fn == more[i].fn && strcmp(word, more[i].word) == 0)
			return true;
	return false;
}

/* Returns true if the words ask for help, and none of them can be a value. */
static bool
wants_help(int argc, char **argv)
{
	const char *last = argc > 1 ? argv[argc - 1] : "";

	return words_help() || (argc > 0 && strcmp(argv[0], "help") == 0) ||
	       ((argc == 2 || (argc == 3 && argv[1][0] != '-')) &&
		   (strcmp(last, "--help") == 0 || strcmp(last, "-h") == 0));
}

/* Returns true if the command only asks questions on a terminal. */
static bool
only_asks(const struct command *c, int argc, char **argv)
{
	return c->fn == icctl_setup || (c->fn == icctl_config && argc > 1 &&
					   strcmp(argv[1], "edit") == 0);
}

/* Returns true if the command reads what sessions left, running or not. */
static bool
reads(const struct command *c, int argc)
{
	return c->fn == icctl_logs || c->fn == icctl_history ||
	       c->fn == icctl_status || c->fn == icctl_diff ||
	       c->fn == icctl_pull || c->fn == icctl_diagnostics ||
	       (c->fn == icctl_budget && argc == 1);
}

/* Returns 0 if sessions can be there: a directory, or nothing yet. */
static int
check_home(const char *home)
{
	struct stat st;

	if (home[0] != '/') {
		warnx("IRONCURTAIN_HOME or HOME must be an absolute path; "
		      "sessions would be in %s",
		    home);
		return -1;
	}
	if (stat(home, &st) == -1) {
		if (errno == ENOENT)
			return 0;
	} else if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
	} else if (access(home, R_OK | X_OK) == 0) {
		return 0;
	}
	warnx("%s: %s. To keep sessions in another place: export "
	      "IRONCURTAIN_HOME=DIR",
	    home, strerror(errno));
	return -1;
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
	return check_home(ctl->home);
}

/*
 * Returns the arguments with a word that other programs have replaced by ours:
 * the TypeScript IronCurtain's "compile-policy" is "policy compile", and
 * Docker's "ps" is "ls".
 */
static char **
other_names(int *argc, char **argv)
{
	static const char *const names[][3] = {
	    {"annotate-tools", "policy", "annotate"},
	    {"compile-policy", "policy", "compile"},
	    {"customize-policy", "policy", "customize"}, {"kill", "stop", NULL},
	    {"list", "ls", NULL}, {"ps", "ls", NULL},
	    {"refresh-lists", "policy", "refresh-lists"},
	    {"run", "start", NULL}};
	/* Second words, where a command has commands of its own. */
	static const char *const seconds[][3] = {{"config", "list", "ls"},
	    {"config", "show", "ls"}, {"image", "list", "ls"},
	    {"mcp", "list", "ls"}, {"mcp", "remove", "rm"},
	    {"persona", "list", "ls"}};
	static const char *list[WORDS_ARGS];
	struct wordlist more = WORDLIST_IN(list);

	for (size_t i = 0; i < nitems(names); i++) {
		if (strcmp(argv[0], names[i][0]) != 0)
			continue;
		wordlist_add(&more, names[i][1]);
		if (names[i][2] != NULL)
			wordlist_add(&more, names[i][2]);
		for (int k = 1; k < *argc; k++)
			wordlist_add(&more, argv[k]);
		if (wordlist_end(&more) == NULL)
			errx(ICCTL_USAGE, "more than %u arguments",
			    WORDS_ARGS - 2);
		*argc = (int)more.n;
		return (char **)(uintptr_t)list;
	}
	for (size_t i = 0; *argc > 1 && i < nitems(seconds); i++)
		if (strcmp(argv[0], seconds[i][0]) == 0 &&
		    strcmp(argv[1], seconds[i][1]) == 0)
			argv[1] = (char *)(uintptr_t)seconds[i][2];
	return argv;
}

/* Returns true after it has said how to start the agent of this name. */
static bool
unknown_agent(const struct icctl *ctl, const char *arg)
{
	struct paths paths = {.home = (char *)(uintptr_t)ctl->home};
	struct names agents = {0};
	char datadir[PATH_MAX];
	bool is;

	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) == 0)
		paths.datadir = datadir;
	names_find_agents(&agents, &paths);
	is = strcmp(arg, "command") != 0 && names_have(&agents, arg);
	names_free(&agents);
	if (is)
		warnx("%s: this is no command here, but an agent. Instead: "
		      "icctl start %s [TASK]",
		    arg, arg);
	return is;
}

/* Report an unknown command, and the one that was probably meant. */
static int
unknown(const struct icctl *ctl, const char *arg)
{
	const char *names[NCOMMANDS + 2] = {"help"};
	char shown[256], hint[NEAR_HINT];

	if (founding_command(arg) != NULL) {
		warnx("%s: this is no command here. Instead: %s", arg,
		    founding_command(arg));
		return ICCTL_USAGE;
	}
	if (instead_say("", arg) || unknown_agent(ctl, arg))
		return ICCTL_USAGE;
	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i + 1] = commands[i].name;
	log_vis(span_str(arg), shown, sizeof(shown));
	if (arg[0] == '/' && find_command(arg + 1) != NULL)
		warnx("%s: words with a slash are for an agent, in its "
		      "session. Here: icctl %s",
		    shown, arg + 1);
	else if (arg[0] == '/')
		warnx("%s: words with a slash are for an agent, in its "
		      "session: icctl start begins one, icctl attach shows "
		      "one that runs",
		    shown);
	else if (strchr(arg, ' ') != NULL && near_name(arg, names) == NULL)
		warnx("%s: this is no command. As a task of an agent: icctl "
		      "start \"%s\"",
		    shown, shown);
	else
		warnx("no such command: %s%s (icctl --help lists them)", shown,
		    near_hint(arg, names, hint));
	return ICCTL_USAGE;
}

/* A command that takes no argument has one. */
static int
too_many(const char *name)
{
	if (strcmp(name, "setup") == 0 || strcmp(name, "agents") == 0)
		warnx("%s takes no argument (icctl %s --help)", name, name);
	else
		warnx("%s takes no argument. To choose a session: icctl "
		      "--session SESSION %s",
		    name, name);
	return ICCTL_USAGE;
}

/* Run the command whose name is argv[0]. */
static int
run(struct icctl *ctl, bool outcome, int argc, char **argv)
{
	const struct command *c = find_command(argv[0]);

	if (c == NULL)
		return unknown(ctl, argv[0]);
	if (outcome && !streams(c, argc, argv))
		outcome_collect();
	if (!has_own_words(c, argc, argv)) {
		words_more(c->fn == icctl_resume ? resume_again : "");
		argc = words_read(ctl, c->name, c->args, argc, argv);
		if (argc == -1)
			return ICCTL_USAGE;
		if (words_help())
			return help_command(ctl, c, NULL);
		if (argc > 1 && instead_say(c->name, argv[1]))
			return ICCTL_USAGE;
		if (argc > 1 && (c->args[0] == '\0' || c->fn == icctl_setup))
			return too_many(c->name);
	}
	if (ctl->json && only_asks(c, argc, argv)) {
		warnx("%s asks its questions on the terminal: leave --json out",
		    c->name);
		return ICCTL_USAGE;
	}
	if (find_home(ctl) == -1)
		return ICCTL_NO_SESSION;
	ctl->reads = reads(c, argc);
	return c->fn(ctl, argc, argv);
}

static int
put_version(bool outcome)
{
	if (outcome)
		outcome_collect();
	/* Programs talk only if they are of one protocol. */
	printf("icctl " IC_VERSION " (commit %.12s, protocol %016" PRIx64
	       ", %s)\n",
	    IC_COMMIT, proto_id(), MACHINE);
	return ICCTL_OK;
}

static bool
is_version(void)
{
	return words_given("--version") || words_given("-v") ||
	       words_given("-V");
}

/*
 * Handle a command line that has no command, or one about icctl as a whole. On
 * a terminal, icctl alone shows all sessions.
 */
static int
whole(struct icctl *ctl, bool outcome, int argc, char **argv)
{
	const struct command *c;

	for (int i = argc - 1; i > 0; i--)
		if (strcmp(argv[i], "--json") == 0) {
			ctl->json = true;
			for (int k = i; k < argc - 1; k++)
				argv[k] = argv[k + 1];
			argc--;
		}
	if (is_version() || (argc != 0 && strcmp(argv[0], "version") == 0)) {
		if (argc < 2)
			return put_version(outcome);
		warnx("version takes no argument (icctl --help)");
		return ICCTL_USAGE;
	}
	if (argc == 0 && !words_help()) {
		if (!outcome && ctl->session == NULL && overview_can())
			return find_home(ctl) == -1 ? ICCTL_NO_SESSION
						    : overview_run(ctl);
		if (ctl->session == NULL)
			help_short(stderr);
		else
			warnx("--session %s: a command follows, such as icctl "
			      "--session SESSION status (icctl --help lists "
			      "them)",
			    ctl->session);
		return ICCTL_USAGE;
	}
	if (outcome)
		outcome_collect();
	if (argc >= 2 && strcmp(argv[0], "help") == 0 &&
	    strcmp(argv[1], "help") != 0) {
		argv++;
		argc--;
		argv = other_names(&argc, argv);
		if ((c = find_command(argv[0])) != NULL)
			return help_command(ctl, c, argc > 1 ? argv[1] : NULL);
		if (strcmp(argv[0], "all") != 0)
			return unknown(ctl, argv[0]);
		help_all(stdout);
		return ICCTL_OK;
	}
	c = argc == 0 ? NULL : find_command(argv[0]);
	if (c != NULL)
		return help_command(ctl, c, NULL);
	help_short(stdout);
	return ICCTL_OK;
}

/*
 * Run a command about a session, or show what the agent offers, on the person's
 * terminal, where a viewer has taken the agent's screen away until the person
 * has read the outcome.
 */
static int
in_place(struct icctl *ctl, char *name, const char *dir)
{
	const bool offer = strcmp(name, OFFER_PANEL) == 0;
	char *argv[] = {name, NULL};
	int r, c;

	if (icctl_on_tty() == -1)
		return ICCTL_USAGE;
	ctl->session = dir;
	if (!offer)
		printf(">>> icctl %s\n", name);
	r = offer ? offered_run() : run(ctl, false, 1, argv);
	printf("\n>>> Enter: back to the agent ");
	fflush(stdout);
	while ((c = getchar()) != '\n' && c != EOF)
		;
	return r;
}

/* icctl starts itself with these words; nobody types them. */
static int
panel(struct icctl *ctl, int argc, char **argv)
{
	if (argc == 3 && (find_command(argv[1]) != NULL ||
			     strcmp(argv[1], OFFER_PANEL) == 0))
		return in_place(ctl, argv[1], argv[2]);
	return icctl_panel(ctl, argc, argv);
}

int
main(int argc, char **argv)
{
	static struct icctl ctl;
	const struct command *c;
	bool outcome;
	int at;

	if (argc > 1 && strcmp(argv[1], VIEWER_HOW_COMMAND) == 0)
		return viewer_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], ICCTL_PANEL) == 0)
		return panel(&ctl, argc - 1, argv + 1);
	outcome = outcome_asked(argc, argv);
	if (outcome)
		outcome_begin(&ctl);
	at = words_leading(&ctl, "", "[--version] [-v] [-V]", argc, argv);
	if (at == -1)
		return ICCTL_USAGE;
	argc -= at;
	argv += at;
	if (!outcome && wants_help(argc, argv))
		outcome_wrap();
	if (argc == 0 || strcmp(argv[0], "help") == 0 ||
	    strcmp(argv[0], "version") == 0 || words_help())
		return whole(&ctl, outcome, argc, argv);
	if (is_version())
		return put_version(outcome);
	argv = other_names(&argc, argv);
	c = find_command(argv[0]);
	if (!outcome && c != NULL && !wants_help(argc, argv) &&
	    divides(c, argc, argv))
		outcome_wrap();
	return run(&ctl, outcome, argc, argv);
}
