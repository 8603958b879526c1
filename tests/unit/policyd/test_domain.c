/* SPDX-License-Identifier: ISC */
/*
 * Tests hosts, URLs and remotes: their canonical forms, refusals and reasons,
 * and matching of patterns.
 */
#include "policyd/engine/lists.h"
#include "tap.h"

#include <stdio.h>

static struct value_pool *pool;

static const struct {
	const char *in, *out;	/* NULL: refused */
	enum host_kind kind;
} hosts[] = {
    {"example.com", "example.com", HOST_NAME},
    {"EXAMPLE.Com", "example.com", HOST_NAME},
    {"example.com.", "example.com", HOST_NAME},
    {"a_b.example", "a_b.example", HOST_NAME},
    {"xn--bcher-kva.example", "xn--bcher-kva.example", HOST_NAME},
    {"127.0.0.1", "127.0.0.1", HOST_ADDRESS},
    {"127.0.0.1.", "127.0.0.1", HOST_ADDRESS},
    {"2130706433", "127.0.0.1", HOST_ADDRESS},
    {"0177.1", "127.0.0.1", HOST_ADDRESS},
    {"0x7f.1", "127.0.0.1", HOST_ADDRESS},
    {"0X7F000001", "127.0.0.1", HOST_ADDRESS},
    {"127.1", "127.0.0.1", HOST_ADDRESS},
    {"127.0.1", "127.0.0.1", HOST_ADDRESS},
    {"10.257", "10.0.1.1", HOST_ADDRESS},
    {"0", "0.0.0.0", HOST_ADDRESS},
    {"0x", "0.0.0.0", HOST_ADDRESS},
    {"[::1]", "[::1]", HOST_ADDRESS},
    {"[0:0:0:0:0:0:0:1]", "[::1]", HOST_ADDRESS},
    {"[::FFFF:127.0.0.1]", "127.0.0.1", HOST_ADDRESS},
    {"[::ffff:a9fe:a9fe]", "169.254.169.254", HOST_ADDRESS},
    {"[0:0::ffff:7f00:1]", "127.0.0.1", HOST_ADDRESS},
    {"[::ffff:0:127.0.0.1]", "[::ffff:0:7f00:1]", HOST_ADDRESS},
    {"[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]", HOST_ADDRESS},
    {"", NULL, 0},
    {".", NULL, 0},
    {"..", NULL, 0},
    {"a..b", NULL, 0},
    {"example.com..", NULL, 0},
    {".example.com", NULL, 0},
    {"-a.example", NULL, 0},
    {"exa mple.com", NULL, 0},
    {"ex%61mple.com", NULL, 0},
    {"b\xc3\xbc"
     "cher.example", NULL, 0},
    {"256.256.256.256", NULL, 0},
    {"1.2.3.4.5", NULL, 0},
    {"127.0.0.08", NULL, 0},
    {"4294967296", NULL, 0},
    {"a.1", NULL, 0},
    {"[::1", NULL, 0},
    {"[fe80::1%eth0]", NULL, 0},
    {"[::g]", NULL, 0},
    {"[]", NULL, 0},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b",
	NULL, 0},
};

