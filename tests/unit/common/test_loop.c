/* SPDX-License-Identifier: ISC */
/* The loop reports the events that are wanted, and no others. */
#include <sys/socket.h>

#include <err.h>
#include <unistd.h>

#include "common/loop.h"
#include "tap.h"

static unsigned calls;

static void
on_ready(struct loop_io *io, uint32_t events)
{
	calls++;
}

/* Returns the number of callbacks in three turns that do not wait. */
static unsigned
turns(struct loop *l)
{
	calls = 0;
	for (int i = 0; i < 3; i++)
		if (loop_once(l, 0) == -1)
			err(1, "epoll");
	return calls;
}

int
main(void)
{
	struct loop_io io = LOOP_IO_INIT;
	struct loop l;
	int pair[2];

	if (loop_init(&l, 1) == -1 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		err(1, "setup");
	ok(loop_watch(&l, &io, pair[0], 0, on_ready, NULL) == 0 && io.fd == -1,
	    "nothing wanted: not registered");
	ok(loop_watch(&l, &io, pair[0], EPOLLIN, on_ready, NULL) == 0 &&
		turns(&l) == 0,
	    "wanted, and nothing there");
	ok(loop_watch(&l, &io, pair[0], EPOLLIN | EPOLLOUT, on_ready, NULL) ==
		    0 && turns(&l) == 3,
	    "room to write is reported each time");
	close(pair[1]);
	ok(loop_mod(&l, &io, 0) == 0 && turns(&l) == 3,
	    "merely masked: a hang-up is reported all the same");
	ok(loop_watch(&l, &io, pair[0], 0, on_ready, NULL) == 0 &&
		turns(&l) == 0,
	    "nothing wanted: a hang-up is not reported");
	ok(loop_watch(&l, &io, pair[0], EPOLLIN, on_ready, NULL) == 0 &&
		turns(&l) == 3,
	    "wanted again: it is");
	loop_del(&l, &io);
	close(pair[0]);
	loop_free(&l);
	return tap_done();
}
