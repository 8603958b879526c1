/* SPDX-License-Identifier: ISC */
/*
 * Parses a proxy's URL in place: it may contain a password, so only the host is
 * copied.
 */
#include "files/proxy_url.h"

#include <string.h>

#include "common/net/egress_list.h"

/* Returns the text after the scheme, or NULL if the scheme is not http. */
static const char *
url_rest(const char *url, const char **why)
{
	const char *at = strstr(url, "://");

	if (at == NULL)
		return url;
	if (strncmp(url, "http://", 7) == 0)
		return url + 7;
	*why = strncmp(url, "https://", 8) == 0
		   ? "TLS to the proxy itself (https://) is not supported. "
		     "Most proxies also accept CONNECT on an http:// port: "
		     "write that one"
		   : "must begin with http:// (SOCKS and others are not "
		     "supported)";
	return NULL;
}

int
proxy_url(const char *url, struct proxy_url *out, const char **why)
{
	const char *p, *at, *colon;
	char host[EGRESS_MAX_HOST + 1];
	struct span name;
	uint64_t port = 80;
	size_t n;

	if ((p = url_rest(url, why)) == NULL)
		return -1;
	n = strcspn(p, "/?#");
	if (strcmp(p + n, "") != 0 && strcmp(p + n, "/") != 0) {
		*why = "must end after its port. In a user name or password, "
		       "write %2F for /, %3F for ?, %23 for # and %40 for @";
		return -1;
	}
	out->secret = span_of(p, 0);
	if ((at = memrchr(p, '@', n)) != NULL) {
		out->secret.len = (size_t)(at - p);
		n -= out->secret.len + 1;
		p = at + 1;
	}
	name = span_of(p, n);
	colon = n == 0 ? NULL : memrchr(p, ':', n);
	if (colon != NULL && memchr(colon, ']', n - (size_t)(colon - p)))
		colon = NULL;
	if (colon != NULL) {
		name.len = (size_t)(colon - p);
		if (span_u64(span_of(colon + 1, n - name.len - 1), UINT16_MAX,
			&port) == -1 ||
		    port == 0) {
			*why = "its port must be from 1 to 65535";
			return -1;
		}
	}
	if (name.len > 2 && name.p[0] == '[' && name.p[name.len - 1] == ']')
		name = span_of(name.p + 1, name.len - 2);
	if (egress_host(name, host) == -1) {
		*why = "its host is neither a name nor an address";
		return -1;
	}
	memcpy(out->host, host, sizeof(out->host));
	out->port = (uint16_t)port;
	return 0;
}

void
proxy_url_wipe(char *url)
{
	char *at = strrchr(url, '@'), *p = strstr(url, "://");
	size_t n;

	if (at == NULL)
		return;
	p = p == NULL || p > at ? url : p + 3;
	n = strlen(at + 1);
	memmove(p, at + 1, n);
	explicit_bzero(p + n, (size_t)(at + 1 - p));
}
