/* SPDX-License-Identifier: ISC */
/*
 * The fields of one HTTP/2 header block, as they come out of HPACK, made into
 * the head that HTTP/1.1 would have had (RFC 9113 8.2, 8.3), so that one set
 * of checks reads both.  Strict: what RFC 9113 calls malformed is so here,
 * and :authority must be there.  Fields are the agent's.
 */
#ifndef H2_HEAD_H
#define H2_HEAD_H

#include "common/buf.h"
#include "common/http/http1.h"

#define H2_MAX_LIST 65536U /* each name, value and 32 (RFC 9113 6.5.2) */

enum h2_pseudo {
	H2_METHOD,
	H2_SCHEME,
	H2_AUTHORITY,
	H2_PATH,
	H2_PSEUDOS,
};

struct h2_field {
	size_t name, value; /* offsets in mem */
	size_t nname, nvalue;
};

struct h2_head {
	struct buf mem;
	struct h2_field pseudo[H2_PSEUDOS];
	struct h2_field fields[HTTP1_MAX_HEADERS];
	unsigned seen; /* bits of h2_pseudo */
	unsigned n;
	bool sized; /* Content-Length is among them */
	size_t list;
	const char *bad; /* the first thing that is wrong */
	bool large;
};

void h2_head_init(struct h2_head *);
void h2_head_free(struct h2_head *);
/* A new block begins. */
void h2_head_begin(struct h2_head *);
void h2_head_field(struct h2_head *, struct span name, struct span value);
/*
 * All have come; ends: no body follows.  HTTP1_BAD: out->reason, out->large,
 * and, for the log, what there is of method and target.  Spans point into
 * the block.  A body without a length appears as transfer-encoding: chunked.
 */
enum http1_result h2_head_end(
    struct h2_head *, bool ends, struct http1_head *out);

#endif
