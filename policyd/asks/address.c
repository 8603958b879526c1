/* SPDX-License-Identifier: ISC */
/*
 * Checks an address that a person may be asked to open: https, a public name,
 * nothing before an @, and no character that a shell or a terminal minds.
 */
#include "asks/address.h"

#include <string.h>

#include "common/http/known_host.h"

static bool
address_letter(uint8_t c)
{
	return c > ' ' && c < 0x7f && strchr("\\\"<>`{}|^'$", c) == NULL;
}

const char *
address_check(struct span url, char host[HOSTNAME_MAX + 1], bool *foreign)
{
	const struct span scheme = SPAN("https://");
	const char *why;
	struct span s;
	size_t n = 0, port;

	*foreign = false;
	if (url.p == NULL || url.len > ADDRESS_MAX)
		return "is missing, or longer than 2048 bytes";
	for (size_t i = 0; i < url.len; i++)
		if (!address_letter(url.p[i]))
			return "has a character that must be percent-encoded";
	if (!span_starts(url, scheme))
		return "does not begin with https://";
	s = span_of(url.p + scheme.len, url.len - scheme.len);
	while (n < s.len && strchr("/?#", s.p[n]) == NULL)
		n++;
	s.len = n;
	if (n != 0 && memchr(s.p, '@', n) != NULL)
		return "has a name or a password before its host";
	for (port = n; port != 0 && s.p[port - 1] >= '0' && s.p[port - 1] <= '9';)
		port--;
	if (port != 0 && s.p[port - 1] == ':') {
		if (port == n || n - port > 5)
			return "has an odd port";
		s.len = port - 1;
	}
	if (hostname_read(s, host, &why) == -1)
		return why;
	if (hostname_public(host, &why) == -1)
		return why;
	*foreign = known_host_foreign(host);
	return NULL;
}
