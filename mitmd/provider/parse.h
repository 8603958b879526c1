/* SPDX-License-Identifier: ISC */
/*
 * For those who read a part of a provider file: provider.c, provider/route.c
 * and the kinds of destinations (dest.h).  All of it is copied into the
 * provider's pool.  What returns int: -1 with "where: what is wrong" said.
 */
#ifndef PROVIDER_PARSE_H
#define PROVIDER_PARSE_H

#include "provider/provider.h"

struct parse {
	struct provider *p;
	char *err; /* the first complaint */
	size_t cap;
};

/* Says what is wrong, once; always -1 with EINVAL. */
int parse_fail(struct parse *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Zeroed, of the provider's pool. NULL: said. */
void *parse_alloc(struct parse *, size_t n, size_t size);
int parse_copy(struct parse *, struct span, struct span *out);
/* v is an object of only these members, the first `need` of which must be. */
int parse_members(struct parse *, const struct value *v, const char *where,
    const char *const *names, size_t n, size_t need);
/* A string of the class; the copy in *out. */
int parse_text(struct parse *, const struct value *v, const char *where,
    bool (*class)(struct span), struct span *out);
/* An array of strings of the class, at least one unless `empty`. */
int parse_texts(struct parse *, const struct value *v, const char *where,
    bool (*class)(struct span), unsigned max, bool empty, struct span **out,
    unsigned *count);
/* A member of v that is true or false, or absent: then dflt. */
int parse_bool(struct parse *, const struct value *v, const char *where,
    const char *name, bool dflt, bool *out);
/* "host" or "hosts" of the file. */
int parse_hosts(struct parse *, const struct value *file);

/* provider/credential.c: "credential" of the file. */
int parse_credential(struct parse *, const struct value *);

/* provider/login.c: "logins" of the file, or NULL. */
int parse_logins(struct parse *, const struct value *);

/* provider/route.c: "routes" of the file. */
int parse_routes(struct parse *, const struct value *);

#endif
