/* SPDX-License-Identifier: ISC */
/*
 * Sessions that nobody named: `icctl watch --json` prints the events of all of
 * them, and the plain watch waits for the first one to start.
 */
#include "icctl/watch/watch.h"

#include <err.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/live/live.h"

struct waiting {
	struct icctl *ctl;
	bool over; /* a session runs, or the person left */
	bool left;
};

static struct live *
all_begin(struct loop *loop, const struct icctl *ctl,
    const struct live_ops *ops, void *arg)
{
	struct live *live;

	if (loop_init(loop, LIVE_TIMERS) == -1)
		err(ICCTL_FAILED, "watch");
	live = live_new(loop, ctl->home, NULL, icctl_visible(), ops, arg);
	if (live == NULL)
		err(ICCTL_FAILED, "%s", ctl->home);
	return live;
}

/* A session that was killed sends no `end`. */
static void
all_changed(void *arg, struct live_session *s, enum live_change change)
{
	json_object *o;

	if (change != LIVE_ROW || s->is != LIVE_LOST)
		return;
	o = json_object_new_object();
	put_str(o, "event", "lost");
	put_str(o, "session", s->id);
	icctl_put_json(o);
	fflush(stdout);
	json_object_put(o);
}

static void
all_event(void *arg, struct live_session *s, json_object *event)
{
	put_str(event, "session", s->id);
	icctl_put_json(event);
	fflush(stdout);
}

int
watch_all_json(const struct icctl *ctl)
{
	static const struct live_ops ops = {all_changed, NULL, all_event};
	struct loop loop;
	struct live *live = all_begin(&loop, ctl, &ops, NULL);

	/* A signal, or a reader that closes the pipe, ends this. */
	while (loop_once(&loop, -1) != -1)
		continue;
	live_free(live);
	loop_free(&loop);
	return ICCTL_FAILED;
}

static void
wait_changed(void *arg, struct live_session *s, enum live_change change)
{
	struct waiting *w = arg;

	if (w->over || s->is != LIVE_RUNS)
		return;
	snprintf(w->ctl->dir, sizeof(w->ctl->dir), "%.4095s", s->dir);
	w->over = true;
}

static void
wait_key(struct loop_io *io, uint32_t events)
{
	struct waiting *w = io->arg;
	char key;

	if (read(io->fd, &key, 1) != 1 || key == 'q')
		w->over = w->left = true;
}

bool
watch_wait(struct icctl *ctl, bool keys)
{
	static const struct live_ops ops = {wait_changed, NULL, NULL};
	struct waiting w = {.ctl = ctl};
	struct loop_io input = LOOP_IO_INIT;
	struct loop loop;
	struct live *live = all_begin(&loop, ctl, &ops, &w);

	if (keys &&
	    loop_add(&loop, &input, STDIN_FILENO, EPOLLIN, wait_key, &w) == -1)
		err(ICCTL_FAILED, "watch");
	while (!w.over && loop_once(&loop, -1) != -1)
		continue;
	if (keys)
		loop_del(&loop, &input);
	live_free(live);
	loop_free(&loop);
	return w.over && !w.left;
}
