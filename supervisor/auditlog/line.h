/* SPDX-License-Identifier: ISC */
/*
 * The form of audit.jsonl (ironcurtain-audit.5): composing a line and
 * chaining it.  One line is one canonical JSON object; its members are sorted
 * by bytes, but `hash`, which stands last and is the SHA-256 of the line
 * without it.  Shared by auditd, by icsupervisor for the closing record that
 * auditd can no longer write, and by icctl to verify.
 */
#ifndef AUDITLOG_H
#define AUDITLOG_H

#include "common/buf.h"

#define AUDITLOG_HASH 32U
#define AUDITLOG_HEX (2 * AUDITLOG_HASH)
/* `,"hash":"<64 hex>"}`: the end of every line, before its newline. */
#define AUDITLOG_TAIL (9 + AUDITLOG_HEX + 2)

/* SHA-256 of n runs of bytes, one behind the other. */
typedef void auditlog_hash_fn(const struct span *, size_t n,
    uint8_t[AUDITLOG_HASH]);

struct auditlog {
	uint64_t seq;			/* of the next line */
	uint8_t prev[AUDITLOG_HASH];	/* hash of the last one */
	auditlog_hash_fn *hash;
};

/* A line being composed. Members must be added in the order of their bytes. */
struct auditlog_line {
	struct auditlog *log;
	struct buf *b;
	const char *event;
	size_t start;		/* b->len where the line begins */
	unsigned fixed;		/* common members written so far */
};

void auditlog_begin(struct auditlog_line *, struct auditlog *, struct buf *,
    const char *event);
void auditlog_str(struct auditlog_line *, const char *key, struct span);
/* Canonical JSON, as it is. */
void auditlog_json(struct auditlog_line *, const char *key, struct span);
void auditlog_u64(struct auditlog_line *, const char *key, uint64_t);
void auditlog_ms(struct auditlog_line *, const char *key, uint64_t us);
void auditlog_bool(struct auditlog_line *, const char *key, bool);
void auditlog_hex(struct auditlog_line *, const char *key, const void *,
    size_t);
/*
 * Adds hash and newline and moves the chain on. -1 with ENOBUFS or ENOMEM when
 * the buffer failed; the chain is then as before and b holds no part of it.
 */
int auditlog_end(struct auditlog_line *);

/* digest of a call: SHA-256 of the canonical [server, tool, arguments]. */
void auditlog_digest(auditlog_hash_fn *, struct span server, struct span tool,
    struct span arguments, uint8_t out[AUDITLOG_HASH]);

/* Checking a log, line by line. */
enum auditlog_check {
	AUDITLOG_GOOD,
	AUDITLOG_FORM,		/* not a line of ours */
	AUDITLOG_SEQ,		/* a gap or a repetition */
	AUDITLOG_PREV,		/* does not continue the line before */
	AUDITLOG_BROKEN,	/* its own hash is wrong: it was changed */
};
/*
 * Checks one line (without its newline) against log and moves log on when it
 * is good. `torn` ends of a line that a crash left, which the next line
 * follows on a new line, are AUDITLOG_FORM: the caller decides.
 */
enum auditlog_check auditlog_verify(struct auditlog *, struct span line);

#endif
