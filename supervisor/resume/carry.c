/* SPDX-License-Identifier: ISC */
/*
 * Finds the records that matter in a log that may be large: those after the
 * last state that names everything. After an orderly end that state is just
 * before the checkpoint, and the chain is verified from it; after a crash it is
 * the one that the run wrote at its start.
 */
#include "resume/carry.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auditlog/scan.h"
#include "resume/carry_priv.h"

/* An orderly end writes a state and at most this much after it. */
#define CARRY_BACK (4U << 20)

/* Returns the offset of the line whose newline is before `end`. */
static size_t
carry_line_at(struct span all, size_t end)
{
	const uint8_t *nl = end < 2 ? NULL : memrchr(all.p, '\n', end - 1);

	return nl == NULL ? 0 : (size_t)(nl - all.p) + 1;
}

/*
 * Find the last state that names all approvals, at most CARRY_BACK before
 * `end`. Returns false if there is none.
 */
static bool
carry_base(struct span all, size_t end, size_t *base)
{
	size_t at, low = end > CARRY_BACK ? end - CARRY_BACK : 0;

	for (; end > low && end != 0; end = at) {
		at = carry_line_at(all, end);
		if (carry_is_base(span_of(all.p + at, end - at - 1))) {
			*base = at;
			return true;
		}
	}
	return false;
}

/* Returns true if the lines from `base` lead to the checkpoint. */
static bool
carry_leads(struct span all, size_t base, const struct checkpoint *to)
{
	struct span line, rest =
			      span_of(all.p + base, (size_t)to->offset - base);
	struct auditlog log;
	bool first = true;

	while (span_line(&rest, &line)) {
		if (first && !auditlog_before(line, &log))
			return false;
		first = false;
		if (auditlog_verify(&log, line) != AUDITLOG_GOOD)
			return false;
	}
	return !first && log.seq == to->log.seq &&
	       memcmp(log.prev, to->log.prev, AUDITLOG_HASH) == 0;
}

/*
 * Decide where to begin in a log of which everything after `from` is verified.
 * Returns -1 if the rest has to be verified first.
 */
static int
carry_begin(struct span all, const struct checkpoint *from, size_t *begin)
{
	*begin = 0;
	if (from->offset == 0 || from->offset > all.len)
		return from->offset == 0 ? 0 : -1;
	if (carry_base(all, (size_t)from->offset, begin) &&
	    carry_leads(all, *begin, from))
		return 0;
	*begin = 0;
	return -1;
}

/* Verify from the first record. Returns 0, or -1 with the fault set. */
static int
carry_verify(struct span *all, const char *dir, struct fault *fault)
{
	struct auditscan scan;

	auditscan(*all, &scan);
	if (scan.check != AUDITLOG_GOOD && !scan.tail)
		return fault_set(fault,
		    "%s/audit.jsonl line %zu: %s. Keep it as it is and use "
		    "another session",
		    dir, scan.line, auditscan_why(scan.check));
	all->len = scan.whole;
	return 0;
}

/* Do the same, but only after the checkpoint, if there is a good one. */
static int
carry_verify_from(struct span *all, int dirfd, const char *dir,
    struct checkpoint *from, struct fault *fault)
{
	struct auditscan scan;

	if (checkpoint_read(dirfd, from) && checkpoint_fits(from, *all)) {
		auditscan_from(*all, from, &scan);
		if (scan.check == AUDITLOG_GOOD || scan.tail) {
			all->len = scan.whole;
			return 0;
		}
	}
	from->offset = 0;
	return carry_verify(all, dir, fault);
}

static int
carry_read(struct carry *c, struct span all, int dirfd, const char *dir,
    const struct checkpoint *from, struct fault *fault)
{
	struct checkpoint found;
	struct span line;
	size_t begin;

	if (from == NULL) {
		if (carry_verify_from(&all, dirfd, dir, &found, fault) == -1)
			return -1;
		from = &found;
	}
	if (carry_begin(all, from, &begin) == -1 &&
	    carry_verify(&all, dir, fault) == -1)
		return -1;
	all = span_of(all.p + begin, all.len - begin);
	/* The state that it begins with is that of a run. */
	c->any = begin != 0;
	while (span_line(&all, &line))
		carry_line(c, line);
	return 0;
}

int
carry_load(struct carry *c, int dirfd, const char *dir,
    const struct checkpoint *from, uint64_t upto, struct fault *fault)
{
	struct stat st;
	uint8_t *p;
	int fd, rv;

	memset(c, 0, sizeof(*c));
	fd = openat(dirfd, "audit.jsonl",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 && errno == ENOENT)
		return 0;
	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		if (fd != -1)
			close(fd);
		return fault_set(
		    fault, "%s/audit.jsonl: cannot be read", dir);
	}
	if (st.st_size == 0) {
		close(fd);
		return 0;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return fault_errno(fault, "%s/audit.jsonl", dir);
	if (from == NULL || upto > (uint64_t)st.st_size)
		upto = (uint64_t)st.st_size;
	rv = carry_read(
	    c, span_of(p, (size_t)upto), dirfd, dir, from, fault);
	(void)munmap(p, (size_t)st.st_size);
	if (rv == -1)
		carry_free(c);
	return rv;
}

void
carry_free(struct carry *c)
{
	carry_grants_free(c);
	memset(c, 0, sizeof(*c));
}

const char *
carry_evidence(const struct carry *c, const char *boot, char *dst, size_t cap)
{
	const bool same = strcmp(c->boot, boot) == 0;

	if (!c->any)
		return NULL;
	if (c->how[0] != '\0') {
		snprintf(dst, cap, "%s", c->how);
		return dst;
	}
	if (c->orphan) {
		snprintf(dst, cap,
		    "icsupervisor was killed while the session ran");
		return dst;
	}
	/* A machine that lost its power is no evidence. */
	if (same && (!c->closed || c->status == 137)) {
		snprintf(dst, cap,
		    "every process of the session was killed while it ran");
		return dst;
	}
	return NULL;
}
