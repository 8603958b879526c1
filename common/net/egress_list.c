/* SPDX-License-Identifier: ISC */
/*
 * Parses the target that a server names, and the user's rows, strictly and
 * without allocation.
 */
#include "common/net/egress_list.h"

#include <errno.h>
#include <string.h>

static int
bad(void)
{
	errno = EINVAL;
	return -1;
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
