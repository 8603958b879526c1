/* SPDX-License-Identifier: ISC */
/*
 * The value tree: what JSON means, decoded and checked once.  Nodes live in a
 * bounded pool and are freed with it; texts are spans into the pool or into
 * the message that was decoded.  Objects are always sorted by the bytes of
 * their member names, without duplicates: there is one tree for one value.
 * Numbers are kept as their checked text and never converted in passing.
 */
#ifndef VALUE_H
#define VALUE_H

#include "common/buf.h"
#include "common/span.h"

enum value_type {
	VALUE_NULL,
	VALUE_FALSE,
	VALUE_TRUE,
	VALUE_NUMBER,	/* text: as received, RFC 8259 grammar, <= 40 bytes */
	VALUE_STRING,	/* text: UTF-8, unescaped; may hold U+0000 */
	VALUE_ARRAY,
	VALUE_OBJECT,
};

#define VALUE_MAX_DEPTH		64
#define VALUE_MAX_NODES		100000
#define VALUE_MAX_MEMBERS	10000		/* of one object */
#define VALUE_MAX_STRING	(4U << 20)
#define VALUE_MAX_BYTES		(4U << 20)	/* of one encoded tree */
#define VALUE_MAX_NUMBER	40

struct value {
	enum value_type type;
	uint32_t count;		/* elements or members */
	struct span key;	/* member name, when in an object */
	struct span text;	/* number or string */
	struct value *child;	/* first element or member */
	struct value *last;	/* last element or member */
	struct value *next;	/* sibling */
};

struct value_pool;

/* A pool of at most `bytes` of nodes and text. NULL with ENOMEM. */
struct value_pool *value_pool_new(size_t bytes);
void value_pool_free(struct value_pool *);
/* All values from it are gone (wiped); keeps a first chunk of memory. */
void value_pool_reset(struct value_pool *);
/* Memory of the pool, for text that should live as long: NULL, ENOBUFS. */
void *value_pool_alloc(struct value_pool *, size_t);
/* Gives back the end of the latest allocation, of which only n were used. */
void value_pool_trim(struct value_pool *, void *, size_t had, size_t n);

/*
 * Making values. NULL with ENOBUFS when the pool is full. Text is not copied.
 * A value belongs into one place of one tree.
 */
struct value *value_new(struct value_pool *, enum value_type);
struct value *value_new_string(struct value_pool *, struct span);
struct value *value_new_number(struct value_pool *, int64_t);
/*
 * Inserts in order; -1 with EEXIST on a duplicate name, ENOBUFS beyond the
 * limit of members. Array: appended. Either may be NULL: -1, errno is kept,
 * so that a composer may write value_set(o, k, value_new(...)).
 */
int value_set(struct value *object, struct span key, struct value *);
int value_append(struct value *array, struct value *);
/*
 * A deep copy into another pool, texts included. NULL with ENOBUFS when that
 * is full or the tree too deep.
 */
struct value *value_copy(struct value_pool *, const struct value *);

/* Reading. NULL when absent, or when v is not an object. */
const struct value *value_get(const struct value *v, const char *key);
const struct value *value_getspan(const struct value *v, struct span key);
/* The text of a string member, or a span with p == NULL. */
struct span value_str(const struct value *v, const char *key);
bool value_bool(const struct value *v, const char *key, bool dflt);
/*
 * An integer within [min, max] written as plain digits, a minus before them
 * if need be, not "-0": 0, or -1 with EINVAL, also when v is NULL.
 */
int value_int(const struct value *number, int64_t min, int64_t max,
    int64_t *out);
bool value_eq(const struct value *, const struct value *);
/* "null", "a string", ...: for messages. */
const char *value_type_name(enum value_type);

/*
 * The wire form, one encoding per value.  Per node: a type byte, then for a
 * number or string u32 length and bytes, for an array u32 count and nodes, for
 * an object u32 count and (u32 length, name bytes, node) in order; integers
 * are little-endian.  Decoding checks everything named above (UTF-8, number
 * grammar, order, limits) and that nothing is left over; texts point into the
 * source.  NULL with EBADMSG or ENOBUFS.  Encoding refuses a tree beyond the
 * limits with ENOBUFS; it then adds nothing and marks the buffer failed.  It
 * does not look at texts: whoever made them answers for UTF-8 and grammar.
 */
int value_encode(const struct value *, struct buf *);
const struct value *value_decode(struct value_pool *, struct span);

/* Is it well-formed UTF-8 (no overlong, no surrogates, <= U+10FFFF)? */
bool utf8_valid(struct span);

#endif
