/* SPDX-License-Identifier: ISC */
/*
 * Copies, conversions, writing and case-insensitive comparison of bytes from
 * outside.  Nothing is assumed about the contents of a span.
 */
#include "common/span.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static uint8_t
span_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

int
span_write(int fd, struct span s)
{
	ssize_t n;

	while (s.len != 0) {
		if ((n = write(fd, s.p, s.len)) == -1 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return -1;
		s = span_of(s.p + n, s.len - (size_t)n);
	}
	return 0;
}

bool
span_ieq(struct span a, struct span b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if (span_lower(a.p[i]) != span_lower(b.p[i]))
			return false;
	}
	return true;
}

static bool
span_has_nul(struct span s)
{
	return s.len != 0 && memchr(s.p, '\0', s.len) != NULL;
}

char *
span_dup(struct span s)
{
	char *copy;

	if (span_has_nul(s)) {
		errno = EINVAL;
		return NULL;
	}
	if (s.len == SIZE_MAX || (copy = malloc(s.len + 1)) == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	if (s.len != 0)
		memcpy(copy, s.p, s.len);
	copy[s.len] = '\0';
	return copy;
}

int
span_copy(struct span s, char *dst, size_t cap)
{
	if (s.len >= cap) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (span_has_nul(s)) {
		errno = EINVAL;
		return -1;
	}
	if (s.len != 0)
		memcpy(dst, s.p, s.len);
	dst[s.len] = '\0';
	return 0;
}

bool
span_line(struct span *rest, struct span *line)
{
	const uint8_t *end;
	size_t n;

	if (rest->len == 0)
		return false;
	end = memchr(rest->p, '\n', rest->len);
	n = end != NULL ? (size_t)(end - rest->p) : rest->len;
	*line = span_of(rest->p, n);
	n += end != NULL;
	*rest = span_of(rest->p + n, rest->len - n);
	return true;
}

typedef uint8_t hex_block __attribute__((vector_size(16)));

/* Returns the digits of sixteen half bytes. */
static hex_block
hex_letters(hex_block half)
{
	/* A letter is 39 further on than a digit would be. */
	return half + '0' + ((hex_block)(half > 9) & 39);
}

/* Write the digits of sixteen bytes. */
static void
hex_sixteen(const uint8_t *p, char *out)
{
	hex_block in, high, low, digits;

	memcpy(&in, p, sizeof(in));
	high = hex_letters(in >> 4);
	low = hex_letters(in & 0xf);
	digits = __builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19,
	    4, 20, 5, 21, 6, 22, 7, 23);
	memcpy(out, &digits, sizeof(digits));
	digits = __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11,
	    27, 12, 28, 13, 29, 14, 30, 15, 31);
	memcpy(out + sizeof(digits), &digits, sizeof(digits));
}

void
hex_digits(const void *from, size_t n, void *to)
{
	static const char hex[] = "0123456789abcdef";
	const uint8_t *p = from;
	char *out = to;

	for (; n >= sizeof(hex_block); n -= sizeof(hex_block)) {
		hex_sixteen(p, out);
		p += sizeof(hex_block);
		out += 2 * sizeof(hex_block);
	}
	for (; n != 0; n--, p++) {
		*out++ = hex[*p >> 4];
		*out++ = hex[*p & 0xf];
	}
}

char *
hex_string(const void *from, size_t n, char *to)
{
	hex_digits(from, n, to);
	to[2 * n] = '\0';
	return to;
}

int
span_u64(struct span s, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;
	unsigned digit;

	if (s.len == 0 || (s.len > 1 && s.p[0] == '0'))
		goto bad;
	for (size_t i = 0; i < s.len; i++) {
		digit = (unsigned)s.p[i] - '0';
		/* Any 19 digits fit. */
		if (digit > 9 ||
		    (i >= 19 && n > (UINT64_MAX - digit) / 10))
			goto bad;
		n = n * 10 + digit;
	}
	if (n > max)
		goto bad;
	*out = n;
	return 0;
bad:
	errno = EINVAL;
	return -1;
}
