/* SPDX-License-Identifier: ISC */
/*
 * JSON-RPC 2.0 as MCP uses it: one message a line, ids are strings or
 * integers, params are objects, no batches.  Shared by mcp-proxyd, mcp-backd
 * and icfs.  A message that is anything else is said to be bad, with the code
 * and a text that says what and where.
 */
#ifndef JSONRPC_H
#define JSONRPC_H

#include "common/json/json.h"

/* Of an id or a progress token, written as JSON. */
#define JSONRPC_MAX_ID 256
#define JSONRPC_WHY 200

enum jsonrpc_code {
	JSONRPC_PARSE = -32700,
	JSONRPC_INVALID = -32600,
	JSONRPC_METHOD = -32601,
	JSONRPC_PARAMS = -32602,
	JSONRPC_INTERNAL = -32603,
	JSONRPC_LIMIT = -32000, /* ours: too many of something */
};

enum jsonrpc_kind {
	JSONRPC_BAD,
	JSONRPC_REQUEST,
	JSONRPC_NOTIFICATION,
	JSONRPC_RESULT,
	JSONRPC_ERROR,
};

/* An id as JSON text: equal ids have equal bytes. len 0: none, or null. */
struct jsonrpc_id {
	uint16_t len;
	uint8_t text[JSONRPC_MAX_ID];
};

struct jsonrpc {
	enum jsonrpc_kind kind;
	struct jsonrpc_id id;    /* when there is a usable one */
	const struct value *rid; /* the same, as value; or NULL */
	struct span method;
	const struct value *params; /* an object, or NULL */
	const struct value *result;
	struct span message; /* of the error */
	int64_t error;       /* its code */
	/* BAD */
	bool response; /* it was meant to be an answer */
	enum jsonrpc_code code;
	struct json_fail fail; /* when code is JSONRPC_PARSE */
	char why[JSONRPC_WHY]; /* printable ASCII */
};

/*
 * Reads one line (without its newline). Everything in *msg lives as long as
 * pool and line. Never fails: what cannot be taken is JSONRPC_BAD.
 */
void jsonrpc_read(struct value_pool *, struct span line, struct jsonrpc *msg);
/* The same; a lone surrogate in a string is read as U+FFFD. */
void jsonrpc_read_repaired(
    struct value_pool *, struct span line, struct jsonrpc *msg);

/*
 * The id member, a number from 1 on, of a top-level object that json_read
 * refused, as idscan.h finds it. 0, or -1.
 */
int jsonrpc_find_id(struct span line, uint64_t *id);

/* A string or an integer as JSON text; -1 when it is neither or too long. */
int jsonrpc_id_set(struct jsonrpc_id *, const struct value *);

static inline bool
jsonrpc_id_eq(const struct jsonrpc_id *a, const struct jsonrpc_id *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Whole lines, newline included. An id of NULL or length 0 is left out. */
int jsonrpc_add_error(
    struct buf *, const struct jsonrpc_id *, int64_t code, struct span message);
/* A tool's result that is one text. */
int jsonrpc_add_text(
    struct buf *, const struct jsonrpc_id *, struct span text, bool error);
/* The protocol version to agree on with who asks for this one. */
const char *jsonrpc_version(struct span asked);
/* What stands before and after the bytes of a result. */
int jsonrpc_add_head(struct buf *, const struct jsonrpc_id *);
int jsonrpc_add_tail(struct buf *);

#endif
