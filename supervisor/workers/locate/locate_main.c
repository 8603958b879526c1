/* SPDX-License-Identifier: ISC */
/*
 * ic-locate: finds the programs of MCP servers and agents for icsupervisor
 * (box/locate_job.h). It reads names and the beginnings of the user's files, and
 * the files of packages, which others wrote. Whoever takes it over there can
 * name another program of the user's, or another directory to be shown to a
 * server, which icsupervisor checks as it checks those of the configuration, or
 * say that a server's code is that of the last session.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "box/locate_job.h"
#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/log.h"
#include "workers/locate/locate_priv.h"

#include <seccomp.h>

/* clang-format off */
#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}

static const enum pledge_promise locate_promises[] = {
	PLEDGE_STDIO,		/* reads files, writes reports */
};

static const struct pledge_rule locate_rules[] = {
	CALL(openat, "programs, package.json, and what a path really is"),
	CALL(faccessat, "whether a file can be executed"),
	CALL(faccessat2, "the same, in newer libraries"),
	CALL(newfstatat, "what is in a directory"),
	CALL(statx, "the same, in newer libraries"),
	CALL(readlink, "the real path of a descriptor"),
	CALL(readlinkat, "the same"),
	CALL(getdents64, "packages that npx has fetched"),
	CALL(lseek, "readdir"),
	CALL(fcntl, "readdir sets close-on-exec"),
};

static struct unveil_path locate_unveil[] = {
	{-1, UNVEIL_READ},	/* the whole machine */
};

static const struct confine locate_confine = {
	.keep = CONFINE_KEEP_ROOT,
	.limits = {
		.nofile = 64,
		.fsize = 0,
		.data = 64U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = locate_promises,
		.npromises = nitems(locate_promises),
		.rules = locate_rules,
		.nrules = nitems(locate_rules),
	},
	.unveil = locate_unveil,
	.nunveil = nitems(locate_unveil),
};
/* clang-format on */

static struct {
	struct paths paths;
	struct locate where;
	const char *command;
	bool plain;
	char *args[LOCATE_MAX_WORDS + 1];
	size_t nargs;
	struct buf out;
} job;

/* Report one program. */
static void
job_find(void)
{
	struct fault fault = {.text = ""};
	struct program p;
	char *code;

	job.args[job.nargs] = NULL;
	if (locate_program(&job.where, job.command, job.plain, job.args, &p,
		&fault) == -1) {
		report_add(&job.out, LOCATE_WHY, fault.text);
		return;
	}
	report_add(&job.out, LOCATE_PATH, p.path);
	for (char **a = p.argv; *a != NULL; a++)
		report_add(&job.out, LOCATE_WORD, *a);
	for (unsigned i = 0; i < p.ntrees; i++)
		report_add(&job.out, LOCATE_TREE, p.trees[i]);
	if (p.ours)
		report_add(&job.out, LOCATE_OURS, "");
	/* Nobody asks for an agent's. */
	code = job.plain ? NULL : locate_code(&job.where, &p);
	if (code != NULL)
		report_add(&job.out, LOCATE_CODE, code);
	free(code);
	report_add(&job.out, LOCATE_FOUND, "");
	program_free(&p);
}

static void
job_take(int letter, char *text)
{
	switch (letter) {
	case LOCATE_HOME:
		job.paths.user_home = text;
		return;
	case LOCATE_BIN:
		job.paths.bindir = text;
		return;
	case LOCATE_ENV:
		job.where.path_env = text;
		return;
	case LOCATE_BASE:
		job.where.base = text;
		return;
	case LOCATE_ARG:
		if (job.nargs == LOCATE_MAX_WORDS)
			fatalx("too many arguments");
		job.args[job.nargs++] = text;
		return;
	case LOCATE_COMMAND:
	case LOCATE_FILE:
		if (job.command != NULL)
			job_find();
		job.command = text;
		job.plain = letter == LOCATE_FILE;
		job.nargs = 0;
		return;
	default:
		fatalx("not a job");
	}
}

int
main(int argc, char **argv)
{
	static char in[LOCATE_JOB + 1];
	struct confine_state state;
	struct span rest;
	const char *text;
	int letter;

	(void)argv;
	confine_early();
	log_init(LOCATE_PROGRAM_NAME, false);
	if (argc != 2)
		fatalx("icsupervisor starts this program");
	locate_unveil[0].fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (locate_unveil[0].fd == -1 ||
	    confine_apply(&locate_confine, &state) == -1)
		return 1;
	if (report_read(in, sizeof(in), &rest) == -1)
		fatalx("the job cannot be read");
	job.where.paths = &job.paths;
	buf_init(&job.out, LOCATE_JOB);
	while (report_next(&rest, &letter, &text))
		job_take(letter, (char *)(uintptr_t)text);
	if (job.command != NULL)
		job_find();
	report_add(&job.out, REPORT_END, "");
	if (buf_check(&job.out) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&job.out)) == -1)
		return 1;
	return 0;
}
