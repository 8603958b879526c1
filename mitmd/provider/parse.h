/* SPDX-License-Identifier: ISC */
/*
 * For the modules that read a part of a provider file: provider.c, route.c and
 * the kinds of destinations (dest.h). Everything is copied into the provider's
 * pool. Functions that return an int return -1 after they have reported "where:
 * what is wrong".
 */
#ifndef PROVIDER_PARSE_H
#define PROVIDER_PARSE_H

#include "provider/provider.h"

struct parse {
	struct provider *p;
	char *err; /* the first error */
	size_t cap;
};

/* Report the first mistake. Always returns -1 with errno EINVAL. */
int parse_fail(struct parse *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Allocate zeroed memory from the provider's pool. Returns NULL after
 * reporting.
 */
void *parse_alloc(struct parse *, size_t n, size_t size);
int parse_copy(struct parse *, struct span, struct span *out);
/*
 * Check that `v` is an object with only these members, and has the first `need`
 * of them.
 */
int parse_members(struct parse *, const struct value *v, const char *where,
    const char *const *names, size_t n, size_t need);
/* Copy a string of the class to `*out`. */
int parse_text(struct parse *, const struct value *v, const char *where,
    bool (*class)(struct span), struct span *out);
/*
 * Copy an array of strings of the class; an empty one is refused unless
 * `empty`.
 */
int parse_texts(struct parse *, const struct value *v, const char *where,
    bool (*class)(struct span), unsigned max, bool empty, struct span **out,
    unsigned *count);
/* Read a boolean member of `v`; `dflt` if it is absent. */
int parse_bool(struct parse *, const struct value *v, const char *where,
    const char *name, bool dflt, bool *out);
/* Read "host" or "hosts" of the file. */
int parse_hosts(struct parse *, const struct value *file);

/* provider/credential.c: Read "credential" of the file. */
int parse_credential(struct parse *, const struct value *);

/* provider/login.c: Read "logins" of the file; NULL if absent. */
int parse_logins(struct parse *, const struct value *);

/* provider/route.c: Read "routes" of the file. */
int parse_routes(struct parse *, const struct value *);

#endif
