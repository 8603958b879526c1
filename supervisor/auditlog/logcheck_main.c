/* SPDX-License-Identifier: ISC */
/*
 * ic-logcheck: checks one file of an audit log up to a byte, from the place in
 * the chain that its arguments name. Holds the file, open for reading, as
 * standard input, and a pipe to icsupervisor, which starts it for one file
 * after the other and judges the reports. The log contains what agents wrote,
 * so this program can do nothing else.
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

/*
 * Read the place where the file begins: the next record's number, the last
 * one's hash, and the log's format.
 */
static bool
place_of(char **argv, struct auditplace *at)
{
	uint64_t format;

	if (span_u64(span_str(argv[0]), UINT64_MAX, &at->log.seq) == -1 ||
	    strlen(argv[1]) != AUDITLOG_HEX ||
	    sha256_unhex(span_str(argv[1]), at->log.prev) == -1 ||
	    span_u64(span_str(argv[2]), INT64_MAX, &format) == -1)
		return false;
	at->format = (int64_t)format;
	return true;
}

int
main(int argc, char **argv)
{
	struct recheck_report r;
	struct confine_state state;
	struct auditscan scan;
	struct auditplace at;
	uint64_t len;
	void *p;

	confine_early();
	log_init("ic-logcheck", false);
	if (argc != 5 || span_u64(span_str(argv[1]), SIZE_MAX, &len) == -1 ||
	    len == 0 || !place_of(argv + 2, &at))
		fatalx("usage: ic-logcheck BYTES NUMBER HASH FORMAT <LOG");
	/* The session's own work goes first. */
	(void)setpriority(PRIO_PROCESS, 0, 10);
	if (confine_apply(&logcheck_confine, &state) == -1)
		return 1;
	p = mmap(NULL, (size_t)len, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
	if (p == MAP_FAILED)
		fatal("mmap");
	memset(&scan, 0, sizeof(scan));
	auditscan_file(span_of(p, (size_t)len), false, 0, &at, &scan);
	memset(&r, 0, sizeof(r));
	r.format = (uint64_t)at.format;
	r.check = scan.check;
	r.line = scan.line;
	r.seq = scan.seq;
	memcpy(r.hash, scan.hash, sizeof(r.hash));
	return write(STDOUT_FILENO, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1;
}
