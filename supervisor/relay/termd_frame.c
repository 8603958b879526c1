/* SPDX-License-Identifier: ISC */
/*
 * Frames: the changes of the screen since the viewer's last frame, which it
 * must have acknowledged. A slow viewer gets fewer frames, each with all
 * changes up to then.
 */
#include "relay/termd.h"

static void
frame_rows(struct viewer *v)
{
	static uint8_t cells[PROTO_MAX_CELLS];
	const struct screen *s = termd_env.screen;
	struct msg_ROW m = {.row = 0};

	for (unsigned r = 0; r < screen_rows(s); r++) {
		if (screen_row_change(s, r) <= v->seen)
			continue;
		m.row = (uint16_t)r;
		m.cells =
		    span_of(cells, screen_row(s, r, cells, sizeof(cells)));
		viewer_send(v, MSG_ROW, &m);
	}
}

static void
frame_screen(struct viewer *v)
{
	const struct screen *s = termd_env.screen;
	struct msg_SCREEN m = {.rows = (uint16_t)screen_rows(s),
	    .cols = (uint16_t)screen_cols(s),
	    .shape = (uint8_t)screen_shape(s),
	    .modes = screen_modes(s)};
	unsigned row, col;

	screen_cursor(s, &row, &col);
	m.row = (uint16_t)row;
	m.col = (uint16_t)col;
	viewer_send(v, MSG_SCREEN, &m);
	frame_rows(v);
	v->seen = screen_change(s);
}

static void
frame_title(struct viewer *v)
{
	struct msg_TITLE m = {
	    .text = span_of(termd_env.title, termd_env.title_len)};

	if (v->seen_title == termd_env.titles)
		return;
	v->seen_title = termd_env.titles;
	viewer_send(v, MSG_TITLE, &m);
}

void
frame_send(struct viewer *v)
{
	static const struct msg_BELL bell;
	struct msg_FRAME m = {.seq = v->sent + 1, .lost = v->lost};

	if (v->dead || !v->news || v->sent != v->acked)
		return;
	if (termd_env.screen != NULL)
		frame_screen(v);
	frame_title(v);
	if (v->bell)
		viewer_send(v, MSG_BELL, &bell);
	v->news = v->bell = false;
	v->lost = 0;
	v->sent++;
	viewer_send(v, MSG_FRAME, &m);
}
