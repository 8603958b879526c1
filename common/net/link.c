/* SPDX-License-Identifier: ISC */
#include "common/net/link.h"

#include <string.h>

/* Returns the part behind the scheme, and whether that is https. */
static struct span
link_rest(struct span s, bool *tls)
{
	const struct span plain = SPAN("http://"), safe = SPAN("https://");

	*tls = span_starts(s, safe);
	if (!*tls && !span_starts(s, plain))
		return span_of(NULL, 0);
	s.p += *tls ? safe.len : plain.len;
	s.len -= *tls ? safe.len : plain.len;
	return s;
}

struct span
link_host(struct span s)
{
	bool tls;
	size_t n = 0;

	s = link_rest(s, &tls);
	while (n < s.len && memchr("/?#", s.p[n], 3) == NULL)
		n++;
	return span_of(s.p, n);
}

/* Returns true for localhost and 127.0.0.1, with or without a port. */
static bool
link_loopback(struct span host)
{
	static const char *const names[] = {"localhost", "127.0.0.1"};
	struct span name;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		name = span_str(names[i]);
		if (span_starts(host, name) &&
		    (host.len == name.len || host.p[name.len] == ':'))
			return true;
	}
	return false;
}

bool
link_ok(struct span s)
{
	const struct span host = link_host(s);
	bool tls;

	(void)link_rest(s, &tls);
	if (s.len > LINK_MAX || host.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= 0x20 || s.p[i] >= 0x7f ||
		    memchr("\"'`\\<>^{|}", s.p[i], 10) != NULL)
			return false;
	for (size_t i = 0; i < host.len; i++)
		if (memchr("-.:[]", host.p[i], 5) == NULL &&
		    !(host.p[i] >= '0' && host.p[i] <= '9') &&
		    !(host.p[i] >= 'a' && host.p[i] <= 'z') &&
		    !(host.p[i] >= 'A' && host.p[i] <= 'Z'))
			return false;
	return tls || link_loopback(host);
}
