/* SPDX-License-Identifier: ISC */
/*
 * The parts of the check of tool definitions; private to this folder.  A
 * definition is rebuilt, value by value, in a pool: what has one meaning is
 * mended on the way, and the first thing that has none ends it with a reason.
 * Texts are not copied, so that the result lives no longer than its source.
 */
#ifndef FIT_H
#define FIT_H

#include "common/json/value.h"

#define FIT_WHY 240U /* a reason, with the place and its NUL */

struct fit {
	struct value_pool *pool;
	const struct value *root; /* the schema; for its $ref */
	bool output;              /* an outputSchema: see keywords.c */
	struct span path[VALUE_MAX_DEPTH + 4];
	unsigned depth;
	unsigned mended;
	char first[FIT_WHY]; /* the first thing that was mended */
	char why[FIT_WHY];   /* why it does not fit, or "" */
};

/* fit.c */
/* Enter the member `name`, for the place in messages; and leave it. */
void fit_enter(struct fit *, struct span name);
void fit_leave(struct fit *);
/* Record why the definition does not fit.  Always returns -1. */
int fit_bad(struct fit *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Record that something was mended here.  Always returns 0. */
int fit_mend(struct fit *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns a copy of the one value, without its name and what is beside it. */
struct value *fit_alias(struct fit *, const struct value *);
/*
 * Add the value to the object, under that name unless it has one by now; or
 * append it to the array.  Return 0, or -1 with the reason; also if it is NULL.
 */
int fit_put(
    struct fit *, struct value *object, struct span name, struct value *);
int fit_append(struct fit *, struct value *array, struct value *);
/* Returns a text of ours as a value. */
struct value *fit_string(struct fit *, const char *);
/*
 * Returns the text with hidden characters escaped, or a span with p == NULL and
 * the reason.
 */
struct span fit_text(struct fit *, struct span);
/*
 * Copy a value whose every text is for people to read; its names must be
 * without hidden characters.  Returns NULL with the reason.
 */
struct value *fit_words(struct fit *, const struct value *);
/*
 * Copy a value that the server may get: nothing in it is escaped, and it must
 * have no hidden characters.  Returns NULL with the reason.
 */
struct value *fit_exact(struct fit *, const struct value *);
/* Returns 0 if the text has no hidden characters, else -1 with the reason. */
int fit_plain(struct fit *, struct span);

/* Add the value `v` under the name of `in`, as fit_put() does. */
int fit_keep(struct fit *, struct value *object, const struct value *in,
    struct value *v);
int fit_keep_alias(struct fit *, struct value *object, const struct value *in);
/* A constraint has the wrong type, and so no meaning.  Always returns -1. */
int fit_wrong(struct fit *, const struct value *in, const char *want);
/* An annotation has the wrong type: nothing is lost without it.  Returns 0. */
int fit_drop(struct fit *, const struct value *in);

/*
 * constraints.c: take the member `in` of a schema over to `out`.  Each returns
 * 0, also if it left the member out, or -1 with the reason.
 */
int constraint_pattern(struct fit *, const struct value *in, struct value *out);
int constraint_names(struct fit *, const struct value *in, struct value *out);
int constraint_required(
    struct fit *, const struct value *in, struct value *out);
int constraint_type(struct fit *, const struct value *in, struct value *out);
int constraint_enum(struct fit *, const struct value *in, struct value *out);
int constraint_exact(struct fit *, const struct value *in, struct value *out);
int constraint_examples(
    struct fit *, const struct value *in, struct value *out);
int constraint_number(struct fit *, const struct value *in, struct value *out);
int constraint_step(struct fit *, const struct value *in, struct value *out);
int constraint_exclusive(
    struct fit *, const struct value *in, struct value *out);
int constraint_count(struct fit *, const struct value *in, struct value *out);
int constraint_flag(struct fit *, const struct value *in, struct value *out);
int constraint_hint(struct fit *, const struct value *in, struct value *out);
int constraint_text(struct fit *, const struct value *in, struct value *out);
int constraint_word(struct fit *, const struct value *in, struct value *out);
/* Returns 0 if the pattern compiles, else -1 with the reason. */
int constraint_check_pattern(struct fit *, struct span);
/* Returns the number, also of a string that is one, or NULL with the reason. */
struct value *constraint_number_of(struct fit *, const struct value *in);

/* keywords.c */
/*
 * Rebuild a schema, and what is below it.  Returns NULL with the reason; or,
 * for JSON null, without one: there is no schema.
 */
struct value *fit_schema(struct fit *, const struct value *);

/* ref.c */
/*
 * Returns what a reference within f->root leads to, which is a schema, or NULL
 * with the reason.
 */
const struct value *ref_find(struct fit *, struct span ref);
/* Returns true if the text can be an anchor. */
bool ref_is_anchor(struct span);
/* Returns how many parts of f->root have this anchor. */
unsigned ref_anchors(const struct fit *, struct span name);

/* root.c */
/*
 * Make the root of an inputSchema what MCP and model providers take: an object
 * with a type, without alternatives.  Returns it, still to be rebuilt, or NULL
 * with the reason.
 */
const struct value *root_input(struct fit *, const struct value *);
/* Returns true if model providers take an argument with this name. */
bool root_is_argument(struct span name);

#endif
