/* SPDX-License-Identifier: ISC */
/*
 * Messages from icsupervisor to termd: mode and listener before START, then
 * viewers. At STOP, pending output still reaches the viewers.
 */
#include "workers/termd/termd.h"

#include <unistd.h>

#include "common/log.h"

static int
on_mode(struct chan *c, const struct msg_TERM_MODE *m)
{
	if (termd_env.has_mode || m->rows == 0 || m->cols == 0)
		return chan_violation(c, "TERM_MODE twice, or without a size");
	termd_env.mode = *m;
	termd_env.has_mode = true;
	return 0;
}

static int
on_transcript(struct chan *c, const struct msg_TRANSCRIPT *m, int fd)
{
	if (termd_env.transcript != -1) {
		close(fd);
		return chan_violation(c, "TRANSCRIPT twice");
	}
	termd_env.transcript = fd;
	termd_env.transcript_room = m->room;
	return 0;
}

static int
on_listen(struct chan *c, const struct msg_LISTEN *m, int fd)
{
	if (box_conn_listener(&termd_env.box, fd) == 0)
		return 0;
	close(fd);
	return chan_violation(c, "LISTEN twice");
}

static int
on_connection(struct chan *c, const struct msg_CONNECTION *m, int fd)
{
	box_conn_open(&termd_env.box, fd);
	return 0;
}

static int
on_turn_rule(struct chan *c, const struct msg_TURN_RULE *m)
{
	if (turns_rule(m) == -1)
		return chan_violation(c, "a rule that cannot be used");
	return 0;
}

static int
on_viewer(struct chan *c, const struct msg_VIEWER *m, int fd)
{
	viewer_add(m, fd);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(TERM_MODE,	on_mode),
	HANDLER(TRANSCRIPT,	on_transcript),
	HANDLER(LISTEN,		on_listen),
	HANDLER(CONNECTION,	on_connection),
	HANDLER(TURN_RULE,	on_turn_rule),
	HANDLER(VIEWER,		on_viewer),
};
/* clang-format on */

static void
serve_start(void)
{
	if (!termd_env.has_mode || termd_env.box.listener == -1)
		fatalx("START before TERM_MODE and LISTEN");
	output_start();
	if (box_conn_start(&termd_env.box) == -1)
		fatal("listener");
}

static void
serve_stop(void)
{
	termd_env.stopping = true;
	box_conn_stop(&termd_env.box);
}

static void
serve_after(void *arg)
{
	viewers_reap();
	box_conn_update(&termd_env.box);
	if (!termd_env.stopping || termd_env.box.fd != -1)
		return;
	transcript_end();
	if (viewers_finish())
		worker_exit(&termd_env.w, 0);
}

void
termd_serve(void)
{
	struct termd_env *e = &termd_env;

	TAILQ_INIT(&e->viewers);
	TAILQ_INIT(&e->dead);
	e->transcript = -1;
	box_conn_init(&e->box, &termd_box_ops, &e->w.loop, TERMD_BOX_OUT);
	e->w.start = serve_start;
	e->w.stop = serve_stop;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
