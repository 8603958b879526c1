/* SPDX-License-Identifier: ISC */
/*
 * `icctl start`: makes a new session directory, starts icsupervisor in a
 * session of its own, and becomes the viewer of its agent.
 */
#include "icctl/icctl.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/log.h"
#include "common/near.h"
#include "common/wordlist.h"
#include "files/adapter/adapter.h"
#include "files/founding.h"
#include "files/workspace_option.h"
#include "icctl/image/first.h"
#include "icctl/instead.h"
#include "icctl/kernel.h"
#include "icctl/policy/policy.h"
#include "icctl/screen/launch.h"
#include "icctl/start_priv.h"
#include "icctl/start_usage.h"
#include "icctl/start_word.h"
#include "icctl/talk/talk.h"
#include "icctl/unit/unit.h"
#include "resume/start_file.h"

/* clang-format off */
static const char *const with_value[] = {
#define START_OPTION(name, id, value, help) "--" name,
#include "files/option_rows.h"
	NULL,
};

static const char *const without_value[] = {
#define START_FLAG(name, id, help) "--" name,
#include "files/option_rows.h"
	NULL,
};
/* clang-format on */

static bool
listed(const char *arg, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(arg, *list) == 0)
			return true;
	return false;
}

static int
unknown_option(const char *arg)
{
	static const char *const own[] = {"--detach", "--policy-for-task",
	    "--systemd", "--session-dir", "--no-project", "--help", NULL};
	const char
	    *list[nitems(with_value) + nitems(without_value) + nitems(own)];
	struct wordlist names = WORDLIST_IN(list);
	char hint[NEAR_HINT], shown[256];

	if (founding_option(arg) != NULL) {
		warnx("%s: this is no option here. Instead: %s", arg,
		    founding_option(arg));
		return -1;
	}
	if (instead_say("start", arg))
		return -1;
	wordlist_all(&names, with_value);
	wordlist_all(&names, without_value);
	wordlist_all(&names, own);
	warnx("%s: no such option%s (icctl start --help); write a TASK that "
	      "begins with - as --task TASK",
	    log_vis(span_str(arg), shown, sizeof(shown)),
	    wordlist_end(&names) != NULL ? near_hint(arg, list, hint) : "");
	return -1;
}

/* Returns the option with a value that the word begins with, or NULL. */
static const char *
value_option(const char *word)
{
	static const char *const own[] = {
	    "--session-dir", "--policy-for-task", NULL};
	const char *const *const lists[] = {with_value, own};
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < nitems(lists); i++)
		for (size_t k = 0; lists[i][k] != NULL; k++)
			if (strlen(lists[i][k]) == len &&
			    memcmp(lists[i][k], word, len) == 0)
				return lists[i][k];
	return NULL;
}

int
start_option_words(int argc, char **argv)
{
	if (listed(argv[0], without_value) ||
	    strcmp(argv[0], "--no-project") == 0)
		return 1;
	if (value_option(argv[0]) == NULL)
		return unknown_option(argv[0]) == 0;
	if (strchr(argv[0], '=') != NULL)
		return 1;
	if (argc > 1)
		return 2;
	warnx("%s: needs a value (icctl start --help)", argv[0]);
	return 0;
}

/* Take the option at argv[*i]. Returns 0, or -1 if it was refused. */
static int
take_option(struct start *st, int argc, char **argv, int *i)
{
	const char *name = argv[*i], *value;

	if (strcmp(name, "--detach") == 0 || strcmp(name, "--systemd") == 0) {
		if (!st->detach)
			start_push(st, "--quiet");
		st->detach = true;
		st->systemd = st->systemd || strcmp(name, "--systemd") == 0;
		return 0;
	}
	if (strcmp(name, "--no-project") == 0) {
		st->project.off = true;
		return 0;
	}
	if (strcmp(name, "--acp") == 0)
		st->acp = true;
	if (listed(name, without_value))
		return start_push_option(st, name, NULL);
	if ((name = value_option(argv[*i])) == NULL)
		return unknown_option(argv[*i]);
	value = strchr(argv[*i], '=');
	if (value == NULL && *i + 1 == argc) {
		warnx("%s: needs a value (icctl start --help)", name);
		return -1;
	}
	value = value != NULL ? value + 1 : argv[++*i];
	if (strcmp(name, "--policy-for-task") == 0) {
		st->policy_task = value;
		return 0;
	}
	if (strcmp(name, "--workspace") == 0) {
		st->workspace = value;
		return 0;
	}
	if (strcmp(name, "--session-dir") == 0) {
		st->dir = value;
		return 0;
	}
	if (strcmp(name, "--config") == 0) {
		st->config = value;
		return 0;
	}
	if (strcmp(name, "--clone") == 0)
		st->clone = true;
	if (strcmp(name, "--agent") == 0)
		st->agent = value;
	if (strcmp(name, "--model") == 0)
		st->model = value;
	if (strcmp(name, "--profile") == 0)
		st->profile = value;
	st->task = st->task || strcmp(name, "--task") == 0;
	if (strcmp(name, "--task") == 0 ||
	    (strcmp(name, "--runtime") == 0 && strcmp(value, "none") == 0))
		st->no_input = true;
	return start_push_option(st, name, value);
}

