/* SPDX-License-Identifier: ISC */
/*
 * The viewers: icctl, several at once.  One has the keyboard.  A viewer's
 * channel is its own business: whatever it breaks closes that channel only.
 */
#include "relay/termd.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

static const struct chan_ops viewer_ops;

static void
viewer_gone(struct viewer *v)
{
	if (v->dead)
		return;
	v->dead = true;
	TAILQ_REMOVE(&termd_env.viewers, v, entry);
	TAILQ_INSERT_TAIL(&termd_env.dead, v, entry);
	termd_env.nviewers--;
}

static void
viewer_closed(struct chan *c, const char *why)
{
	struct viewer *v = chan_arg(c);

	if (why != NULL)
		log_warnx("viewer %u broke the protocol: %s", v->id, why);
	viewer_gone(v);
}

void
viewers_reap(void)
{
	struct viewer *v;

	while ((v = TAILQ_FIRST(&termd_env.dead)) != NULL) {
		TAILQ_REMOVE(&termd_env.dead, v, entry);
		chan_free(v->chan);
		free(v);
	}
}

static void
viewer_send(struct viewer *v, enum msg_type type, const void *msg)
{
	if (!v->dead && chan_send(v->chan, type, msg, -1) == -1)
		viewer_gone(v);
}

static void
viewer_types(struct viewer *v, bool types)
{
	const struct msg_TYPIST m = {.types = types};

	v->types = types;
	viewer_send(v, MSG_TYPIST, &m);
}

/* One has the keyboard: from now on it is this one. */
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
}

void
viewer_add(const struct msg_VIEWER *m, int fd)
{
	struct viewer *v = NULL;

	if (termd_env.nviewers == PROTO_MAX_VIEWERS ||
	    (v = calloc(1, sizeof(*v))) == NULL) {
		log_warnx("viewer %u is one too many", m->id);
		close(fd);
		return;
	}
	v->chan = chan_new(
	    &termd_env.w.loop, fd, ROLE_TERM, ROLE_VIEWER, 0, &viewer_ops, v);
	if (v->chan == NULL)
		fatal("chan_new");
	chan_phase(v->chan, PHASE_RUN);
	v->id = m->id;
	v->waits = m->waits;
	TAILQ_INSERT_TAIL(&termd_env.viewers, v, entry);
	termd_env.nviewers++;
	termd_env.watched = true;
	if (chan_open(v->chan) == -1)
		fatal("chan_open");
	if (m->types)
		viewer_take(v);
	v->news = true;
	viewers_news();
}

bool
viewers_behind(void)
{
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		if (v->waits && chan_queued(v->chan) > TERMD_AHEAD)
			return true;
	return false;
}

/* Does it take one more, or must it miss it? */
static bool
viewer_keeps_up(struct viewer *v)
{
	if (v->waits || chan_queued(v->chan) <= TERMD_AHEAD)
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
				viewer_send(v, MSG_RAW, &m);
		}
		s.p += m.bytes.len;
		s.len -= m.bytes.len;
	}
}

void
viewers_line(const struct lines *l, unsigned stream, bool more, bool joined)
{
	static uint8_t cells[PROTO_MAX_CELLS];
	bool raw =
	    stream == 0 ? termd_env.mode.raw_out : termd_env.mode.raw_err;
	struct msg_LINE m = {
	    .stream = (uint8_t)stream, .more = more, .joined = joined};
	struct viewer *v, *next;

	m.cells = span_of(cells, lines_encode(l, cells, sizeof(cells)));
	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		if ((raw && v->waits) || !viewer_keeps_up(v))
			continue;
		viewer_send(v, MSG_LINE, &m);
		v->news = true;
	}
	viewers_news();
}

static void
viewer_frame(struct viewer *v)
{
	struct msg_FRAME m = {.seq = v->sent + 1, .lost = v->lost};

	if (!v->news || v->sent != v->acked)
		return;
	v->news = false;
	v->lost = 0;
	v->sent++;
	viewer_send(v, MSG_FRAME, &m);
}

