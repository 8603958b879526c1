/* SPDX-License-Identifier: ISC */
/*
 * Input of a person at a viewer: keys, pastes, the mouse, changes of size. Only
 * input of the viewer that has the keyboard is used.
 */
#include "workers/termd/termd.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

/*
 * Account for the bytes, whoever has the keyboard. Returns 1; 0 if the viewer
 * is not the typist and the bytes must be dropped; -1 if they exceed its room.
 */
static int
input_room(struct chan *c, struct span s)
{
	struct viewer *v = chan_arg(c);
	struct msg_INPUT_ROOM m = {.bytes = (uint32_t)s.len};

	if (s.len > PROTO_TYPED_ROOM - v->owed)
		return chan_violation(c, "%zu bytes without room", s.len);
	if (!v->types) {
		/* Typed before the viewer learnt that another one took over. */
		if (s.len != 0)
			termd_viewer_send(v, MSG_INPUT_ROOM, &m);
		return 0;
	}
	v->owed += (uint32_t)s.len;
	return 1;
}

static int
input_bytes(struct chan *c, struct span s)
{
	int r;

	if (s.len == 0)
		return chan_violation(c, "nothing was typed");
	if ((r = input_room(c, s)) == 1)
		box_send(BOX_DATA, s);
	return r == -1 ? -1 : 0;
}

static uint32_t
input_modes(void)
{
	return termd_env.screen == NULL ? 0 : screen_modes(termd_env.screen);
}

/* Without ESC, a paste cannot close its own brackets. */
static int
on_paste(struct chan *c, const struct msg_PASTE *m)
{
	struct viewer *v = chan_arg(c);
	struct span s = m->bytes;
	uint8_t clean[PROTO_MAX_TYPED];
	size_t n = 0;
	int r;

	if (s.len == 0 && !m->last)
		return chan_violation(c, "nothing was pasted");
	if ((r = input_room(c, s)) != 1)
		return r;
	if (s.len != 0 && (input_modes() & PROTO_TERM_PASTE) != 0)
		viewer_paste(v, true);
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != 0x1b)
			clean[n++] = s.p[i];
	if (n != 0)
		box_send(BOX_DATA, span_of(clean, n));
	if (m->last)
		viewer_paste(v, false);
	/* Nothing is queued for the sandbox: report the room as free now. */
	if (termd_env.box.out.len == 0)
		viewers_taken();
	return 0;
}

/* Report in the form of mode 1006, or in the old one, up to column 223. */
static void
mouse_report(const struct msg_MOUSE *m)
{
	unsigned b = m->button + (unsigned)m->mods;
	char text[64];
	int n;

	if (m->what == PROTO_MOUSE_MOVE)
		b += 32;
	if (screen_mouse_sgr(termd_env.screen)) {
		n = snprintf(text, sizeof(text), "\033[<%u;%u;%u%c", b,
		    m->col + 1U, m->row + 1U,
		    m->what == PROTO_MOUSE_UP ? 'm' : 'M');
	} else {
		if (m->what == PROTO_MOUSE_UP)
			b = 3U + m->mods;
		if (m->col > 222 || m->row > 222 || b > 223)
			return;
		n = snprintf(text, sizeof(text), "\033[M%c%c%c", (int)(32 + b),
		    33 + m->col, 33 + m->row);
	}
	if (n > 0)
		box_report(span_of(text, (size_t)n));
}

static int
on_mouse(struct chan *c, const struct msg_MOUSE *m)
{
	const struct viewer *v = chan_arg(c);
	uint32_t modes = input_modes();
	/* 3: no button is down; 64 and above: the wheel. */
	bool held = (m->button & 3) != 3 || m->button >= 64;

	if (!v->types || (modes & PROTO_TERM_CLICKS) == 0)
		return 0;
	if (m->what == PROTO_MOUSE_MOVE &&
	    (modes & (held ? PROTO_TERM_DRAGS : PROTO_TERM_MOVES)) == 0)
		return 0;
	mouse_report(m);
	return 0;
}

static int
on_focus(struct chan *c, const struct msg_FOCUS *m)
{
	const struct viewer *v = chan_arg(c);

	if (v->types && (input_modes() & PROTO_TERM_FOCUS) != 0)
		box_report(m->in ? SPAN("\033[I") : SPAN("\033[O"));
	return 0;
}

static void
input_resize(struct loop_timer *t)
{
	struct screen *s = termd_env.screen;
	uint8_t size[BOX_SIZE_DATA];
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry) {
		if (!v->types || v->rows == 0 ||
		    (v->rows == screen_rows(s) && v->cols == screen_cols(s)))
			continue;
		screen_resize(s, v->rows, v->cols);
		screen_size_put(s, size);
		/* A new connection gets the size as its first frame. */
		if (termd_env.box.fd != -1)
			box_send(BOX_SIZE, span_of(size, sizeof(size)));
		viewers_news();
	}
}

