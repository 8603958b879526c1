/* SPDX-License-Identifier: ISC */
/*
 * What the parts of the JSON reader share; private to this folder.
 */
#ifndef JSON_READER_H
#define JSON_READER_H

#include "common/json/json.h"

enum json_want {
	WANT_VALUE,
	WANT_ELEMENT,		/* or the end of an array just begun */
	WANT_NAME,
	WANT_MEMBER,		/* a name, or the end of an object just begun */
	WANT_COMMA,		/* or the end of what is open */
	WANT_END,
};

struct json_reader {
	struct value_pool *pool;
	const uint8_t *base, *p, *end;
	struct value *root;
	struct value *slot;	/* the member whose name was read */
	struct value *open[VALUE_MAX_DEPTH];
	uint64_t unsorted;	/* bit n: open[n] is to be sorted */
	unsigned depth, nodes;
	size_t bytes;		/* encoded size so far */
	unsigned max_nodes;
	size_t max_bytes;
	enum json_want want;
	bool repair;		/* a lone surrogate becomes U+FFFD */
	struct json_fail fail;
};

/* reader.c */
/* Notes the failure; always -1. */
int json_reader_fail(struct json_reader *, enum json_error, const uint8_t *at);
/* The byte at r->p, or the end, cannot stand there: notes why; always -1. */
int json_reader_unexpected(struct json_reader *);
/* n more bytes of the encoded tree, for what begins at `at`: 0, or -1. */
int json_reader_count(struct json_reader *, size_t n, const uint8_t *at);

/* string.c */
/* The string whose quote is at r->p: 0 with its text, or -1 and noted. */
int json_reader_string(struct json_reader *, struct span *);
/* Where in the text the string was whose contents json_reader_string gave. */
size_t json_reader_offset(const struct json_reader *, struct span);

#endif
