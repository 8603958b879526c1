/* SPDX-License-Identifier: ISC */
/* Members of lists, and values of conditions: which ones are well-formed. */
#include "icctl/policy/compile/compile.h"

#include <ctype.h>
#include <string.h>

/* Returns true if the text is a host name of at least two labels. */
static bool
is_host(struct span s)
{
	size_t label = 0, labels = 0;

	if (s.len == 0 || s.len > 253)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '.') {
			if (label == 0 || s.p[i - 1] == '-')
				return false;
			label = 0;
			labels++;
			continue;
		}
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !isdigit(s.p[i]) &&
		    (s.p[i] != '-' || label == 0))
			return false;
		if (++label > 63)
			return false;
	}
	return label != 0 && labels != 0 && s.p[s.len - 1] != '-';
}

/* Returns true for host/owner/repo and host/owner/ with a star at the end. */
static bool
is_repository(struct span s)
{
	const uint8_t *slash = memchr(s.p, '/', s.len);
	size_t n, parts = 0;

	if (slash == NULL || !is_host(span_of(s.p, (size_t)(slash - s.p))))
		return false;
	s = span_of(slash + 1, s.len - (size_t)(slash + 1 - s.p));
	while (s.len != 0) {
		for (n = 0; n < s.len && s.p[n] != '/'; n++)
			if (!isalnum(s.p[n]) &&
			    strchr("._-", s.p[n]) == NULL &&
			    !(s.p[n] == '*' && parts != 0 && s.len == 1))
				return false;
		if (n == 0 || s.p[n - 1] == '.')
			return false;
		parts++;
		s.p += n + (n < s.len);
		s.len -= n + (n < s.len);
	}
	return parts >= 2 && s.p[-1] != '/';
}

/* Returns true for 127.0.0.1, 0x7f.1 and other forms whose end is a number. */
static bool
is_address(struct span s)
{
	size_t n = s.len;

	while (n > 0 && s.p[n - 1] != '.')
		n--;
	s = span_of(s.p + n, s.len - n);
	if (s.len > 2 && s.p[0] == '0' && s.p[1] == 'x')
		return true;
	for (size_t i = 0; i < s.len; i++)
		if (!isdigit(s.p[i]))
			return false;
	return s.len != 0;
}

static const char *
domain_bad(struct span s)
{
	const uint8_t *slash = memchr(s.p, '/', s.len);

	if (is_address(span_of(
		s.p, slash == NULL ? s.len : (size_t)(slash - s.p))))
		return "is an address: a list of domains has names";
	if (span_is(s, "*") || is_host(s) || is_repository(s))
		return NULL;
	if (span_starts(s, SPAN("*.")) &&
	    is_host(span_of(s.p + 2, s.len - 2)))
		return NULL;
	return "is no host name: lower case, without scheme, port, path or "
	       "other patterns than *.";
}

static const char *
email_bad(struct span s)
{
	const uint8_t *at = s.len == 0 ? NULL : memchr(s.p, '@', s.len);

	if (at == NULL || at == s.p || at + 1 == s.p + s.len ||
	    memchr(at + 1, '@', (size_t)(s.p + s.len - at - 1)) != NULL)
		return "is no address";
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f ||
		    strchr("*<>,;\"()[]\\", s.p[i]) != NULL)
			return "is no plain address";
	return NULL;
}

const char *
list_value_bad(struct span type, struct span v)
{
	if (v.len == 0 || v.len > 300)
		return "is empty or too long";
	if (!text_plain(v))
		return "has control characters, or ones that cannot be seen";
	if (span_is(type, "domains"))
		return domain_bad(v);
	if (span_is(type, "emails"))
		return email_bad(v);
	for (size_t i = 0; i < v.len; i++)
		if (v.p[i] == ' ' || v.p[i] == '*' || v.p[i] == '@')
			return "is no identifier: no space, * or @";
	return NULL;
}
