/* SPDX-License-Identifier: ISC */
/*
 * Frames: the changes of the screen since the viewer's last frame, which it
 * must have acknowledged. A slow viewer gets fewer frames, each with all
 * changes up to then.
 */
#include "workers/termd/termd.h"

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
		termd_viewer_send(v, MSG_ROW, &m);
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
	termd_viewer_send(v, MSG_SCREEN, &m);
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
	termd_viewer_send(v, MSG_TITLE, &m);
}

/* One that has no keyboard cannot take it, nor one that comes later. */
static void
frame_offer(struct viewer *v)
{
	if (v->seen_offer == termd_env.offers)
		return;
	v->seen_offer = termd_env.offers;
	if (v->types)
		termd_viewer_send(v, MSG_OFFER, &termd_env.offer);
}

static void
frame_send(struct viewer *v)
{
	static const struct msg_BELL bell;
	struct msg_FRAME m = {.seq = v->sent + 1, .lost = v->lost};

	if (v->dead || !v->news || v->sent != v->acked)
		return;
	if (termd_env.screen != NULL)
		frame_screen(v);
	frame_title(v);
	frame_offer(v);
	if (v->bell)
		termd_viewer_send(v, MSG_BELL, &bell);
	v->news = v->bell = false;
	v->lost = 0;
	v->sent++;
	termd_viewer_send(v, MSG_FRAME, &m);
}

static void
viewers_frame(struct loop_timer *t)
{
	struct viewer *v, *next;

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		frame_send(v);
	}
}

void
viewers_due(void)
{
	if (termd_env.frame.at == 0)
		loop_timer_set(&termd_env.w.loop, &termd_env.frame,
		    TERMD_FRAME_MS, viewers_frame, NULL);
}

void
viewers_news(void)
{
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		v->news = true;
	viewers_due();
}

/*
 * Returns true if the viewer can take another message; otherwise it misses it.
 */
static bool
viewer_keeps_up(struct viewer *v)
{
	if (!viewer_behind(v) || (v->waits && termd_env.screen == NULL))
		return true;
	v->lost++;
	return false;
}

void
viewers_raw(unsigned stream, struct span s)
{
	struct msg_RAW m = {.stream = (uint8_t)stream};
	struct viewer *v, *next;

	while (s.len != 0) {
		m.bytes = span_of(
		    s.p, s.len < PROTO_MAX_CELLS ? s.len : PROTO_MAX_CELLS);
		for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
			next = TAILQ_NEXT(v, entry);
			if (v->waits)
				termd_viewer_send(v, MSG_RAW, &m);
		}
		s.p += m.bytes.len;
		s.len -= m.bytes.len;
	}
}

void
viewers_line(struct span cells, unsigned stream, bool more, bool joined)
{
	bool raw =
	    stream == 0 ? termd_env.mode.raw_out : termd_env.mode.raw_err;
	struct msg_LINE m = {.stream = (uint8_t)stream,
	    .more = more,
	    .joined = joined,
	    .cells = cells};
	struct viewer *v, *next;

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		if ((raw && v->waits) || !viewer_keeps_up(v))
			continue;
		termd_viewer_send(v, MSG_LINE, &m);
		v->news = true;
	}
	viewers_due();
}

bool
viewers_finish(void)
{
	static const struct msg_BOX_END end;
	static bool said;
	struct viewer *v, *next;

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL && !said;
	     v = next) {
		next = TAILQ_NEXT(v, entry);
		/* Send the final state, whatever was acknowledged. */
		v->acked = v->sent;
		frame_send(v);
		termd_viewer_send(v, MSG_BOX_END, &end);
	}
	said = true;
	loop_turns(&termd_env.w.loop);
	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		if (chan_queued(v->chan) != 0)
			return false;
	return true;
}
