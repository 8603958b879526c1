/* SPDX-License-Identifier: ISC */
/*
 * Tests icsupervisor's end of the connection to ic-bridge: one connection and
 * no other, frames in pieces, and everything that a process which has taken
 * over ic-bridge could send.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/box/bridge.h"
#include "supervisor/core/sup.h"
#include "tap.h"

static char top[] = "/tmp/test_sup_bridge.XXXXXX";
static int sockets;
static struct {
	unsigned frames, ends;
	enum bridge_kind kind;
	uint8_t data[BRIDGE_MAX_REPORT];
	size_t len;
	char why[128];
} seen;

static int
took(enum bridge_kind kind, const uint8_t *data, size_t len)
{
	seen.frames++;
	seen.kind = kind;
	seen.len = len;
	memcpy(seen.data, data, len);
	return len == 3 ? -1 : 0;
}

static void
gone(const char *why)
{
	seen.ends++;
	snprintf(seen.why, sizeof(seen.why), "%s", why == NULL ? "" : why);
}

static const struct bridge_calls calls = {took, gone};

/* Connect to the socket.  Returns -1 with errno set if it is not there. */
static int
dial(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/bridge.sock", top);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Let the loop handle all that has arrived. */
static void
settle(void)
{
	for (int i = 0; i < 50; i++)
		(void)loop_once(&sup.loop, 0);
}

static int
begin(void)
{
	struct fault fault;
	int fd;

	memset(&seen, 0, sizeof(seen));
	bridge_close();
	if (bridge_open(sockets, &calls, &fault) == -1 || (fd = dial()) == -1)
		exit(1);
	settle();
	return fd;
}

static void
put(int fd, const void *p, size_t len)
{
	if (send(fd, p, len, MSG_NOSIGNAL) == -1 && errno != EPIPE)
		exit(1);
}

static void
frame(int fd, uint8_t kind, uint8_t zero, uint32_t said, const char *data,
    size_t len)
{
	uint8_t header[BRIDGE_HEADER] = {kind, 0, zero};

	bridge_put32(header + 4, said);
	put(fd, header, sizeof(header));
	put(fd, data, len);
	settle();
}

static void
hello(int fd)
{
	frame(fd, BRIDGE_HELLO, 0, 4, "\1\0\0\0", 4);
}

static void
test_one(void)
{
	struct fault fault;
	char got[64];
	int fd, other;

	ok(bridge_send(BRIDGE_GO, NULL, 0) == -1, "nothing can be sent before");
	memset(&seen, 0, sizeof(seen));
	ok(bridge_open(sockets, &calls, &fault) == 0, "it listens");
	ok(bridge_peer() == -1, "nobody is there yet");
	ok(bridge_send(BRIDGE_PROBE, "ask", 3) == 0, "what is sent waits");
	fd = dial();
	settle();
	is_int(bridge_peer(), getpid(), "the peer's process is known");
	other = dial();
	ok(other == -1 && errno == ENOENT, "there is no second connection");
	is_int(recv(fd, got, sizeof(got), 0), 11, "what waited is sent");
	is_mem(got, 11, "\x11\0\0\0\3\0\0\0ask", 11, "as a frame");
	hello(fd);
	for (const char *p = "\2\0\0\0\5\0\0\0reply"; p != NULL;
	     p = *p == 'y' ? NULL : p + 1) {
		is_int(seen.frames, 0, "a frame in pieces is not whole");
		put(fd, p, 1);
		settle();
	}
	is_mem(seen.data, seen.len, "reply", 5, "and is, with its last byte");
	ok(bridge_send(BRIDGE_PROBE, "again", 5) == 0, "again");
	frame(fd, BRIDGE_PROBED, 0, 0, "", 0);
	ok(seen.frames == 2 && seen.len == 0 && seen.ends == 0, "no data");
	close(fd);
	settle();
	ok(seen.ends == 1 && seen.why[0] == '\0', "its end is told once");
	ok(bridge_send(BRIDGE_GO, NULL, 0) == -1, "nothing is sent after it");
}

/* The connection is closed and its user is told why. */
static void
refused(int fd, unsigned frames, const char *why, const char *what)
{
	char byte;
	ssize_t n;

	settle();
	is_str(seen.why, why, "%s", what);
	ok(seen.ends == 1 && seen.frames == frames, "%s: once", what);
	/* The question may still be unread. */
	do
		n = recv(fd, &byte, 1, MSG_DONTWAIT);
	while (n > 0);
	ok((n == 0 || errno == ECONNRESET) && bridge_peer() == -1,
	    "%s: the connection is closed", what);
	close(fd);
}

static void
test_hostile(void)
{
	static const char early[] = "it sent a frame that was not expected",
			  none[] = "it sent a frame that does not exist";
	static const struct {
		uint8_t kind, zero;
		uint32_t said;
		const char *why, *what;
	} bad[] = {
	    {BRIDGE_HELLO, 0, 4, early, "a second greeting"},
	    {BRIDGE_HELLO, 0, 5, none, "a greeting of another length"},
	    {BRIDGE_PROBED, 0, 4, early, "a report that nobody asked for"},
	    {BRIDGE_PROBED, 1, 4, none, "a header that is not zero"},
	    {BRIDGE_PROBED, 0, BRIDGE_MAX_REPORT + 1, none, "too long"},
	    {BRIDGE_PROBED, 0, 0xffffffffU, none, "much too long"},
	    {BRIDGE_PROBE, 0, 4, none, "a question"},
	    {BRIDGE_GO, 0, 0, none, "the word to start"},
	    {0, 0, 0, none, "kind 0"},
	    {0xff, 0, 4, none, "kind 255"},
	};
	int fd;

	for (size_t i = 0; i < nitems(bad); i++) {
		fd = begin();
		hello(fd);
		frame(fd, bad[i].kind, bad[i].zero, bad[i].said, "data", 4);
		refused(fd, 0, bad[i].why, bad[i].what);
	}
	fd = begin();
	ok(bridge_send(BRIDGE_PROBE, "ask", 3) == 0, "asked");
	frame(fd, BRIDGE_PROBED, 0, 4, "data", 4);
	refused(fd, 0, early, "a report before the greeting");
	fd = begin();
	frame(fd, BRIDGE_HELLO, 0, 4, "\2\0\0\0", 4);
	refused(fd, 0, early, "another version");
	fd = begin();
	ok(bridge_send(BRIDGE_PROBE, "ask", 3) == 0, "asked");
	hello(fd);
	frame(fd, BRIDGE_PROBED, 0, 4, "data", 4);
	frame(fd, BRIDGE_PROBED, 0, 4, "data", 4);
	refused(fd, 1, early, "a report that comes twice");
	fd = begin();
	ok(bridge_send(BRIDGE_PROBE, "ask", 3) == 0, "asked");
	hello(fd);
	frame(fd, BRIDGE_PROBED, 0, 3, "bad", 3);
	refused(fd, 1, early, "a report that its judge refuses");
}

int
main(void)
{
	if (loop_init(&sup.loop, 16) == -1 || mkdtemp(top) == NULL ||
	    (sockets = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return 1;
	test_one();
	test_hostile();
	bridge_close();
	ok(faccessat(sockets, "bridge.sock", F_OK, 0) == -1, "no name is left");
	close(sockets);
	(void)rmdir(top);
	loop_free(&sup.loop);
	return tap_done();
}
