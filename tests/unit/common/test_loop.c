/* SPDX-License-Identifier: ISC */
/*
 * The loop reports the events that are wanted, and no others; also if the user's
 * other programs have left no room in epoll sets.
 */
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/loop.h"
#include "tap.h"

static unsigned calls;
static bool set_full;

/* Replaces libc's: the kernel's limit is the whole machine's. */
int
epoll_ctl(int set, int op, int fd, struct epoll_event *ev)
{
	if (set_full && op == EPOLL_CTL_ADD) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, set, op, fd, ev);
}

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

/* The same whether the descriptor is in the epoll set or not. */
static void
test_events(void)
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
}

static void
on_event(struct loop_io *io, uint32_t events)
{
	calls++;
	if (io->arg != NULL)
		loop_del(io->arg, io);
}

/* An eventfd that nobody reads is reported each time it was written to. */
static void
test_edge(void)
{
	const uint64_t one = 1;
	struct loop_io io = LOOP_IO_INIT;
	struct loop l;
	int fd;

	if (loop_init(&l, 1) == -1 ||
	    (fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) == -1)
		err(1, "setup");
	ok(loop_add(&l, &io, fd, EPOLLIN | (uint32_t)EPOLLET, on_event,
	       NULL) == 0 && turns(&l) == 0,
	    "edge: nothing yet");
	for (int i = 0; i < 2; i++)
		ok(write(fd, &one, sizeof(one)) == sizeof(one) &&
			turns(&l) == 1,
		    "edge: reported once");
	loop_del(&l, &io);
	close(fd);
	loop_free(&l);
}

/* The set takes descriptors again: nothing is lost, and none stays outside. */
static void
test_back(void)
{
	enum { MANY = 100 };
	struct loop_io io[MANY];
	struct loop l;
	int pair[2], copy[MANY];
	uint64_t until;

	if (loop_init(&l, 1) == -1 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		err(1, "setup");
	for (int i = 0; i < MANY; i++) {
		if ((copy[i] = fcntl(pair[0], F_DUPFD_CLOEXEC, 0)) == -1)
			err(1, "dup");
		is_int(loop_add(&l, &io[i], copy[i], EPOLLIN, on_event, NULL),
		    0, "added");
	}
	is_int(l.nspilled, MANY, "all are outside the set");
	is_int(turns(&l), 0, "and none is ready");
	if (write(pair[1], "x", 1) != 1)
		err(1, "write");
	calls = 0;
	for (int i = 0; i < 4; i++)
		(void)loop_once(&l, 1000);
	ok(calls >= MANY, "each gets its turn (%u)", calls);
	for (int i = 0; i < MANY; i += 2)
		io[i].arg = &l;
	for (int i = 0; i < 4; i++)
		(void)loop_once(&l, 1000);
	is_int(l.nspilled, MANY / 2, "a callback may remove its own");
	set_full = false;
	until = clock_mono_us() + 5000000;
	while (l.nspilled != 0 && clock_mono_us() < until)
		(void)loop_once(&l, 1000);
	is_int(l.nspilled, 0, "they move into the set when it takes them");
	calls = 0;
	(void)loop_once(&l, 0);
	is_int(calls, MANY / 2, "and are ready there");
	for (int i = 0; i < MANY; i++) {
		loop_del(&l, &io[i]);
		close(copy[i]);
	}
	close(pair[0]);
	close(pair[1]);
	loop_free(&l);
}

int
main(void)
{
	test_events();
	test_edge();
	set_full = true;
	test_events();
	test_edge();
	test_back();
	return tap_done();
}
