/* SPDX-License-Identifier: ISC */
/*
 * One relay: the program that reaches it, and ic-hear, which reads what it
 * prints. A relay that ends, hangs or sends nonsense is ended and started
 * again, less and less often; the others go on meanwhile.
 */
#include "icctl/fleet/priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define NODE_FIRST_MS 500U
#define NODE_LAST_MS 60000U
#define NODE_ALIVE_MS 10000U
#define NODE_MEET_MS 30000U /* ssh may have to be asked for a password */
#define NODE_REQUESTS (1U << 20)

static void node_start(struct loop_timer *);
static void node_ready(struct loop_io *, uint32_t);

/* Show how the relay is, as a session of its name, unless it is well. */
static void
node_show(struct fleet_node *n)
{
	struct live_row row = {.is = LIVE_ABSENT,
	    .agent = "",
	    .workspace = "",
	    .policy = "",
	    .state = "",
	    .until = "",
	    .why = ""};
	struct live_session *s = live_find(n->fleet->live, n->name);

	if (n->met) {
		if (s != NULL)
			live_far_drop(s);
		return;
	}
	/* A session without a relay: there is nothing that could be asked. */
	if (s == NULL &&
	    (s = live_far_add(n->fleet->live, n->name, NULL)) == NULL)
		return;
	row.agent = "icctl relay";
	row.is = n->tries == 0 ? LIVE_SILENT : LIVE_LOST;
	row.state = n->tries == 0 ? "connecting" : "lost";
	row.why = n->why;
	live_far_row(s, &row);
}

/* Forget the relay's sessions. */
static void
node_forget(struct fleet_node *n)
{
	struct live_session *s;

	for (unsigned i = 0; (s = live_far_at(n->fleet->live, i)) != NULL;)
		if (s->far == n)
			live_far_drop(s);
		else
			i++;
}

/* Close everything, and end both programs. */
static void
node_shut(struct fleet_node *n)
{
	struct loop *loop = n->fleet->loop;

	n->met = n->asked_alive = false;
	loop_timer_clear(loop, &n->retry);
	loop_timer_clear(loop, &n->alive);
	loop_timer_clear(loop, &n->pause);
	loop_del(loop, &n->in);
	loop_del(loop, &n->out);
	if (n->to != -1)
		close(n->to);
	if (n->from != -1)
		close(n->from);
	n->to = n->from = -1;
	fleet_stop(&n->relay);
	spawn_stop(&n->hear, 0);
	buf_free(&n->frames);
	buf_free(&n->requests);
	ask_lost(n);
	node_forget(n);
}

/* It is of no more use: end it, say why, and try again in a while. */
static void
node_lost(struct fleet_node *n, const char *why)
{
	uint64_t ms = NODE_FIRST_MS << (n->tries < 7 ? n->tries : 7);
	char text[sizeof(n->why)];

	/* Its last words are shown until it is met again. */
	snprintf(text, sizeof(text), "%s%s%s", why,
	    n->said[0] != '\0' ? ": " : "", n->said);
	n->said[0] = '\0';
	node_shut(n);
	(void)strlcpy(n->why, text, sizeof(n->why));
	n->tries++;
	loop_timer_set(n->fleet->loop, &n->retry,
	    ms < NODE_LAST_MS ? ms : NODE_LAST_MS, node_start, n);
	node_show(n);
}

static void
node_alive(struct loop_timer *t)
{
	struct fleet_node *n = t->arg;

	if (n->asked_alive || !n->met) {
		node_lost(n, n->met ? "it has not answered for 10 seconds"
				    : "it has said nothing for 30 seconds");
		return;
	}
	/* It has been well for a while. */
	n->tries = 0;
	n->asked_alive = true;
	ask_alive(n);
	loop_timer_set(n->fleet->loop, t, NODE_ALIVE_MS, node_alive, n);
}

static void
node_met(struct fleet_node *n, const struct hear_hello *m)
{
	n->met = true;
	n->said[0] = n->why[0] = '\0';
	(void)strlcpy(n->host, m->host, sizeof(n->host));
	loop_timer_set(n->fleet->loop, &n->alive, NODE_ALIVE_MS, node_alive, n);
	node_show(n);
}

static void
node_more(struct loop_timer *t)
{
	struct fleet_node *n = t->arg;

	node_ready(&n->in, EPOLLIN);
}