static const struct {
	const char *in, *out, *host;	/* NULL: refused */
} urls[] = {
    {"https://example.com", "https://example.com", "example.com"},
    {"https://example.com/", "https://example.com", "example.com"},
    {"https://example.com/a/", "https://example.com/a", "example.com"},
    {"https://example.com/a//", "https://example.com/a/", "example.com"},
    {"https://example.com/?q=a/", "https://example.com?q=a/", "example.com"},
    {"https://example.com/a/?q", "https://example.com/a/?q", "example.com"},
    {"https://example.com/a#b/", "https://example.com/a#b/", "example.com"},
    {"HTTPS://EXAMPLE.com:443/X", "https://example.com/X", "example.com"},
    {"http://example.com:80/x", "http://example.com/x", "example.com"},
    {"http://example.com:8080/x", "http://example.com:8080/x",
	"example.com"},
    {"https://example.com./x", "https://example.com/x", "example.com"},
    {"https://a.com/b/../c", "https://a.com/c", "a.com"},
    {"https://a.com/b/%2e%2e/c", "https://a.com/c", "a.com"},
    {"https://a.com/../../c", "https://a.com/c", "a.com"},
    {"https://a.com/./c/.", "https://a.com/c", "a.com"},
    {"https://a.com/a b", "https://a.com/a%20b", "a.com"},
    {"https://a.com/%zz", "https://a.com/%zz", "a.com"},
    {"https://a.com/\xc3\xa4", "https://a.com/%C3%A4", "a.com"},
    {"https://a.com?x=\xc3\xa4", "https://a.com?x=%C3%A4", "a.com"},
    {"http://2130706433/", "http://127.0.0.1", "127.0.0.1"},
    {"http://0x7f.1/x", "http://127.0.0.1/x", "127.0.0.1"},
    {"http://[::1]:8080/", "http://[::1]:8080", "[::1]"},
    {"file:///etc/passwd", "file:///etc/passwd", ""},
    {"FILE:///etc/passwd", "file:///etc/passwd", ""},
    {"data:text/plain,x", "data:text/plain,x", ""},
    {"h2+x.y-z:abc", "h2+x.y-z:abc", ""},
    {"2h:abc", NULL, NULL},
    {"localhost:3000/x", "localhost:3000/x", ""},
    {"", NULL, NULL},
    {"example.com", NULL, NULL},
    {"//example.com/x", NULL, NULL},
    {"https:/example.com", NULL, NULL},
    {"https:example.com", NULL, NULL},
    {"https://", NULL, NULL},
    {"https:///x", NULL, NULL},
    {"https://user@example.com/", NULL, NULL},
    {"https://user:pw@example.com/", NULL, NULL},
    {"https://good.com@evil.com/", NULL, NULL},
    {"https://good.com\\@evil.com/", NULL, NULL},
    {"https://good.com\\.evil.com/", NULL, NULL},
    {"https://ex\tample.com/", NULL, NULL},
    {"https://example.com/\n", NULL, NULL},
    {" https://example.com/", NULL, NULL},
    {"https://example.com:0/", NULL, NULL},
    {"https://example.com:65536/", NULL, NULL},
    {"https://example.com:80x/", NULL, NULL},
    {"https://example.com:+80/", NULL, NULL},
    {"https://[::1]x/", NULL, NULL},
    {"https://b\xc3\xbc"
     "cher.example/", NULL, NULL},
    {"https://a..b/", NULL, NULL},
};

static const struct {
	const char *in, *out, *full;	/* NULL: unknown */
} remotes[] = {
    {"https://github.com/o/r", "https://github.com/o/r", "github.com/o/r"},
    {"https://github.com/o/r.git", "https://github.com/o/r.git",
	"github.com/o/r"},
    {"https://GitHub.com/o/r.git/", "https://github.com/o/r.git",
	"github.com/o/r"},
    {"https://github.com/o/r/../../e/x", "https://github.com/e/x",
	"github.com/e/x"},
    {"https://github.com", "https://github.com", "github.com"},
    {"ssh://git@github.com/o/r.git", "ssh://git@github.com/o/r.git",
	"github.com/o/r"},
    {"ssh://github.com:22/o/r", "ssh://github.com/o/r", "github.com/o/r"},
    {"ssh://github.com:2222/o/r", "ssh://github.com:2222/o/r",
	"github.com/o/r"},
    {"git@github.com:o/r.git", "git@github.com:o/r.git", "github.com/o/r"},
    {"git@GITHUB.com:/o/r", "git@GITHUB.com:/o/r", "github.com/o/r"},
    {"evil.com:o/r", "evil.com:o/r", "evil.com/o/r"},
    {"file:///srv/repo", "file:///srv/repo", "/srv/repo"},
    {"origin", "origin", NULL},
    {"/srv/repo", "/srv/repo", NULL},
    {"../other", "../other", NULL},
    {"./a:b", "./a:b", NULL},
    {"", NULL, ""},
    {"-oProxyCommand=x", NULL, ""},
    {"--upload-pack=x", NULL, ""},
    {"ext::sh -c x", NULL, ""},
    {"fd::17", NULL, ""},
    {"http::https://x/y", NULL, ""},
    {"ssh://-oProxyCommand=x/y", NULL, ""},
    {"ssh://-x@host/y", NULL, ""},
    {"-x@host:y", NULL, ""},
    {"host:-y", NULL, ""},
    {"host:", NULL, ""},
    {"https://token@github.com/o/r", NULL, ""},
    {"ssh://git:pw@github.com/o/r", NULL, ""},
    {"ftp://github.com/o/r", NULL, ""},
    {"git-remote-x://a/b", NULL, ""},
};

