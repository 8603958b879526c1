/* SPDX-License-Identifier: ISC */
/*
 * The viewers: icctl processes, each with a channel. A viewer that breaks the
 * protocol only loses its own channel.
 */
#include "workers/termd/termd.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

void
viewer_paste(struct viewer *v, bool open)
{
	if (v->pasting == open)
		return;
	v->pasting = open;
	box_send(BOX_DATA, open ? SPAN("\033[200~") : SPAN("\033[201~"));
}

/* The sandbox may have sent BOX_STOPPED any number of times. */
static void
box_continue(void)
{
	/* Behind so much that was typed, the input continues the agent. */
	if (termd_env.box.out.len < TERMD_BOX_FULL)
		box_send(BOX_CONTINUE, span_of(NULL, 0));
}

void
viewer_continue(struct viewer *v)
{
	if (v->stopped)
		box_continue();
	v->stopped = false;
}

static void
viewer_gone(struct viewer *v)
{
	if (v->dead)
		return;
	viewer_paste(v, false);
	viewer_continue(v);
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

struct viewer *
viewer_new(const struct msg_VIEWER *m, int fd,
    const struct chan_handler *handlers, size_t n)
{
	static struct chan_ops ops = {.closed = viewer_closed};
	struct viewer *v = NULL;

	if (termd_env.nviewers == PROTO_MAX_VIEWERS ||
	    (v = calloc(1, sizeof(*v))) == NULL) {
		log_warnx("viewer %u is one too many", m->id);
		close(fd);
		return NULL;
	}
	ops.handlers = handlers;
	ops.nhandlers = n;
	v->chan =
	    chan_new(&termd_env.w.loop, fd, ROLE_TERM, ROLE_VIEWER, 0, &ops, v);
	if (v->chan == NULL)
		fatal("chan_new");
	chan_phase(v->chan, PHASE_RUN);
	v->id = m->id;
	v->waits = m->waits;
	v->seen_offer = termd_env.offers;
	TAILQ_INSERT_TAIL(&termd_env.viewers, v, entry);
	termd_env.nviewers++;
	termd_env.watched = true;
	return v;
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
termd_viewer_send(struct viewer *v, enum msg_type type, const void *msg)
{
	if (!v->dead && chan_send(v->chan, type, msg, -1) == -1)
		viewer_gone(v);
}

bool
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

void
viewers_stopped(void)
{
	static const struct msg_STOPPED m;
	struct viewer *v;

	TAILQ_FOREACH (v, &termd_env.viewers, entry) {
		if (!v->types || termd_env.screen == NULL)
			continue;
		if (!v->stopped) {
			v->stopped = true;
			termd_viewer_send(v, MSG_STOPPED, &m);
		}
		return;
	}
	box_continue();
}

void
viewers_taken(void)
{
	struct viewer *v, *next;
	struct msg_INPUT_ROOM m;

	for (v = TAILQ_FIRST(&termd_env.viewers); v != NULL; v = next) {
		next = TAILQ_NEXT(v, entry);
		m.bytes = v->owed;
		v->owed = 0;
		if (m.bytes != 0)
			termd_viewer_send(v, MSG_INPUT_ROOM, &m);
	}
}
