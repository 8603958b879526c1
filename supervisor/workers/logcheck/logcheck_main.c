/* SPDX-License-Identifier: ISC */
/*
 * ic-logcheck: checks one file of an audit log from one byte up to another, at
 * the place in the chain that its arguments name, and says at intervals how far
 * it came. With "live" auditd may be writing the file: the check ends before
 * its last record, so that a checkpoint there has something after it, and the
 * file is synced, so that no loss of power makes it shorter than its
 * checkpoint. Holds the file, open for reading, as standard input, and a pipe
 * to icsupervisor, which starts it for one file after the other and judges the
 * reports. The log contains what agents wrote, so this program can do nothing
 * else.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/log.h"
#include "log/recheck.h"

#include <seccomp.h>

/* Bytes after which it reports. */
#define LOGCHECK_PIECE (16U << 20)

/* clang-format off */
static const enum pledge_promise logcheck_promises[] = {
	PLEDGE_STDIO,		/* maps the log, writes the report */
};

static const struct pledge_rule logcheck_rules[] = {
	{.nr = SCMP_SYS(fdatasync), .reason = "a log that is still written"},
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
		.rules = logcheck_rules,
		.nrules = nitems(logcheck_rules),
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

/* Returns the end of the line in which the piece that begins at `at` ends. */
static size_t
piece_end(struct span all, size_t at)
{
	const uint8_t *nl;

	if (all.len - at <= LOGCHECK_PIECE)
		return all.len;
	at += LOGCHECK_PIECE;
	nl = memchr(all.p + at, '\n', all.len - at);
	return nl == NULL ? all.len : (size_t)(nl - all.p) + 1;
}

/*
 * Check a piece of the file and advance both places. A line that a crash cut
 * short counts together with the record after it, in the next piece.
 */
static void
piece_check(struct span all, size_t *from, struct auditplace *at,
    struct auditscan *scan)
{
	const struct auditplace begin = *at;
	size_t end = piece_end(all, *from);

	for (unsigned i = 0; i < 2; i++) {
		*at = begin;
		memset(scan, 0, sizeof(*scan));
		auditscan_file(span_of(all.p + *from, end - *from), false, 0,
		    at, scan);
		if (scan->check != AUDITLOG_FORM || end == all.len)
			break;
		end = piece_end(all, end);
	}
	*from = end;
}

/* Returns the end of the last record but one. */
static size_t
live_end(struct span all)
{
	const uint8_t *nl = memrchr(all.p, '\n', all.len);

	if (nl != NULL)
		nl = memrchr(all.p, '\n', (size_t)(nl - all.p));
	return nl == NULL ? 0 : (size_t)(nl - all.p) + 1;
}

/* Write the report of a check that came nowhere. */
static int
logcheck_none(void)
{
	static const struct recheck_report r = {.check = AUDITLOG_GOOD};

	return write(STDOUT_FILENO, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1;
}

static int
logcheck_run(struct span all, size_t from, struct auditplace *at)
{
	struct recheck_report r;
	struct auditscan scan;
	uint64_t lines = 0;

	do {
		piece_check(all, &from, at, &scan);
		lines += scan.line;
		memset(&r, 0, sizeof(r));
		r.format = (uint64_t)at->format;
		r.check = scan.check;
		r.more = scan.check == AUDITLOG_GOOD && from < all.len;
		r.line = lines;
		r.seq = scan.seq;
		r.offset = from;
		memcpy(r.hash, scan.hash, sizeof(r.hash));
		if (write(STDOUT_FILENO, &r, sizeof(r)) != (ssize_t)sizeof(r))
			return 1;
	} while (r.more != 0);
	return 0;
}

int
main(int argc, char **argv)
{
	struct confine_state state;
	struct auditplace at;
	uint64_t from, len;
	struct span all;
	bool live = argc == 7 && strcmp(argv[6], "live") == 0;
	void *p;

	confine_early();
	log_init("ic-logcheck", false);
	if ((argc != 6 && !live) || span_u64(span_str(argv[1]), SIZE_MAX, &from) == -1 ||
	    span_u64(span_str(argv[2]), SIZE_MAX, &len) == -1 || from >= len ||
	    !place_of(argv + 3, &at))
		fatalx("usage: ic-logcheck FROM TO NUMBER HASH FORMAT [live] <LOG");
	/* The session's own work goes first. */
	(void)setpriority(PRIO_PROCESS, 0, 10);
	if (confine_apply(&logcheck_confine, &state) == -1)
		return 1;
	p = mmap(NULL, (size_t)len, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
	if (p == MAP_FAILED)
		fatal("mmap");
	all = span_of(p, (size_t)len);
	if (live) {
		/* A crash may have cut nothing but the last newline. */
		if (from != 0 && all.p[from - 1] != '\n' && all.p[from] == '\n')
			from++;
		all.len = live_end(all);
		if (all.len <= from || fdatasync(STDIN_FILENO) == -1)
			return logcheck_none();
	}
	return logcheck_run(all, (size_t)from, &at);
}
