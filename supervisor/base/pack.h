/* SPDX-License-Identifier: ISC */
/*
 * Writes the members of a structure to bytes and reads them back, by a table of
 * rows: how ic-reader hands over what it has read. The bytes are read as if
 * they were hostile: every number, text and list has the limit of its row.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stddef.h>

#include "common/buf.h"

enum pack_kind {
	PACK_BOOL,
	PACK_NUMBER,  /* unsigned, of `size` bytes, at most `most` */
	PACK_SIGNED,  /* an int64_t */
	PACK_DOUBLE,  /* finite, and not negative */
	PACK_BYTES,   /* `size` of them */
	PACK_TEXT,    /* in an array of `size` bytes */
	PACK_STRING,  /* a char *, allocated, or NULL */
	PACK_STRINGS, /* a char **, which ends in NULL, or NULL */
	PACK_JSON,    /* a struct json_object *, or NULL */
	PACK_NAME,    /* a const char *, one of `names`, or NULL */
	PACK_PART,    /* a structure with rows of its own */
};

struct pack_row {
	enum pack_kind kind;
	size_t at, size;
	uint64_t most;
	const struct pack_row *rows; /* those of a part */
	size_t nrows;
	/*
	 * `n` of them follow each other, unless it is 0; as many as the member
	 * at `count`, of `count_size` bytes, says, if that is not 0.
	 */
	size_t n, count, count_size;
	const char *const *names; /* the last one is NULL */
};

#define PACK_MAX_TEXT ((size_t)8 << 20)
#define PACK_MAX_STRINGS 4096U

/* Add the members of the structure. Returns 0, or -1 if one does not fit. */
int pack_put(struct buf *, const struct pack_row *, size_t nrows, const void *);
/*
 * Take the members off the front of the bytes into the structure, which is all
 * zero, except that lists with a count may have anything in them. Returns 0, or
 * -1: what has been allocated until then is there.
 */
int pack_take(struct span *, const struct pack_row *, size_t nrows, void *);

#endif
