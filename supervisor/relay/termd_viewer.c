/* SPDX-License-Identifier: ISC */
/*
 * The viewers: icctl processes, of which one has the keyboard. A viewer that
 * breaks the protocol only loses its own channel.
 */
#include "relay/termd.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

static void
viewer_gone(struct viewer *v)
{
	if (v->dead)
		return;
	input_over(v);
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

/* The handlers are in termd_input.c. */
static const struct chan_ops *
viewer_ops(void)
{
	static struct chan_ops ops = {.closed = viewer_closed};

	ops.handlers = input_handlers;
	ops.nhandlers = input_nhandlers;
	return &ops;
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

void
viewer_send(struct viewer *v, enum msg_type type, const void *msg)
{
	if (!v->dead && chan_send(v->chan, type, msg, -1) == -1)
		viewer_gone(v);
}

static void
viewer_types(struct viewer *v, bool types)
{
	const struct msg_TYPIST m = {.types = types};

	if (!types)
		input_over(v);
	v->types = types;
	viewer_send(v, MSG_TYPIST, &m);
}

/* Give the keyboard to this viewer and take it from the others. */
void
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
	    &termd_env.w.loop, fd, ROLE_TERM, ROLE_VIEWER, 0, viewer_ops(), v);
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
	viewers_due();
}

static bool
viewer_behind(const struct viewer *v)
{
	return chan_queued(v->chan) > TERMD_AHEAD || chan_is_behind(v->chan);
}

/* In screen mode nobody is waited for: a slow viewer misses frames. */
bool
viewers_behind(void)
{
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		if (v->waits && viewer_behind(v) &&
		    (termd_env.screen == NULL || termd_env.mode.raw_err))
			return true;
	return false;
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
				viewer_send(v, MSG_RAW, &m);
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
		viewer_send(v, MSG_LINE, &m);
		v->news = true;
	}
	viewers_due();
}

static void
viewers_frame(struct loop_timer *t)
{
	struct viewer *v, *next;

	(void)t;
	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		frame_send(v);
	}
}

void
viewers_news(void)
{
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		v->news = true;
	viewers_due();
}

void
viewers_due(void)
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

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL && !said;
	     v = next) {
		next = TAILQ_NEXT(v, entry);
		/* Send the final state, whatever was acknowledged. */
		v->acked = v->sent;
		frame_send(v);
		viewer_send(v, MSG_BOX_END, &end);
	}
	said = true;
	loop_turns(&termd_env.w.loop);
	TAILQ_FOREACH (v, &termd_env.viewers, entry)
		if (chan_queued(v->chan) != 0)
			return false;
	return true;
}
