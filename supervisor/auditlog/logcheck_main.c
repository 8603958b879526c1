/* SPDX-License-Identifier: ISC */
/*
 * ic-logcheck: checks an audit log from its first record up to a byte. Holds
 * the log, open for reading, as standard input, and a pipe to icsupervisor,
 * which starts it and judges the report. The log contains what agents wrote, so
 * this program can do nothing else.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auditlog/recheck.h"
#include "common/confine/confine.h"
#include "common/log.h"

/* clang-format off */
static const enum pledge_promise logcheck_promises[] = {
	PLEDGE_STDIO,		/* maps the log, writes the report */
};

static const struct confine logcheck_confine = {
	.limits = {
		.nofile = 3,
		.fsize = 0,
		.data = 64U << 20,	/* one record as a tree */
		.memlock = 0,
	},
	.pledge = {
		.promises = logcheck_promises,
		.npromises =
		    nitems(logcheck_promises),
	},
};
/* clang-format on */

int
main(int argc, char **argv)
{
	struct recheck_report r;
	struct confine_state state;
	struct auditscan scan;
	uint64_t len;
	void *p;

	confine_early();
	log_init("ic-logcheck", false);
	if (argc != 2 || span_u64(span_str(argv[1]), SIZE_MAX, &len) == -1 ||
	    len == 0)
		fatalx("usage: ic-logcheck BYTES <LOG");
	/* The session's own work goes first. */
	(void)setpriority(PRIO_PROCESS, 0, 10);
	if (confine_apply(&logcheck_confine, &state) == -1)
		return 1;
	p = mmap(NULL, (size_t)len, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
	if (p == MAP_FAILED)
		fatal("mmap");
	auditscan(span_of(p, (size_t)len), &scan);
	memset(&r, 0, sizeof(r));
	r.check = scan.check;
	r.line = scan.line;
	r.seq = scan.seq;
	memcpy(r.hash, scan.hash, sizeof(r.hash));
	return write(STDOUT_FILENO, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1;
}
