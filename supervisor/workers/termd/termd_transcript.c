/* SPDX-License-Identifier: ISC */
/*
 * The transcript: the agent's lines as plain text. Cells are decoded as a
 * viewer does it, so that the file has no control character, and can be
 * printed.
 */
#include "workers/termd/termd.h"

#include <unistd.h>

#include "common/json/text.h"
#include "common/log.h"
#include "common/term/cells.h"

#define TRANSCRIPT_LINE (PROTO_MAX_CELLS + 2U)

/* Append to the file; the transcript ends where there is no room for more. */
static void
transcript_write(struct span s)
{
	struct termd_env *e = &termd_env;

	if (s.len > e->transcript_room ||
	    write(e->transcript, s.p, s.len) != (ssize_t)s.len) {
		log_warnx("the transcript ends here: it has its size, or the "
			  "disk is full");
		close(e->transcript);
		e->transcript = -1;
		return;
	}
	e->transcript_room -= s.len;
}

void
transcript_line(struct span cells, unsigned stream, bool joined)
{
	static uint8_t text[TRANSCRIPT_LINE];
	struct termd_env *e = &termd_env;
	struct buf b = {.p = text, .cap = sizeof(text), .max = sizeof(text)};
	struct cells_in in;
	struct cell cell;
	uint8_t one[4];
	size_t len = 0;

	if (e->transcript == -1)
		return;
	/* A long line continues, unless another stream came in between. */
	if (e->transcript_open && !(joined && stream == e->transcript_of))
		buf_addc(&b, '\n');
	len = b.len;
	cells_open(&in, cells);
	while (cells_next(&in, &cell) == 1) {
		for (unsigned i = 0; i < cell.nchars; i++)
			buf_add(&b, one, text_utf8_put(one, cell.chars[i]));
		/* Blanks at the end are left out. */
		if (cell.nchars != 1 || cell.chars[0] != ' ')
			len = b.len;
	}
	b.len = len;
	b.failed = false;
	transcript_write(buf_span(&b));
	e->transcript_open = true;
	e->transcript_of = stream;
}

void
transcript_end(void)
{
	static uint8_t cells[PROTO_MAX_CELLS];
	struct termd_env *e = &termd_env;
	unsigned last = 0;

	if (e->transcript == -1 || e->transcript_over)
		return;
	e->transcript_over = true;
	/* The lines on the screen have not scrolled off it yet. */
	for (unsigned r = 0; e->screen != NULL && r < screen_rows(e->screen);
	     r++)
		if (screen_row(e->screen, r, cells, sizeof(cells)) != 0)
			last = r + 1;
	for (unsigned r = 0; r < last; r++)
		transcript_line(span_of(cells, screen_row(e->screen, r, cells,
					    sizeof(cells))),
		    0, false);
	if (e->transcript_open && e->transcript != -1)
		transcript_write(SPAN("\n"));
}
