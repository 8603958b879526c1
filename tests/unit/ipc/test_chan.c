/* SPDX-License-Identifier: ISC */
/*
 * The sending half of a channel.  Messages sent in one turn of the loop leave
 * at its end, in order, and before anything that the owner does afterwards.  A
 * queue for a slow peer is limited in messages and in bytes, and the owner is
 * told well before.  If the kernel refuses a descriptor, because the user's
 * processes hold too many in flight, it is tried again, and not all the time.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The texts of these messages consist of the last digit of their number. */
static int
on_remotes(struct chan *c, const struct msg_REMOTES *m)
{
	uint8_t digit = (uint8_t)('0' + m->seq % 10);

	sorted = sorted && m->seq == last + 1;
	for (size_t i = 0; i < m->urls.len; i++)
		sorted = sorted && m->urls.p[i] == digit;
	last = m->seq;
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
	HANDLER(REMOTES,	on_remotes),
};
/* clang-format on */
static const struct chan_ops ops = {handlers, 3, on_closed, on_behind};

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

static bool rings; /* channels have some */

static void
set_up(enum role sender, enum role receiver)
{
	got = rises = falls = 0;
	last = 0;
	sorted = true;
	if (loop_init(&loop, 1) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1)
		err(1, "set up");
	if (rings && chan_memory_give(fds, PROTO_MEMORY_RINGS) == -1)
		err(1, "rings");
	from = chan_new(&loop, fds[0], sender, receiver, 0, &ops, NULL);
	to = chan_new(&loop, fds[1], receiver, sender, 0, &ops, NULL);
	if (rings && (chan_memory_take(from, PROTO_MEMORY_RINGS) == -1 ||
			 chan_memory_take(to, PROTO_MEMORY_RINGS) == -1))
		err(1, "rings");
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

#define HELD 64 /* descriptors in flight */
#define FEW 40  /* the limit of open files; more than are open */
#define BLOCKED_MS 300U

/* Send `s` HELD descriptors, which nobody receives. */
static void
hold(int s)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(HELD * sizeof(int))];
	} control;
	struct iovec iov = {"x", 1};
	struct msghdr mh = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *cm;

	memset(&control, 0, sizeof(control));
	cm = CMSG_FIRSTHDR(&mh);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(HELD * sizeof(int));
	for (size_t i = 0; i < HELD; i++)
		memcpy(CMSG_DATA(cm) + i * sizeof(int), &s, sizeof(s));
	if (sendmsg(s, &mh, 0) == -1)
		err(1, "hold");
}

static void
send_null(void)
{
	struct msg_SERVER_OUT m = {.which = 0};
	int fd;

	if ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) == -1)
		err(1, "/dev/null");
	is_int(chan_send(from, MSG_SERVER_OUT, &m, fd), 0, "sent");
}

/* The kernel refuses a descriptor, then takes it. */
static void
test_refused(void)
{
	struct rlimit before, few;
	unsigned turns = 0;
	uint64_t until;
	int held[2];

	if (geteuid() == 0) {
		ok(true, "# SKIP root is never refused");
		return;
	}
	if (getenv("IC_VALGRIND") != NULL) {
		ok(true, "# SKIP valgrind has limits of its own");
		return;
	}
	set_up(ROLE_SUP, ROLE_BACK);
	if (chan_open(to) == -1 ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, held) == -1 ||
	    getrlimit(RLIMIT_NOFILE, &before) == -1)
		err(1, "set up");
	few = before;
	few.rlim_cur = FEW;
	hold(held[0]);
	if (setrlimit(RLIMIT_NOFILE, &few) == -1)
		err(1, "setrlimit");
	send_null();
	until = clock_mono_us() / 1000 + BLOCKED_MS;
	for (; clock_mono_us() / 1000 < until; turns++)
		if (loop_once(&loop, (int)BLOCKED_MS) == -1)
			err(1, "loop_once");
	is_int(got, 0, "too many descriptors in flight: it waits");
	ok(turns < 12, "and is tried again now and then (%u turns)", turns);
	close(held[0]);
	close(held[1]);
	while (got == 0 && turns++ < 100)
		if (loop_once(&loop, 1000) == -1)
			err(1, "loop_once");
	is_int(got, 1, "it arrives when the kernel takes it");
	is_int(setrlimit(RLIMIT_NOFILE, &before), 0, "setrlimit");
	send_null();
	while (got == 1 && turns++ < 100)
		turn();
	is_int(got, 2, "and so does the next, at once");
	tear_down();
}

/* A few large values make a channel behind like many small ones. */
static void
test_large(void)
{
	static uint8_t bytes[4U << 20];
	struct msg_RESULT m = {
	    .id = 1, .tree = {.p = bytes, .len = sizeof(bytes)}};

	set_up(ROLE_BACK, ROLE_PROXY);
	for (unsigned i = 0; i < 4; i++) {
		is_int(rises, 0, "not behind with %u MiB", 4 * i);
		is_int(chan_send(from, MSG_RESULT, &m, -1), 0, "sent");
	}
	is_int(rises, 1, "behind with 16 MiB in memfds");
	turn();
	turn();
	is_int(falls, 1, "and not when the socket has taken them");
	tear_down();
}

/*
 * Messages that go to the ring at once, that the ring has no room for, and that
 * are too long for it by their first fields alone arrive in order.
 */
static void
test_lengths(void)
{
	static const size_t lengths[] = {10, 32768, 0, 20000, 32700, 31000, 1};
	static char bytes[32768];
	struct msg_REMOTES m = {.text = SPAN("")};
	unsigned n = 0, sent = 0;

	set_up(ROLE_BACK, ROLE_POLICY);
	if (chan_open(to) == -1)
		err(1, "chan_open");
	for (unsigned round = 0; round < 300; round++) {
		for (unsigned i = 0; i < round % 9; i++) {
			m.seq = ++n;
			memset(bytes, '0' + (int)(n % 10), sizeof(bytes));
			m.urls = span_of(bytes, lengths[n % nitems(lengths)]);
			sent += chan_send(from, MSG_REMOTES, &m, -1) == 0;
		}
		turn();
	}
	for (unsigned i = 0; i < 1000 && got < n; i++)
		turn();
	is_int(sent, n, "messages of many lengths are sent");
	is_int(got, n, "all of them arrive");
	ok(sorted, "in order, with all of their bytes");
	tear_down();
}

/* Replaces libc's: the user's other programs have left no room. */
static bool set_full;

int
epoll_ctl(int set, int op, int fd, struct epoll_event *ev)
{
	if (set_full && op == EPOLL_CTL_ADD) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, set, op, fd, ev);
}

int
main(void)
{
	test_turns();
	test_descriptors();
	test_bound();
	test_large();
	test_refused();
	test_lengths();
	rings = true;
	test_refused();
	test_lengths();
	set_full = true;
	test_descriptors();
	test_refused();
	rings = false;
	test_turns();
	test_descriptors();
	test_bound();
	return tap_done();
}
