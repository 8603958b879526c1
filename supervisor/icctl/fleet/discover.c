/* SPDX-License-Identifier: ISC */
/*
 * Runs a program that prints the names of relays, one a line, now and then. A
 * relay whose name is printed no longer is ended, unless the program failed.
 */
#include "icctl/fleet/priv.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DISCOVER_MAX (256U << 10)
#define DISCOVER_MS 60000U /* as long as it may take */
#define DISCOVER_END_MS 500 /* from the end of its output to its own */

static void discover_run(struct loop_timer *);

static void
discover_again(struct fleet_entry *e)
{
	loop_timer_set(e->fleet->loop, &e->again, e->every * 1000U,
	    discover_run, e);
}

static void
discover_stop(struct fleet_entry *e)
{
	int fd = e->out.fd;

	if (fd != -1) {
		loop_del(e->fleet->loop, &e->out);
		close(fd);
	}
	fleet_stop(&e->sp);
	buf_free(&e->in);
}

void
discover_end(struct fleet_entry *e)
{
	loop_timer_clear(e->fleet->loop, &e->again);
	discover_stop(e);
}

/* Add the relay of that name, or note that it is still there. */
static void
discover_name(struct fleet_entry *e, const char *name)
{
	struct fleet *f = e->fleet;
	struct fleet_node *n;

	for (unsigned i = 0; i < f->nnodes; i++) {
		if (strcmp(f->nodes[i]->name, name) != 0)
			continue;
		f->nodes[i]->listed |= f->nodes[i]->entry == e;
		return;
	}
	if ((n = node_add(f, e, name)) != NULL)
		n->listed = true;
}

static void
discover_names(struct fleet_entry *e)
{
	struct span rest = buf_span(&e->in), line;
	struct fleet *f = e->fleet;
	char name[FLEET_NAME];

	for (unsigned i = 0; i < f->nnodes; i++)
		if (f->nodes[i]->entry == e)
			f->nodes[i]->listed = false;
	while (rest.len != 0 && span_line(&rest, &line)) {
		if (line.len == 0)
			continue;
		if (span_copy(line, name, sizeof(name)) == -1 ||
		    !fleet_name_ok(name)) {
			warnx("discover: %s printed a line that is no name of "
			      "letters, digits, '.', '_' and '-'; it is left "
			      "out",
			    e->discover.path);
			continue;
		}
		discover_name(e, name);
	}
	for (unsigned i = f->nnodes; i-- > 0;)
		if (f->nodes[i]->entry == e && !f->nodes[i]->listed)
			node_drop(f->nodes[i]);
}

static void
discover_ready(struct loop_io *io, uint32_t events)
{
	struct fleet_entry *e = io->arg;
	uint8_t *room = buf_room(&e->in, 4096);
	struct pollfd p = {.events = POLLIN};
	int code, status;
	ssize_t n = -1;
	bool good;

	(void)events;
	if (room == NULL)
		errno = EFBIG;
	else if ((n = read(io->fd, room, 4096)) > 0)
		buf_grow(&e->in, (size_t)n);
	if (n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR)))
		return;
	/* It has closed its output, and so is about to end; or it is ended. */
	p.fd = e->sp.pidfd;
	good = n == 0 && poll(&p, 1, DISCOVER_END_MS) == 1 &&
	       spawn_reap(e->sp.pidfd, false, &code, &status) == 1 &&
	       spawn_status(code, status) == 0;
	if (good)
		discover_names(e);
	else
		warnx("discover: %s failed; the relays stay as they are, and "
		      "it is tried again in %u s",
		    e->discover.path, e->every);
	discover_stop(e);
	discover_again(e);
}

static void
discover_late(struct loop_timer *t)
{
	struct fleet_entry *e = t->arg;

	warnx("discover: %s took more than a minute and was ended",
	    e->discover.path);
	discover_stop(e);
	discover_again(e);
}

static void
discover_run(struct loop_timer *t)
{
	struct fleet_entry *e = t->arg;
	int pipes[2], fds[3] = {-1, -1, -1};

	buf_init(&e->in, DISCOVER_MAX);
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) == -1) {
		warn("discover");
		discover_again(e);
		return;
	}
	/* Only our end does not block. */
	(void)fcntl(pipes[1], F_SETFL, 0);
	fds[1] = pipes[1];
	if (fleet_run(e->fleet, &e->discover, "", fds, &e->sp) == -1 ||
	    loop_add(e->fleet->loop, &e->out, pipes[0], EPOLLIN,
		discover_ready, e) == -1) {
		warn("discover: %s", e->discover.path);
		close(pipes[0]);
		close(pipes[1]);
		discover_stop(e);
		discover_again(e);
		return;
	}
	close(pipes[1]);
	loop_timer_set(
	    e->fleet->loop, &e->again, DISCOVER_MS, discover_late, e);
}

void
discover_begin(struct fleet *f, struct fleet_entry *e)
{
	e->fleet = f;
	loop_timer_set(f->loop, &e->again, 0, discover_run, e);
}
