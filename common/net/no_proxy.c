/* SPDX-License-Identifier: ISC */
/*
 * Rows of no_proxy.  Addresses are compared as 128 bits, IPv4 as a mapped
 * address, so that one comparison serves both families.
 */
#include "common/net/no_proxy.h"

#include <arpa/inet.h>

#include <errno.h>
#include <string.h>

static int
bad(void)
{
	errno = EINVAL;
	return -1;
}

/*
 * Parse an address.  `*v4` is set by the notation; a mapped address compares as
 * IPv4 however it is written.
 */
static bool
address(const char *s, uint8_t addr[16], bool *v4)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(addr, mapped, sizeof(mapped));
	*v4 = inet_pton(AF_INET, s, addr + 12) == 1;
	return *v4 || inet_pton(AF_INET6, s, addr) == 1;
}

static bool
within(const uint8_t *a, const uint8_t *net, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a, net, whole) != 0)
		return false;
	return rest == 0 || ((a[whole] ^ net[whole]) >> (8 - rest)) == 0;
}

/* Parse a decimal number from `min` to `max`, without leading zeros. */
static bool
number(struct span s, unsigned min, unsigned max, unsigned *out)
{
	uint64_t n;

	if (span_u64(s, max, &n) == -1 || n < min)
		return false;
	*out = (unsigned)n;
	return true;
}

static size_t
find(struct span s, uint8_t c)
{
	const uint8_t *p = s.len == 0 ? NULL : memchr(s.p, c, s.len);

	return p == NULL ? s.len : (size_t)(p - s.p);
}

/*
 * Parse ADDRESS or NET/BITS; brackets around an IPv6 address are already
 * stripped.
 */
static int
row_net(struct no_proxy_row *r, struct span s)
{
	size_t slash = find(s, '/');
	char text[INET6_ADDRSTRLEN + 1];
	unsigned bits;
	bool v4;

	if (span_copy(span_of(s.p, slash), text, sizeof(text)) == -1 ||
	    !address(text, r->addr, &v4))
		return bad();
	r->kind = NO_PROXY_NET;
	r->bits = 128;
	if (slash == s.len)
		return 0;
	if (!number(span_of(s.p + slash + 1, s.len - slash - 1), 0,
		v4 ? 32 : 128, &bits))
		return bad();
	r->bits = v4 ? bits + 96 : bits;
	return 0;
}

static int
row_name(struct no_proxy_row *r, struct span s)
{
	bool v4;

	if (span_starts(s, SPAN("*.")))
		s = span_of(s.p + 2, s.len - 2);
	else if (span_starts(s, SPAN(".")))
		s = span_of(s.p + 1, s.len - 1);
	if (egress_host(s, r->host) == -1)
		return -1;
	if (address(r->host, r->addr, &v4)) {
		r->kind = NO_PROXY_NET;
		r->bits = 128;
	} else {
		r->kind = NO_PROXY_NAME;
	}
	return 0;
}

/* Cut ":PORT" off the end of `s`, if there is one. */
static int
row_port(struct no_proxy_row *r, struct span *s, size_t colon)
{
	unsigned port;

	if (colon == s->len)
		return 0;
	if (!number(span_of(s->p + colon + 1, s->len - colon - 1), 1,
		UINT16_MAX, &port))
		return bad();
	r->port = (uint16_t)port;
	s->len = colon;
	return 0;
}

static int
row_parse(struct no_proxy_row *r, struct span s)
{
	size_t end;

	if (span_is(s, "*")) {
		r->kind = NO_PROXY_ALL;
		return 0;
	}
	if (s.len != 0 && s.p[0] == '[') {
		end = find(s, ']');
		if (end == s.len || (end + 1 != s.len && s.p[end + 1] != ':') ||
		    row_port(r, &s, end + 1) == -1)
			return bad();
		return row_net(r, span_of(s.p + 1, end - 1));
	}
	end = find(s, ':');
	/* Two colons or more: an IPv6 address. */
	if (find(s, '/') != s.len ||
	    (end != s.len && memchr(s.p + end + 1, ':', s.len - end - 1)))
		return row_net(r, s);
	if (row_port(r, &s, end) == -1)
		return -1;
	return row_name(r, s);
}

int
no_proxy_add(struct no_proxy *l, struct span s)
{
	struct no_proxy_row row;

	memset(&row, 0, sizeof(row));
	if (row_parse(&row, s) == -1)
		return -1;
	if (l->n == NO_PROXY_MAX_ROWS) {
		errno = ENOBUFS;
		return -1;
	}
	l->rows[l->n++] = row;
	return 0;
}

/* Returns true if `host` is `name` or a name below it. */
static bool
below(const char *host, const char *name)
{
	size_t n = strlen(host), m = strlen(name);

	if (n < m || strcmp(host + n - m, name) != 0)
		return false;
	return n == m || host[n - m - 1] == '.';
}

static bool
this_machine(const char *host, bool literal, const uint8_t addr[16])
{
	static const uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 127};
	static const uint8_t v6[16] = {[15] = 1};

	if (!literal)
		return below(host, "localhost");
	return within(addr, v4, 104) || within(addr, v6, 128);
}

bool
no_proxy_direct(const struct no_proxy *l, const char *host, uint16_t port)
{
	const struct no_proxy_row *r;
	uint8_t addr[16];
	bool v4, literal, here = false;

	literal = address(host, addr, &v4);
	if (this_machine(host, literal, addr))
		return true;
	for (unsigned i = 0; i < l->n && !here; i++) {
		r = &l->rows[i];
		if (r->port != 0 && r->port != port)
			continue;
		switch (r->kind) {
		case NO_PROXY_ALL:
			here = true;
			break;
		case NO_PROXY_NAME:
			here = !literal && below(host, r->host);
			break;
		case NO_PROXY_NET:
			here = literal && within(addr, r->addr, r->bits);
			break;
		}
	}
	return here;
}
