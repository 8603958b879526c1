/* SPDX-License-Identifier: ISC */
/*
 * Finds the id of a JSON-RPC line that is not read into a tree, because it is
 * too long or not well-formed.  The line is fed in pieces; brackets, quotes and
 * the members of its top-level object are followed, and only the id is kept.
 * So one bad line costs one call, wherever its id is.
 */
#ifndef IDSCAN_H
#define IDSCAN_H

#include "mcp/jsonrpc.h"

/* Bytes of the beginning of the line that are kept for messages. */
#define IDSCAN_SHOWN 64

enum idscan_want {
	IDSCAN_NAME,
	IDSCAN_COLON,
	IDSCAN_VALUE,
	IDSCAN_COMMA
};

struct idscan {
	bool bad, over; /* not an object; the object has ended */
	unsigned depth;
	uint64_t objects;      /* bit n: an object is open at depth n */
	enum idscan_want want; /* at depth 1 */
	bool string, escape;
	bool name, id; /* the current string or scalar is a name, an id */
	uint8_t token[JSONRPC_MAX_ID]; /* its bytes so far */
	size_t ntoken;                 /* may exceed sizeof(token) */
	bool scalar;                   /* a number or literal at depth 1 */
	char member[8];                /* the last name at depth 1, if short */
	unsigned ids;
	bool response; /* "result" or "error" was seen */
	struct jsonrpc_id rid;
	uint8_t shown[IDSCAN_SHOWN];
	size_t nshown;
};

/* Feed the next piece of a line.  Begin with a struct of zeros. */
void idscan_feed(struct idscan *, struct span);
/*
 * Call at the end of the line.  Returns 0 with the id, or -1 if the line has no
 * id, several, or one that is neither an integer nor a plain string, or is not
 * an object.
 */
int idscan_end(struct idscan *, struct jsonrpc_id *);
/* Convert an id to a number.  Returns -1 unless it is a number from 1 on. */
int idscan_number(const struct jsonrpc_id *, uint64_t *);
/* Scan a whole line; returns like idscan_end(). */
int idscan_line(struct span line, struct idscan *, struct jsonrpc_id *);

#endif
