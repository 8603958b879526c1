/* SPDX-License-Identifier: ISC */
/*
 * `icctl resume`: starts icsupervisor again in the directory of a session that
 * has ended, with the options of its start.json. icsupervisor checks that it is
 * the same session; here the person is shown what happened, and is asked.
 */
#include "icctl/talk/talk.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "common/wordlist.h"
#include "icctl/screen/launch.h"
#include "icctl/talk/keep.h"
#include "icctl/unit/unit.h"
#include "icctl/newest.h"
#include "icctl/words.h"
#include "log/lock.h"
#include "log/parts.h"
#include "resume/carry_read.h"
#include "resume/record.h"
#include "resume/start_file.h"

#define RESUME_ARGS 256U

/* The reason for which the session does not go on. */
static char resume_why[2048];

struct resume {
	const char
	    *list[RESUME_ARGS + 2 * START_FILE_OPTIONS + 2 * CARRY_GRANTS + 16];
	struct wordlist args;
	struct start_file file;
	struct carry old;
	char **command; /* after "--", or NULL */
	bool detach, systemd, after_crash, keep_grants;
	char *kept[CARRY_GRANTS]; /* approvals that the person confirmed */
	size_t nkept;
	char names[START_FILE_OPTIONS][72]; /* "--agent" */
};

/* clang-format off */
const char resume_again[] = ""
#define START_ONCE_OPTION(name, id, value, help) "[--" name " " value "]"
#define START_OPTION(name, id, value, help)
#define START_ONCE_FLAG(name, id, help) "[--" name "]"
#define START_FLAG(name, id, help)
#include "files/option_rows.h"
	;

static const char *const resume_values[] = {
#define START_ONCE_OPTION(name, id, value, help) "--" name,
#define START_OPTION(name, id, value, help)
#include "files/option_rows.h"
	NULL,
};

static const char *const resume_flags[] = {
#define START_ONCE_FLAG(name, id, help) "--" name,
#define START_FLAG(name, id, help)
#include "files/option_rows.h"
	NULL,
};
/* clang-format on */

static int
resume_arguments(struct icctl *ctl, struct resume *r, int argc, char **argv)
{
	char id[NEWEST_ID];
	int at = words_rest();

	r->systemd = words_given("--systemd");
	r->detach = r->systemd || words_given("--detach");
	r->after_crash = words_given("--after-crash");
	r->keep_grants = words_given("--keep-grants");
	if (words_given("--task")) {
		warnx("resume takes no --task: `icctl send` gives a "
		      "conversation its next one");
		return -1;
	}
	if (at == 0)
		at = argc;
	if (at < argc)
		r->command = argv + at;
	if (at > 2) {
		warnx("resume takes one SESSION (icctl resume --help)");
		return -1;
	}
	if (at == 2)
		ctl->session = argv[1];
	if (ctl->session != NULL)
		return 0;
	if (newest_find(ctl, NEWEST_HERE, id))
		warnx("which session? The newest of this directory: icctl "
		      "resume %s (icctl ls lists them all)",
		    id);
	else
		warnx("which session? Say its id, or a part of it: icctl ls");
	return -1;
}

/* Say why not, to a person, and remember it for a program. */
static void __attribute__((format(printf, 1, 2)))
resume_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(resume_why, sizeof(resume_why), fmt, ap);
	va_end(ap);
	warnx("%s", resume_why);
}

/* Read what there is. Returns 0, or -1 after it printed the reason. */
static int
resume_read(struct icctl *ctl, struct resume *r, int dirfd)
{
	const char *id = strrchr(ctl->dir, '/') + 1;
	struct fault fault;
	int fd, rv;

	if (talk_runs(dirfd)) {
		if ((fd = icctl_dial(ctl->dir)) == -1)
			resume_say("session %s is starting or ending. Try "
				   "again in a moment",
			    id);
		else
			resume_say("session %s is running: icctl attach %s, "
				   "or icctl send --session %s",
			    id, id, id);
		if (fd != -1)
			close(fd);
		return -1;
	}
	if (start_file_read(&r->file, dirfd, ctl->dir, &fault) == -1) {
		if (errno == ENOENT && !talk_is(ctl->dir))
			resume_say("%s is not a session directory. The ids of "
				   "sessions: icctl ls",
			    ctl->dir);
		else if (errno == ENOENT)
			resume_say("session %s was made by an earlier version "
				   "of IronCurtain, or not by icctl: it has no "
				   "start.json and cannot be resumed. Its work "
				   "and its log are kept",
			    id);
		else
			resume_say("%s", fault.text);
		return -1;
	}
	/*
	 * A crash in the middle of a rotation: put the log's end in its place.
	 */
	if (flock(dirfd, LOCK_EX | LOCK_NB) == 0) {
		/* An auditd that was left behind writes its last record. */
		rv = auditlock_wait(dirfd, ctl->dir, &fault);
		if (rv == 0 && !auditparts_settled(dirfd))
			(void)auditparts_settle(dirfd);
		(void)flock(dirfd, LOCK_UN);
		if (rv == -1) {
			resume_say("%s", fault.text);
			return -1;
		}
	}
	if (carry_read_all(&r->old, dirfd, ctl->dir, &fault) == -1) {
		resume_say("%s", fault.text);
		return -1;
	}
	if (r->file.command && r->command == NULL) {
		resume_say("session %s ran a command of yours, which is not "
			   "kept. Say it again: icctl resume %s -- COMMAND...",
		    id, id);
		return -1;
	}
	return 0;
}

