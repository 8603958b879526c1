/* SPDX-License-Identifier: ISC */
/*
 * The agent's output through termd's tokenizer into a screen or lines. The
 * first byte selects which, and the second a size; 0xff in the input changes
 * it. Rows and lines must be cells that a viewer accepts, no wider than the
 * screen; the cursor must be on the screen; a reply must have one of a few
 * forms with numbers only; cutting the input must make no difference to a line.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "common/hidden.h"
#include "common/ipc/proto.h"
#include "common/net/link.h"
#include "workers/termd/termd_lines.h"
#include "workers/termd/termd_screen.h"
#include "common/term/width.h"
#include "common/json/text.h"

#define MAX_RESIZES 4U

static uint64_t sum; /* checksum over the lines of one run */

static void
check_cells(struct span s, unsigned most)
{
	struct cells_in in;
	struct cell c;
	unsigned width = 0;
	int r;

	cells_open(&in, s);
	while ((r = cells_next(&in, &c)) == 1) {
		width += c.width;
		for (unsigned i = 0; i < c.nchars; i++)
			sum = sum * 31 + c.chars[i];
	}
	CHECK(r == 0);
	CHECK(width <= most);
}

/* CSI or DCS with digits and marks, or a constant colour. */
static void
on_reply(void *arg, struct span s)
{
	static const char *const colours[] = {
	    "\033]10;rgb:ffff/ffff/ffff\033\\",
	    "\033]11;rgb:0000/0000/0000\033\\", "\033P0$r\033\\",
	    "\033P0+r\033\\"};

	for (size_t i = 0; i < nitems(colours); i++)
		if (s.len == strlen(colours[i]) &&
		    memcmp(s.p, colours[i], s.len) == 0)
			return;
	CHECK(s.len > 3 && s.len < 32 && s.p[0] == 0x1b && s.p[1] == '[');
	for (size_t i = 2; i < s.len - 1; i++)
		CHECK(memchr("0123456789;?>$", s.p[i], 14) != NULL);
	CHECK(memchr("ncRyum", s.p[s.len - 1], 6) != NULL);
}

static void
on_scrolled(void *arg, struct span cells)
{
	check_cells(cells, PROTO_MAX_COLS);
}

static void
on_bell(void *arg)
{
}

static void
on_title(void *arg, struct span s)
{
	const uint8_t *end = s.p + s.len;
	size_t n;

	CHECK(s.len <= 4 * SCREEN_MAX_TITLE);
	for (const uint8_t *p = s.p; p < end; p += n) {
		n = text_utf8_len(p, end);
		CHECK(n != 0 && *p >= 0x20 && *p != 0x7f);
	}
}

static void
on_offer(void *arg, enum proto_offer kind, struct span s)
{
	CHECK(s.len != 0 && s.len <= PROTO_MAX_OFFER && !hidden_in(s));
	CHECK(kind == PROTO_OFFER_COPY || link_ok(s));
}

static const struct screen_ops ops = {
    on_reply, on_scrolled, on_bell, on_title, on_offer};

static void
check_screen(const struct screen *s)
{
	static uint8_t cells[PROTO_MAX_CELLS];
	unsigned row, col;

	for (unsigned r = 0; r < screen_rows(s); r++)
		check_cells(
		    span_of(cells, screen_row(s, r, cells, sizeof(cells))),
		    screen_cols(s));
	screen_cursor(s, &row, &col);
	CHECK(row < screen_rows(s) && col < screen_cols(s));
	CHECK((screen_modes(s) & ~PROTO_TERM_ALL) == 0);
	CHECK(screen_shape(s) <= PROTO_CURSOR_LAST);
}

/*
 * Small screens, so that their edges are met often, and so that a run takes
 * no more than the allocator can reuse at once: 10 million runs are to end.
 */
static void
fuzz_screen(uint8_t size, struct span in)
{
	struct screen *s =
	    screen_new(2 + (size & 7), 20 + (size >> 3 & 31), &ops, NULL);
	const uint8_t *ff;
	size_t n;

	CHECK(s != NULL);
	for (unsigned resized = 0; in.len != 0; resized++) {
		ff = resized == MAX_RESIZES ? NULL : memchr(in.p, 0xff, in.len);
		n = ff == NULL ? in.len : (size_t)(ff - in.p);
		screen_feed(s, span_of(in.p, n));
		if (n != 0)
			check_screen(s);
		in = span_of(in.p + n, in.len - n);
		if (in.len < 3)
			break;
		screen_resize(s, in.p[1] & 15, in.p[2] & 63);
		check_screen(s);
		in = span_of(in.p + 3, in.len - 3);
	}
	screen_free(s);
}

static void
on_line(struct lines *l, bool more, bool joined)
{
	static uint8_t cells[PROTO_MAX_CELLS];

	sum = sum * 31 + (more ? 2U : 0) + (joined ? 1U : 0);
	CHECK(l->n <= LINES_MAX);
	check_cells(span_of(cells, lines_encode(l, cells, sizeof(cells))),
	    2 * LINES_MAX);
}

static uint64_t
fuzz_lines(struct span in, size_t step)
{
	static struct lines l;

	sum = 0;
	termd_lines_init(&l, on_line, NULL);
	for (size_t i = 0; i < in.len; i += step)
		lines_feed(&l,
		    span_of(in.p + i, in.len - i < step ? in.len - i : step));
	lines_end(&l);
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	if (len < 2)
		return 0;
	if ((p[0] & 1) == 0)
		fuzz_screen(p[1], span_of(p + 2, len - 2));
	else
		CHECK(fuzz_lines(span_of(p + 2, len - 2), 1) ==
		      fuzz_lines(span_of(p + 2, len - 2), len));
	return 0;
}
