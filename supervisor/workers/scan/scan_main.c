/* SPDX-License-Identifier: ISC */
/*
 * ic-scan: reads files of the workspace and of the user's home for lines of the
 * start (box/system/scan.h). An agent may have written what it reads, so that
 * it first gives up every right but to read below these two directories.
 * Whoever takes it over there can write a line to the person, or keep one back.
 */
#include "workers/scan/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/log.h"
#include "box/system/scan.h"

#include <seccomp.h>

/* clang-format off */
#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}

static const enum pledge_promise scan_promises[] = {
	PLEDGE_STDIO,		/* reads files, writes reports */
};

static const struct pledge_rule scan_rules[] = {
	CALL(openat, "files and directories below the two that are open"),
	CALL(getdents64, "names"),
	CALL(newfstatat, "kinds of files"),
	CALL(statx, "the same, in newer libraries"),
	CALL(readlinkat, "links are followed as text"),
	CALL(lseek, "rewinddir"),
	CALL(fcntl, "readdir sets close-on-exec"),
};

static struct unveil_path scan_unveil[2];

static struct confine scan_confine = {
	.limits = {
		.nofile = 64,
		.fsize = 0,
		.data = 64U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = scan_promises,
		.npromises = nitems(scan_promises),
		.rules = scan_rules,
		.nrules = nitems(scan_rules),
	},
	.unveil = scan_unveil,
};
/* clang-format on */

static struct {
	const char *agent;
	int workspace, home; /* or -1 */
	bool secrets;
	struct scan_list left, servers, covers;
	struct scan_path path;
} job = {.workspace = -1, .home = -1, .path.home.fd = -1};

static void
scan_add(struct scan_list *l, const char *text)
{
	if (l->n == SCAN_MAX_LIST)
		fatalx("too much to do");
	l->list[l->n++] = text;
}

/* Add a place of PATH; what is too much is not looked at. */
static void
scan_add_place(struct scan_list *l, const char *text)
{
	if (l->n < SCAN_MAX_LIST)
		scan_add(l, text);
}

static void
scan_take(enum scan_told kind, const char *text)
{
	switch (kind) {
	case SCAN_HAS:
		if (strcmp(text, "workspace") == 0)
			job.workspace = SCAN_WORKSPACE;
		else
			job.home = job.path.home.fd = SCAN_HOME;
		return;
	case SCAN_SECRETS:
		job.secrets = true;
		return;
	case SCAN_AGENT:
		job.agent = text;
		return;
	case SCAN_LEFT:
		scan_add(&job.left, text);
		return;
	case SCAN_COVER:
		scan_add(&job.covers, text);
		return;
	case SCAN_SERVER:
		scan_add(&job.servers, text);
		return;
	case SCAN_USER:
		job.path.home.path = text;
		return;
	case SCAN_MANAGER:
		/* The job stays in memory. */
		(void)putenv((char *)(uintptr_t)text);
		return;
	case SCAN_UNSEEN:
		scan_add_place(&job.path.unseen, text);
		return;
	case SCAN_REAL:
		scan_add_place(&job.path.real, text);
		return;
	case SCAN_SEEN:
		scan_add_place(&job.path.seen, text);
		return;
	case SCAN_SHOWN:
		scan_add_place(&job.path.shown, text);
		return;
	case SCAN_REFUSED:
		scan_add_place(&job.path.refused, text);
		return;
	}
	fatalx("not a job");
}

/* Read the job, whose texts stay in memory. */
static void
scan_read(void)
{
	static char in[SCAN_JOB + 1];
	struct span rest;
	const char *text;
	int letter;

	if (report_read(in, sizeof(in), &rest) == -1)
		fatalx("the job cannot be read");
	while (report_next(&rest, &letter, &text))
		scan_take((enum scan_told)letter, text);
}

int
main(int argc, char **argv)
{
	struct confine_state state;
	struct buf b;

	(void)argv;
	confine_early();
	log_init(SCAN_PROGRAM, false);
	if (argc != 2)
		fatalx("icsupervisor starts this program");
	scan_read();
	if (job.workspace != -1)
		scan_unveil[scan_confine.nunveil++] =
		    (struct unveil_path){job.workspace, UNVEIL_READ};
	if (job.home != -1)
		scan_unveil[scan_confine.nunveil++] =
		    (struct unveil_path){job.home, UNVEIL_READ};
	if (confine_apply(&scan_confine, &state) == -1)
		return 1;
	if (job.secrets && job.workspace != -1)
		secrets_say(job.workspace, &job.covers);
	if (job.agent != NULL)
		lost_say(job.agent, job.workspace, job.home, &job.left,
		    &job.servers);
	if (job.path.home.path != NULL && job.path.unseen.n == job.path.real.n)
		path_say(&job.path);
	buf_init(&b, 16);
	report_add(&b, REPORT_END, "");
	if (buf_check(&b) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&b)) == -1)
		return 1;
	buf_free(&b);
	return 0;
}