static const struct {
	const char *patterns;	/* separated by newlines */
	const char *url;
	bool match;
} matches[] = {
    {"example.com", "https://example.com/x", true},
    {"example.com", "https://a.example.com/x", false},
    {"Example.COM.", "https://example.com", true},
    {"*.example.com", "https://example.com/x", true},
    {"*.example.com", "https://a.b.example.com/x", true},
    {"*.example.com", "https://badexample.com/x", false},
    {"*.example.com", "https://example.com.evil.com/x", false},
    {"*", "https://anything.example/x", true},
    {"*", "https://127.0.0.1/x", false},
    {"*", "https://2130706433/x", false},
    {"*", "https://[::1]/x", false},
    {"*", "file:///etc/passwd", false},
    {"*", "https://xn--e1awd7f.com/", false},
    {"*.com", "https://xn--e1awd7f.com/", false},
    {"xn--e1awd7f.com", "https://xn--e1awd7f.com/", true},
    {"*.xn--e1awd7f.com", "https://a.xn--e1awd7f.com/", true},
    {"*.xn--e1awd7f.com", "https://xn--a-b.xn--e1awd7f.com/", false},
    {"127.0.0.1", "https://2130706433/", true},
    {"0x7f.1", "https://127.0.0.1/", true},
    {"[::1]", "https://[0:0::1]/", true},
    {"*.0.0.1", "https://127.0.0.1/", false},
    {"a.com\nb.com\nc.com", "https://b.com", true},
    {"a.com\nb.com\nc.com", "https://d.com", false},
    {"", "https://a.com", false},
};

static const struct {
	const char *patterns, *remote;
	bool match;
} git_matches[] = {
    {"github.com/o/r", "git@github.com:o/r.git", true},
    {"GitHub.com/o/r", "https://github.com/o/r", true},
    {"github.com/o/r", "https://github.com/o/rr", false},
    {"github.com/o/r", "https://github.com/O/r", false},
    {"github.com", "https://github.com/any/thing", true},
    {"*.github.com", "git@github.com:o/r", true},
    {"*", "origin", false},
    {"*", "/srv/repo", false},
    {"origin", "origin", false},
    {"/srv/repo", "file:///srv/repo", true},
    {"*", "file:///srv/repo", false},
};

static void
test_hosts(void)
{
	char dst[DOMAIN_MAX_HOST + 1];
	enum host_kind kind;
	const char *why;
	size_t len;
	int r;

	for (size_t i = 0; i < nitems(hosts); i++) {
		why = NULL;
		r = host_normalise(span_str(hosts[i].in), dst, &len, &kind,
		    &why);
		if (hosts[i].out == NULL) {
			ok(r == -1 && why != NULL, "host refused: \"%s\"",
			    hosts[i].in);
			continue;
		}
		ok(r == 0 && kind == hosts[i].kind &&
			span_is(span_of(dst, len), hosts[i].out),
		    "host %s is %s", hosts[i].in, hosts[i].out);
	}
}

