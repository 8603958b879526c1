/* SPDX-License-Identifier: ISC */
/*
 * URLs, in as few forms as the web needs: no user, no spaces, no control
 * characters; anything that is not ASCII must be percent-encoded.
 */
#include "icfetch/icfetch.h"

#include <stdio.h>
#include <string.h>

#include "common/net/egress_list.h"

static int
bad(const char **why, const char *text)
{
	*why = text;
	return -1;
}

/* Take the path and query: visible ASCII, up to the fragment. */
static int
url_tail(struct span s, struct url *u, const char **why)
{
	const uint8_t *hash = s.len == 0 ? NULL : memchr(s.p, '#', s.len);
	size_t n = 0;

	if (hash != NULL)
		s.len = (size_t)(hash - s.p);
	if (s.len == 0 || s.p[0] != '/')
		u->path[n++] = '/';
	if (n + s.len >= sizeof(u->path))
		return bad(why, "the URL is longer than 4 KiB");
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '\\')
			return bad(why,
			    "the URL holds a space, a backslash, a control "
			    "character or one beyond ASCII: percent-encode it");
		u->path[n++] = (char)s.p[i];
	}
	u->path[n] = '\0';
	return 0;
}

int
fetch_url_parse(struct span s, struct url *u, const char **why)
{
	char authority[300], target[310];
	size_t n = 0;

	if (span_starts(s, SPAN("https://"))) {
		u->tls = true;
		s = span_of(s.p + 8, s.len - 8);
	} else if (span_starts(s, SPAN("http://"))) {
		u->tls = false;
		s = span_of(s.p + 7, s.len - 7);
	} else {
		return bad(why, "the URL must begin with https:// or http://");
	}
	while (n < s.len && strchr("/?#", s.p[n]) == NULL)
		n++;
	if (span_copy(span_of(s.p, n), authority, sizeof(authority)) == -1 ||
	    strchr(authority, '@') != NULL)
		return bad(why, "the URL has no good host, or a user name");
	snprintf(target, sizeof(target), "%s%s", authority,
	    strrchr(authority, ':') > strrchr(authority, ']') &&
		    strrchr(authority, ':') != NULL
		? ""
	    : u->tls ? ":443"
		     : ":80");
	if (egress_target(span_str(target), u->host, &u->port) == -1)
		return bad(why, "the host of the URL is neither a name nor an "
				"address in its usual form");
	return url_tail(span_of(s.p + n, s.len - n), u, why);
}

int
url_join(const struct url *base, struct span s, struct url *u, const char **why)
{
	char text[ICFETCH_MAX_URL + 16], *slash;
	int n;

	if (span_starts(s, SPAN("https://")) || span_starts(s, SPAN("http://")))
		return fetch_url_parse(s, u, why);
	if (span_starts(s, SPAN("//"))) {
		n = snprintf(text, sizeof(text), "%s%.*s",
		    base->tls ? "https:" : "http:", (int)s.len,
		    (const char *)s.p);
		if (n < 0 || (size_t)n >= sizeof(text))
			return bad(why, "the redirect is longer than 4 KiB");
		return fetch_url_parse(span_str(text), u, why);
	}
	*u = *base;
	if (s.len != 0 && s.p[0] == '/')
		return url_tail(s, u, why);
	u->path[strcspn(u->path, "?")] = '\0';
	if (s.len == 0 || s.p[0] != '?') {
		slash = strrchr(u->path, '/');
		slash[1] = '\0';
	}
	n = snprintf(text, sizeof(text), "%s%.*s", u->path, (int)s.len,
	    (const char *)s.p);
	if (n < 0 || (size_t)n >= sizeof(text))
		return bad(why, "the redirect is longer than 4 KiB");
	return url_tail(span_str(text), u, why);
}

bool
url_same_origin(const struct url *a, const struct url *b)
{
	return a->tls == b->tls && a->port == b->port &&
	       strcmp(a->host, b->host) == 0;
}

void
url_authority(const struct url *u, bool always_port, char *dst, size_t cap)
{
	bool v6 = strchr(u->host, ':') != NULL;
	unsigned usual = u->tls ? 443 : 80;

	if (always_port || u->port != usual)
		snprintf(dst, cap, v6 ? "[%s]:%u" : "%s:%u", u->host, u->port);
	else
		snprintf(dst, cap, v6 ? "[%s]" : "%s", u->host);
}
