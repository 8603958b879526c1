/* SPDX-License-Identifier: ISC */
/*
 * Strict JSON (RFC 8259) to and from value trees.  The reader accepts exactly
 * one value, with optional white space around it.  It refuses duplicate member
 * names (after unescaping), lone surrogates, invalid UTF-8, a BOM, control
 * characters in strings, NaN and other extensions, depth over VALUE_MAX_DEPTH,
 * and anything that exceeds the limits in value.h.  It is iterative: no input
 * makes the stack grow.
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
	size_t at;		/* byte offset of the failure */
};

/*
 * Like json_read(), but read the escape of a lone surrogate as U+FFFD: for
 * results of MCP servers that cut texts in the middle of a character.
 */
const struct value *json_read_repaired(
    struct value_pool *, struct span text, struct json_fail *);

/*
 * Like json_read_repaired(), for definitions of tools, each of which stands for
 * itself: a value that is nested too deeply, is a number beyond the limits, or
 * is a member that its object has twice is read as the string json_unread.
 * Members beyond VALUE_MAX_MEMBERS are left out, and one of that object is read
 * so.
 */
const struct value *json_read_marked(
    struct value_pool *, struct span text, struct json_fail *);
/* No such string is in JSON that people write: it begins with U+0000. */
extern const struct span json_unread;

/*
 * Read a value.  Returns the root, whose texts are in the pool or point into
 * `text`; or NULL with `*fail` filled in (`fail` may be NULL).
 */
const struct value *json_read(struct value_pool *, struct span text,
    struct json_fail *fail);
/*
 * Like json_read(), with other limits on nodes and encoded size: for the user's
 * own files.
 */
const struct value *json_read_large(struct value_pool *, struct span text,
    unsigned nodes, size_t bytes, struct json_fail *fail);
/* Returns a constant text for messages, such as "duplicate member name". */
const char *json_strerror(enum json_error);

/*
 * Append the canonical form: members in tree order (sorted), shortest escapes
 * (\" \\ \b \f \n \r \t, \u00XX for the other controls below 0x20, everything
 * else as UTF-8), numbers as received, no white space.
 */
int json_write(struct buf *, const struct value *);
/* Append one string in quotes, as in json_write().  It must be valid UTF-8. */
int json_write_string(struct buf *, struct span);

#endif
