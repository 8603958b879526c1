/* SPDX-License-Identifier: ISC */
/*
 * Strict JSON (RFC 8259) to and from value trees.  The reader takes exactly
 * one value with optional white space around it and refuses: duplicate member
 * names after unescaping, lone surrogates, invalid UTF-8, a BOM, control
 * characters in strings, NaN and other extensions, depth over
 * VALUE_MAX_DEPTH, and whatever exceeds the limits in value.h.  It is
 * iterative: no input makes the stack grow.
 */
#ifndef JSON_H
#define JSON_H

#include "common/json/value.h"

enum json_error {
	JSON_OK,
	JSON_SYNTAX,		/* not RFC 8259 */
	JSON_TRUNCATED,		/* ends too early */
	JSON_TRAILING,		/* something after the value */
	JSON_DUPLICATE,		/* member name twice in one object */
	JSON_UTF8,		/* ill-formed UTF-8, BOM or lone surrogate */
	JSON_NUMBER,		/* bad number, or longer than the limit */
	JSON_DEPTH,
	JSON_LIMIT,		/* nodes, members, string or pool size */
};

struct json_fail {
	enum json_error error;
	size_t at;		/* byte offset of the offence */
};

/*
 * The same, but an escape of a lone surrogate is read as U+FFFD: results of
 * MCP servers that cut texts without looking.
 */
const struct value *json_read_repaired(
    struct value_pool *, struct span text, struct json_fail *);

/*
 * The root, whose texts live in the pool or point into the text; or NULL with
 * *fail filled (fail may be NULL).
 */
const struct value *json_read(struct value_pool *, struct span text,
    struct json_fail *fail);
/* The same with other limits on nodes and encoded size: files of the user. */
const struct value *json_read_large(struct value_pool *, struct span text,
    unsigned nodes, size_t bytes, struct json_fail *fail);
/* "duplicate member name", ... : constant text, for messages. */
const char *json_strerror(enum json_error);

/*
 * Canonical: members in tree order (sorted), shortest escapes (\" \\ \b \f \n
 * \r \t, \u00XX for the other controls below 0x20, everything else as UTF-8),
 * numbers as received, no white space.
 */
int json_write(struct buf *, const struct value *);
/* One string with quotes, as above. The span must be valid UTF-8. */
int json_write_string(struct buf *, struct span);

#endif
