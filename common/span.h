/* SPDX-License-Identifier: ISC */
/*
 * A span is bytes from outside: pointer and length, never NUL-terminated, may
 * hold anything.  It does not own what it points at and dies with that buffer.
 */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *p;
	size_t len;
};

/* Of a string literal, without its NUL. */
#define SPAN(lit) ((struct span){(const uint8_t *)(lit), sizeof(lit) - 1})

static inline struct span
span_of(const void *p, size_t len)
{
	return (struct span){(const uint8_t *)p, len};
}

static inline struct span
span_str(const char *s)
{
	return (struct span){(const uint8_t *)s, strlen(s)};
}

static inline bool
span_eq(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool
span_is(struct span a, const char *s)
{
	return span_eq(a, span_str(s));
}

static inline bool
span_starts(struct span a, struct span prefix)
{
	return a.len >= prefix.len &&
	    (prefix.len == 0 || memcmp(a.p, prefix.p, prefix.len) == 0);
}

/* Bytewise order, shorter first among equals: <0, 0, >0. */
static inline int
span_cmp(struct span a, struct span b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int r = n != 0 ? memcmp(a.p, b.p, n) : 0;

	if (r != 0)
		return r;
	return (a.len > b.len) - (a.len < b.len);
}

/* ASCII case-insensitive equality. */
bool span_ieq(struct span, struct span);

/* A fresh NUL-terminated copy, or NULL (ENOMEM; EINVAL if it holds a NUL). */
char *span_dup(struct span);

/* Copies with a NUL into dst[cap]; -1 with ENAMETOOLONG or EINVAL (NUL). */
int span_copy(struct span, char *dst, size_t cap);

/* Decimal digits only, no sign, no leading zero but "0", at most max. */
int span_u64(struct span, uint64_t max, uint64_t *out);

#endif
