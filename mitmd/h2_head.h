/* SPDX-License-Identifier: ISC */
/*
 * Turns the fields of an HTTP/2 header block, as decoded by HPACK, into the
 * head that HTTP/1.1 would have had (RFC 9113 8.2, 8.3), so that one set of
 * checks serves both. Anything RFC 9113 calls malformed is refused, and
 * :authority is required. The fields come from the agent.
 */
#ifndef H2_HEAD_H
#define H2_HEAD_H

#include "common/buf.h"
#include "common/http/http1.h"

/* counting each name and value, plus 32 (RFC 9113 6.5.2) */
#define H2_MAX_LIST 65536U

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
	bool sized; /* has a Content-Length */
	size_t list;
	const char *bad; /* the first error */
	bool large;
};

void h2_head_init(struct h2_head *);
void h2_head_free(struct h2_head *);
/* Begin a new block. */
void h2_head_begin(struct h2_head *);
void h2_head_field(struct h2_head *, struct span name, struct span value);
/*
 * End the block; `ends` means that no body follows. For HTTP1_BAD, out->reason
 * and out->large are set and, for the log, as much of method and target as is
 * known. Spans point into the block. A body without a length appears as
 * transfer-encoding: chunked.
 */
enum http1_result h2_head_end(
    struct h2_head *, bool ends, struct http1_head *out);

#endif
