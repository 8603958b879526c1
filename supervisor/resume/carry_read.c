/* SPDX-License-Identifier: ISC */
#include "resume/carry_read.h"

#include <string.h>

#include "base/helper.h"
#include "base/paths.h"
#include "resume/carry_report.h"

/* A log without a limit of its size may be long. */
#define READ_MS 3600000U

static struct carry *read_to;

static int
read_take(int letter, const char *text, struct fault *fault)
{
	if (letter == CARRY_FAILED)
		return fault_set(fault, "%s", text);
	if (letter == CARRY_SCARCE)
		return fault_set_kind(fault, FAULT_SCARCE, "%s", text);
	if (carry_take(read_to, letter, text))
		return 0;
	return fault_set(fault, CARRY_PROGRAM ": the report is not valid");
}

int
carry_read(struct carry *c, const struct carry_log *log, struct fault *fault)
{
	static char *const envp[] = {NULL};
	static struct carry_job job;
	struct buf b;
	struct helper h = {.libexecdir = log->libexecdir,
	    .name = CARRY_PROGRAM,
	    .task = "log",
	    .job = &b,
	    .envp = envp,
	    .fds = {log->dirfd},
	    .nfds = 1,
	    .take = read_take};
	int rv;

	memset(c, 0, sizeof(*c));
	memset(&job, 0, sizeof(job));
	read_to = c;
	job.verified = log->from != NULL;
	if (job.verified) {
		job.from = *log->from;
		job.upto = *log->upto;
	}
	job.priced = log->prices != NULL;
	if (job.priced)
		job.prices = *log->prices;
	(void)strlcpy(job.dir, log->dir, sizeof(job.dir));
	buf_init(&b, sizeof(job));
	buf_add(&b, &job, sizeof(job));
	rv = helper_run(&h, READ_MS, fault);
	buf_free(&b);
	if (rv == -1)
		carry_free(c);
	return rv;
}

int
carry_read_all(struct carry *c, int dirfd, const char *dir, struct fault *fault)
{
	struct carry_log log = {.dirfd = dirfd, .dir = dir};
	struct paths paths;
	int rv;

	if (paths_init(&paths, NULL, fault) == -1)
		return -1;
	log.libexecdir = paths.libexecdir;
	rv = carry_read(c, &log, fault);
	paths_free(&paths);
	return rv;
}
