/* SPDX-License-Identifier: ISC */
/*
 * Finds the records that matter in a log that may be large: those after the
 * last state that names everything, and after one a second before it. After an
 * orderly end that state is just before the checkpoint, and the chain is
 * verified from there. After a crash it is the one that the run wrote at its
 * start, and the records of the whole run matter; but a long run writes such a
 * state now and then, with a checkpoint after it.
 */
#include "resume/carry.h"

#include <stdio.h>
#include <string.h>

#include "log/scan.h"
#include "resume/carry_priv.h"

/*
 * An orderly end writes a state and at most this much after it; the start of a
 * run is looked for as far back.
 */
#define CARRY_NEAR (4U << 20)
/* A checkpoint of a run that goes on has two states in so much before it. */
#define CARRY_BACK (32U << 20)

/* Returns the offset of the line whose newline is before `end`. */
static size_t
carry_line_at(struct span all, size_t end)
{
	const uint8_t *nl = end < 2 ? NULL : memrchr(all.p, '\n', end - 1);

	return nl == NULL ? 0 : (size_t)(nl - all.p) + 1;
}

/*
 * Find the last state that names all approvals, and a state a second before it,
 * at most CARRY_BACK before `end`. Without the latter, the former is where to
 * begin after an orderly end. After a crash the start of its run comes first:
 * what the session spent is certain only from there. Returns false if there is
 * nothing to begin with.
 */
static bool
carry_base(struct span all, size_t end, bool orderly, size_t *base)
{
	size_t at, low = end > CARRY_BACK ? end - CARRY_BACK : 0;
	size_t near = end > CARRY_NEAR ? end - CARRY_NEAR : 0;
	struct carry_base b = {.orderly = orderly};
	bool done = false, older, found;

	for (; end > low && !done && (end > near || !b.older); end = at) {
		at = carry_line_at(all, end);
		older = b.older;
		found = b.found;
		done = carry_base_line(&b, span_of(all.p + at, end - at - 1));
		if (done || b.older != older || (orderly && b.found != found))
			*base = at;
	}
	return b.older || (orderly && b.found);
}

/* Returns true if the lines from `base` lead to the checkpoint. */
static bool
carry_leads(struct span all, size_t base, const struct checkpoint *to)
{
	struct span line,
	    rest = span_of(all.p + base, (size_t)to->offset - base);
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
 * Decide where to begin in the file of the checkpoint, of which everything
 * after `from` is verified. Returns -1 if the rest has to be verified first.
 */
static int
carry_begin(int dirfd, unsigned older, const struct checkpoint *from,
    bool orderly, size_t *begin)
{
	char name[AUDITPARTS_NAME];
	struct span all;
	int rv = -1;

	*begin = 0;
	if (auditparts_map(
		dirfd, auditparts_name(from->part, older, name), &all) == -1)
		return -1;
	if (from->offset <= all.len &&
	    carry_base(all, (size_t)from->offset, orderly, begin) &&
	    carry_leads(all, *begin, from))
		rv = 0;
	auditparts_unmap(&all);
	return rv;
}

/*
 * Verify from the first record. Sets `upto` to the end of the last one. Returns
 * 0, or -1 with the fault set.
 */
static int
carry_verify(
    int dirfd, const char *dir, struct checkpoint *upto, struct fault *fault)
{
	struct auditscan scan;

	if (auditscan(dirfd, dir, NULL, 0, &scan, fault) == -1)
		return -1;
	if (!auditscan_good(&scan))
		return auditscan_fault(&scan, dir,
		    "Keep it as it is and use another session", fault);
	upto->part = scan.part;
	upto->offset = scan.whole;
	return 0;
}

/* Do the same, but only after the checkpoint, if there is a good one. */
static int
carry_verify_from(int dirfd, const char *dir, struct checkpoint *from,
    struct checkpoint *upto, struct fault *fault)
{
	struct auditscan scan;

	if (checkpoint_read(dirfd, from, NULL) && checkpoint_fits(from, dirfd)) {
		if (auditscan(dirfd, dir, from, 0, &scan, fault) == -1)
			return -1;
		if (auditscan_good(&scan)) {
			upto->part = scan.part;
			upto->offset = scan.whole;
			return 0;
		}
	}
	from->offset = 0;
	return carry_verify(dirfd, dir, upto, fault);
}

/* Take the lines of all files from part `part`, there from byte `begin`. */
static int
carry_lines(struct carry *c, int dirfd, unsigned part, size_t begin,
    const struct checkpoint *upto)
{
	char name[AUDITPARTS_NAME];
	struct span all, rest, line;

	for (; part <= upto->part; part++, begin = 0) {
		if (auditparts_map(dirfd,
			auditparts_name(part, upto->part - 1, name),
			&all) == -1)
			return -1;
		rest = all;
		if (part == upto->part && upto->offset < rest.len)
			rest.len = (size_t)upto->offset;
		if (begin > rest.len)
			begin = rest.len;
		rest = span_of(rest.p + begin, rest.len - begin);
		while (span_line(&rest, &line))
			carry_line(c, line);
		auditparts_unmap(&all);
	}
	return 0;
}

int
carry_load(struct carry *c, const struct prices *prices, int dirfd,
    const char *dir, const struct checkpoint *from,
    const struct checkpoint *end, struct fault *fault)
{
	struct checkpoint found, upto;
	size_t begin = 0;
	unsigned part = 1;

	memset(c, 0, sizeof(*c));
	c->prices = prices;
	if (!auditparts_any(dirfd))
		return 0;
	if (from != NULL) {
		upto = *end;
	} else {
		if (carry_verify_from(dirfd, dir, &found, &upto, fault) == -1)
			return -1;
		from = &found;
	}
	if (from->offset != 0) {
		/* Only an orderly end leaves nothing behind its checkpoint. */
		c->orderly =
		    from->part == upto.part && from->offset == upto.offset;
		if (carry_begin(
			dirfd, upto.part - 1, from, c->orderly, &begin) == 0) {
			part = from->part;
		} else {
			begin = 0;
			if (carry_verify(dirfd, dir, &upto, fault) == -1)
				return -1;
		}
	}
	/* The record that it begins with is that of a run. */
	c->any = begin != 0 || part != 1;
	if (carry_lines(c, dirfd, part, begin, &upto) == -1) {
		carry_free(c);
		return fault_errno(fault, "%s/audit.jsonl", dir);
	}
	return 0;
}
