/* SPDX-License-Identifier: ISC */
/* Shared by the parts of the JSON reader; private to this folder. */
#ifndef JSON_READER_H
#define JSON_READER_H

#include "common/json/json.h"

enum json_want {
	WANT_VALUE,
	WANT_ELEMENT,		/* or the end of a new array */
	WANT_NAME,
	WANT_MEMBER,		/* a name, or the end of a new object */
	WANT_COMMA,		/* or the end of the open container */
	WANT_END,
};

struct json_reader {
	struct value_pool *pool;
	const uint8_t *base, *p, *end;
	struct value *root;
	struct value *slot;	/* the member whose name was read */
	struct value *open[VALUE_MAX_DEPTH];
	uint64_t unsorted;	/* bit n: open[n] still has to be sorted */
	unsigned depth, nodes;
	size_t bytes;		/* encoded size so far */
	unsigned max_nodes;
	size_t max_bytes;
	enum json_want want;
	bool repair;		/* read a lone surrogate as U+FFFD */
	bool mark;		/* read what exceeds a limit as json_unread */
	struct json_fail fail;
};

/* reader.c */
/* Record the failure.  Always returns -1. */
int json_reader_fail(struct json_reader *, enum json_error, const uint8_t *at);
/*
 * Record why the byte at r->p, or the end, is not allowed here.  Always returns
 * -1.
 */
int json_reader_unexpected(struct json_reader *);
/*
 * Count `n` more bytes of the encoded tree, for the value at `at`.  Returns 0,
 * or -1 if the limit is exceeded.
 */
static inline int
json_reader_count(struct json_reader *r, size_t n, const uint8_t *at)
{
	if (n > r->max_bytes || (r->bytes += n) > r->max_bytes)
		return json_reader_fail(r, JSON_LIMIT, at);
	return 0;
}

/* mark.c */
/* Make the value json_unread. */
void json_reader_mark(struct value *);
/*
 * Skip the array or object that begins at r->p.  Returns 0, or -1 with the
 * failure recorded if it does not end.
 */
int json_reader_skip(struct json_reader *);

/* string.c */
/*
 * Read the string whose quote is at r->p.  Returns 0 with its text, or -1 with
 * the failure recorded.
 */
int json_reader_string(struct json_reader *, struct span *);
/*
 * Returns the offset in the text of the string that json_reader_string()
 * returned.
 */
size_t json_reader_offset(const struct json_reader *, struct span);

#endif
