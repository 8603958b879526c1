/* SPDX-License-Identifier: ISC */
/* Text of an agent in tables, pages and JSON: nothing of it acts there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icctl/past/past.h"
#include "tap.h"

/* Returns what `put` writes of the text; the caller frees it. */
static char *
written(void (*put)(FILE *, struct span), struct span s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		abort();
	put(f, s);
	(void)fclose(f);
	return text;
}

static void
same(void (*put)(FILE *, struct span), struct span s, const char *want,
    const char *what)
{
	char *got = written(put, s);

	is_str(got, want, "%s", what);
	free(got);
}

static void
test_csv(void)
{
	same(past_csv, SPAN("plain"), "plain", "a plain field is unchanged");
	same(past_csv, SPAN("a,b"), "\"a,b\"", "a comma is quoted");
	same(past_csv, SPAN("say \"x\""), "\"say \"\"x\"\"\"",
	    "quotes are doubled");
	same(past_csv, SPAN("=1+1"), "'=1+1", "a formula begins with '");
	same(past_csv, SPAN("+1"), "'+1", "so does +");
	same(past_csv, SPAN("-1"), "'-1", "and -");
	same(past_csv, SPAN("@SUM(A1)"), "'@SUM(A1)", "and @");
	same(past_csv, SPAN("\t=1"), "'\\t=1", "and a tab, which is escaped");
	same(past_csv, SPAN("\r=1"), "'\\x0d=1", "and a carriage return");
	same(past_csv, SPAN("  =1"), "\"'  =1\"", "blanks hide none");
	same(past_csv, SPAN("\uff1d1"), "\\u{ff1d}1", "a wide = is escaped");
	same(
	    past_csv, SPAN("  a=1"), "\"  a=1\"", "a text with blanks is none");
	same(past_csv, SPAN("a\nb"), "a\\nb", "no field has a second line");
	same(past_csv, SPAN("\x1b[2J"), "\\x1b[2J", "no control passes");
	same(past_csv,
	    SPAN("x\xe2\x80\xae"
		 "y"),
	    "x\\u{202e}y", "nothing reorders");
	same(past_csv, SPAN("a;b"), "\"a;b\"",
	    "a semicolon, which separates in some countries, is quoted");
	same(past_csv, SPAN(""), "", "an empty field is empty");
}

static void
test_html(void)
{
	same(past_html, SPAN("<script>alert('1')</script>"),
	    "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;",
	    "markup is text");
	same(past_html, SPAN("a\" onload=\"b&"), "a&quot; onload=&quot;b&amp;",
	    "no attribute ends");
	same(past_html, SPAN("\x1b]0;x\x07"), "\\x1b]0;x\\x07",
	    "no control passes");
	same(past_html, SPAN("\xff<"), "\\xff&lt;", "no byte beyond UTF-8");
}

static void
test_json(void)
{
	same(past_json, SPAN("{\"a\":\"\xc3\xa9\"}"), "{\"a\":\"\\u00e9\"}",
	    "a letter is an escape");
	same(past_json, SPAN("\xf0\x9f\x98\x80"), "\\ud83d\\ude00",
	    "an emoji is two");
	same(past_json, SPAN("\x1b\x7f\n"), "\\u001b\\u007f\\u000a",
	    "no control passes, whatever wrote it");
	same(past_json, SPAN("\xf0\x9f"), "\\u00f0\\u009f",
	    "a character that is cut is bytes");
}

int
main(void)
{
	test_csv();
	test_html();
	test_json();
	return tap_done();
}
