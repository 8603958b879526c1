/* SPDX-License-Identifier: ISC */
/*
 * A peer that writes anything into its rings: indexes, lengths and flags that
 * are impossible, words for messages that never come, messages without a word,
 * and random bytes while they are read.  The channel closes with a reason, or
 * receives what the table admits; nothing else happens to the other end.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/chan_priv.h"
#include "common/ipc/wire.h"
#include "tap.h"

/* The end under test, and the attacker's. */
static struct chan *end, *peer;
static struct ring_shared *read_here, *written_here;
static struct loop loop;
static int fds[2];
static unsigned handled, closed;
static char why[256];
static uint8_t done[64];
static size_t donelen;

static int
on_done(struct chan *c, const struct msg_DONE *m)
{
	handled++;
	return 0;
}

static void
on_closed(struct chan *c, const char *reason)
{
	closed++;
	snprintf(why, sizeof(why), "%s", reason == NULL ? "" : reason);
}

static const struct chan_handler handlers[] = {HANDLER(DONE, on_done)};
static const struct chan_ops ops = {handlers, 1, on_closed, NULL};

static struct chan *
make(int fd, enum role self, enum role other)
{
	struct chan *c;

	if ((c = chan_new(&loop, fd, self, other, 0, &ops, NULL)) == NULL ||
	    chan_memory_take(c, PROTO_MEMORY_RINGS) == -1)
		err(1, "channel");
	chan_phase(c, PHASE_RUN);
	return c;
}

static void
set_up(void)
{
	const struct msg_DONE m = {.id = 1};
	struct span big;

	handled = closed = 0;
	why[0] = '\0';
	if (loop_init(&loop, 1) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, fds) == -1 ||
	    chan_memory_give(fds, PROTO_MEMORY_RINGS) == -1)
		err(1, "set up");
	end = make(fds[0], ROLE_AUDIT, ROLE_BACK);
	peer = make(fds[1], ROLE_BACK, ROLE_AUDIT);
	read_here = end->ring->in.s;
	written_here = end->ring->out.s;
	if (wire_encode(proto_find(MSG_DONE), &m, done, &donelen, &big) == -1 ||
	    chan_open(end) == -1)
		err(1, "set up");
}

static void
tear_down(void)
{
	chan_free(peer);
	chan_free(end);
	loop_free(&loop);
}

static void
turns(unsigned n)
{
	for (unsigned i = 0; i < n && closed == 0; i++)
		loop_once(&loop, 0);
}

static void
word(uint32_t value, uint32_t tail)
{
	memcpy(read_here->bytes, &value, sizeof(value));
	atomic_store(&read_here->tail, tail);
}

/* The channel must close with that reason and without a message. */
static void
refused(const char *reason, const char *name)
{
	turns(100);
	ok(closed == 1 && handled == 0 && strstr(why, reason) != NULL,
	    "%s (%s)", name, why);
	tear_down();
}

static void
test_reader(void)
{
	set_up();
	atomic_store(&read_here->tail, RING_BYTES + RING_ALIGN);
	refused("nonsense", "a tail beyond the ring");
	set_up();
	atomic_store(&read_here->tail, UINT32_MAX - 7);
	refused("nonsense", "a tail before the head");
	set_up();
	word(0, 4);
	refused("nonsense", "a tail within a word");
	set_up();
	word(RING_MAX + 1, RING_BYTES);
	refused("nonsense", "a length over the maximum");
	set_up();
	word(UINT32_MAX - 1, RING_BYTES);
	refused("nonsense", "a length that overflows");
	set_up();
	word(5, RING_ALIGN);
	refused("nonsense", "a length beyond the tail");
	set_up();
	word(0, RING_ALIGN);
	refused("no such message", "an empty message");
	set_up();
	word(RING_MAX, RING_BYTES);
	refused("no such message", "zeros as long as allowed");
}

