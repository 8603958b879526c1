/* SPDX-License-Identifier: ISC */
/*
 * Parses the host that a server names, and the user's rows, strictly and
 * without allocation.  A host whose last label is a number is taken for an
 * address and must then be written in the usual form, because resolvers accept
 * many others.
 */
#include "common/net/egress_list.h"

#include <arpa/inet.h>

#include <errno.h>
#include <string.h>

#define LABEL_MAX 63U

static int
bad(void)
{
	errno = EINVAL;
	return -1;
}

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
		return bad();
	for (size_t i = 0; i < s.len; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z'
			     ? (char)(s.p[i] + ('a' - 'A'))
			     : (char)s.p[i];
	dst[s.len] = '\0';
	return egress_is_address(dst) || name_ok(dst) ? 0 : bad();
}

int
egress_target(struct span s, char host[EGRESS_MAX_HOST + 1], uint16_t *port)
{
	unsigned v = 0;
	size_t colon = s.len;
	bool v6;

	while (colon > 0 && s.p[colon - 1] != ':')
		colon--;
	if (colon < 2 || s.len == colon || s.len - colon > 5 ||
	    s.p[colon] == '0')
		return bad();
	for (size_t i = colon; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return bad();
		v = v * 10 + (unsigned)(s.p[i] - '0');
	}
	if (v > UINT16_MAX)
		return bad();
	*port = (uint16_t)v;
	s.len = colon - 1;
	v6 = s.p[0] == '[';
	if (v6) {
		if (s.len < 3 || s.p[s.len - 1] != ']')
			return bad();
		s.p++;
		s.len -= 2;
	}
	if (egress_host(s, host) == -1)
		return -1;
	return v6 == (strchr(host, ':') != NULL) ? 0 : bad();
}

int
egress_add(struct egress_list *l, struct span host, uint16_t port, bool denied)
{
	struct egress_row *r;
	struct span name = host;
	char text[EGRESS_MAX_HOST + 1];
	size_t stars = 0;

	if (l->n == EGRESS_MAX_ROWS) {
		errno = ENOBUFS;
		return -1;
	}
	r = &l->rows[l->n];
	if (!span_is(host, "*")) {
		if (span_starts(host, SPAN("*."))) {
			stars = 2;
			name = span_of(host.p + 2, host.len - 2);
		}
		if (egress_host(name, text) == -1)
			return -1;
		if (stars + strlen(text) > EGRESS_MAX_HOST ||
		    (stars != 0 && egress_is_address(text)))
			return bad();
		memcpy(r->host, "*.", stars);
		memcpy(r->host + stars, text, strlen(text) + 1);
	} else {
		memcpy(r->host, "*", 2);
	}
	r->port = port;
	r->denied = denied;
	r->opaque = false;
	l->n++;
	return 0;
}

bool
egress_matches(const char *pattern, const char *host)
{
	size_t n, m;

	if (strcmp(pattern, "*") == 0)
		return !egress_is_address(host);
	if (strncmp(pattern, "*.", 2) != 0)
		return strcmp(pattern, host) == 0;
	pattern += 2;
	n = strlen(pattern);
	m = strlen(host);
	if (m < n || strcmp(host + m - n, pattern) != 0)
		return false;
	return m == n || host[m - n - 1] == '.';
}

bool
egress_allows(const struct egress_list *l, const char *host, uint16_t port)
{
	const struct egress_row *r;
	bool allowed = false;

	for (unsigned i = 0; i < l->n; i++) {
		r = &l->rows[i];
		if (!egress_matches(r->host, host))
			continue;
		if (r->denied)
			return false;
		if (r->port == port)
			allowed = true;
	}
	return allowed;
}

bool
egress_is_opaque(const struct egress_list *l, const char *host, uint16_t port)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->rows[i].opaque && l->rows[i].port == port &&
		    egress_matches(l->rows[i].host, host))
			return egress_allows(l, host, port);
	return false;
}
