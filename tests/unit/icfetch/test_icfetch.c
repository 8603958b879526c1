/* SPDX-License-Identifier: ISC */
/* icfetch's URLs, and its conversion of pages. */
#include <stdio.h>
#include <string.h>

#include "mcp-proxyd/icfetch/icfetch.h"
#include "tap.h"

/* clang-format off */
static const struct {
	const char *url;
	const char *want;	/* scheme host port path; NULL: refused */
} urls[] = {
	{"https://example.org", "https example.org 443 /"},
	{"https://Example.ORG./", "https example.org 443 /"},
	{"http://example.org/a?b#c", "http example.org 80 /a?b"},
	{"https://example.org?q=1", "https example.org 443 /?q=1"},
	{"https://example.org#x", "https example.org 443 /"},
	{"https://example.org:8443/x", "https example.org 8443 /x"},
	{"https://[2001:db8::1]/", "https 2001:db8::1 443 /"},
	{"https://[2001:db8::1]:444/", "https 2001:db8::1 444 /"},
	{"https://192.0.2.1/%20", "https 192.0.2.1 443 /%20"},
	{"ftp://example.org/", NULL},
	{"HTTPS://example.org/", NULL},
	{"//example.org/", NULL},
	{"https://u:p@example.org/", NULL},
	{"https://example.org@evil.example/", NULL},
	{"https://exa mple.org/", NULL},
	{"https://example.org/a b", NULL},
	{"https://example.org/a\\b", NULL},
	{"https://example.org/\x01", NULL},
	{"https://example.org/\xc3\xa9", NULL},
	{"https:///path", NULL},
	{"https://:443/", NULL},
	{"https://example.org:0/", NULL},
	{"https://example.org:99999/", NULL},
	{"https://127.1/", NULL},
	{"https://2130706433/", NULL},
	{"https://example.org\\.evil.example/", NULL},
};

static const struct {
	const char *location, *want;
} joins[] = {
	{"https://b.example/y", "https b.example 443 /y"},
	{"//b.example/y", "https b.example 443 /y"},
	{"/y?z", "https a.example 444 /y?z"},
	{"y", "https a.example 444 /d/y"},
	{"?y", "https a.example 444 /d/x?y"},
	{"y#z", "https a.example 444 /d/y"},
	{"javascript:alert(1)", "https a.example 444 /d/javascript:alert(1)"},
	{"//u@b.example/", NULL},
	{"/a b", NULL},
};

static const struct {
	const char *html, *markdown, *text;
} pages[] = {
	{"plain", "plain", "plain"},
	{"<p>a</p>\n<p>b  c</p>", "a\n\nb c", "a\n\nb c"},
	{"<h2>T</h2>x<br>y", "## T\n\nx\ny", "T\n\nx\ny"},
	{"<ul><li>a<li>b</ul>c", "- a\n- b\n\nc", "- a\n- b\n\nc"},
	{"<ol><li>a</li><li>b</li></ol>", "1. a\n2. b", "1. a\n2. b"},
	{"see <a href=\"/x\">this</a>.", "see [this](/x).", "see this."},
	{"<a href='javascript:x'>j</a> <a href=#f>f</a>", "j f", "j f"},
	{"a &lt;b&gt; &amp;amp; &#233; &#x2014; &bogus; &#0;",
	    "a <b> &amp; \xc3\xa9 \xe2\x80\x94 &bogus; &#0;",
	    "a <b> &amp; \xc3\xa9 \xe2\x80\x94 &bogus; &#0;"},
	{"x<script>if (a<b) \"</p>\"</script>y<style>p{}</style>z",
	    "xyz", "xyz"},
	{"x<!-- <p>no</p> -->y", "xy", "xy"},
	{"x<!-- never", "x", "x"},
	{"x<script>never", "x", "x"},
	{"1 < 2 and 3 > 2", "1 < 2 and 3 > 2", "1 < 2 and 3 > 2"},
	{"<p title='a>b'>t</p>", "t", "t"},
	{"<pre>a\n  b</pre>", "```\na\n  b\n```", "a\n  b"},
	{"a<code>c</code>d", "a`c`d", "acd"},
	{"<tr><td>1</td><td>2</td></tr><tr><td>3</td></tr>", "1 2\n3",
	    "1 2\n3"},
	{"<", "<", "<"},
	{"<a", "", ""},
	{"</ol></ul></ol>x", "x", "x"},
};
/* clang-format on */

static bool
same(const struct url *u, const char *want)
{
	char got[ICFETCH_MAX_URL + 300];

	snprintf(got, sizeof(got), "%s %s %u %s", u->tls ? "https" : "http",
	    u->host, u->port, u->path);
	if (strcmp(got, want) == 0)
		return true;
	printf("# %s\n", got);
	return false;
}

static void
test_urls(void)
{
	struct url u, base;
	const char *why;
	char where[300];
	int rv;

	for (size_t i = 0; i < nitems(urls); i++) {
		rv = fetch_url_parse(span_str(urls[i].url), &u, &why);
		ok(urls[i].want == NULL ? rv == -1
					: rv == 0 && same(&u, urls[i].want),
		    "%s", urls[i].url);
	}
	ok(fetch_url_parse(SPAN("https://a.example:444/d/x?q"), &base, &why) ==
		0,
	    "a base");
	for (size_t i = 0; i < nitems(joins); i++) {
		rv = url_join(&base, span_str(joins[i].location), &u, &why);
		ok(joins[i].want == NULL ? rv == -1
					 : rv == 0 && same(&u, joins[i].want),
		    "redirect to %s", joins[i].location);
	}
	url_authority(&base, false, where, sizeof(where));
	is_str(where, "a.example:444", "its authority");
	u = base;
	ok(url_same_origin(&u, &base), "the same origin");
	u.tls = false;
	ok(!url_same_origin(&u, &base), "not without TLS");
}

static void
test_page(size_t row, bool markdown)
{
	const char *html = pages[row].html;
	const char *want = markdown ? pages[row].markdown : pages[row].text;
	struct buf b;

	buf_init(&b, 4096);
	text_html(&b, span_str(html), markdown);
	buf_addc(&b, '\0');
	is_str((const char *)buf_span(&b).p, want, "page %zu as %s", row,
	    markdown ? "Markdown" : "text");
	buf_free(&b);
}

int
main(void)
{
	struct buf b;

	test_urls();
	for (size_t i = 0; i < nitems(pages); i++) {
		test_page(i, true);
		test_page(i, false);
	}
	buf_init(&b, 64);
	ok(text_utf8(&b, SPAN("caf\xe9")) == 0 &&
		span_is(buf_span(&b), "caf\xc3\xa9"),
	    "Latin-1 becomes UTF-8");
	buf_free(&b);
	return tap_done();
}
