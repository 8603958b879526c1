/* SPDX-License-Identifier: ISC */
/*
 * The id of a JSON-RPC line that is not read into a tree, because it is too
 * long or not well-formed: the line goes by in pieces, brackets, quotes and
 * the members of its top-level object are followed, and nothing is kept but
 * the id.  So one bad line costs one call, wherever its id stands.
 */
#ifndef IDSCAN_H
#define IDSCAN_H

#include "mcp/jsonrpc.h"

/* Of the beginning of the line, to be shown. */
#define IDSCAN_SHOWN 64

enum idscan_want {
	IDSCAN_NAME,
	IDSCAN_COLON,
	IDSCAN_VALUE,
	IDSCAN_COMMA
};

struct idscan {
	bool bad, over; /* no object; the object has ended */
	unsigned depth;
	uint64_t objects;      /* bit n: what is open at depth n is an object */
	enum idscan_want want; /* at depth 1 */
	bool string, escape;
	bool name, id; /* this string or scalar is a name, an id */
	uint8_t token[JSONRPC_MAX_ID]; /* of it, so far */
	size_t ntoken;                 /* may be more than fits */
	bool scalar;                   /* a number or literal at depth 1 */
	char member[8]; /* the latest name at depth 1, if it is short */
	unsigned ids;
	bool response; /* a member result or error was seen */
	struct jsonrpc_id rid;
	uint8_t shown[IDSCAN_SHOWN];
	size_t nshown;
};

/* The first, or the next, piece of a line.  Begin with a struct of zeros. */
void idscan_feed(struct idscan *, struct span);
/*
 * At the end of the line: 0 and its id, or -1 if it has none, several, one
 * that is neither an integer nor a plain string, or is no object.
 */
int idscan_end(struct idscan *, struct jsonrpc_id *);
/* The number that an id is.  -1: it is none from 1 on. */
int idscan_number(const struct jsonrpc_id *, uint64_t *);
/* The same of a whole line. */
int idscan_line(struct span line, struct idscan *, struct jsonrpc_id *);

#endif