/*
 * Take a word that is not an option: an agent, or the task, which must be last.
 * Returns 0, or -1 if it was refused.
 */
static int
take_word(struct start *st, int argc, char **argv, int i)
{
	const char *word = argv[i], *near;
	/* Options may follow; "--" begins a command, which takes no TASK. */
	bool last = i + 1 == argc ||
		    (argv[i + 1][0] == '-' && strcmp(argv[i + 1], "--") != 0);
	char shown[256], known[512];

	if (st->agent == NULL && names_have(&st->all, word)) {
		st->agent = word;
		return start_push_option(st, "--agent", word);
	}
	log_vis(span_str(word), shown, sizeof(shown));
	if (word[strspn(word, " \t\n")] == '\0') {
		warnx(
		    "the task is empty. Say what the agent shall do, or leave "
		    "it out to work with the agent in this terminal");
		return -1;
	}
	if (st->task) {
		warnx("%s: one TASK only; put all of it in quotes", shown);
		return -1;
	}
	if (!last && st->agent != NULL) {
		warnx("one TASK only; put it in quotes: icctl start %s "
		      "\"%s ...\"",
		    st->agent, shown);
		return -1;
	}
	if (!last) {
		warnx("%s: no agent has this name (%s). A TASK of several "
		      "words is put in quotes, and a program follows --",
		    shown,
		    names_known(&st->agents, word, known, sizeof(known)));
		return -1;
	}
	near = near_name(word, (const char *const *)st->agents.list);
	if (st->agent == NULL && near != NULL && strchr(word, ' ') == NULL) {
		warnx("%s: no agent has this name; did you mean %s? If it is "
		      "a task: --task %s",
		    shown, near, shown);
		return -1;
	}
	st->word = st->agent == NULL ? word : NULL;
	st->no_input = st->task = true;
	start_push(st, "--task");
	start_push(st, word);
	return 0;
}

static void
find_agents(const struct icctl *ctl, struct start *st)
{
	struct paths paths = {.home = (char *)(uintptr_t)ctl->home};
	char datadir[PATH_MAX];

	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) == 0)
		paths.datadir = datadir;
	names_find_agents(&st->all, &paths);
	adapter_list(&st->agents, &paths);
}

/*
 * Refuse options that exclude each other. Returns 0, or -1 after it said why.
 */
static int
check_options(const struct icctl *ctl, struct start *st, bool command)
{
	if (st->acp && st->detach) {
		warnx("--acp cannot be used with --detach or --systemd: the "
		      "session belongs to the editor that started it");
		return -1;
	}
	if (st->serve != NULL) {
		start_push(st, "--quiet");
		st->detach = true;
	}
	st->once = ctl->json && !st->acp && !st->detach;
	if (st->once && !st->task && !command) {
		warnx("--json prints the events of one task: name a TASK, or a "
		      "COMMAND after --. With --detach it starts a "
		      "conversation, for icctl send --json");
		return -1;
	}
	st->file.detach = st->detach || st->once;
	return 0;
}

/* Ask about a task that may be none. Returns false if it is none. */
static bool
check_word(const struct icctl *ctl, const struct start *st)
{
	char known[512];

	/* A persona names an agent, too. */
	return st->word == NULL || st->agent != NULL ||
	       start_file_get(&st->file, "persona") != NULL ||
	       start_word(st->word, !ctl->json && !st->acp,
		   names_known(&st->agents, st->word, known, sizeof(known)));
}

/* Compose the command line. Returns -1, or an exit status if icctl is done. */
static int
take_arguments(struct icctl *ctl, struct start *st, int argc, char **argv)
{
	int i, status;

	if (argc > START_ARGS) {
		warnx("more than %d arguments", START_ARGS);
		return ICCTL_USAGE;
	}
	st->args = (struct wordlist)WORDLIST_IN(st->list);
	start_push(st, "icsupervisor");
	start_push(st, ""); /* both are set by launch_session() */
	start_push(st, "");
	start_push(st, "--session-dir");
	start_push(st, ctl->dir);
	find_agents(ctl, st);
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			start_usage();
			return ICCTL_OK;
		}
		if (strcmp(argv[i], "--json") == 0) {
			ctl->json = true;
			continue;
		}
		if (start_go_on(ctl, argv[i]))
			return ICCTL_USAGE;
		if ((argv[i][0] == '-' ? take_option(st, argc, argv, &i)
				       : take_word(st, argc, argv, i)) == -1)
			return ICCTL_USAGE;
	}
	if (check_options(ctl, st, i < argc) == -1 || !check_word(ctl, st) ||
	    (i + 1 < argc && !start_program(argv[i + 1], i + 2 == argc)))
		return ICCTL_USAGE;
	if (start_take_persona(ctl, st, i < argc) == -1)
		return ICCTL_FAILED;
	if ((status = start_take_project(ctl, st, i < argc)) != ICCTL_OK)
		return status;
	if (start_take_workspace(st) == -1)
		return ICCTL_FAILED;
	if ((status = start_take_policy_task(ctl, st)) != ICCTL_OK)
		return status;
	start_take_approvals(ctl, st);
	/* A unit is somebody's own decision. */
	if (!st->systemd && st->serve == NULL)
		start_push(st, "--counted");
	if (!st->detach && !st->acp && !st->once && st->serve == NULL &&
	    icctl_person())
		start_push(st, "--person");
	st->file.command = i < argc;
	for (; i < argc; i++)
		start_push(st, argv[i]);
	if (wordlist_end(&st->args) != NULL)
		return -1;
	warnx("more than %zu arguments", st->args.max - 1);
	return ICCTL_USAGE;
}