/* Tell how the last run ended, if a person should know. */
static int
resume_evidence(const struct icctl *ctl, const struct resume *r)
{
	const char *id = strrchr(ctl->dir, '/') + 1;
	char why[300];

	if (carry_evidence(&r->old, here()->boot, why, sizeof(why)) == NULL)
		return 0;
	if (r->after_crash) {
		warnx("session %s did not end in order: %s", id, why);
		return 0;
	}
	resume_say("session %s did not end in order: %s. This may be an "
		   "attack. Look at its log: icctl logs %s; icctl --session %s "
		   "audit verify. To go on with it then: icctl resume %s "
		   "--after-crash",
	    id, why, id, id, id);
	return -1;
}

static void
resume_push(struct resume *r, const char *arg)
{
	wordlist_add(&r->args, arg);
}

/* Push the options that the person said again, and the command. */
static void
resume_push_again(struct resume *r)
{
	const char *values[RESUME_ARGS];
	size_t n;

	for (const char *const *o = resume_flags; *o != NULL; o++)
		if (words_given(*o))
			resume_push(r, *o);
	for (const char *const *o = resume_values; *o != NULL; o++) {
		n = words_list(*o, values, nitems(values));
		for (size_t i = 0; i < n && i < nitems(values); i++) {
			resume_push(r, *o);
			resume_push(r, values[i]);
		}
	}
	if (r->command != NULL)
		resume_push(r, "--");
	for (char **c = r->command; c != NULL && *c != NULL; c++)
		resume_push(r, *c);
}

/* Compose icsupervisor's command line. Returns 0, or -1 after it said why. */
static int
resume_compose(const struct icctl *ctl, struct resume *r)
{
	r->args = (struct wordlist)WORDLIST_IN(r->list);
	resume_push(r, "icsupervisor");
	resume_push(r, ""); /* set by launch_session() or talk_start() */
	resume_push(r, "");
	resume_push(r, "--session-dir");
	resume_push(r, ctl->dir);
	resume_push(r, "--resume");
	if (!r->systemd)
		resume_push(r, "--counted");
	if (r->after_crash)
		resume_push(r, "--after-crash");
	if (r->keep_grants)
		resume_push(r, "--keep-grants");
	for (size_t i = 0; i < r->nkept; i++) {
		resume_push(r, "--keep-grant");
		resume_push(r, r->kept[i]);
	}
	if (r->detach)
		resume_push(r, "--quiet");
	else if (!r->systemd && icctl_person())
		resume_push(r, "--person");
	for (size_t i = 0; i < r->file.n; i++) {
		snprintf(r->names[i], sizeof(r->names[i]), "--%.64s",
		    r->file.options[i].name);
		resume_push(r, r->names[i]);
		if (r->file.options[i].value != NULL)
			resume_push(r, r->file.options[i].value);
	}
	resume_push_again(r);
	if (wordlist_end(&r->args) != NULL)
		return 0;
	warnx("more than %zu arguments", r->args.max - 1);
	return -1;
}

int
icctl_resume(struct icctl *ctl, int argc, char **argv)
{
	static struct resume r;
	char program[PATH_MAX], dir[PATH_MAX];
	struct viewer_how how;
	int status, fd;

	if (resume_arguments(ctl, &r, argc, argv) == -1)
		return ICCTL_USAGE;
	if ((status = icctl_find(ctl)) != 0)
		return talk_failed(ctl, status, ctl->code, ctl->why);
	/* The way by run/ ends with the session. */
	if (realpath(ctl->dir, dir) == NULL ||
	    (fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		warn("%s", ctl->dir);
		return ICCTL_NO_SESSION;
	}
	snprintf(ctl->dir, sizeof(ctl->dir), "%s", dir);
	status = resume_read(ctl, &r, fd) == -1 ||
			 resume_evidence(ctl, &r) == -1
		     ? ICCTL_FAILED
		     : ICCTL_OK;
	close(fd);
	if (status != ICCTL_OK)
		return talk_failed(
		    ctl, status, "SESSION_INIT_FAILED", resume_why);
	/* A program that wants JSON has no use for the agent's screen. */
	r.detach = r.detach || r.file.detach || ctl->json;
	if (!r.keep_grants)
		r.nkept = keep_options(&r.old, !ctl->json, r.kept);
	status = resume_compose(ctl, &r);
	carry_free(&r.old);
	if (status == -1)
		return ICCTL_USAGE;
	if (icctl_program("icsupervisor", program, sizeof(program)) == -1)
		return ICCTL_FAILED;
	if (r.systemd)
		return (status = unit_check(ctl, program)) != ICCTL_OK
			   ? status
			   : unit_start(ctl, r.list);
	if (r.detach)
		return talk_start(ctl, program, r.list);
	viewer_how_find(&how, r.command != NULL);
	launch_key(&how, ctl, start_file_get(&r.file, "config"),
	    start_file_get(&r.file, "profile"), false);
	(void)launch_session(program, r.list, &how, ctl->dir);
	warn("viewer");
	return ICCTL_FAILED;
}
