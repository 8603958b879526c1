/* SPDX-License-Identifier: ISC */
/*
 * Parses a host strictly and without allocation.  A host whose last label is a
 * number is taken for an address and must then be written in the usual form,
 * because resolvers accept many others.
 */
#include "common/net/egress_list.h"

#include <arpa/inet.h>

#include <errno.h>
#include <string.h>

#define LABEL_MAX 63U

static bool
is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool
label_ok(const char *s, size_t n)
{
	if (n == 0 || n > LABEL_MAX || s[0] == '-' || s[n - 1] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(s[i]) && s[i] != '-' && s[i] != '_')
			return false;
	return true;
}

bool
egress_is_address(const char *s)
{
	uint8_t raw[16];

	return inet_pton(AF_INET, s, raw) == 1 ||
	       inet_pton(AF_INET6, s, raw) == 1;
}

/*
 * Returns true if a resolver may take the label for a number: digits, or 0x and
 * hex digits.
 */
static bool
label_numeric(const char *s)
{
	if (s[0] == '0' && s[1] == 'x')
		return s[strspn(s + 2, "0123456789abcdef") + 2] == '\0';
	return s[strspn(s, "0123456789")] == '\0';
}

static bool
name_ok(const char *s)
{
	const char *dot, *label = s;

	for (;;) {
		dot = strchr(label, '.');
		if (!label_ok(label,
			dot != NULL ? (size_t)(dot - label) : strlen(label)))
			return false;
		if (dot == NULL)
			return !label_numeric(label);
		label = dot + 1;
	}
}

int
egress_host(struct span s, char dst[EGRESS_MAX_HOST + 1])
{
	if (s.len > 1 && s.p[s.len - 1] == '.')
		s.len--;
	if (s.len == 0 || s.len > EGRESS_MAX_HOST ||
	    memchr(s.p, '\0', s.len) != NULL)
		goto bad;
	for (size_t i = 0; i < s.len; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z'
			     ? (char)(s.p[i] + ('a' - 'A'))
			     : (char)s.p[i];
	dst[s.len] = '\0';
	if (egress_is_address(dst) || name_ok(dst))
		return 0;
bad:
	errno = EINVAL;
	return -1;
}