static void
node_ready(struct loop_io *io, uint32_t events)
{
	struct fleet_node *n = io->arg;
	struct loop *loop = n->fleet->loop;
	enum frames_next next = frames_take(n);

	(void)events;
	if (next == FRAMES_OVER)
		return;
	/* A pipe that has ended is reported over and over. */
	if (next == FRAMES_WAIT) {
		if (loop_watch(loop, &n->in, n->from, EPOLLIN, node_ready, n) ==
		    -1)
			node_lost(n, "there is no memory to wait for it");
		return;
	}
	(void)loop_watch(loop, &n->in, n->from, 0, node_ready, n);
	loop_timer_set(loop, &n->pause,
	    next == FRAMES_MORE ? 0 : 1000 - loop_now(loop) % 1000, node_more,
	    n);
}

/* Start ic-hear with the relay's outputs. Returns 0, or -1. */
static int
node_hear(struct fleet_node *n, int out, int errors, int frames)
{
	char name[] = "ic-hear", *argv[] = {name, NULL}, *envp[] = {NULL};
	struct spawn s = {.path = n->fleet->hear,
	    .argv = argv,
	    .envp = envp,
	    .fds = {out, frames, STDERR_FILENO, errors},
	    .nfds = 4,
	    .session = true};

	return spawn_start(&s, &n->hear) == -1 ? -1 : spawn_check(&n->hear);
}

/* Start both programs. Returns NULL, or what failed. */
static const char *
node_spawn(struct fleet_node *n)
{
	int to[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1},
	    frames[2] = {-1, -1}, *const all[] = {to, out, errors, frames};
	const char *what = "pipes";

	for (size_t i = 0; i < nitems(all); i++)
		if (pipe2(all[i], O_CLOEXEC) == -1)
			goto out;
	if (fcntl(to[1], F_SETFL, O_NONBLOCK) == -1 ||
	    fcntl(frames[0], F_SETFL, O_NONBLOCK) == -1)
		goto out;
	what = "ic-hear";
	if (node_hear(n, out[0], errors[0], frames[1]) == -1)
		goto out;
	what = n->entry->command.path;
	if (fleet_run(n->fleet, &n->entry->command, n->name,
		(const int[3]){to[0], out[1], errors[1]}, &n->relay) == -1)
		goto out;
	n->to = to[1];
	n->from = frames[0];
	to[1] = frames[0] = -1;
	what = NULL;
out:
	for (size_t i = 0; i < nitems(all); i++)
		for (unsigned k = 0; k < 2; k++)
			if (all[i][k] != -1)
				close(all[i][k]);
	return what;
}

static void
node_start(struct loop_timer *t)
{
	struct fleet_node *n = t->arg;
	const char *what;
	char why[300];

	buf_init(&n->frames, HEAR_FRAME + sizeof(struct hear_head) + 65536);
	buf_init(&n->requests, NODE_REQUESTS);
	n->said[0] = '\0';
	if ((what = node_spawn(n)) != NULL ||
	    loop_watch(n->fleet->loop, &n->in, n->from, EPOLLIN, node_ready,
		n) == -1) {
		snprintf(why, sizeof(why), "%.150s: %s",
		    what == NULL ? "epoll" : what,
		    errno == ESTALE ? "it is another file now, and is not run"
				    : strerror(errno));
		node_lost(n, why);
		return;
	}
	loop_timer_set(n->fleet->loop, &n->alive, NODE_MEET_MS, node_alive, n);
	node_show(n);
}

struct fleet_node *
node_add(struct fleet *f, const struct fleet_entry *e, const char *name)
{
	struct fleet_node *n;

	if (f->nnodes == FLEET_NODES || (n = calloc(1, sizeof(*n))) == NULL)
		return NULL;
	n->fleet = f;
	n->entry = e;
	n->to = n->from = n->in.fd = n->out.fd = -1;
	n->relay = n->hear = (struct spawned)SPAWNED_INIT;
	n->lost = node_lost;
	n->hello = node_met;
	(void)strlcpy(n->name, name, sizeof(n->name));
	f->nodes[f->nnodes++] = n;
	loop_timer_set(f->loop, &n->retry, 0, node_start, n);
	return n;
}

void
node_free(struct fleet_node *n)
{
	node_shut(n);
	free(n);
}

void
node_drop(struct fleet_node *n)
{
	struct fleet *f = n->fleet;
	struct live_session *s;

	for (unsigned i = 0; i < f->nnodes; i++) {
		if (f->nodes[i] != n)
			continue;
		f->nodes[i] = f->nodes[--f->nnodes];
		break;
	}
	if ((s = live_find(f->live, n->name)) != NULL)
		live_far_drop(s);
	node_free(n);
}
