/* SPDX-License-Identifier: ISC */
/*
 * Reads https addresses of documents strictly (RFC 3986, without user
 * information, fragments and address literals).
 */
#include "common/http/https_url.h"

/* Everything else must be escaped, and browsers read some of it as "/". */
static bool
url_byte_ok(uint8_t c)
{
	return c > 0x20 && c < 0x7f && strchr("\"<>\\^`{|}", c) == NULL;
}

/* Returns NULL, or why these bytes are no address. */
static const char *
url_bytes(struct span in)
{
	if (in.len == 0)
		return "is empty";
	if (in.len > HTTPS_URL_MAX)
		return "is longer than 2048 bytes";
	for (size_t i = 0; i < in.len; i++) {
		if (!url_byte_ok(in.p[i]))
			return "holds a character that must be escaped";
		if (in.p[i] == '#')
			return "has a fragment (#)";
		if (in.p[i] == '%' &&
		    (in.len - i < 3 ||
			strchr("0123456789abcdefABCDEF", in.p[i + 1]) == NULL ||
			strchr("0123456789abcdefABCDEF", in.p[i + 2]) == NULL))
			return "has a % that begins no escape";
	}
	return NULL;
}

/* Read "host" or "host:port". */
static int
url_host(struct span s, struct https_url *u, const char **why)
{
	const uint8_t *colon = memchr(s.p, ':', s.len);
	struct span port = SPAN("443");
	uint64_t n;

	if (memchr(s.p, '@', s.len) != NULL) {
		*why = "holds a user name";
		return -1;
	}
	if (colon != NULL) {
		port = span_of(colon + 1, s.len - (size_t)(colon + 1 - s.p));
		s.len = (size_t)(colon - s.p);
	}
	if (span_u64(port, UINT16_MAX, &n) == -1 || n == 0) {
		*why = "has no port from 1 to 65535, or is an address";
		return -1;
	}
	u->port = (uint16_t)n;
	if (hostname_read(s, u->host, why) == -1) {
		*why = "has no name of a host";
		return -1;
	}
	if (hostname_public(u->host, why) == -1) {
		*why = "leads to this machine or its network, or to a name "
		       "that is reserved";
		return -1;
	}
	return 0;
}

int
https_url_read(struct span in, struct https_url *out, const char **why)
{
	static const char scheme[] = "https://";
	const size_t skip = sizeof(scheme) - 1;
	struct https_url u = {.port = 443};
	const uint8_t *mark;
	size_t n = 0;

	if ((*why = url_bytes(in)) != NULL)
		return -1;
	*why = "must begin with https://";
	if (in.len < skip || !span_ieq(span_of(in.p, skip), SPAN("https://")))
		return -1;
	while (skip + n < in.len && in.p[skip + n] != '/' &&
	       in.p[skip + n] != '?')
		n++;
	*why = "has no host";
	if (n == 0 || url_host(span_of(in.p + skip, n), &u, why) == -1)
		return -1;
	u.origin = span_of(in.p, skip + n);
	u.target = span_of(in.p + skip + n, in.len - skip - n);
	u.path = u.target;
	u.query = span_of(NULL, 0);
	if (u.target.len != 0 &&
	    (mark = memchr(u.target.p, '?', u.target.len)) != NULL) {
		u.path.len = (size_t)(mark - u.target.p);
		u.query = span_of(mark + 1, u.target.len - u.path.len - 1);
	}
	*why = "";
	*out = u;
	return 0;
}
