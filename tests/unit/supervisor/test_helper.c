/* SPDX-License-Identifier: ISC */
/*
 * Tests how a short-lived program of ours is run, with scripts in its place: it
 * may say anything, say nothing, or not end.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/base/helper.h"
#include "supervisor/base/report.h"
#include "tap.h"

static char dir[] = "/tmp/test_helper.XXXXXX";
static char seen[4096];
static bool stop;

static int
take(int letter, const char *text, struct fault *fault)
{
	size_t n = strlen(seen);

	if (letter == 'z')
		return fault_set(fault, "refused: %s", text);
	if (strcmp(text, "ready") == 0)
		stop = true;
	snprintf(seen + n, sizeof(seen) - n, "%c=%.1000s;", letter, text);
	return 0;
}

static bool
stopped(void)
{
	return stop;
}

/* Run a script as the helper. Returns as helper_run() does. */
static int
run(const char *script, uint64_t ms, struct fault *fault)
{
	char path[64], *const envp[] = {NULL};
	struct buf job;
	struct helper h = {.libexecdir = dir,
	    .name = "helper",
	    .task = "task",
	    .job = &job,
	    .envp = envp,
	    .take = take,
	    .stopped = stopped};
	FILE *f;
	int rv;

	snprintf(path, sizeof(path), "%s/helper", dir);
	if ((f = fopen(path, "we")) == NULL)
		abort();
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	if (chmod(path, 0700) == -1)
		abort();
	seen[0] = '\0';
	buf_init(&job, 4096);
	report_add(&job, 'j', "job");
	rv = helper_run(&h, ms, fault);
	buf_free(&job);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "nothing is left of it");
	return rv;
}

static void
test_reports(void)
{
	struct fault fault = {""};

	is_int(run("printf 'aone\\0btwo\\0.\\0'", 60000, &fault), 0,
	    "reports are taken");
	is_str(seen, "a=one;b=two;", "each of them");
	is_int(run("cat; printf '.\\0'", 60000, &fault), 0, "it gets its job");
	is_str(seen, "j=job;", "whole");
	is_int(run("printf 'ao'; printf 'ne\\0'; printf '.'; printf '\\0'",
		   60000, &fault),
	    0, "a report may come in parts");
	is_str(seen, "a=one;", "and is one");
	is_int(run("printf 'a\\0.\\0bmore\\0'", 60000, &fault), 0,
	    "the last report is the last");
	is_str(seen, "a=;", "and nothing behind it counts");
	is_int(run("printf \"a$1\\0.\\0\"", 60000, &fault), 0, "its argument");
	is_str(seen, "a=task;", "is its task");
}

static void
test_bad(void)
{
	struct fault fault = {""};

	is_int(run("printf 'aone\\0'", 60000, &fault), -1,
	    "without the last report it has failed");
	is_str(fault.text, "helper ended early", "and that is said");
	is_int(run("printf 'aone\\0b.'", 60000, &fault), -1,
	    "an incomplete report is none");
	is_str(seen, "a=one;", "and is not taken");
	is_int(run("printf 'zbad\\0.\\0'", 60000, &fault), -1,
	    "a report that is not taken ends it");
	is_str(fault.text, "refused: bad", "with the reason");
	is_int(run("head -c 2000000 /dev/zero | tr '\\0' x; exec sleep 600",
		   60000, &fault),
	    -1, "a report without an end");
	is_str(fault.text, "helper: the report is not valid", "is too long");
	is_int(run("exec sleep 600", 200, &fault), -1, "one that does not end");
	is_str(fault.text, "helper has not ended in time", "is ended");
}

static void
test_stop(void)
{
	struct fault fault = {""};

	/* It wants to end as soon as the script is ready for it. */
	is_int(run("trap 'printf \"astopped\\0.\\0\"; exit' TERM; "
		   "printf 'aready\\0'; while sleep 0.1; do :; done",
		   60000, &fault),
	    0, "one that is asked to end");
	is_str(seen, "a=ready;a=stopped;", "ends as it likes");
	stop = false;
}

static void
test_none(void)
{
	struct buf job;
	struct fault fault = {""};
	char *const envp[] = {NULL};
	struct helper h = {.libexecdir = dir,
	    .name = "none",
	    .task = "task",
	    .job = &job,
	    .envp = envp,
	    .take = take};

	buf_init(&job, 16);
	is_int(helper_run(&h, 1000, &fault), -1, "a program that is not there");
	is_str(fault.text, "none: No such file or directory", "is named");
	report_add(&job, 'a', "more than sixteen bytes");
	is_int(helper_run(&h, 1000, &fault), -1, "a job that is too long");
	buf_free(&job);
}

int
main(void)
{
	char path[64];

	if (mkdtemp(dir) == NULL)
		abort();
	test_reports();
	test_bad();
	test_stop();
	test_none();
	snprintf(path, sizeof(path), "%s/helper", dir);
	(void)unlink(path);
	(void)rmdir(dir);
	return tap_done();
}
