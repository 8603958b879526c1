/* SPDX-License-Identifier: ISC */
/*
 * Tables of special addresses; the first match wins. An address that contains
 * an IPv4 address is judged by that. Only 2000::/3 is global unicast in IPv6:
 * other addresses without a row are refused.
 */
#include "dialerd/screen.h"

#include <arpa/inet.h>
#include <netinet/in.h>

enum screen_class {
	SCREEN_PUBLIC,
	SCREEN_PRIVATE, /* only with private_ok */
	SCREEN_NEVER,
	SCREEN_INNER, /* IPv6 that contains an IPv4 address */
};

/* clang-format off */
static const struct {
	uint32_t net;
	unsigned bits;
	enum screen_class class;
	const char *what;
} screen_v4[] = {
	/* 100.100.100.200 */
	{0x646464c8, 32, SCREEN_NEVER, "a metadata service"},
	/* 168.63.129.16 */
	{0xa83f8110, 32, SCREEN_NEVER, "a metadata service"},
	{0x00000000, 8, SCREEN_NEVER, "this network"},		/* 0/8 */
	{0x0a000000, 8, SCREEN_PRIVATE, "a private address"},	/* 10/8 */
	{0x64400000, 10, SCREEN_PRIVATE, "a carrier's private address"},
	{0x7f000000, 8, SCREEN_PRIVATE, "a loopback address"},	/* 127/8 */
	{0xa9fe0000, 16, SCREEN_NEVER, "a link-local address"},	/* 169.254/16 */
	{0xac100000, 12, SCREEN_PRIVATE, "a private address"},	/* 172.16/12 */
	/* 192.0.0/24 */
	{0xc0000000, 24, SCREEN_NEVER, "a protocol assignment"},
	{0xc0000200, 24, SCREEN_NEVER, "a documentation address"},
	/* 192.88.99/24 */
	{0xc0586300, 24, SCREEN_NEVER, "a 6to4 relay"},
	{0xc0a80000, 16, SCREEN_PRIVATE, "a private address"},	/* 192.168/16 */
	{0xc6120000, 15, SCREEN_PRIVATE, "a benchmark address"}, /* 198.18/15 */
	{0xc6336400, 24, SCREEN_NEVER, "a documentation address"},
	{0xcb007100, 24, SCREEN_NEVER, "a documentation address"},
	{0xe0000000, 4, SCREEN_NEVER, "a multicast address"},	/* 224/4 */
	{0xf0000000, 4, SCREEN_NEVER, "a reserved address"},	/* 240/4 */
};

static const struct {
	uint8_t net[16];
	unsigned bits;
	enum screen_class class;
	unsigned inner;		/* offset of the IPv4 address */
	const char *what;
} screen_v6[] = {
	{{0}, 128, SCREEN_NEVER, 0, "the unspecified address"},
	{{[15] = 1}, 128, SCREEN_PRIVATE, 0, "a loopback address"},
	{{[10] = 0xff, 0xff}, 96, SCREEN_INNER, 12, ""},	/* v4-mapped */
	{{[0] = 0x00, 0x64, 0xff, 0x9b}, 96, SCREEN_INNER, 12, ""}, /* NAT64 */
	{{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x54, [14] = 0x02}, 128,
	    /* fd00:ec2::254 */
	    SCREEN_NEVER, 0, "a metadata service"},
	{{0xfd, 0x20, 0x00, 0xce, [15] = 0x54, [14] = 0x02}, 128,
	    /* fd20:ce::254 */
	    SCREEN_NEVER, 0, "a metadata service"},
	{{0xfc}, 7, SCREEN_PRIVATE, 0, "a private address"},
	{{0xfe, 0x80}, 10, SCREEN_NEVER, 0, "a link-local address"},
	{{0xfe, 0xc0}, 10, SCREEN_NEVER, 0, "a site-local address"},
	{{0xff}, 8, SCREEN_NEVER, 0, "a multicast address"},
	{{0x20, 0x01}, 32, SCREEN_NEVER, 0, "a Teredo address"},
	{{0x20, 0x01, 0x0d, 0xb8}, 32, SCREEN_NEVER, 0,
	    "a documentation address"},
	{{0x20, 0x01}, 23, SCREEN_NEVER, 0, "a protocol assignment"},
	{{0x20, 0x02}, 16, SCREEN_INNER, 2, ""},		/* 6to4 */
	{{0x3f, 0xff}, 20, SCREEN_NEVER, 0, "a documentation address"},
	{{0x20}, 3, SCREEN_PUBLIC, 0, ""},
	{{0}, 0, SCREEN_NEVER, 0, "a reserved address"},
};

/* These names and every name below them. */
static const struct {
	const char *name;
	enum screen_class class;
	const char *what;
} screen_names[] = {
	{"metadata.google.internal", SCREEN_NEVER, "a metadata service"},
	{"metadata.azure.internal", SCREEN_NEVER, "a metadata service"},
	{"localhost", SCREEN_PRIVATE, "this machine"},
	{"local", SCREEN_PRIVATE, "a local name"},
	{"internal", SCREEN_PRIVATE, "an internal name"},
};
/* clang-format on */

static const char *
screen_verdict(enum screen_class class, const char *what, bool private_ok)
{
	switch (class) {
	case SCREEN_PUBLIC:
		return NULL;
	case SCREEN_PRIVATE:
		return private_ok ? NULL : what;
	case SCREEN_NEVER:
	case SCREEN_INNER:
		break;
	}
	return what;
}

static const char *
screen_inet(uint32_t addr, bool private_ok)
{
	uint32_t mask;

	for (size_t i = 0; i < nitems(screen_v4); i++) {
		mask = ~(uint32_t)0 << (32 - screen_v4[i].bits);
		if ((addr & mask) == screen_v4[i].net)
			return screen_verdict(
			    screen_v4[i].class, screen_v4[i].what, private_ok);
	}
	return NULL;
}

static bool
screen_within(const uint8_t *addr, const uint8_t *net, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (whole != 0 && memcmp(addr, net, whole) != 0)
		return false;
	return rest == 0 || ((addr[whole] ^ net[whole]) >> (8 - rest)) == 0;
}

static const char *
screen_inet6(const uint8_t *addr, bool private_ok)
{
	uint32_t inner;
	size_t i = 0;

	/* The last row matches every address. */
	while (!screen_within(addr, screen_v6[i].net, screen_v6[i].bits))
		i++;
	if (screen_v6[i].class == SCREEN_INNER) {
		memcpy(&inner, addr + screen_v6[i].inner, sizeof(inner));
		return screen_inet(ntohl(inner), private_ok);
	}
	return screen_verdict(
	    screen_v6[i].class, screen_v6[i].what, private_ok);
}

const char *
screen_address(const struct sockaddr *sa, bool private_ok)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		return screen_inet(ntohl(in.sin_addr.s_addr), private_ok);
	}
	if (sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		return screen_inet6(in6.sin6_addr.s6_addr, private_ok);
	}
	return "no internet address";
}

const char *
screen_name(struct span name, bool private_ok)
{
	struct span tail, want;

	if (name.len != 0 && name.p[name.len - 1] == '.')
		name.len--;
	for (size_t i = 0; i < nitems(screen_names); i++) {
		want = span_str(screen_names[i].name);
		if (name.len < want.len)
			continue;
		tail = span_of(name.p + name.len - want.len, want.len);
		if (!span_ieq(tail, want))
			continue;
		if (name.len != want.len && tail.p[-1] != '.')
			continue;
		return screen_verdict(
		    screen_names[i].class, screen_names[i].what, private_ok);
	}
	return NULL;
}
