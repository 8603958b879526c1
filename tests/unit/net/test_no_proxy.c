/* SPDX-License-Identifier: ISC */
/* Rows of no_proxy, and the connections that bypass a proxy because of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/net/no_proxy.h"
#include "tap.h"

/* clang-format off */
static const char *const bad_rows[] = {
	"", ".", "*.", "*.*", "**", "*a", "a b", "a..b", "-a", "a-", "..a",
	"http://a", "a/", "a/8", "a:", "a:0", "a:65536", "a:x", "a:080",
	"a:1:2", "*:443", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1",
	"10.0.0.0/08", "10.0.0.0/8:80", "10.0.0/8", "10.1", "0x7f000001",
	"fd00::/129", "fd00::/8/8", "[fd00::", "fd00::]", "[fd00::]8",
	"[fd00::]:0", "[]", "[a]", "<local>", "::1%lo", "a\nb",
};

static const struct {
	const char *row, *host;
	uint16_t port;
	bool direct;
} cases[] = {
	{"example.org", "example.org", 443, true},
	{"example.org", "www.example.org", 443, true},
	{"example.org", "a.b.example.org", 443, true},
	{"example.org", "notexample.org", 443, false},
	{"example.org", "example.org.evil.example", 443, false},
	{"EXAMPLE.Org.", "example.org", 443, true},
	{".example.org", "example.org", 443, true},
	{".example.org", "www.example.org", 443, true},
	{".example.org", "wwwexample.org", 443, false},
	{"*.example.org", "example.org", 443, true},
	{"*.example.org", "www.example.org", 443, true},
	{"example.org:8443", "example.org", 8443, true},
	{"example.org:8443", "example.org", 443, false},
	{".example.org:8443", "a.example.org", 8443, true},
	{"org", "example.org", 443, true},
	{"*", "example.org", 443, true},
	{"*", "192.0.2.1", 443, true},
	{"*", "2001:db8::1", 443, true},
	{"192.0.2.1", "192.0.2.1", 443, true},
	{"192.0.2.1", "192.0.2.2", 443, false},
	{"192.0.2.1:443", "192.0.2.1", 443, true},
	{"192.0.2.1:443", "192.0.2.1", 80, false},
	{"10.0.0.0/8", "10.255.0.1", 443, true},
	{"10.0.0.0/8", "11.0.0.1", 443, false},
	{"10.9.9.9/8", "10.1.2.3", 443, true},
	{"10.0.0.0/9", "10.127.255.255", 443, true},
	{"10.0.0.0/9", "10.128.0.0", 443, false},
	{"10.0.0.0/8", "::ffff:10.1.2.3", 443, true},
	{"10.0.0.0/8", "a10.example", 443, false},
	{"0.0.0.0/0", "203.0.113.9", 443, true},
	{"0.0.0.0/0", "2001:db8::1", 443, false},
	{"0.0.0.0/0", "example.org", 443, false},
	{"192.0.2.1/32", "192.0.2.1", 443, true},
	{"192.0.2.1/32", "192.0.2.0", 443, false},
	{"fd00::/8", "fd12::1", 443, true},
	{"fd00::/8", "fe80::1", 443, false},
	{"fd00::/8", "253.0.0.1", 443, false},
	{"::/0", "2001:db8::1", 443, true},
	{"2001:DB8::1", "2001:db8::1", 443, true},
	{"[2001:db8::1]", "2001:db8::1", 443, true},
	{"[2001:db8::1]:443", "2001:db8::1", 443, true},
	{"[2001:db8::1]:443", "2001:db8::1", 80, false},
	{"[2001:db8::/32]:443", "2001:db8::7", 443, true},
	/* This machine is always direct. */
	{"x", "localhost", 443, true},
	{"x", "a.localhost", 443, true},
	{"x", "notlocalhost", 443, false},
	{"x", "127.0.0.1", 443, true},
	{"x", "127.255.1.1", 443, true},
	{"x", "128.0.0.1", 443, false},
	{"x", "::1", 443, true},
	{"x", "::2", 443, false},
	{"x", "::ffff:127.0.0.1", 443, true},
};
/* clang-format on */

static struct no_proxy list;

static void
test_bad(void)
{
	unsigned taken = 0;

	memset(&list, 0, sizeof(list));
	for (size_t i = 0; i < nitems(bad_rows); i++) {
		errno = 0;
		if (no_proxy_add(&list, span_str(bad_rows[i])) == -1 &&
		    errno == EINVAL)
			continue;
		taken++;
		printf("# %s\n", bad_rows[i]);
	}
	is_int(taken, 0, "%zu rows that are none", nitems(bad_rows));
	ok(no_proxy_add(&list, span_of("a\0b", 3)) == -1, "nor one with a NUL");
	is_int(list.n, 0, "none of them counts");
}

static void
test_cases(void)
{
	for (size_t i = 0; i < nitems(cases); i++) {
		memset(&list, 0, sizeof(list));
		if (no_proxy_add(&list, span_str(cases[i].row)) == -1) {
			ok(false, "%s is refused", cases[i].row);
			continue;
		}
		is_int(no_proxy_direct(&list, cases[i].host, cases[i].port),
		    cases[i].direct, "%s: %s:%u goes %s", cases[i].row,
		    cases[i].host, cases[i].port,
		    cases[i].direct ? "past it" : "through");
	}
}

static void
test_limit(void)
{
	char row[32];

	memset(&list, 0, sizeof(list));
	for (unsigned i = 0; i < NO_PROXY_MAX_ROWS; i++) {
		snprintf(row, sizeof(row), "h%u.example", i);
		if (no_proxy_add(&list, span_str(row)) == -1)
			ok(false, "row %u is refused", i);
	}
	errno = 0;
	ok(no_proxy_add(&list, SPAN("more.example")) == -1 && errno == ENOBUFS,
	    "one row too many");
	ok(no_proxy_direct(&list, "h255.example", 1) &&
		!no_proxy_direct(&list, "more.example", 1),
	    "the last that fits counts");
	memset(&list, 0, sizeof(list));
	ok(!no_proxy_direct(&list, "example.org", 443),
	    "no row: all goes through");
}

int
main(void)
{
	test_bad();
	test_cases();
	test_limit();
	return tap_done();
}
