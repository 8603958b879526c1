/* SPDX-License-Identifier: ISC */
/*
 * Hosts in one spelling: names in lower case without a trailing dot; IPv4
 * addresses, in every form that resolvers accept (decimal, octal, hex, fewer
 * parts, or within IPv6), as four decimal numbers; IPv6 in brackets. Its input
 * comes from the agent; it keeps no state.
 */
#include "engine/domain.h"

#include <arpa/inet.h>

#include <stdio.h>

#define LABEL_MAX 63U

static uint8_t
lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static int
digit(uint8_t c, unsigned base)
{
	unsigned v;

	c = lower(c);
	if (c >= '0' && c <= '9')
		v = c - (unsigned)'0';
	else if (c >= 'a' && c <= 'f')
		v = c - (unsigned)'a' + 10;
	else
		return -1;
	return v < base ? (int)v : -1;
}

/* Parse one part of an IPv4 address in any base. Returns 0, or -1. */
static int
part_number(struct span s, uint64_t *out)
{
	unsigned base = 10;
	uint64_t v = 0;
	int d;

	if (s.len == 0)
		return -1;
	if (s.len >= 2 && s.p[0] == '0' && lower(s.p[1]) == 'x') {
		base = 16;
		s.p += 2;
		s.len -= 2;
	} else if (s.len >= 2 && s.p[0] == '0') {
		base = 8;
		s.p++;
		s.len--;
	}
	for (size_t i = 0; i < s.len; i++) {
		if ((d = digit(s.p[i], base)) == -1)
			return -1;
		if (v <= UINT32_MAX)
			v = v * base + (unsigned)d;
	}
	*out = v;
	return 0;
}

/*
 * Returns true if the label is a number in any base; the host is an address
 * then.
 */
static bool
label_numeric(struct span s)
{
	uint64_t v;
	size_t i;

	for (i = 0; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		continue;
	return (s.len != 0 && i == s.len) || part_number(s, &v) == 0;
}

static int
ipv4_parse(const struct span *labels, unsigned n, char *dst, size_t *len)
{
	uint64_t v, addr = 0;
	int written;

	if (n > 4)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (part_number(labels[i], &v) == -1)
			return -1;
		if (i + 1 < n) {
			if (v > 255)
				return -1;
			addr |= v << (8 * (3 - i));
		} else {
			if (v >= (uint64_t)1 << (8 * (5 - n)))
				return -1;
			addr |= v;
		}
	}
	written = snprintf(dst, DOMAIN_MAX_HOST + 1, "%u.%u.%u.%u",
	    (unsigned)(addr >> 24 & 255), (unsigned)(addr >> 16 & 255),
	    (unsigned)(addr >> 8 & 255), (unsigned)(addr & 255));
	*len = (size_t)written;
	return 0;
}

static int
ipv6_parse(struct span in, char *dst, size_t *len)
{
	char text[INET6_ADDRSTRLEN + 1];
	struct in6_addr addr;

	/* Refuse a zone: it names an interface of the machine that reads it. */
	if (span_copy(in, text, sizeof(text)) == -1 ||
	    inet_pton(AF_INET6, text, &addr) != 1)
		return -1;
	/* An IPv4-mapped address leads to the same host as the IPv4 address. */
	if (IN6_IS_ADDR_V4MAPPED(&addr)) {
		*len = (size_t)snprintf(dst, DOMAIN_MAX_HOST + 1, "%u.%u.%u.%u",
		    addr.s6_addr[12], addr.s6_addr[13], addr.s6_addr[14],
		    addr.s6_addr[15]);
		return 0;
	}
	if (inet_ntop(AF_INET6, &addr, text, sizeof(text)) == NULL)
		return -1;
	*len = (size_t)snprintf(dst, DOMAIN_MAX_HOST + 1, "[%s]", text);
	return 0;
}

/* Split into labels. Returns their number, or 0 if one is empty or too long. */
static unsigned
split(struct span s, struct span *labels, unsigned max)
{
	size_t start = 0;
	unsigned n = 0;

	for (size_t i = 0; i <= s.len; i++) {
		if (i < s.len && s.p[i] != '.')
			continue;
		if (i == start || i - start > LABEL_MAX || n == max)
			return 0;
		labels[n++] = span_of(s.p + start, i - start);
		start = i + 1;
	}
	return n;
}

static int
name_parse(struct span in, char *dst, size_t *len, enum host_kind *kind,
    const char **why)
{
	struct span labels[DOMAIN_MAX_HOST / 2 + 2];
	unsigned n;

	for (size_t i = 0; i < in.len; i++) {
		uint8_t c = lower(in.p[i]);

		if (c >= 0x80) {
			*why = "the host is not ASCII: write it as xn--...";
			return -1;
		}
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '-' && c != '_' && c != '.') {
			*why = "the host has a character that no host has";
			return -1;
		}
		dst[i] = (char)c;
	}
	n = split(span_of(dst, in.len), labels, nitems(labels));
	if (n == 0) {
		*why = "the host has an empty or over-long label";
		return -1;
	}
	if (dst[0] == '-') {
		*why = "the host begins with -";
		return -1;
	}
	*len = in.len;
	*kind = HOST_NAME;
	if (!label_numeric(labels[n - 1]))
		return 0;
	*kind = HOST_ADDRESS;
	if (ipv4_parse(labels, n, dst, len) == -1) {
		*why = "the host is neither a name nor an IPv4 address";
		return -1;
	}
	return 0;
}

int
host_normalise(struct span in, char *dst, size_t *len, enum host_kind *kind,
    const char **why)
{
	if (in.len >= 2 && in.p[0] == '[' && in.p[in.len - 1] == ']') {
		*kind = HOST_ADDRESS;
		*why = "the host is not an IPv6 address";
		return ipv6_parse(span_of(in.p + 1, in.len - 2), dst, len);
	}
	if (in.len != 0 && in.p[in.len - 1] == '.')
		in.len--;
	if (in.len == 0) {
		*why = "there is no host";
		return -1;
	}
	if (in.len > DOMAIN_MAX_HOST) {
		*why = "the host is longer than 253 bytes";
		return -1;
	}
	return name_parse(in, dst, len, kind, why);
}
