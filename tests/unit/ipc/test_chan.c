/* SPDX-License-Identifier: ISC */
/*
 * The sending half of a channel.  Messages sent in one turn of the loop leave
 * at its end, in order, and before anything that the owner does afterwards.  A
 * queue for a slow peer is limited in messages and in bytes, and the owner is
 * told well before.
 */
#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/ipc/chan.h"
#include "tap.h"

static struct loop loop;
static struct chan *from, *to;
static int fds[2];
static unsigned got, rises, falls;
static uint64_t last;
static bool sorted, early;

static int
on_done(struct chan *c, const struct msg_DONE *m)
{
	sorted = sorted && m->id == last + 1;
	last = m->id;
	got++;
	return 0;
}

static int
on_out(struct chan *c, const struct msg_SERVER_OUT *m, int fd)
{
	close(fd);
	got++;
	return 0;
}

static void
on_closed(struct chan *c, const char *why)
{
}

static void
on_behind(struct chan *c, bool is)
{
	is_int(chan_is_behind(c), is, "the owner is told once it is so");
	rises += is;
	falls += !is;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(DONE,		on_done),
	HANDLER(SERVER_OUT,	on_out),
};
/* clang-format on */
static const struct chan_ops ops = {handlers, 2, on_closed, on_behind};

/* Returns true if anything has arrived at the other end. */
static bool
arrived(void)
{
	char byte;

	return recv(fds[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT) != -1;
}

static void
after(void *arg)
{
	early = early || arrived();
}

static void
set_up(enum role sender, enum role receiver)
{
	got = rises = falls = 0;
	last = 0;
	sorted = true;
	if (loop_init(&loop, 1) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1)
		err(1, "set up");
	from = chan_new(&loop, fds[0], sender, receiver, 0, &ops, NULL);
	to = chan_new(&loop, fds[1], receiver, sender, 0, &ops, NULL);
	chan_phase(from, PHASE_RUN);
	chan_phase(to, PHASE_RUN);
	if (chan_open(from) == -1)
		err(1, "chan_open");
}

static void
tear_down(void)
{
	chan_free(from);
	chan_free(to);
	loop_free(&loop);
}

static int
done(uint64_t id)
{
	struct msg_DONE m = {.id = id};

	return chan_send(from, MSG_DONE, &m, -1);
}

static void
turn(void)
{
	if (loop_once(&loop, 0) == -1)
		err(1, "loop_once");
}

static void
take_all(unsigned n)
{
	if (chan_open(to) == -1)
		err(1, "chan_open");
	for (unsigned i = 0; i < 100000 && got < n; i++)
		turn();
}

static void
test_turns(void)
{
	set_up(ROLE_BACK, ROLE_AUDIT);
	loop.after = after;
	for (unsigned i = 1; i <= 20; i++)
		is_int(done(i), 0, "sent");
	ok(!arrived(), "nothing leaves before the end of the turn");
	turn();
	ok(arrived(), "then all of it does");
	take_all(20);
	is_int(got, 20, "20 messages");
	ok(sorted, "in order");
	tear_down();

	early = false;
	set_up(ROLE_BACK, ROLE_AUDIT);
	loop.after = after;
	turn();
	is_int(done(1), 0, "sent");
	after(NULL);
	ok(!early, "what the owner does at the end of a turn comes first");
	loop_turns(&loop);
	ok(arrived(), "loop_turns sends before an exit");
	tear_down();

	set_up(ROLE_BACK, ROLE_AUDIT);
	is_int(done(1), 0, "sent");
	chan_free(from);
	from = NULL;
	ok(arrived(), "so does the end of the channel");
	tear_down();
}

/* More messages than one call sends, some with a descriptor. */
static void
test_descriptors(void)
{
	struct msg_SERVER_OUT m = {.which = 0};
	int fd;

	set_up(ROLE_SUP, ROLE_BACK);
	for (unsigned i = 0; i < 100; i++) {
		if ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) == -1)
			err(1, "/dev/null");
		is_int(chan_send(from, MSG_SERVER_OUT, &m, fd), 0, "sent");
	}
	take_all(100);
	is_int(got, 100, "100 messages, each with its descriptor");
	tear_down();
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(fd != -1 && fd < 20, "none of them is left open");
	close(fd);
}

static void
test_bound(void)
{
	unsigned sent = 0;

	set_up(ROLE_BACK, ROLE_AUDIT);
	while (!chan_is_behind(from) && done(++sent) == 0)
		;
	is_int(rises, 1, "tiny messages that nobody takes: it is behind");
	ok(sent < CHAN_BEHIND_MESSAGES + 2000, "early (%u)", sent);
	while (done(sent + 1) == 0)
		sent++;
	is_int(errno, ENOBUFS, "much later no more is taken");
	ok(sent > 10 * CHAN_BEHIND_MESSAGES, "(%u)", sent);
	is_int(rises, 1, "that was said once");
	take_all(sent);
	is_int(got, sent, "all that was taken arrives");
	ok(sorted, "in order");
	for (unsigned i = 0; i < 10 && falls == 0; i++)
		turn();
	is_int(falls, 1, "and it is not behind any more");
	tear_down();
}

int
main(void)
{
	test_turns();
	test_descriptors();
	test_bound();
	return tap_done();
}
