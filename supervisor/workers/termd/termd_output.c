/* SPDX-License-Identifier: ISC */
/* Passes on the agent's output according to the mode: raw, lines, screen. */
#include "workers/termd/termd.h"

#include "common/log.h"

static void
on_line(struct lines *l, bool more, bool joined)
{
	static uint8_t cells[PROTO_MAX_CELLS];
	unsigned stream = l == &termd_env.lines[1];

	const struct span line =
	    span_of(cells, lines_encode(l, cells, sizeof(cells)));

	viewers_line(line, stream, more, joined);
	if (!more)
		transcript_line(line, stream, joined);
}

static void
on_text(enum proto_turn kind, struct span s)
{
	struct msg_TURN_TEXT m = {.kind = (uint8_t)kind, .text = s};

	worker_send(&termd_env.w, ROLE_SUP, 0, MSG_TURN_TEXT, &m, -1);
}

static void
output_partial(struct loop_timer *t)
{
	if (termd_env.mode.turns != PROTO_TURNS_NONE) {
		turns_flush();
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		lines_flush(&termd_env.lines[i]);
}

static void
on_reply(void *arg, struct span s)
{
	box_report(s);
}

static void
on_scrolled(void *arg, struct span cells)
{
	viewers_line(cells, 0, false, false);
	transcript_line(cells, 0, false);
}

static void
on_bell(void *arg)
{
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		v->bell = true;
}

static void
on_title(void *arg, struct span s)
{
	struct termd_env *e = &termd_env;

	e->title_len = s.len < sizeof(e->title) ? s.len : sizeof(e->title);
	if (e->title_len != 0)
		memcpy(e->title, s.p, e->title_len);
	e->titles++;
}

static void
on_offer(void *arg, enum proto_offer kind, struct span s)
{
	struct termd_env *e = &termd_env;

	buf_reset(&e->offered, 0);
	buf_addspan(&e->offered, s);
	e->offer.kind = (uint8_t)kind;
	e->offer.text = buf_span(&e->offered);
	e->offers += buf_check(&e->offered) == 0;
}

static const struct screen_ops screen_ops = {
    .reply = on_reply,
    .line = on_scrolled,
    .bell = on_bell,
    .title = on_title,
    .offer = on_offer,
};

void
output_start(void)
{
	struct termd_env *e = &termd_env;

	for (unsigned i = 0; i < 2; i++)
		termd_lines_init(&e->lines[i], on_line, NULL);
	if (e->mode.turns != PROTO_TURNS_NONE)
		turns_start((enum proto_turns)e->mode.turns, on_text);
	if (!e->mode.screen)
		return;
	buf_init(&e->offered, PROTO_MAX_OFFER);
	e->screen = screen_new(e->mode.rows, e->mode.cols, &screen_ops, NULL);
	if (e->screen == NULL)
		fatal("screen");
}

static bool
output_is_raw(unsigned stream)
{
	return stream == 0 ? termd_env.mode.raw_out : termd_env.mode.raw_err;
}

void
output_bytes(unsigned stream, struct span s)
{
	struct lines *l = &termd_env.lines[stream];
	bool partial;

	if (termd_env.mode.turns != PROTO_TURNS_NONE) {
		turns_bytes(stream, s);
		partial = turns_partial();
		goto later;
	}
	if (termd_env.gone[stream])
		return;
	if (stream == 0 && termd_env.screen != NULL) {
		screen_feed(termd_env.screen, s);
		viewers_news();
		return;
	}
	if (output_is_raw(stream))
		viewers_raw(stream, s);
	lines_feed(l, s);
	partial = l->fresh;
later:
	if (partial && termd_env.partial.at == 0)
		loop_timer_set(&termd_env.w.loop, &termd_env.partial,
		    TERMD_PARTIAL_MS, output_partial, NULL);
}

void
output_end(unsigned stream)
{
	if (termd_env.mode.turns != PROTO_TURNS_NONE)
		turns_end(stream);
	else
		lines_end(&termd_env.lines[stream]);
}

void
output_turn(uint32_t turn)
{
	struct msg_TURN_DONE m = {.turn = turn};

	turns_over();
	worker_send(&termd_env.w, ROLE_SUP, 0, MSG_TURN_DONE, &m, -1);
}
