/* SPDX-License-Identifier: ISC */
/*
 * Output that the kernel does not copy: a byte that the peer has not read is
 * never written again, however slowly it reads, whatever else its connection
 * sends, and even if that is closed; and who may have the ring.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <netinet/in.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mitmd/out_ring.h"
#include "rnd.h"
#include "tap.h"

#define MUCH (40U << 20) /* several times the ring */

static struct loop loop;
static struct out_ring ring;

/* The byte at each place of a stream; neighbouring pieces differ. */
static uint8_t
byte_at(unsigned stream, size_t at)
{
	return (uint8_t)(at ^ at >> 8 ^ at >> 16 ^ stream * 101);
}

static void
fill(uint8_t *p, size_t n, unsigned stream, size_t at)
{
	for (size_t i = 0; i < n; i++)
		p[i] = byte_at(stream, at + i);
}

static void
set_up(void)
{
	if (loop_init(&loop, 1) == -1)
		err(1, "loop");
	out_ring_init(&ring, &loop);
}

static void
tear_down(void)
{
	loop_timer_clear(&loop, &ring.timer);
	munmap(ring.mem, OUT_RING_SIZE);
	if (ring.fd != -1)
		close(ring.fd);
	loop_free(&loop);
}

static void
pair_new(int pair[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) == -1)
		err(1, "socketpair");
}

/* Read up to `max` bytes. Returns how many came, or -1 if one was wrong. */
static ssize_t
take(int fd, size_t max, unsigned stream, size_t at)
{
	static uint8_t in[1 << 20];
	ssize_t n;

	n = read(fd, in, max < sizeof(in) ? max : sizeof(in));
	for (ssize_t i = 0; i < n; i++)
		if (in[i] != byte_at(stream, at + (size_t)i))
			return -1;
	return n == -1 && errno == EAGAIN ? 0 : n;
}

/*
 * Send much, as mitmd does: what the socket does not take is copied and sent
 * later. The peer reads `most` bytes at a time, at most.
 */
static void
test_stream(unsigned most, bool often, size_t least, const char *what)
{
	static uint8_t left[OUT_RING_PIECE];
	size_t sent = 0, got = 0, room, len, nleft = 0, spliced = 0;
	ssize_t n = 0;
	uint8_t *p;
	int pair[2];

	set_up();
	pair_new(pair);
	while (got < MUCH && n != -1) {
		if (nleft != 0) {
			n = send(pair[0], left, nleft, MSG_NOSIGNAL);
			if (n == -1 && errno == EAGAIN)
				n = 0;
			if (n > 0) {
				out_ring_note(&ring, pair[0], (size_t)n);
				nleft -= (size_t)n;
				memmove(left, left + n, nleft);
			}
		} else if (sent < MUCH &&
			   (p = out_ring_take(&ring, pair[0], &room)) != NULL) {
			len = 1 + rnd((unsigned)room);
			fill(p, len, 1, sent);
			if ((n = out_ring_send(&ring, len)) == -1)
				break;
			spliced += (size_t)n;
			nleft = len - (size_t)n;
			memcpy(left, p + n, nleft);
			sent += len;
			/* These bytes are mitmd's again. */
			memset(p + n, 0xee, nleft);
		} else if (sent < MUCH) {
			len = nleft = 1 + rnd(1000);
			fill(left, len, 1, sent);
			sent += len;
		}
		if (often || rnd(8) == 0) {
			n = take(pair[1], 1 + rnd(most), 1, got);
			got += n > 0 ? (size_t)n : 0;
		}
	}
	ok(n != -1 && got >= MUCH, "%s: every byte arrives as it was sent",
	    what);
	ok(spliced >= least, "%zu of %u bytes without a copy", spliced, MUCH);
	close(pair[0]);
	close(pair[1]);
	tear_down();
}

/* Send whole pieces until no more can be had. Returns the bytes sent. */
static size_t
send_all(int sock, unsigned stream)
{
	size_t sent = 0, room;
	uint8_t *p;
	ssize_t n;

	while ((p = out_ring_take(&ring, sock, &room)) != NULL) {
		fill(p, room, stream, sent);
		if ((n = out_ring_send(&ring, room)) == -1)
			return 0;
		sent += (size_t)n;
		if ((size_t)n < room)
			break;
	}
	return sent;
}

static bool
arrives(int fd, unsigned stream, size_t sent)
{
	size_t got = 0;
	ssize_t n;

	while (got < sent && (n = take(fd, sent - got, stream, got)) > 0)
		got += (size_t)n;
	return got == sent;
}

