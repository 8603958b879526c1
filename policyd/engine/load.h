/* SPDX-License-Identifier: ISC */
/*
 * Reading a policy file: its text, its tree, and messages that name the file
 * and the place in it, "compiled-policy.json: rules[3].if.paths.within: ...".
 * A file that was refused changes nothing.
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
#define LOAD_MAX_NAME	200	/* of a rule, tool, server, list */
#define LOAD_MAX_REASON	1800

struct load {
	const char *file;		/* name for messages */
	char error[LOAD_MAX_ERROR];
	struct buf warnings;		/* newline-separated */
	unsigned nwarnings;
};

/* A place in a file, as text. It is built on the way down and cut on return. */
struct where {
	char text[256];
	size_t len;
};

void load_init(struct load *, const char *file);
void load_free(struct load *);

size_t where_down(struct where *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void where_up(struct where *, size_t len);

/* Notes the error, at a place (NULL: none). Always -1. */
int load_fail(struct load *, const struct where *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void load_warn(struct load *, const struct where *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A file's text and tree; texts of the tree live as long. */
struct load_doc {
	uint8_t *text;
	size_t len;
	struct value_pool *pool;	/* tree, and what is derived from it */
	const struct value *root;
};

/* Copies and reads the text; the root is an object. -1 with error noted. */
int load_doc(struct load *, struct span text, struct load_doc *);
void load_doc_free(struct load_doc *);
/*
 * Where in its file a member stands: members are kept sorted, but roles count
 * in the order in which they were written.
 */
size_t load_position(const struct load_doc *, const struct value *member);
/* Memory that lives as long as the document. NULL with the error noted. */
void *load_alloc(struct load *, struct load_doc *, size_t n, size_t size);

/* Members; each notes a wrong type. `at` is the object's place. */
int load_object(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out);
int load_array(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out);
int load_string(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, size_t max, struct span *out);
/* An array of strings. *out == NULL when it is absent. */
int load_strings(struct load *, struct where *at, const struct value *obj,
    const char *name, bool required, const struct value **out);
/* An array of role names, in order: list[ARG_COUNT], *n, and their mask. */
int load_roles(struct load *, struct where *at, const struct value *array,
    uint8_t *list, unsigned *n, uint32_t *mask);
/* Warns of members that are not in the NULL-terminated list. */
void load_unknown(struct load *, struct where *at, const struct value *obj,
    const char *const *known);

#endif
