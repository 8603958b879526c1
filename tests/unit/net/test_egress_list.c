/* SPDX-License-Identifier: ISC */
/* Hosts as servers request them, and the lists that they are matched with. */
#include <string.h>

#include "common/net/egress_list.h"
#include "tap.h"

/* clang-format off */
static const struct {
	const char *target;
	const char *host;	/* NULL if refused */
	unsigned port;
} targets[] = {
	{"example.org:443", "example.org", 443},
	{"EXAMPLE.Org.:8443", "example.org", 8443},
	{"a-b.c_d.example:1", "a-b.c_d.example", 1},
	{"192.0.2.1:65535", "192.0.2.1", 65535},
	{"[2001:db8::1]:443", "2001:db8::1", 443},
	{"xn--bcher-kva.example:443", "xn--bcher-kva.example", 443},
	{"example.org", NULL, 0},
	{"example.org:", NULL, 0},
	{"example.org:0", NULL, 0},
	{"example.org:0443", NULL, 0},
	{"example.org:65536", NULL, 0},
	{"example.org:123456", NULL, 0},
	{"example.org:+443", NULL, 0},
	{":443", NULL, 0},
	{".:443", NULL, 0},
	{"a..b:443", NULL, 0},
	{".a:443", NULL, 0},
	{"a..:443", NULL, 0},
	{"-a.b:443", NULL, 0},
	{"a-.b:443", NULL, 0},
	{"a b:443", NULL, 0},
	{"b\xc3\xbc" "cher.example:443", NULL, 0},
	{"a%2eb:443", NULL, 0},
	{"u@example.org:443", NULL, 0},
	{"http://example.org:443", NULL, 0},
	{"*.example.org:443", NULL, 0},
	{"127.1:443", NULL, 0},
	{"0177.0.0.1:443", NULL, 0},
	{"2130706433:443", NULL, 0},
	{"0x7f000001:443", NULL, 0},
	{"1.2.3.4.5:443", NULL, 0},
	{"a.0x1:443", NULL, 0},
	{"2001:db8::1:443", NULL, 0},
	{"[2001:db8::1]", NULL, 0},
	{"[2001:db8::1%eth0]:443", NULL, 0},
	{"[192.0.2.1]:443", NULL, 0},
	{"[example.org]:443", NULL, 0},
	{"[]:443", NULL, 0},
};

static const struct {
	const char *pattern, *host;
	bool matches;
} patterns[] = {
	{"example.org", "example.org", true},
	{"example.org", "www.example.org", false},
	{"example.org", "example.org.evil.example", false},
	{"*.example.org", "example.org", true},
	{"*.example.org", "www.example.org", true},
	{"*.example.org", "a.b.example.org", true},
	{"*.example.org", "evilexample.org", false},
	{"*.example.org", "example.org.evil", false},
	{"*", "anything.example", true},
	{"*", "192.0.2.1", false},
	{"*", "2001:db8::1", false},
	{"192.0.2.1", "192.0.2.1", true},
	{"192.0.2.1", "192.0.2.10", false},
};
/* clang-format on */

static void
test_targets(void)
{
	char host[EGRESS_MAX_HOST + 1];
	uint16_t port = 0;
	int rv;

	for (size_t i = 0; i < nitems(targets); i++) {
		rv = egress_target(span_str(targets[i].target), host, &port);
		ok(targets[i].host == NULL
			? rv == -1
			: rv == 0 && strcmp(host, targets[i].host) == 0 &&
			      port == targets[i].port,
		    "%s: %s", targets[i].target,
		    targets[i].host == NULL ? "refused" : targets[i].host);
	}
	ok(egress_target(span_of("a\0b:443", 7), host, &port) == -1,
	    "a NUL: refused");
}

static void
test_lists(void)
{
	struct egress_list l = {.n = 0};
	char label[80], name[300];

	for (size_t i = 0; i < nitems(patterns); i++)
		ok(egress_matches(patterns[i].pattern, patterns[i].host) ==
			patterns[i].matches,
		    "%s %s %s", patterns[i].pattern,
		    patterns[i].matches ? "is" : "is not", patterns[i].host);
	ok(egress_add(&l, SPAN("*.Example.org."), 443, false) == 0 &&
		egress_add(&l, SPAN("git.example.org"), 22, true) == 0 &&
		egress_add(&l, SPAN("*"), 8080, false) == 0,
	    "rows");
	ok(egress_allows(&l, "www.example.org", 443), "a name below");
	ok(!egress_allows(&l, "www.example.org", 80), "not on another port");
	ok(egress_allows(&l, "www.example.org", 8080), "but by another row");
	ok(!egress_allows(&l, "git.example.org", 443),
	    "denied, whatever the port");
	ok(!egress_allows(&l, "192.0.2.1", 8080), "* is no address");
	ok(egress_add(&l, SPAN("*.192.0.2.1"), 443, false) == -1 &&
		egress_add(&l, SPAN("*.*"), 443, false) == -1 &&
		egress_add(&l, SPAN("a*"), 443, false) == -1 &&
		egress_add(&l, SPAN(""), 443, false) == -1,
	    "what is no row");
	memset(label, 'a', sizeof(label));
	ok(egress_host(span_of(label, 63), name) == 0 &&
		egress_host(span_of(label, 64), name) == -1,
	    "63 characters in a label");
	while (l.n < EGRESS_MAX_ROWS)
		egress_add(&l, SPAN("x"), 1, false);
	ok(egress_add(&l, SPAN("y"), 1, false) == -1, "and no more rows");
}

int
main(void)
{
	test_targets();
	test_lists();
	return tap_done();
}
