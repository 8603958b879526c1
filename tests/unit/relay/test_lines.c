/* SPDX-License-Identifier: ISC */
/*
 * Tests line mode and the cells of both modes: every check that a viewer relies
 * on, with cells that a compromised termd could send.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers/termd/termd_lines.h"
#include "tap.h"
#include "common/term/width.h"
#include "common/json/text.h"

static char said[65536];

static void
add(const char *s, size_t n)
{
	size_t have = strlen(said);

	if (n < sizeof(said) - 1 - have) {
		memcpy(said + have, s, n);
		said[have + n] = '\0';
	}
}

static void
on_line(struct lines *l, bool more, bool joined)
{
	static uint8_t cells[65536];
	struct cell c, last = {.attr = 0};
	struct cells_in in;
	char text[64];
	int r, n;

	if (joined)
		add("+", 1);
	cells_open(&in, span_of(cells, lines_encode(l, cells, sizeof(cells))));
	while ((r = cells_next(&in, &c)) == 1) {
		if (c.attr != last.attr || c.fg != last.fg) {
			n = snprintf(
			    text, sizeof(text), "<%x,%x>", c.attr, c.fg);
			add(text, (size_t)n);
		}
		last = c;
		for (unsigned i = 0; i < c.nchars; i++)
			add(text, text_utf8_put((uint8_t *)text, c.chars[i]));
	}
	add(r == 0 ? more ? ">" : "|" : "malformed", r == 0 ? 1 : 9);
}

static const struct {
	const char *in, *out, *name;
} rows[] = {
    {"one\ntwo\r\nthree", "one|two|three|", "lines, the last without an end"},
    {"\n\n", "||", "empty lines"},
    {"10%\r20%\r100%\n", "100%|", "a progress bar"},
    {"abc\r\033[Kx\n", "x|", "a line is erased"},
    {"abc\033[1Kx\n", "   x|", "its beginning is"},
    {"abc\b\bX\n", "aXc|", "backspace"},
    {"a\tb\n", "a       b|", "tabs"},
    {"\033[1;31merror\033[0m: x\n", "<1,1000001>error<0,0>: x|", "colours"},
    {"\033[8msecret\033[0m\n", "secret|", "nothing is hidden in a line"},
    {"\033[2J\033[H\033[5Aup\033[?1049h\033]0;t\007\033[6n\n", "up|",
	"functions of a screen have no effect"},
    {"\344\270\200a\314\201\n", "\344\270\200a\314\201|",
	"wide characters and marks"},
    {"\360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247"
     "\342\235\244\357\270\2171\357\270\217\342\203\243\360\237\221\215\360\237"
     "\217\275\n",
	"\360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221"
	"\247\342\235\244\357\270\2171\357\270\217\342\203\243\360\237\221\215"
	"\360\237\217\275|",
	"emoji of several characters"},
    {"a\342\200\215b1\357\270\217x\360\237\221\251\342\200\215\n",
	"ab1x\360\237\221\251|", "joiners join nothing else"},
    {"\314\201a\n", "a|", "a mark at the beginning"},
    {"a\033[999Cb\n", NULL, "the cursor stays within a line"},
    {"a\033[Gb\033[3Gc\n", "b c|", "columns"},
};

static struct lines *
fresh(void)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (l == NULL)
		abort();
	termd_lines_init(l, on_line, NULL);
	said[0] = '\0';
	return l;
}

static void
test_rows(void)
{
	struct lines *l;

	for (size_t i = 0; i < nitems(rows); i++) {
		l = fresh();
		lines_feed(l, span_str(rows[i].in));
		lines_end(l);
		if (rows[i].out != NULL)
			is_str(said, rows[i].out, "%s", rows[i].name);
		else
			ok(strlen(said) <= LINES_MAX + 2, "%s", rows[i].name);
		free(l);
	}
}

static void
test_partial(void)
{
	struct lines *l = fresh();

	lines_feed(l, span_str("Continue? "));
	lines_flush(l);
	lines_flush(l);
	is_str(said, "Continue? >", "a line without an end is told once");
	lines_feed(l, span_str("y\n"));
	is_str(said, "Continue? >Continue? y|", "and again when it is whole");
	free(l);
}

static void
test_long(void)
{
	static char in[3 * LINES_MAX + 2];
	struct lines *l = fresh();

	memset(in, 'x', 3 * LINES_MAX);
	in[3 * LINES_MAX] = '\n';
	lines_feed(l, span_str(in));
	lines_feed(l, span_str("next\n"));
	is_int(strlen(said), 3 * LINES_MAX + 3 + 2 + strlen("next|"),
	    "a long line comes in parts, of which nothing is missing");
	ok(strstr(said, "|+x") != NULL && strstr(said, "|next|") != NULL,
	    "each but the first says that it continues one");
	free(l);
}

/* Cells that no honest termd sends. */
static const struct {
	const char *bytes;
	size_t len;
	const char *name;
} bad[] = {
#define RUN(n, attr, fg) n "\0" attr "\0" fg "\0\0\0\0"
#define BAD(bytes, name)                                                       \
	{                                                                      \
		bytes, sizeof(bytes) - 1, name                                 \
	}
    BAD("\1", "a run's head is cut"),
    BAD(RUN("\0", "\0", "\0\0\0\0"), "a run of no cells"),
    BAD(RUN("\1", "\0", "\0\0\0\0"), "a cell is missing"),
    BAD(RUN("\2", "\0", "\0\0\0\0") "\1x\0\0", "the second one is"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\0x\0\0", "a cell of no characters"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1x\0", "a character is cut"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\6x\0\0\1\3\0\1\3\0\1\3\0\1\3\0\1\3\0",
	"six characters"),
    BAD("\1\0\0\4\0\0\0\0\0\0\0\0\1x\0\0", "an unknown attribute"),
    BAD(RUN("\1", "\0", "\0\0\0\3") "\1x\0\0", "an unknown kind of colour"),
    BAD(RUN("\1", "\0", "\0\1\0\1") "\1x\0\0", "a palette of more than 256"),
    BAD(RUN("\1", "\0", "\1\0\0\0") "\1x\0\0", "a default with a number"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\033\0\0", "ESC"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\n\0\0", "LF"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\x7f\0\0", "DEL"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\x9b\0\0", "CSI of eight bits"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\x2e\x20\0", "U+202E"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\x0b\x20\0", "U+200B"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\0\xd8\0", "a surrogate"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\0\xe0\0", "private use"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\x41\0\x0e", "a tag"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\0\0\x11", "beyond Unicode"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\1\3\0", "a mark alone"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\2x\0\0y\0\0", "two in one cell"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\3x\0\0\x0d\x20\0y\0\0", "joined letters"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\x83x\0\0\x0d\x20\0y\0\0",
	"joined letters of two columns"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\x82\x69\xf4\1\x0d\x20\0",
	"a joiner at the end"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\2\x64\x27\0\x0f\xfe\0",
	"an emoji of one column"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\1\0\x4e\0", "a wide one as narrow"),
    BAD(RUN("\1", "\0", "\0\0\0\0") "\x81x\0\0", "a narrow one as wide"),
};

static void
test_bad(void)
{
	struct cells_in in;
	struct cell c;
	int r;

	for (size_t i = 0; i < nitems(bad); i++) {
		cells_open(
		    &in, span_of((const uint8_t *)bad[i].bytes, bad[i].len));
		do {
			r = cells_next(&in, &c);
		} while (r == 1);
		is_int(r, -1, "cells: %s is refused", bad[i].name);
	}
}

static void
test_width(void)
{
	static const struct {
		uint32_t c;
		int width;
	} some[] = {{' ', 1}, {'~', 1}, {0xe9, 1}, {0x4e00, 2}, {0x1f600, 2},
	    {0x301, 0}, {0x5d0, 1}, {0x627, 1}, {0x2800, 1}, {0x2503, 1},
	    {0xac00, 2}, {0xa0, 1}, {0, -1}, {0x1b, -1}, {0xad, -1},
	    {0x200d, -1}, {0x2028, -1}, {0xfe0f, -1}, {0xe0001, -1},
	    {0xffff, -1}, {0x110000, -1}, {UINT32_MAX, -1}};

	for (size_t i = 0; i < nitems(some); i++)
		is_int(term_width(some[i].c), some[i].width, "width of U+%04X",
		    some[i].c);
}

int
main(void)
{
	test_rows();
	test_partial();
	test_long();
	test_bad();
	test_width();
	return tap_done();
}