static void
test_urls(void)
{
	const char *why;
	struct url u;
	int r;

	for (size_t i = 0; i < nitems(urls); i++) {
		why = NULL;
		r = url_parse(pool, span_str(urls[i].in), &u, &why);
		if (urls[i].out == NULL) {
			ok(r == -1 && why != NULL, "URL refused (%s): %zu",
			    why == NULL ? "?" : why, i);
			continue;
		}
		if (r == -1) {
			ok(false, "URL %s: %s", urls[i].in, why);
			continue;
		}
		is_mem(u.text.p, u.text.len, urls[i].out,
		    strlen(urls[i].out), "URL %zu is written once", i);
		is_mem(u.domain.host.p, u.domain.host.len, urls[i].host,
		    strlen(urls[i].host), "host of URL %zu", i);
	}
}

static void
test_remotes(void)
{
	const char *why;
	struct url u;
	int r;

	for (size_t i = 0; i < nitems(remotes); i++) {
		why = NULL;
		r = url_parse_git(pool, span_str(remotes[i].in), &u, &why);
		if (remotes[i].out == NULL) {
			ok(r == -1 && why != NULL, "remote refused (%s): %s",
			    why == NULL ? "?" : why, remotes[i].in);
			continue;
		}
		ok(r == 0 && span_is(u.text, remotes[i].out),
		    "remote %s is sent as %s", remotes[i].in, remotes[i].out);
		ok(u.domain.known == (remotes[i].full != NULL) &&
			(remotes[i].full == NULL ||
			    span_is(u.domain.full, remotes[i].full)),
		    "remote %s means %s", remotes[i].in,
		    remotes[i].full == NULL ? "(unknown)" : remotes[i].full);
	}
}

static void
test_matches(void)
{
	struct match_set *set;
	const char *why;
	struct url u;

	for (size_t i = 0; i < nitems(matches); i++) {
		set = match_set_text(pool, span_str(matches[i].patterns));
		ok(url_parse(pool, span_str(matches[i].url), &u, &why) == 0 &&
			match_set_domain(set, &u.domain) == matches[i].match,
		    "pattern %zu %s %s", i,
		    matches[i].match ? "matches" : "does not match",
		    matches[i].url);
	}
	for (size_t i = 0; i < nitems(git_matches);
	     i++) {
		set = match_set_text(pool, span_str(git_matches[i].patterns));
		ok(url_parse_git(pool, span_str(git_matches[i].remote), &u,
		       &why) == 0 &&
			match_set_domain(set, &u.domain) ==
			    git_matches[i].match,
		    "pattern %s %s remote %s", git_matches[i].patterns,
		    git_matches[i].match ? "matches" : "does not match",
		    git_matches[i].remote);
	}
}

/* Ten thousand entries are searched, not scanned. */
static void
test_large(void)
{
	struct match_set *set;
	struct buf b;
	struct domain d = {.kind = HOST_NAME, .known = true};
	bool all = true;
	char name[64];

	buf_init(&b, 1 << 20);
	for (unsigned i = 0; i < 10000; i++)
		buf_printf(&b, "%shost%u.example\n",
		    i % 3 == 0 ? "*." : "", i);
	set = match_set_text(pool, buf_span(&b));
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "host%u.example", i);
		d.host = d.full = span_str(name);
		all = all && match_set_domain(set, &d);
		snprintf(name, sizeof(name), "x.host%u.example", i);
		d.host = d.full = span_str(name);
		all = all && match_set_domain(set, &d) == (i % 3 == 0);
	}
	ok(all, "10,000 patterns, each found and none too many");
	buf_free(&b);
}

int
main(void)
{
	if ((pool = value_pool_new(64 << 20)) == NULL)
		return 1;
	test_hosts();
	test_urls();
	test_remotes();
	test_matches();
	test_large();
	value_pool_free(pool);
	return tap_done();
}
