/* SPDX-License-Identifier: ISC */
/*
 * JSON-RPC 2.0 as MCP uses it: one message per line, ids are strings or
 * integers, params are objects, no batches.  Shared by mcp-proxyd, mcp-backd
 * and the MCP servers of our own.  Any other message is reported as bad, with a
 * code and a text that says what is wrong and where.
 */
#ifndef JSONRPC_H
#define JSONRPC_H

#include "common/json/json.h"

/* The longest id or progress token, in bytes of JSON. */
#define JSONRPC_MAX_ID 256
#define JSONRPC_WHY 200

/* The newest revision of MCP that begins with `initialize`. */
#define JSONRPC_LATEST "2025-11-25"
/* The one without: each request says what it is. */
#define JSONRPC_MODERN "2026-07-28"
/* The members of a request's _meta in that revision. */
#define JSONRPC_META "io.modelcontextprotocol/"
/*
 * A member of the result that mcp-backd makes of the confirmation of a
 * subscription: its request stays open.
 */
#define JSONRPC_LISTENING "listening"

enum jsonrpc_code {
	JSONRPC_PARSE = -32700,
	JSONRPC_INVALID = -32600,
	JSONRPC_METHOD = -32601,
	JSONRPC_PARAMS = -32602,
	JSONRPC_INTERNAL = -32603,
	JSONRPC_LIMIT = -32000,       /* our own: too many of something */
	JSONRPC_NO_RESOURCE = -32002, /* MCP: there is no such resource */
	JSONRPC_URL_WANTED = -32042, /* MCP: a person has to visit an address */
	JSONRPC_HEADERS = -32020,    /* MCP: headers and message differ */
	JSONRPC_CAPABILITY = -32021, /* MCP: the client lacks a capability */
	JSONRPC_VERSION = -32022,    /* MCP: the server lacks the revision */
	JSONRPC_REFUSED = 1000, /* our own, where -32000 is not to be used */
};

enum jsonrpc_kind {
	JSONRPC_BAD,
	JSONRPC_REQUEST,
	JSONRPC_NOTIFICATION,
	JSONRPC_RESULT,
	JSONRPC_ERROR,
};

/*
 * An id as JSON text: equal ids have equal bytes.  len is 0 if it is missing or
 * null.
 */
struct jsonrpc_id {
	uint16_t len;
	uint8_t text[JSONRPC_MAX_ID];
};

/* Copy the bytes that the id has. */
static inline void
jsonrpc_id_copy(struct jsonrpc_id *to, const struct jsonrpc_id *from)
{
	to->len = from->len;
	memcpy(to->text, from->text, from->len);
}

struct jsonrpc {
	enum jsonrpc_kind kind;
	struct jsonrpc_id id;    /* if there is a usable one */
	const struct value *rid; /* the same id as a value, or NULL */
	struct span method;
	const struct value *params; /* an object, or NULL */
	const struct value *result;
	struct span message;      /* the error's text */
	int64_t error;            /* the error's code */
	const struct value *data; /* the error's, or NULL */
	/* BAD */
	bool response; /* meant as an answer */
	enum jsonrpc_code code;
	struct json_fail fail; /* if code is JSONRPC_PARSE */
	char why[JSONRPC_WHY]; /* printable ASCII */
};

/*
 * Read one line (without its newline).  Everything in `*msg` is valid as long
 * as `pool` and `line` are.  Never fails: a message that cannot be accepted is
 * JSONRPC_BAD.
 */
void jsonrpc_read(struct value_pool *, struct span line, struct jsonrpc *msg);
/* Like jsonrpc_read(), but a lone surrogate in a string is read as U+FFFD. */
void jsonrpc_read_repaired(
    struct value_pool *, struct span line, struct jsonrpc *msg);
/* The same, as json_read_marked() reads. */
void jsonrpc_read_marked(
    struct value_pool *, struct span line, struct jsonrpc *msg);

/*
 * Find the "id" member, a number from 1 on, of a top-level object that
 * json_read() refused, as idscan.h does.  Returns 0, or -1.
 */
int jsonrpc_find_id(struct span line, uint64_t *id);

/*
 * Make an id from a string or integer.  Returns -1 if the value is neither, or
 * too long.
 */
int jsonrpc_id_set(struct jsonrpc_id *, const struct value *);

static inline bool
jsonrpc_id_eq(const struct jsonrpc_id *a, const struct jsonrpc_id *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/*
 * Append a whole line, with its newline.  An id that is NULL or has length 0 is
 * left out.
 */
int jsonrpc_add_error(
    struct buf *, const struct jsonrpc_id *, int64_t code, struct span message);
/* The same with `data`, which is JSON of ours; empty: none. */
int jsonrpc_add_error_data(struct buf *, const struct jsonrpc_id *,
    int64_t code, struct span message, struct span data);
/* Append a tool's result that consists of one text. */
int jsonrpc_add_text(
    struct buf *, const struct jsonrpc_id *, struct span text, bool error);
/* Returns the protocol version to answer to a peer that asks for this one. */
const char *jsonrpc_version(struct span asked);
/* Returns true for a revision that begins with `initialize` and that we speak.
 */
bool jsonrpc_version_old(struct span);
/* Append what comes before and after the JSON of a result. */
int jsonrpc_add_head(struct buf *, const struct jsonrpc_id *);
int jsonrpc_add_tail(struct buf *);

#endif
