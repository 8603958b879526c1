/* SPDX-License-Identifier: ISC */
/* Parses the address of a server that a provider or proxy is reached by. */
#include "files/parse.h"

#include <arpa/inet.h>

#include <string.h>
#include <strings.h>

static bool
config_is_loopback(const char *host)
{
	struct in_addr in;

	if (strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0)
		return true;
	/* An address, not a name that looks like one. */
	return inet_pton(AF_INET, host, &in) == 1 &&
	       ntohl(in.s_addr) >> 24 == 127;
}

/*
 * Parse a name or address of [a-z0-9.-], or IPv6 in brackets. Returns the text
 * after it, or NULL with the reason in `*why`.
 */
static const char *
config_url_host(const char *p, struct config_upstream *up, const char **why)
{
	const char *end;
	size_t n;

	if (*p == '[') {
		n = strspn(++p, "0123456789abcdefABCDEF:.");
		end = p + n + 1;
		if (p[n] != ']' || n < 2)
			goto bad;
	} else {
		n = strspn(p, "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
		end = p + n;
		if (n == 0)
			goto bad;
	}
	if (n >= sizeof(up->host))
		goto bad;
	for (size_t i = 0; i < n; i++)
		up->host[i] =
		    (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] - 'A' + 'a'
						      : p[i]);
	up->host[n] = '\0';
	return end;
bad:
	*why = "its host is neither a name nor an address";
	return NULL;
}

/* Returns true for an escape that stands for nothing which divides a path. */
static bool
config_url_escape_ok(const char *p)
{
	static const char *const refused[] = {"2e", "2f", "5c", "7f"};

	if (strspn(p, "0123456789abcdefABCDEF") < 2 || p[0] < '2')
		return false;
	for (size_t i = 0; i < nitems(refused); i++)
		if (strncasecmp(p, refused[i], 2) == 0)
			return false;
	return true;
}

/* Check a path, or nothing: RFC 3986, without empty and dot segments. */
static bool
config_url_path_ok(const char *p)
{
	size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "0123456789._~-!$&'()*+,;=:@%/");

	if ((n != 0 && *p != '/') || p[n] != '\0' || strstr(p, "//") != NULL ||
	    strstr(p, "/.") != NULL)
		return false;
	for (; (p = strchr(p, '%')) != NULL; p++)
		if (!config_url_escape_ok(p + 1))
			return false;
	return true;
}

int
config_url(const char *url, struct config_upstream *out, const char **why)
{
	struct config_upstream up = {.set = true, .tls = true, .port = 443};
	unsigned long port = 0;
	const char *p;
	size_t n;

	if (strncasecmp(url, "https://", 8) == 0) {
		p = url + 8;
	} else if (strncasecmp(url, "http://", 7) == 0) {
		p = url + 7;
		up.tls = false;
		up.port = 80;
	} else {
		*why = "must begin with https://";
		return -1;
	}
	if (memchr(p, '@', strcspn(p, "/?#")) != NULL) {
		*why = "must not hold a user name or password";
		return -1;
	}
	if ((p = config_url_host(p, &up, why)) == NULL)
		return -1;
	if (*p == ':') {
		for (p++, n = 0; p[n] >= '0' && p[n] <= '9' && n < 6; n++)
			port = port * 10 + (unsigned long)(p[n] - '0');
		if (n == 0 || port == 0 || port > 65535) {
			*why = "its port must be from 1 to 65535";
			return -1;
		}
		up.port = (uint16_t)port;
		p += n;
	}
	n = strlen(p);
	if (!config_url_path_ok(p) || n >= sizeof(up.prefix)) {
		*why = "its path may hold letters, digits, escapes (%20) and "
		       "-._~!$&'()*+,;=:@ only, no empty or dot segment, and "
		       "no query or fragment";
		return -1;
	}
	memcpy(up.prefix, p, n);
	while (n != 0 && up.prefix[n - 1] == '/')
		n--;
	up.prefix[n] = '\0';
	if (!up.tls && !config_is_loopback(up.host)) {
		*why =
		    "must begin with https:// (http:// is allowed for loopback "
		    "only: elsewhere the key would cross the network in clear)";
		return -1;
	}
	*out = up;
	return 0;
}
