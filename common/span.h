/* SPDX-License-Identifier: ISC */
/*
 * A span is a pointer to bytes from outside and their length.  The bytes are
 * not NUL-terminated and may be anything.  A span does not own its bytes and is
 * valid only as long as the buffer it points into.
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

/* The number of elements of an array. */
#define nitems(a) (sizeof(a) / sizeof((a)[0]))

/*
 * A local variable that is written before it is read: the compiler need not
 * clear it, which takes time where it is large.
 */
#if defined(__has_attribute) && __has_attribute(uninitialized)
#define UNCLEARED __attribute__((uninitialized))
#else
#define UNCLEARED
#endif

/* The span of a string literal, without its NUL. */
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

/* Returns where `what`, which is not empty, first is in a span, or NULL. */
static inline const uint8_t *
span_find(struct span in, struct span what)
{
	return in.len == 0 ? NULL : memmem(in.p, in.len, what.p, what.len);
}

/*
 * Compare bytewise; a prefix sorts before the longer span.  Returns <0, 0 or
 * >0.
 */
static inline int
span_cmp(struct span a, struct span b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int r = 0;

	/* Most names that differ do so at once. */
	if (n != 0 && (r = a.p[0] - b.p[0]) == 0)
		r = memcmp(a.p, b.p, n);
	if (r != 0)
		return r;
	return (a.len > b.len) - (a.len < b.len);
}

/*
 * Write all of it to a blocking descriptor.  Returns 0, or -1 with errno; then
 * a part may have been written.
 */
int span_write(int fd, struct span);

/* ASCII case-insensitive equality. */
bool span_ieq(struct span, struct span);

/*
 * Returns a new NUL-terminated copy, or NULL with errno ENOMEM, or EINVAL if
 * the span contains a NUL.  The caller frees it.
 */
char *span_dup(struct span);

/*
 * Copy into dst[cap] and add a NUL.  Returns -1 with errno ENAMETOOLONG, or
 * EINVAL if the span contains a NUL.
 */
int span_copy(struct span, char *dst, size_t cap);

/*
 * Take the next line off the front of `rest`, without its newline, which the
 * last line may lack.  Returns false if nothing is left.
 */
bool span_line(struct span *rest, struct span *line);

/* Write 2 * n lower-case hex digits, without a NUL. */
void hex_digits(const void *, size_t n, void *to);
/* Write 2 * n lower-case hex digits and a NUL.  Returns `to`. */
char *hex_string(const void *, size_t n, char *to);

/*
 * Parse a decimal number of at most `max`: digits only, no sign, no leading
 * zero except "0" itself.  Returns 0, or -1 with errno EINVAL.
 */
int span_u64(struct span, uint64_t max, uint64_t *out);

#endif