static void
test_owners(void)
{
	int one[2], two[2], size, before;
	socklen_t len = sizeof(size);
	size_t sent, room;

	set_up();
	pair_new(one);
	pair_new(two);
	(void)getsockopt(one[0], SOL_SOCKET, SO_SNDBUF, &before, &len);
	sent = send_all(one[0], 1);
	ok(sent > 100000, "one sends %zu bytes", sent);
	ok(out_ring_take(&ring, two[0], &room) == NULL,
	    "two cannot have the ring while one's peer has not read all");
	ok(arrives(one[1], 1, sent), "one's peer reads all");
	sent = send_all(two[0], 2);
	ok(sent != 0, "now two can");
	(void)getsockopt(one[0], SOL_SOCKET, SO_SNDBUF, &size, &len);
	is_int(size, before, "one's queue has its size again");
	ok(arrives(two[1], 2, sent), "two's peer reads all");
	close(one[0]);
	close(one[1]);
	close(two[0]);
	close(two[1]);
	tear_down();
}

/* A connection that is closed leaves its bytes to its peer, unchanged. */
static void
test_closed(void)
{
	int one[2], two[2];
	size_t sent, other;

	set_up();
	pair_new(one);
	pair_new(two);
	sent = send_all(one[0], 1);
	out_ring_drop(&ring, one[0]);
	close(one[0]);
	other = send_all(two[0], 2);
	ok(other != 0, "another has the ring at once");
	ok(arrives(one[1], 1, sent), "the peer of the first reads its own");
	is_int(take(one[1], 1, 1, 0), 0, "and then the end");
	ok(arrives(two[1], 2, other), "as does the peer of the second");
	close(one[1]);
	close(two[1]);
	errno = 0;
	sent = 1;
	ok(out_ring_take(&ring, two[0], &sent) != NULL &&
		out_ring_send(&ring, 1) == -1,
	    "a peer that is gone is reported");
	close(two[0]);
	tear_down();
}

static void
test_kinds(void)
{
	size_t room;
	int tcp;

	set_up();
	if ((tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		err(1, "socket");
	ok(out_ring_take(&ring, tcp, &room) == NULL,
	    "TCP cannot tell what its peer has read");
	close(tcp);
	tear_down();
}

/* The kernel may be without sendfile() to such sockets. */
static void
test_refused(void)
{
	int pair[2], fd;
	size_t room = 0;

	set_up();
	pair_new(pair);
	ok(out_ring_take(&ring, pair[0], &room) != NULL, "a piece");
	ok(room >= 65536 && room <= OUT_RING_PIECE, "of %zu bytes", room);
	fd = ring.fd;
	ring.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	is_int(
	    out_ring_send(&ring, 100), 0, "without sendfile nothing is sent");
	ok(out_ring_take(&ring, pair[0], &room) == NULL, "and all is copied");
	close(fd);
	close(pair[0]);
	close(pair[1]);
	tear_down();
}

/* Returns the bytes of memory that the ring has. */
static size_t
pages(void)
{
	static unsigned char in[OUT_RING_SIZE / 4096];
	size_t n = 0;

	if (mincore(ring.mem, OUT_RING_SIZE, in) == -1)
		err(1, "mincore");
	for (size_t i = 0; i < sizeof(in); i++)
		n += in[i] & 1U;
	return n * 4096;
}

static void
tick(void)
{
	ring.timer.at = 1;
	loop_once(&loop, 0);
}

static void
test_pages(void)
{
	int pair[2];
	size_t sent;

	set_up();
	pair_new(pair);
	is_int((long long)pages(), 0, "no memory before it is used");
	sent = send_all(pair[0], 1);
	ok(pages() >= sent, "memory for what was sent");
	tick();
	tick();
	ok(pages() >= sent, "it stays while the peer has not read it");
	ok(arrives(pair[1], 1, sent), "which it does");
	tick();
	is_int((long long)pages(), 0, "then it is given back");
	ok(ring.timer.at == 0, "and no timer is left");
	ok(send_all(pair[0], 1) != 0, "but it can be used again");
	tick();
	ok(pages() != 0 && ring.timer.at != 0, "with a timer");
	close(pair[0]);
	close(pair[1]);
	tear_down();
}

int
main(void)
{
	/* As workers do. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		err(1, "signal");
	test_stream(1 << 20, true, MUCH / 2, "a fast peer");
	test_stream(1 << 20, false, MUCH / 10, "a slow peer");
	test_stream(5000, true, 1, "a peer that reads little at a time");
	test_owners();
	test_closed();
	test_kinds();
	test_refused();
	test_pages();
	return tap_done();
}
