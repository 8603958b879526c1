/* SPDX-License-Identifier: ISC */
/*
 * The value tree: JSON, decoded and checked once.  Nodes live in a bounded pool
 * and are freed with it; texts are spans into the pool or into the decoded
 * message.  Objects are always sorted by the bytes of their member names,
 * without duplicates, so a value has exactly one tree.  Numbers are kept as
 * their checked text and never converted on the way.
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
	VALUE_STRING,	/* text: UTF-8, unescaped; may contain U+0000 */
	VALUE_ARRAY,
	VALUE_OBJECT,
};

#define VALUE_MAX_DEPTH		64
#define VALUE_MAX_NODES		100000
#define VALUE_MAX_MEMBERS	10000		/* per object */
#define VALUE_MAX_STRING	(4U << 20)
#define VALUE_MAX_BYTES		(4U << 20)	/* per encoded tree */
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

/*
 * Make a pool of at most `bytes` of nodes and text.  Returns NULL with errno
 * ENOMEM.
 */
struct value_pool *value_pool_new(size_t bytes);
void value_pool_free(struct value_pool *);
/* Release and wipe all values; keeps the first chunk of memory. */
void value_pool_reset(struct value_pool *);
/*
 * Allocate memory that lives as long as the pool's values.  Returns NULL with
 * errno ENOBUFS.
 */
void *value_pool_alloc(struct value_pool *, size_t);
/*
 * Return the end of the latest allocation, of which only `n` bytes were used.
 */
void value_pool_trim(struct value_pool *, void *, size_t had, size_t n);

/*
 * Make values.  Return NULL with errno ENOBUFS if the pool is full.  Text is
 * not copied.  A value may be in only one place of one tree.
 */
struct value *value_new(struct value_pool *, enum value_type);
struct value *value_new_string(struct value_pool *, struct span);
struct value *value_new_number(struct value_pool *, int64_t);
/*
 * Insert a member in order, or append an element.  Returns 0, or -1 with errno
 * EEXIST for a duplicate name or ENOBUFS beyond the limit.  Either value may be
 * NULL: then the result is -1 and errno is kept, so that a caller may write
 * value_set(o, k, value_new(...)).
 */
int value_set(struct value *object, struct span key, struct value *);
int value_append(struct value *array, struct value *);
/*
 * Copy a tree into another pool, including its texts.  Returns NULL with errno
 * ENOBUFS if that pool is full or the tree is too deep.
 */
struct value *value_copy(struct value_pool *, const struct value *);

/* Find a member.  Returns NULL if it is absent or `v` is not an object. */
const struct value *value_getspan(const struct value *v, struct span key);
static inline const struct value *
value_get(const struct value *v, const char *key)
{
	return value_getspan(v, span_str(key));
}
/* Returns the text of a string member, or a span with p == NULL. */
struct span value_str(const struct value *v, const char *key);
bool value_bool(const struct value *v, const char *key, bool dflt);
/*
 * Convert an integer within [min, max] that is written as plain digits, with a
 * minus sign if negative, and not as "-0".  Returns 0, or -1 with errno EINVAL;
 * also if `number` is NULL.
 */
int value_int(const struct value *number, int64_t min, int64_t max,
    int64_t *out);
bool value_eq(const struct value *, const struct value *);
/*
 * Call `take` with the text of each string in the tree, in document order and
 * without recursion; names of members are no strings here. Returns false as
 * soon as `take` does, or if the tree is too deep.
 */
bool value_strings(const struct value *root,
    bool (*take)(void *arg, struct span text), void *arg);
/* Returns a name for messages: "null", "a string" and so on. */
const char *value_type_name(enum value_type);

/*
 * The wire form, with one encoding per value.  Per node: a type byte, then for
 * a number or string u32 length and bytes, for an array u32 count and nodes,
 * for an object u32 count and (u32 length, name bytes, node) in order; integers
 * are little-endian.
 *
 * Decoding checks everything above (UTF-8, number grammar, order, limits) and
 * that nothing follows; texts point into the source.  It returns NULL with
 * errno EBADMSG or ENOBUFS.  Encoding refuses a tree beyond the limits with
 * ENOBUFS; it then adds nothing and marks the buffer as failed.  It does not
 * check texts: whoever made them is responsible for UTF-8 and number grammar.
 */
int value_encode(const struct value *, struct buf *);
const struct value *value_decode(struct value_pool *, struct span);

/*
 * Returns true for well-formed UTF-8 (no overlong form, no surrogate, nothing
 * above U+10FFFF).
 */
bool utf8_valid(struct span);

#endif
