/* SPDX-License-Identifier: ISC */
/*
 * Characters that nobody sees, in texts that a model reads: escaped, unless an
 * emoji or a script needs them.  And the names under which agents have tools.
 */
#include "common/hidden.h"
#include "common/tool_name.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *in, *out; /* NULL: the same */
	const char *name;
} cases[] = {
    {"plain text\n\twith lines\r\n", NULL, "lines and tabs"},
    {"a\rb", "a\\x0db", "a lone carriage return"},
    {"\x1b[31mred\x1b[0m\x07\x7f", "\\x1b[31mred\\x1b[0m\\x07\\x7f", "ANSI"},
    {"\xc2\x9b\x33m", "\\u{9b}3m", "an 8-bit control"},
    {"\xf3\xa0\x81\x81\xf3\xa0\x81\xbf", "\\u{e0041}\\u{e007f}", "tags"},
    {"a\xe2\x80\x8b\x62", "a\\u{200b}b", "a zero-width space"},
    {"a\xe2\x81\xa0\x62\xef\xbb\xbf", "a\\u{2060}b\\u{feff}", "word joiners"},
    {"\xe2\x80\xae\x61\xe2\x80\xac", "\\u{202e}a\\u{202c}", "bidi override"},
    {"\xe2\x81\xa6\x61\xe2\x81\xa9", "\\u{2066}a\\u{2069}", "bidi isolate"},
    {"\xd7\x90\xe2\x80\x8f", "\xd7\x90\\u{200f}", "a mark of direction"},
    {"\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}", "separators"},
    {"a\xc2\xad\x62", "a\\u{ad}b", "a soft hyphen"},
    {"\xe3\x85\xa4\xef\xbe\xa0", "\\u{3164}\\u{ffa0}", "fillers"},
    {"a\xf3\xa0\x84\x80", "a\\u{e0100}", "a variation selector of a letter"},
    {"a\xef\xb8\x8f", "a\\u{fe0f}", "an emoji's, of a letter"},
    {"\xf0\x9f\x98\x80\xef\xb8\x8f\xef\xb8\x8f",
	"\xf0\x9f\x98\x80\xef\xb8\x8f\\u{fe0f}", "a second one"},
    {"\xe2\x9d\xa4\xef\xb8\x8f", NULL, "a heart"},
    {"1\xef\xb8\x8f\xe2\x83\xa3", NULL, "a key"},
    {"1\xef\xb8\x8f", "1\\u{fe0f}", "and half of one"},
    {"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9", NULL, "a family"},
    {"\xf0\x9f\x91\xa8\xe2\x80\x8d", "\xf0\x9f\x91\xa8\\u{200d}",
	"and half of one"},
    {"a\xe2\x80\x8d\x62", "a\\u{200d}b", "a joiner of letters"},
    {"a\xe2\x80\x8c\x62", "a\\u{200c}b", "a non-joiner of letters"},
    {"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", NULL, "Persian"},
    {"\xd9\x85\xe2\x80\x8c", "\xd9\x85\\u{200c}", "at the end of a word"},
    {"\xe0\xa6\x95\xe0\xa7\x8d\xe2\x80\x8d\xe0\xa6\xb7", NULL, "Bengali"},
    {"\xef\xb7\x90\xef\xbf\xbe", "\\u{fdd0}\\u{fffe}", "noncharacters"},
    {"\xe2\x80\x9cquotes\xe2\x80\x9d \xe2\x80\x94 \xc2\xa0\xe2\x80\xa6 "
     "\xe4\xbd\xa0\xe5\xa5\xbd \xd7\xa9\xd7\x9c",
	NULL, "letters and punctuation of any language"},
};

static void
test_cases(void)
{
	const char *want;
	struct buf b;

	for (size_t i = 0; i < nitems(cases); i++) {
		buf_init(&b, 1024);
		(void)hidden_escape(&b, span_str(cases[i].in));
		want = cases[i].out != NULL ? cases[i].out : cases[i].in;
		is_mem(buf_span(&b).p, b.len, want, strlen(want), "%s",
		    cases[i].name);
		ok(hidden_in(span_str(cases[i].in)) == (cases[i].out != NULL),
		    "%s: found", cases[i].name);
		ok(!hidden_in(buf_span(&b)), "%s: none is left", cases[i].name);
		buf_free(&b);
	}
	ok(!hidden_in(span_of(NULL, 0)), "nothing is hidden in nothing");
}

/* Test the two predicates that programs share, code point by code point. */
static void
test_codes(void)
{
	static const struct {
		uint32_t cp;
		bool hidden, alone;
	} codes[] = {{'a', false, false}, {'\n', false, true},
	    {0x1b, false, true}, {0x7f, false, true}, {0x9b, true, true},
	    {0xa0, false, false}, {0xad, true, true}, {0x200b, true, true},
	    {0x200d, false, true}, {0x202e, true, true}, {0x2060, true, true},
	    {0x2066, true, true}, {0x3164, true, true}, {0xe000, false, true},
	    {0xfe0e, false, true}, {0xfe0f, false, true}, {0xfeff, true, true},
	    {0xfffd, false, false}, {0x1f600, false, false},
	    {0xe0041, true, true}, {0xf0000, false, true}};

	for (size_t i = 0; i < nitems(codes); i++)
		ok(hidden_code(codes[i].cp) == codes[i].hidden &&
			hidden_alone(codes[i].cp) == codes[i].alone,
		    "U+%04X", (unsigned)codes[i].cp);
}

/* Check a name, and that it is legal, and begins with the server's. */
static void
named(const char *server, const char *tool, const char *want)
{
	char full[TOOL_NAME_SHOWN + 1], part[TOOL_SERVER_SHOWN + 1];
	struct span s = span_str(server);
	size_t at = tool_name_show(s, span_str(tool), full);

	if (want != NULL)
		is_str(full, want, "%s of %s", tool, server);
	(void)tool_name_server(s, part);
	ok(at >= 3 && at < strlen(full) &&
		(strncmp(full, server, at - 2) == 0 ||
		    strncmp(full, part, at - 2) == 0) &&
		strncmp(full + at - 2, "__", 2) == 0,
	    "%s: its server's name is in front", full);
	ok(strlen(full) <= TOOL_NAME_SHOWN &&
		strspn(full, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
			     "WXYZ0123456789_-") == strlen(full),
	    "%s: every provider takes it", full);
}

static void
test_names(void)
{
	char a[TOOL_NAME_SHOWN + 1], b[TOOL_NAME_SHOWN + 1], long_name[129];
	const struct span s = SPAN("s");

	named("git", "git_status", "git__git_status");
	named("s", "a-b_C9", "s__a-b_C9");
	named("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr", "x", NULL);
	named("s", "with.dot", "s__with_dot_air3vq");
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	named("filesystem", long_name, NULL);
	named("a-server-with-a-name-of-forty-letters-xx", long_name, NULL);
	long_name[64] = '\0';
	named(long_name, "tool", NULL);
	named(long_name, long_name, NULL);
	(void)tool_name_show(s, SPAN("a.b"), a);
	(void)tool_name_show(s, SPAN("a_b"), b);
	ok(strcmp(a, b) != 0, "a dot is no underscore");
	(void)tool_name_show(s, SPAN("a.b"), b);
	is_str(a, b, "the same name each time");
	(void)tool_name_show(SPAN("t"), SPAN("a.b"), b);
	ok(strcmp(a + 1, b + 1) != 0, "another server has another one");
}

int
main(void)
{
	test_cases();
	test_codes();
	test_names();
	return tap_done();
}
