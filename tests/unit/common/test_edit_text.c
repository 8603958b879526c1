/* SPDX-License-Identifier: ISC */
/* One edit of a text: what it replaces, and the line endings. */
#include "common/edit_text.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *text, *was, *is, *want;
} rows[] = {
    /* lines that are not edited keep their bytes */
    {"one\r\ntwo OLD\r\nthree\nfour\r\n", "OLD", "NEW",
	"one\r\ntwo NEW\r\nthree\nfour\r\n"},
    {"one\r\ntwo OLD\r\nthree\nfour\r\n", "two OLD\nthree\n",
	"two NEW\nthree\n", "one\r\ntwo NEW\r\nthree\nfour\r\n"},
    {"one\r\ntwo\nthree\r\n", "one\r\ntwo\r\nthree\r\n", "1\ntwo\n3\n",
	"1\r\ntwo\n3\r\n"},
    {"a\nb\r\nc\nd\r\ne\n", "a\nb\nc\nd\ne\n", "x\na\nc\nb\nd\ne\n",
	"x\na\nc\nb\nd\r\ne\n"},
    {"a\nb\r\nc\n", "a\nb\nc\n", "b\n", "b\r\n"},
    /* a line that is replaced keeps its ending */
    {"one\r\ntwo\nthree\r\n", "two\n", "TWO\n", "one\r\nTWO\nthree\r\n"},
    {"a\r\nb\nc\r\n", "b\nc\n", "B\nC\n", "a\r\nB\nC\r\n"},
    /* a new line takes that of the line before */
    {"a\r\nb\n", "a\n", "a\nx\ny\n", "a\r\nx\r\ny\r\nb\n"},
    {"a\r\nb\nc\r\n", "b\n", "b\nx\n", "a\r\nb\nx\nc\r\n"},
    {"a\r\nb\nc\r\n", "b", "b1\nb2", "a\r\nb1\nb2\nc\r\n"},
    /* also where the old text ends within the line that it keeps */
    {"one\r\nthree\nfour\r\n", "three", "three\nnew",
	"one\r\nthree\nnew\nfour\r\n"},
    {"one\r\nthree\nfour\r\n", "one\nthr", "one\nx\nthr",
	"one\r\nx\r\nthree\nfour\r\n"},
    {"a\nb\r\nc\n", "b", "b\nnew", "a\nb\r\nnew\r\nc\n"},
    {"a\r\nb", "b", "b\nc\n", "a\r\nb\r\nc\r\n"},
    /* in the first line that of the line after, or its own */
    {"b\r\nc\n", "", "a\n", "a\r\nb\r\nc\n"},
    {"b", "b", "a\r\nb\r\n", "a\r\nb\r\n"},
    {"", "", "a\r\nb", "a\r\nb"},
    {"b", "b", "a\nb", "a\nb"},
    /* CR alone is no line ending */
    {"a\rb\r\nc\r\r\nd", "b\n", "x\n", "a\rx\r\nc\r\r\nd"},
    {"c\r\r\nd", "c\r\n", "C\r\n", NULL},
    {"c\r\r\nd\n", "d", "e", "c\r\r\ne\n"},
    {"a\r\n\r\n\nb", "\n\n\n", "\n", "a\r\nb"},
    {"x\ry\rz", "y", "Y", "x\rY\rz"},
    {"\xef\xbb\xbf"
     "a\r\nb\n",
	"a\n", "A\n",
	"\xef\xbb\xbf"
	"A\r\nb\n"},
    {"caf\xe9\r\nb\n", "b", "c", "caf\xe9\r\nc\n"},
    /* without the white space around lines */
    {"if x:\r\n\ta\r\n\tb\nend\n", "a\nb", "c\nb", "if x:\r\n\tc\r\nb\nend\n"},
    {"  a  \r\nb\r\n", "a\nb", "a\nb\nc", "  a\r\nb\r\nc\r\n"},
    {"a\nb\n", "a\nc", "x", NULL},
    {"a\n", "a\n\n\n", "x", NULL},
    {"", "a", "x", NULL},
};

static void
test_rows(void)
{
	enum edit_text how;
	struct buf b;
	bool good;

	for (size_t i = 0; i < nitems(rows); i++) {
		buf_init(&b, 1000);
		how = edit_text_apply(span_str(rows[i].text),
		    span_str(rows[i].was), span_str(rows[i].is), &b);
		good = rows[i].want == NULL
			   ? how == EDIT_TEXT_ABSENT
			   : how == EDIT_TEXT_DONE &&
				 span_is(buf_span(&b), rows[i].want);
		ok(good, "row %zu", i);
		if (!good)
			printf("# %d, %zu bytes\n", (int)how, b.len);
		buf_free(&b);
	}
}

/*
 * Random lines with random endings: without the CR before each LF the result is
 * that of the plain edit, and what is before and after the edit stays.
 */
static void
test_random(void)
{
	static const char *const ends[] = {"\n", "\r\n"};
	struct buf text, lf, got, plain, was, is;
	unsigned bad = 0, from, to, n;
	size_t head, tail;

	srandom(7);
	for (unsigned k = 0; k < 20000; k++) {
		n = 1 + (unsigned)random() % 8;
		from = (unsigned)random() % n;
		to = from + (unsigned)random() % (n - from + 1);
		buf_init(&text, 1000);
		buf_init(&lf, 1000);
		buf_init(&got, 1000);
		buf_init(&plain, 1000);
		buf_init(&was, 1000);
		buf_init(&is, 1000);
		head = tail = 0;
		for (unsigned i = 0; i < n; i++) {
			if (i == from)
				head = text.len;
			if (i == to)
				tail = text.len;
			buf_printf(&text, "l%u%s", i, ends[random() % 2]);
			if (i >= from && i < to)
				buf_printf(&was, "l%u\n", i);
			if (i >= from && i < to && random() % 2 == 0)
				buf_printf(&is, "l%u\n", i);
			if (i >= from && i < to && random() % 3 == 0)
				buf_printf(&is, "new %ld\n", random() % 3);
		}
		if (to == n)
			tail = text.len;
		if (was.len == 0) {
			head = tail = 0;
			buf_adds(&is, "new\n");
		}
		edit_text_lf(&lf, buf_span(&text));
		if (edit_text_apply(buf_span(&text), buf_span(&was),
			buf_span(&is), &got) != EDIT_TEXT_DONE ||
		    edit_text_apply(buf_span(&lf), buf_span(&was),
			buf_span(&is), &plain) != EDIT_TEXT_DONE)
			bad++;
		buf_reset(&lf, 1000);
		edit_text_lf(&lf, buf_span(&got));
		if (!span_eq(buf_span(&lf), buf_span(&plain)) ||
		    !span_starts(
			buf_span(&got), span_of(buf_span(&text).p, head)) ||
		    got.len < text.len - tail ||
		    (text.len != tail &&
			memcmp(buf_span(&got).p + got.len - (text.len - tail),
			    buf_span(&text).p + tail, text.len - tail) != 0))
			bad++;
		buf_free(&text);
		buf_free(&lf);
		buf_free(&got);
		buf_free(&plain);
		buf_free(&was);
		buf_free(&is);
	}
	is_int(bad, 0, "random lines and endings");
}

static void
test_large(void)
{
	struct buf b;

	buf_init(&b, 4);
	is_int(edit_text_apply(SPAN("abc"), SPAN("c"), SPAN("cd!"), &b),
	    EDIT_TEXT_FAILED, "a result that is too large");
	buf_free(&b);
}

int
main(void)
{
	test_rows();
	test_random();
	test_large();
	return tap_done();
}
