/* SPDX-License-Identifier: ISC */
/*
 * Rings of shared memory, and channels that use them: order and content across
 * the end of the memory, the flags that wake the other end, two processes at
 * full speed, descriptors and long messages in between, and the last messages
 * of a process that is gone.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/chan.h"
#include "common/ipc/ring.h"
#include "tap.h"

static struct ring in, out;
static uint8_t bytes[RING_MAX], got[RING_MAX];

static void
ring_set_up(void)
{
	static void *map;

	if (map != NULL)
		munmap(map, RING_MAP);
	if ((map = mmap(NULL, RING_MAP, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
		err(1, "mmap");
	in = out = (struct ring){.s = map};
}

/* Returns the length of the next message, or -1 if there is none. */
static long
take(void)
{
	uint32_t len;

	return ring_take(&in, got, &len) == 1 ? (long)len : -1;
}

static void
test_wrap(void)
{
	unsigned wrong = 0;
	size_t len;

	ring_set_up();
	for (unsigned i = 0; i < 20000; i++) {
		len = (size_t)i * 7919 % (i % 16 == 0 ? RING_MAX + 1 : 300);
		memset(bytes, (int)(i & 0xff), len);
		wrong += ring_put(&out, bytes, len) != 1;
		wrong += take() != -1;
		(void)ring_publish(&out);
		wrong += take() != (long)len || memcmp(got, bytes, len) != 0;
		(void)ring_release(&in);
	}
	is_int(wrong, 0, "20,000 messages, across the end of the memory");
}

static void
test_full(void)
{
	unsigned n = 0;

	ring_set_up();
	while (ring_put(&out, bytes, 100) == 1)
		n++;
	is_int(n, RING_BYTES / 104, "as many messages as there is room for");
	ok(atomic_load(&out.s->starved) != 0, "then the writer waits for room");
	(void)ring_publish(&out);
	is_int(take(), 100, "one is taken");
	atomic_store(&out.s->starved, 1);
	ok(ring_release(&in), "and its room returned: the writer must be woken");
	ok(!ring_release(&in), "once");
	is_int(ring_put(&out, bytes, 100), 1, "there is room again");
}

static void
test_flags(void)
{
	ring_set_up();
	ok(ring_arm(&in), "an empty ring: its reader may sleep");
	(void)ring_put(&out, bytes, 1);
	ok(ring_publish(&out), "the first message wakes it");
	(void)ring_put(&out, bytes, 1);
	ok(!ring_publish(&out), "the second does not");
	ok(!ring_arm(&in), "a reader with messages may not sleep");
	is_int(take() + take(), 2, "it takes both");
	ok(ring_is_empty(&in) && ring_arm(&in), "then it may");
	is_int(ring_put_elsewhere(&out), 1, "a word for the socket");
	(void)ring_publish(&out);
	is_int(take(), (long)RING_ELSEWHERE, "arrives as such");
}

/* ---- channels ---- */
static struct loop loop;
static struct chan *from, *to;
static uint64_t last;
static unsigned done, outs, wrong, ended;

static int
on_done(struct chan *c, const struct msg_DONE *m)
{
	wrong += m->id != ++last;
	done++;
	return 0;
}

static int
on_result(struct chan *c, const struct msg_RESULT *m)
{
	wrong += m->id != ++last;
	outs++;
	return 0;
}

static void
on_closed(struct chan *c, const char *why)
{
	wrong += why != NULL;
	ended++;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(DONE,	on_done),
	HANDLER(RESULT,	on_result),
};
/* clang-format on */
static const struct chan_ops ops = {handlers, 2, on_closed, NULL};

static struct chan *
end(int fd, enum role self, enum role peer)
{
	struct chan *c;

	if ((c = chan_new(&loop, fd, self, peer, 0, &ops, NULL)) == NULL ||
	    chan_memory_take(c, PROTO_MEMORY_RINGS) == -1)
		err(1, "channel");
	chan_phase(c, PHASE_RUN);
	return c;
}

static void
chan_set_up(enum role sender, enum role receiver, int fds[2])
{
	last = done = outs = wrong = ended = 0;
	if (loop_init(&loop, 1) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, fds) == -1 ||
	    chan_memory_give(fds, PROTO_MEMORY_RINGS) == -1)
		err(1, "set up");
}

static void
send_done(uint64_t id)
{
	struct msg_DONE m = {.id = id};

	if (chan_send(from, MSG_DONE, &m, -1) == -1)
		err(1, "DONE");
}

/* The sender is a process of its own, which ends with its last message. */
static void
test_processes(void)
{
	const unsigned n = 200000;
	int fds[2];
	pid_t pid;

	chan_set_up(ROLE_BACK, ROLE_AUDIT, fds);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		close(fds[1]);
		loop_free(&loop);
		if (loop_init(&loop, 1) == -1)
			_exit(1);
		from = end(fds[0], ROLE_BACK, ROLE_AUDIT);
		if (chan_open(from) == -1)
			_exit(1);
		for (unsigned i = 1; i <= n; i++) {
			send_done(i);
			if (i % 50 == 0)
				loop_once(&loop, 0);
			while (chan_is_behind(from))
				loop_once(&loop, -1);
		}
		while (chan_queued(from) != 0)
			loop_once(&loop, -1);
		_exit(0);
	}
	close(fds[0]);
	to = end(fds[1], ROLE_AUDIT, ROLE_BACK);
	if (chan_open(to) == -1)
		err(1, "chan_open");
	while (ended == 0)
		loop_once(&loop, 10000);
	is_int(done, n, "all messages of a process that has ended since");
	is_int(wrong, 0, "in order, and nothing is said against it");
	(void)waitpid(pid, NULL, 0);
	chan_free(to);
	loop_free(&loop);
}

/* Long values in a memfd, and in a datagram, between short messages. */
static void
test_mixed(void)
{
	static uint8_t text[200000];
	int fds[2];

	chan_set_up(ROLE_BACK, ROLE_PROXY, fds);
	from = end(fds[0], ROLE_BACK, ROLE_PROXY);
	to = end(fds[1], ROLE_PROXY, ROLE_BACK);
	if (chan_open(from) == -1 || chan_open(to) == -1)
		err(1, "chan_open");
	for (unsigned i = 1; i <= 600; i++) {
		struct msg_RESULT m = {.id = i,
		    .tree = span_of(text, i % 5 == 0   ? sizeof(text)
					  : i % 3 == 0 ? 40000
						       : 10)};

		if (chan_send(from, MSG_RESULT, &m, -1) == -1)
			err(1, "RESULT");
	}
	for (unsigned i = 0; i < 5000 && outs < 600; i++)
		loop_once(&loop, 1000);
	is_int(outs, 600, "messages in rings, datagrams and memfds");
	is_int(wrong, 0, "arrive in the order in which they were sent");
	chan_free(from);
	loop_once(&loop, 1000);
	loop_once(&loop, 0);
	is_int(ended, 1, "then the end of the channel");
	chan_free(to);
	loop_free(&loop);
}

int
main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	alarm(60);
	test_wrap();
	test_full();
	test_flags();
	test_mixed();
	test_processes();
	return tap_done();
}