static void
viewers_frame(struct loop_timer *t)
{
	struct viewer *v, *next;

	(void)t;
	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		viewer_frame(v);
	}
}

void
viewers_news(void)
{
	if (termd_env.frame.at == 0)
		loop_timer_set(&termd_env.w.loop, &termd_env.frame,
		    TERMD_FRAME_MS, viewers_frame, NULL);
}

void
viewers_taken(void)
{
	struct viewer *v, *next;
	struct msg_ROOM m;

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		m.bytes = v->owed;
		v->owed = 0;
		if (m.bytes != 0)
			viewer_send(v, MSG_ROOM, &m);
	}
}

bool
viewers_finish(void)
{
	static const struct msg_BOX_END end;
	static bool said;
	struct viewer *v, *next;
	bool done = true;

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		if (!said)
			viewer_send(v, MSG_BOX_END, &end);
		if (!v->dead && chan_queued(v->chan) != 0)
			done = false;
	}
	said = true;
	return done;
}

/* Bytes for the agent.  Returns 0, or -1 if there was no room for them. */
static int
viewer_input(struct chan *c, struct span s)
{
	struct viewer *v = chan_arg(c);
	struct msg_ROOM m = {.bytes = (uint32_t)s.len};

	if (s.len == 0 || s.len > PROTO_TYPED_ROOM - v->owed)
		return chan_violation(c, "%zu bytes without room", s.len);
	if (!v->types) {
		/* Typed before it was told that another one has taken over. */
		viewer_send(v, MSG_ROOM, &m);
		return 0;
	}
	v->owed += (uint32_t)s.len;
	box_send(BOX_DATA, s);
	return 0;
}

static int
on_keys(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	return viewer_input(c, msg->KEYS.bytes);
}

static int
on_input(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	return viewer_input(c, msg->INPUT.bytes);
}

static int
on_input_end(struct chan *c, const union proto_any *msg, int fd)
{
	const struct viewer *v = chan_arg(c);

	(void)msg;
	(void)fd;
	if (v->types)
		box_send(BOX_EOF, span_of(NULL, 0));
	return 0;
}

static int
on_out_gone(struct chan *c, const union proto_any *msg, int fd)
{
	const struct viewer *v = chan_arg(c);
	uint8_t stream = msg->OUT_GONE.stream;

	(void)fd;
	if (!v->waits)
		return chan_violation(c, "OUT_GONE of one that does not wait");
	if (!termd_env.gone[stream])
		box_send(BOX_SHUT, span_of(&stream, sizeof(stream)));
	termd_env.gone[stream] = true;
	return 0;
}

static int
on_take(struct chan *c, const union proto_any *msg, int fd)
{
	(void)msg;
	(void)fd;
	viewer_take(chan_arg(c));
	return 0;
}

static int
on_frame_ack(struct chan *c, const union proto_any *msg, int fd)
{
	struct viewer *v = chan_arg(c);

	(void)fd;
	if (msg->FRAME_ACK.seq != v->sent || v->sent == v->acked)
		return chan_violation(c, "FRAME_ACK of %u", msg->FRAME_ACK.seq);
	v->acked = v->sent;
	if (v->news)
		viewers_news();
	return 0;
}

static const struct chan_handler viewer_handlers[] = {
    {MSG_KEYS, on_keys},
    {MSG_INPUT, on_input},
    {MSG_INPUT_END, on_input_end},
    {MSG_TAKE, on_take},
    {MSG_OUT_GONE, on_out_gone},
    {MSG_FRAME_ACK, on_frame_ack},
};

static const struct chan_ops viewer_ops = {
    .handlers = viewer_handlers,
    .nhandlers = sizeof(viewer_handlers) / sizeof(viewer_handlers[0]),
    .closed = viewer_closed,
};