/* Apply the first change at once, and later ones together after a pause. */
static void
input_size(void)
{
	struct termd_env *e = &termd_env;
	uint64_t now = loop_now(&e->w.loop), due = e->sized + TERMD_SIZE_MS;

	if (e->screen == NULL || e->size.at != 0)
		return;
	e->sized = now > due ? now : due;
	loop_timer_set(
	    &e->w.loop, &e->size, e->sized - now, input_resize, NULL);
}

static void
viewer_types(struct viewer *v, bool types)
{
	const struct msg_TYPIST m = {.types = types};

	if (!types)
		viewer_paste(v, false);
	/* Another one has the keyboard, and cannot type to a stopped agent. */
	viewer_continue(v);
	v->types = types;
	termd_viewer_send(v, MSG_TYPIST, &m);
}

/* Give the keyboard to this viewer and take it from the others. */
static void
viewer_take(struct viewer *v)
{
	struct viewer *o, *next;

	for (o = TAILQ_FIRST(&termd_env.viewers); o != NULL; o = next) {
		next = TAILQ_NEXT(o, entry);
		if (o->types && o != v)
			viewer_types(o, false);
	}
	if (!v->types)
		viewer_types(v, true);
	input_size();
}

static int
on_size(struct chan *c, const struct msg_SIZE *m)
{
	struct viewer *v = chan_arg(c);

	if (m->rows == 0 || m->cols == 0)
		return chan_violation(c, "SIZE of nothing");
	v->rows = m->rows < SCREEN_MIN_ROWS ? SCREEN_MIN_ROWS : m->rows;
	v->cols = m->cols < SCREEN_MIN_COLS ? SCREEN_MIN_COLS : m->cols;
	if (v->types)
		input_size();
	return 0;
}

/* The agent may begin a turn now: icsupervisor makes a checkpoint. */
static void
input_enter(const struct viewer *v, struct span s)
{
	static const struct msg_PERSON_SAID m;

	if (v->types && s.len != 0 && memchr(s.p, '\r', s.len) != NULL)
		worker_send(&termd_env.w, ROLE_SUP, 0, MSG_PERSON_SAID, &m, -1);
}

static int
on_keys(struct chan *c, const struct msg_KEYS *m)
{
	input_enter(chan_arg(c), m->bytes);
	return input_bytes(c, m->bytes);
}

static int
on_input(struct chan *c, const struct msg_INPUT *m)
{
	return input_bytes(c, m->bytes);
}

static int
on_input_end(struct chan *c, const struct msg_INPUT_END *m)
{
	const struct viewer *v = chan_arg(c);

	if (v->types && !termd_env.input_over) {
		termd_env.input_over = true;
		box_send(BOX_EOF, span_of(NULL, 0));
	}
	return 0;
}

static int
on_out_gone(struct chan *c, const struct msg_OUT_GONE *m)
{
	const struct viewer *v = chan_arg(c);
	uint8_t stream = m->stream;

	if (!v->waits)
		return chan_violation(c, "OUT_GONE of one that does not wait");
	if (!termd_env.gone[stream])
		box_send(BOX_SHUT, span_of(&stream, sizeof(stream)));
	termd_env.gone[stream] = true;
	return 0;
}

static int
on_take(struct chan *c, const struct msg_TAKE *m)
{
	viewer_take(chan_arg(c));
	return 0;
}

static int
on_continue(struct chan *c, const struct msg_CONTINUE *m)
{
	viewer_continue(chan_arg(c));
	return 0;
}

static int
on_frame_ack(struct chan *c, const struct msg_FRAME_ACK *m)
{
	struct viewer *v = chan_arg(c);

	if (m->seq != v->sent)
		return chan_violation(c, "FRAME_ACK of %u", m->seq);
	v->acked = v->sent;
	if (v->news)
		viewers_due();
	return 0;
}

/* clang-format off */
static const struct chan_handler input_handlers[] = {
	HANDLER(KEYS,		on_keys),
	HANDLER(PASTE,		on_paste),
	HANDLER(MOUSE,		on_mouse),
	HANDLER(FOCUS,		on_focus),
	HANDLER(SIZE,		on_size),
	HANDLER(INPUT,		on_input),
	HANDLER(INPUT_END,	on_input_end),
	HANDLER(TAKE,		on_take),
	HANDLER(CONTINUE,	on_continue),
	HANDLER(OUT_GONE,	on_out_gone),
	HANDLER(FRAME_ACK,	on_frame_ack),
};
/* clang-format on */

void
viewer_add(const struct msg_VIEWER *m, int fd)
{
	struct viewer *v;

	if ((v = viewer_new(m, fd, input_handlers, nitems(input_handlers))) ==
	    NULL)
		return;
	if (chan_open(v->chan) == -1)
		fatal("chan_open");
	if (m->types)
		viewer_take(v);
	v->news = true;
	viewers_due();
}
