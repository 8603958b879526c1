/* SPDX-License-Identifier: ISC */
/* The overview's loop: sessions, keys, a signal, and once a second the time. */
#include "icctl/overview/overview.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/fleet/fleet.h"
#include "icctl/job/trouble.h"
#include "icctl/overview/priv.h"

static volatile sig_atomic_t overview_signal;

static void
on_signal(int sig)
{
	overview_signal = sig;
}

static void
on_changed(void *arg, struct live_session *s, enum live_change change)
{
	struct overview *o = arg;

	(void)s;
	/* The list is made once for all that changes in a turn. */
	o->stale |= change != LIVE_ACTIVITY;
	o->dirty = true;
}

static const struct live_ops overview_ops = {on_changed, answer_replied, NULL};

static void
on_input(struct loop_io *io, uint32_t events)
{
	struct overview *o = io->arg;

	/* The terminal is gone. */
	if ((events & EPOLLIN) == 0)
		o->quit = true;
}

/* Look for jobs that failed or are late, from time to time. */
static void
overview_jobs(struct overview *o)
{
	json_object *jobs;

	if (o->ctl->session != NULL || loop_now(&o->loop) < o->jobs_at)
		return;
	o->jobs_at = loop_now(&o->loop) + JOB_TROUBLE_MS;
	jobs = job_troubles(o->ctl);
	o->dirty = o->dirty || !json_object_equal(jobs, o->jobs);
	json_object_put(o->jobs);
	o->jobs = jobs;
}

static void
on_second(struct loop_timer *t)
{
	struct overview *o = t->arg;

	overview_jobs(o);
	/* Only the time that a call has left changes by itself. */
	o->dirty = o->dirty || o->waiting != 0;
	loop_timer_set(&o->loop, t, 1000, on_second, o);
}

bool
overview_can(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term != NULL &&
	       term[0] != '\0' && strcmp(term, "dumb") != 0;
}

static void
overview_loop(struct overview *o)
{
	struct loop_io input = LOOP_IO_INIT;
	struct loop_timer second = {.at = 0};

	if (loop_add(&o->loop, &input, STDIN_FILENO, EPOLLIN, on_input, o) ==
	    -1) {
		o->quit = true;
		return;
	}
	loop_timer_set(&o->loop, &second, 1000, on_second, o);
	overview_jobs(o);
	rows_make(o);
	o->dirty = true;
	while (!o->quit && overview_signal == 0) {
		if (o->dirty)
			draw(o);
		if (loop_once(&o->loop, -1) == -1)
			break;
		if (o->stale)
			rows_make(o);
		/* A new size of the terminal comes as a key. */
		keys_read(o);
	}
	loop_timer_clear(&o->loop, &second);
	loop_del(&o->loop, &input);
}

int
overview_run(struct icctl *ctl)
{
	struct overview *o = calloc(1, sizeof(*o));
	const struct sigaction sa = {.sa_handler = on_signal};

	if (o == NULL ||
	    loop_init(&o->loop, LIVE_TIMERS + FLEET_TIMERS + 1) == -1)
		err(ICCTL_FAILED, "watch");
	o->ctl = ctl;
	/* Before the first session there is nothing to watch. */
	if (ctl->dir[0] == '\0')
		(void)mkdir(ctl->home, 0700);
	/* Sets the locale, which curses reads. */
	o->live =
	    fleet_follow(ctl, &o->loop, icctl_visible(), &overview_ops, o);
	if (o->live == NULL) {
		warn("%s", ctl->dir[0] != '\0' ? ctl->dir : ctl->home);
		loop_free(&o->loop);
		free(o);
		return ICCTL_FAILED;
	}
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	if (draw_begin() == -1)
		errx(ICCTL_FAILED, "this terminal cannot show the screen: use "
				   "icctl watch --plain");
	overview_loop(o);
	draw_end();
	fleet_leave(o->live);
	text_free(o);
	json_object_put(o->jobs);
	free(o->rows);
	loop_free(&o->loop);
	free(o);
	return ICCTL_OK;
}
