/* SPDX-License-Identifier: ISC */
/*
 * A client that does not know NO_PROXY, or knows fewer of its forms than there
 * are, asks the proxy for the sandbox itself. Its refusal says so.
 */
#include "loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* The longest name that is looked at. */
#define LOOPBACK_HOST 254U

/* Copy the host of the target, in lower case and without brackets. */
static bool
loopback_host(struct span s, char host[LOOPBACK_HOST])
{
	size_t n = 0;
	char end = ':';

	for (size_t i = 0; i + 3 <= s.len; i++)
		if (memcmp(s.p + i, "://", 3) == 0) {
			s = span_of(s.p + i + 3, s.len - i - 3);
			break;
		}
	if (s.len != 0 && s.p[0] == '[') {
		end = ']';
		s = span_of(s.p + 1, s.len - 1);
	}
	for (; n < s.len && s.p[n] != end && s.p[n] != '/' && s.p[n] != '?';
	     n++) {
		if (n + 1 == LOOPBACK_HOST || s.p[n] == '\0')
			return false;
		host[n] = (char)s.p[n];
		if (host[n] >= 'A' && host[n] <= 'Z')
			host[n] = (char)(host[n] - 'A' + 'a');
	}
	/* A name may end with the root's dot. */
	if (n > 1 && host[n - 1] == '.')
		n--;
	host[n] = '\0';
	return n != 0;
}

static bool
loopback_v6(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a) ||
	       (IN6_IS_ADDR_V4MAPPED(a) &&
		   (a->s6_addr[12] == 127 || a->s6_addr[12] == 0));
}

bool
loopback_target(struct span target)
{
	static const char *const names[] = {"localhost", "ironcurtain",
	    "localhost.localdomain", "localhost4", "localhost6",
	    "ip6-localhost", "ip6-loopback"};
	static const char below[] = ".localhost";
	char host[LOOPBACK_HOST];
	struct in6_addr v6;
	struct in_addr v4;
	size_t len;

	if (!loopback_host(target, host))
		return false;
	for (size_t i = 0; i < nitems(names); i++)
		if (strcmp(host, names[i]) == 0)
			return true;
	len = strlen(host);
	if (len >= sizeof(below) &&
	    strcmp(host + len - (sizeof(below) - 1), below) == 0)
		return true;
	/* inet_aton(3) also takes 127.1 and 0x7f000001, as clients do. */
	if (inet_aton(host, &v4) == 1)
		return (ntohl(v4.s_addr) >> 24) == 127 || v4.s_addr == 0;
	return inet_pton(AF_INET6, host, &v6) == 1 && loopback_v6(&v6);
}
