/* SPDX-License-Identifier: ISC */
/*
 * The form of audit.jsonl (ironcurtain-audit.5): composing a line and chaining
 * it. Each line is one canonical JSON object. Its members are sorted by bytes,
 * except `hash`, which comes last and is the SHA-256 of the line without it.
 * Shared by auditd, by icsupervisor for the closing record that auditd can no
 * longer write, and by icctl to verify a log.
 */
#ifndef AUDITLOG_H
#define AUDITLOG_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/sha256.h"

#define AUDITLOG_HASH SHA256_SIZE
#define AUDITLOG_HEX (2 * AUDITLOG_HASH)
/* The end of every line, before its newline: `,"hash":"<64 hex>"}`. */
#define AUDITLOG_TAIL (9 + AUDITLOG_HEX + 2)

struct auditlog {
	uint64_t seq;			/* the next line's */
	uint8_t prev[AUDITLOG_HASH];	/* hash of the last line */
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
/*
 * Add a member.  The functions take its name as AUDITLOG_KEY() of a literal; use
 * the macros.
 */
#define AUDITLOG_KEY(name) SPAN(",\"" name "\":")
void auditlog_add_str(struct auditlog_line *, struct span key, struct span);
void auditlog_add_json(struct auditlog_line *, struct span key, struct span);
void auditlog_add_u64(struct auditlog_line *, struct span key, uint64_t);
void auditlog_add_ms(struct auditlog_line *, struct span key, uint64_t us);
void auditlog_add_time(struct auditlog_line *, struct span key, uint64_t us);
void auditlog_add_hex(struct auditlog_line *, struct span key, const void *,
    size_t);

#define auditlog_str(l, name, s) auditlog_add_str(l, AUDITLOG_KEY(name), s)
/* The value is canonical JSON, unchanged. */
#define auditlog_json(l, name, s) auditlog_add_json(l, AUDITLOG_KEY(name), s)
#define auditlog_u64(l, name, v) auditlog_add_u64(l, AUDITLOG_KEY(name), v)
#define auditlog_ms(l, name, us) auditlog_add_ms(l, AUDITLOG_KEY(name), us)
/* A time by clock_wall_us(), in the form of the member `time`. */
#define auditlog_time(l, name, us) auditlog_add_time(l, AUDITLOG_KEY(name), us)
#define auditlog_bool(l, name, v)                                              \
	auditlog_json(l, name, (v) ? SPAN("true") : SPAN("false"))
#define auditlog_hex(l, name, p, len)                                          \
	auditlog_add_hex(l, AUDITLOG_KEY(name), p, len)

/*
 * Add the hash and a newline, and advance the chain. Returns 0, or -1 with
 * errno ENOBUFS if the buffer is full; the chain is then unchanged and the
 * buffer contains no part of the line.
 */
int auditlog_end(struct auditlog_line *);

/*
 * Compute a call's digest: SHA-256 of the canonical [server, tool, arguments],
 * or [server, tool, arguments, named] if `named` is not empty.
 */
void auditlog_digest(struct span server, struct span tool,
    struct span arguments, struct span named, uint8_t out[AUDITLOG_HASH]);

/* The result of checking one line of a log. */
enum auditlog_check {
	AUDITLOG_GOOD,
	AUDITLOG_FORM,		/* not an audit line */
	AUDITLOG_SEQ,		/* a gap or a repetition */
	AUDITLOG_PREV,		/* does not continue the line before */
	AUDITLOG_BROKEN,	/* its own hash is wrong: it was changed */
};
/*
 * Check one line (without its newline) and advance `log` if it is good. The
 * start of a line that a crash cut short is AUDITLOG_FORM; the caller decides
 * whether to accept it.
 */
enum auditlog_check auditlog_verify(struct auditlog *, struct span line);
/*
 * Set `log` to the chain before this line, by what the line says. Returns false
 * if it is none.
 */
bool auditlog_before(struct span line, struct auditlog *);
/* Returns true if the line is intact and its hash is this one. */
bool auditlog_hash_is(struct span line, const uint8_t hash[AUDITLOG_HASH]);

#endif
