/* SPDX-License-Identifier: ISC */
/*
 * Reads a policy file: its text, its tree, and messages that name the file and
 * the place in it, "compiled-policy.json: rules[3].if.paths.within: ...". A
 * file that was refused changes nothing.
 */
#ifndef LOAD_H
#define LOAD_H

#include <stdarg.h>

#include "common/buf.h"
#include "common/json/value.h"
#include "engine/roles.h"

#define LOAD_MAX_TEXT	(8U << 20)
#define LOAD_MAX_ERROR	2048
#define LOAD_MAX_WARNINGS 16000
#define LOAD_MAX_NAME	200	/* name of a rule, tool, server or list */
#define LOAD_MAX_REASON	1800

struct load {
	const char *file;		/* for messages */
	char error[LOAD_MAX_ERROR];
	struct buf warnings;		/* newline-separated */
	unsigned nwarnings;
};

/* A place in a file, as text. It grows on the way down and is cut on return. */
struct where {
	char text[256];
	size_t len;
};

void load_init(struct load *, const char *file);
void load_free(struct load *);

size_t where_down(struct where *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void where_up(struct where *, size_t len);

/* Record the error at a place (NULL: none). Always returns -1. */
int load_fail(struct load *, const struct where *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void load_warn(struct load *, const struct where *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A file's text and tree. Texts in the tree live as long as this. */
struct load_doc {
	uint8_t *text;
	size_t len;
	struct value_pool *pool;	/* the tree and everything derived
					   from it */
	const struct value *root;
};

/*
 * Copy and parse the text, whose root must be an object. Returns 0, or -1 with
 * the error recorded.
 */
int load_doc(struct load *, struct span text, struct load_doc *);
void load_doc_free(struct load_doc *);
/*
 * Returns a member's offset in its file: members are kept sorted, but roles
 * count in the order in which they were written.
 */
size_t load_position(const struct load_doc *, const struct value *member);
/*
 * Allocate memory that lives as long as the document. Returns NULL with the
 * error recorded.
 */
void *load_alloc(struct load *, struct load_doc *, size_t n, size_t size);

/*
 * Get a member of the given type. Returns 0, or -1 with a missing or mistyped
 * member recorded. `at` is the place of `obj`.
 */
int load_object(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out);
int load_array(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out);
int load_string(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, size_t max, struct span *out);
/* Get an array of strings. *out is NULL if it is absent. */
int load_strings(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out);
/*
 * Read an array of role names in order: list[ARG_COUNT], their number and mask.
 */
int load_roles(struct load *, struct where *at, const struct value *array,
    uint8_t *list, unsigned *n, uint32_t *mask);
/* Warn about members that are not in the NULL-terminated list. */
void load_unknown(struct load *, struct where *at, const struct value *obj,
    const char *const *known);

#endif
