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

void
hex_digits(const void *from, size_t n, void *to)
{
	static const char hex[] = "0123456789abcdef";
	const uint8_t *p = from;
	char *out = to;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex[p[i] >> 4];
		out[2 * i + 1] = hex[p[i] & 0xf];
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
		if (s.p[i] < '0' || s.p[i] > '9')
			goto bad;
		digit = (unsigned)(s.p[i] - '0');
		if (digit > max || n > (max - digit) / 10)
			goto bad;
		n = n * 10 + digit;
	}
	*out = n;
	return 0;
bad:
	errno = EINVAL;
	return -1;
}