/*
 * Make the session's directory, with start.json in it, and with the settings
 * that a project's file has changed.
 */
static int
write_start(const struct icctl *ctl, struct start *st)
{
	const char *text = st->project.settings;
	struct fault fault;
	int fd, rv;

	if (text != NULL) {
		snprintf(st->settings, sizeof(st->settings), "%.4000s/%s",
		    ctl->dir, "settings.json");
		if (start_file_add(
			&st->file, "--config", st->settings, &fault) == -1) {
			warnx("%s", fault.text);
			return -1;
		}
	}

	if ((mkdir(ctl->dir, 0700) == -1 &&
		(st->serve == NULL || errno != EEXIST)) ||
	    (fd = open(ctl->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		warn("%s", ctl->dir);
		return -1;
	}
	rv = start_file_write(&st->file, fd, ctl->dir, &fault);
	close(fd);
	if (rv == -1) {
		warnx("%s", fault.text);
		(void)rmdir(ctl->dir);
	} else if (text != NULL &&
		   jsonfile_replace(st->settings, span_str(text)) == -1) {
		warn("%s", st->settings);
		rv = -1;
	}
	/* It may have secrets of servers. */
	if (text != NULL)
		freezero(st->project.settings, strlen(text));
	st->project.settings = NULL;
	return rv;
}

/*
 * Decide how the agent is shown. Returns -1 after it said why an editor cannot
 * be served.
 */
static int
find_how(const struct start *st, struct viewer_how *how)
{
	if (!st->acp) {
		viewer_how_find(how, st->no_input);
		return 0;
	}
	if (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)) {
		warnx("--acp is for an editor, which runs this command and "
		      "speaks the Agent Client Protocol to it; this is a "
		      "terminal (see icctl-session(1))");
		return -1;
	}
	viewer_how_editor(how);
	return 0;
}

/*
 * Build the image of an agent's container, if the person at this terminal
 * agrees.
 */
static int
first_use(struct icctl *ctl, const struct start *st)
{
	const struct image_start s = {
	    .runtime = start_file_get(&st->file, "runtime"),
	    .image = start_file_get(&st->file, "image"),
	    .agent = start_file_get(&st->file, "agent"),
	    .unit = st->systemd,
	    .config = st->config,
	    .profile = st->profile};

	return st->file.command ? 0 : image_first_use(ctl, &s);
}

int
icctl_start(struct icctl *ctl, int argc, char **argv)
{
	return icctl_start_serve(ctl, argc, argv, NULL);
}

int
icctl_start_serve(struct icctl *ctl, int argc, char **argv, start_serve *serve)
{
	static struct start st;
	char program[PATH_MAX];
	struct viewer_how how;
	int status;

	st.serve = serve;
	status = take_arguments(ctl, &st, argc, argv);
	names_free(&st.agents);
	names_free(&st.all);
	if (status != -1)
		return status;
	if (icctl_kernel() == -1)
		return ICCTL_FAILED;
	if (find_how(&st, &how) == -1)
		return ICCTL_USAGE;
	/* A unit that cannot start needs no image. */
	if (!st.systemd && (status = first_use(ctl, &st)) != 0)
		return status;
	if (icctl_new_session(ctl) == -1 ||
	    icctl_program("icsupervisor", program, sizeof(program)) == -1)
		return ICCTL_FAILED;
	if (serve != NULL && st.dir != NULL)
		(void)strlcpy(ctl->dir, st.dir, sizeof(ctl->dir));
	else if (st.dir != NULL &&
		 (status = icctl_session_at(ctl, st.dir, st.systemd)) != 0)
		return status;
	if (st.systemd && (status = unit_check(ctl, program)) != ICCTL_OK)
		return status;
	if (st.systemd && (status = first_use(ctl, &st)) != 0)
		return status;
	if (write_start(ctl, &st) == -1)
		return ICCTL_FAILED;
	start_file_free(&st.file);
	if (st.systemd)
		return unit_start(ctl, st.list);
	if (serve != NULL)
		return serve(ctl, program, st.list);
	if (st.detach)
		return talk_start(ctl, program, st.list);
	if (st.once)
		return talk_once(ctl, program, st.list);
	launch_key(&how, ctl, st.config, st.profile, false);
	(void)launch_session(program, st.list, &how, ctl->dir);
	warn("viewer");
	return ICCTL_FAILED;
}