static void
test_writer(void)
{
	const struct msg_UNASKED m = {.count = 1};

	set_up();
	atomic_store(&written_here->head, 0x80000000U);
	for (unsigned i = 0; i < 10000 && chan_queued(end) < 4096; i++)
		if (chan_send(end, MSG_UNASKED, &m, -1) == -1)
			break;
	refused("impossible index", "a head that is no place in the ring");
	set_up();
	for (unsigned i = 0; i < 10000; i++) {
		atomic_store(&written_here->asleep, i * 77);
		atomic_store(&read_here->starved, i % 3);
		if (chan_send(end, MSG_UNASKED, &m, -1) == -1)
			break;
		loop_once(&loop, 0);
	}
	ok(closed == 0 && chan_queued(end) > 0,
	    "flags without meaning: only the peer is not woken");
	tear_down();
}

static void
send_done(void)
{
	if (send(fds[1], done, donelen, MSG_NOSIGNAL) == -1)
		err(1, "send");
}

static void
test_socket(void)
{
	set_up();
	send_done();
	refused("beside its ring", "a message without its word");
	set_up();
	ring_put_elsewhere(&peer->ring->out);
	(void)ring_publish(&peer->ring->out);
	turns(100);
	ok(closed == 0 && handled == 0, "a word without its message waits");
	send_done();
	turns(100);
	ok(closed == 0 && handled == 1, "for the message");
	send_done();
	turns(100);
	ok(closed == 1 && strstr(why, "beside its ring") != NULL,
	    "one message for each word");
	tear_down();
	set_up();
	ring_put_elsewhere(&peer->ring->out);
	(void)ring_publish(&peer->ring->out);
	chan_free(peer);
	peer = NULL;
	turns(100);
	ok(closed == 1 && handled == 0 && why[0] == '\0',
	    "a word without its message, and the end");
	tear_down();
}

static void
test_end(void)
{
	set_up();
	for (unsigned i = 0; i < 500; i++)
		ring_put(&peer->ring->out, done, donelen);
	atomic_store(&read_here->tail, peer->ring->out.at);
	chan_free(peer);
	peer = NULL;
	turns(1000);
	ok(handled == 500 && closed == 1 && why[0] == '\0',
	    "all messages of a peer that died before it woke anyone");
	tear_down();
}

/* Another process writes into both rings as fast as it can. */
static void
scribble(unsigned seed)
{
	uint32_t x = seed * 2654435761U + 1;

	for (;;) {
		x = x * 1664525U + 1013904223U;
		switch (x >> 29) {
		case 0:
			atomic_store(&read_here->tail, x >> 8 & 0x1fff8U);
			break;
		case 1:
			atomic_store(&written_here->head, x >> 8 & 0x1ffffU);
			break;
		case 2:
			atomic_store(&read_here->starved, x >> 8 & 1U);
			atomic_store(&written_here->asleep, x >> 9 & 1U);
			break;
		case 3:
			memcpy(read_here->bytes + (x >> 8 & 0xffc0U), done,
			    donelen);
			break;
		default:
			read_here->bytes[x >> 8 & 0xffffU] = (uint8_t)x;
		}
	}
}

static void
test_scribble(void)
{
	const struct msg_UNASKED m = {.count = 1};
	unsigned ended = 0, unexplained = 0, i;
	uint64_t until;
	pid_t pid;

	/* On a busy machine the other process may get no time at first. */
	for (i = 0; i < 20 || (ended == 0 && i < 200); i++) {
		set_up();
		if ((pid = fork()) == -1)
			err(1, "fork");
		if (pid == 0)
			scribble(i);
		until = clock_mono_us() + 200000;
		while (closed == 0 && clock_mono_us() < until) {
			if (!chan_is_behind(end))
				(void)chan_send(end, MSG_UNASKED, &m, -1);
			loop_once(&loop, 0);
		}
		kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		ended += closed;
		unexplained += closed != 0 && why[0] == '\0';
		tear_down();
	}
	ok(ended > 0, "%u of %u channels closed while they were written to",
	    ended, i);
	is_int(unexplained, 0, "each of them with a reason");
}

int
main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	alarm(100);
	test_reader();
	test_writer();
	test_socket();
	test_end();
	test_scribble();
	return tap_done();
}
