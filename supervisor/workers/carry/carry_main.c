/* SPDX-License-Identifier: ISC */
/*
 * ic-carry: reads the log of a session's earlier runs for icsupervisor, which
 * carries their state on, and for icctl (resume/carry_report.h). It holds the
 * session's directory and may only read there. The log contains what agents
 * wrote: whoever takes it over there can make the session forget what was spent
 * and what was locked, and name approvals to keep; those that a person
 * confirmed by their digests, policyd judges again in any case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/report.h"
#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/log.h"
#include "resume/carry_report.h"

#include <seccomp.h>

/* A text of a record; lines of the log are shorter. */
#define REPORT_MAX (8U << 20)

/* clang-format off */
#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}

static const enum pledge_promise carry_promises[] = {
	PLEDGE_STDIO,		/* maps the log, writes reports */
};

static const struct pledge_rule carry_rules[] = {
	CALL(openat, "the files of the log"),
	CALL(getdents64, "their number"),
	CALL(newfstatat, "their sizes"),
	CALL(statx, "the same, in newer libraries"),
	CALL(lseek, "readdir"),
	CALL(fcntl, "the same"),
	CALL(geteuid, "the owner of the checkpoint"),
};

static const struct unveil_path carry_unveil[] = {
	{CARRY_SESSION, UNVEIL_READ},
};

static const struct confine carry_confine = {
	.limits = {
		.nofile = 16,
		.fsize = 0,
		.data = 1U << 30,	/* one record as a tree */
		.memlock = 0,
	},
	.pledge = {
		.promises = carry_promises,
		.npromises = nitems(carry_promises),
		.rules = carry_rules,
		.nrules = nitems(carry_rules),
	},
	.unveil = carry_unveil,
	.nunveil = nitems(carry_unveil),
};
/* clang-format on */

static void
report(int letter, const char *text)
{
	struct buf b;

	buf_init(&b, REPORT_MAX);
	report_add(&b, letter, text);
	if (buf_check(&b) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&b)) == -1)
		exit(1);
	buf_free(&b);
}

static void
job_read(struct carry_job *job)
{
	size_t done = 0;
	ssize_t n;

	while (done < sizeof(*job)) {
		n = read(STDIN_FILENO, (char *)job + done, sizeof(*job) - done);
		if (n <= 0)
			fatalx("icsupervisor and icctl start this program");
		done += (size_t)n;
	}
	job->dir[sizeof(job->dir) - 1] = '\0';
}

int
main(void)
{
	static struct carry_job job;
	static struct carry c;
	struct confine_state state;
	struct fault fault = {""};

	confine_early();
	log_init(CARRY_PROGRAM, false);
	/* timegm(3) reads a file the first time. */
	tzset();
	if (confine_apply(&carry_confine, &state) == -1)
		return 1;
	job_read(&job);
	if (carry_load(&c, job.priced ? &job.prices : NULL, CARRY_SESSION,
		job.dir, job.verified ? &job.from : NULL, &job.upto,
		&fault) == -1)
		report(fault.kind == FAULT_SCARCE ? CARRY_SCARCE : CARRY_FAILED,
		    fault.text);
	else
		carry_tell(&c, report);
	report(REPORT_END, "");
	return 0;
}
