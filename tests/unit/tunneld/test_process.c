/* SPDX-License-Identifier: ISC */
/*
 * The running tunneld: its requests to the proxy, its use of the answers, and
 * hosts that it must not ask for. argv[1]: tunneld.
 */
#include <sys/socket.h>

#include <err.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "tap.h"
#include "unit/tunneld/rig.h"

static const char *program;

/* Read the next bytes of a non-blocking connection. */
static ssize_t
next(int fd, void *p, size_t len)
{
	struct pollfd w = {.fd = fd, .events = POLLIN};

	return poll(&w, 1, 30000) == 1 ? recv(fd, p, len, 0) : -1;
}

static void
test_open(void)
{
	char text[64] = "";
	int far, fd;

	rig_start(program);
	ok((rig.worker.flags & CONFINE_DUMPABLE0) != 0, "HELLO");
	rig_via("127.0.0.1");
	rig_secret("corp\\me:p@ss:wo rd\n", 0);
	ok(rig.key.state == PROTO_KEY_LOADED && rig.key.length == 18,
	    "a credential is taken; its length is told");
	rig_go();
	fd = rig_pair(&far);
	rig_tunnel(++rig.last, "example.org", 443, true, fd);
	is_str(rig_asked(far),
	    "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n"
	    "Proxy-Authorization: Basic Y29ycFxtZTpwQHNzOndvIHJk\r\n\r\n",
	    "exactly this is asked");
	rig_say(far, OK200, 100);
	rig_until(&rig.nanswers, 1);
	ok(rig.id == 1 && rig.fd != -1, "and comes back open");
	ok(send(far, "later", 5, 0) == 5 &&
		next(rig.fd, text, sizeof(text)) == 5,
	    "and is the same connection");
	rig_until(&rig.nshown, 1);
	ok(rig.nshown == 1 && rig.shown_proxy == PROTO_PROXY_NONE,
	    "icsupervisor is told");
	close(rig.fd);
	close(far);
	fd = rig_pair(&far);
	rig_tunnel(++rig.last, "2001:db8::1", 65535, true, fd);
	ok(strncmp(rig_asked(far),
	       "CONNECT [2001:db8::1]:65535 HTTP/1.1\r\n"
	       "Host: [2001:db8::1]:65535\r\n",
	       65) == 0,
	    "an IPv6 address in brackets");
	close(far);
	rig_until(&rig.nanswers, 2);
	is_str(rig.text, "the proxy closed the connection without an answer",
	    "closed");
	ok(rig.proxy == PROTO_PROXY_BROKEN && rig.id == rig.last,
	    "is an answer that makes no sense");
	far = rig_one(OK200 "early", 1000, true);
	is_str(rig.text, "the proxy sent bytes before the tunnel was used",
	    "bytes behind the head, where the other side must be silent");
	close(far);
	far = rig_one(OK200 "early", 1000, false);
	ok(rig.fd != -1 && next(rig.fd, text, sizeof(text)) == 5 &&
		memcmp(text, "early", 5) == 0,
	    "where it need not be they stay in the connection");
	close(rig.fd);
	close(far);
	far = rig_one("HTTP/1.1 200 OK\r\nA: b\r\n\r\nx", 1, false);
	ok(rig.fd != -1, "byte by byte");
	ok(next(rig.fd, text, sizeof(text)) == 1 && text[0] == 'x',
	    "no byte of the head is left");
	close(rig.fd);
	close(far);
	rig_stop();
}

static void
test_refusals(void)
{
	static const struct {
		const char *answer, *text;
		enum proto_proxy proxy;
	} rows[] = {
	    {"HTTP/1.1 407 No\r\n\r\n",
		"the proxy wants a credential, and none is set (407)",
		PROTO_PROXY_AUTH},
	    {"HTTP/1.1 403 No\r\nA: b\r\n\r\n<html>",
		"the proxy forbids this host (403)", PROTO_PROXY_DENIED},
	    {"HTTP/1.1 502 No\r\n\r\n", "the proxy cannot reach the host (502)",
		PROTO_PROXY_FAILED},
	    {"HTTP/1.1 200 OK\n\n", NULL, PROTO_PROXY_BROKEN},
	};
	static char large[10000];
	int far, fd;

	memset(large, 'x', sizeof(large) - 1);
	memcpy(large, "HTTP/1.1 200 OK\r\nA: ", 20);
	rig_start(program);
	rig_via("127.0.0.1");
	rig_go();
	fd = rig_pair(&far);
	rig_tunnel(++rig.last, "example.org", 443, true, fd);
	is_str(rig_asked(far),
	    "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n"
	    "\r\n",
	    "without a credential nothing is said of one");
	close(far);
	rig_until(&rig.nanswers, 1);
	for (size_t i = 0; i < nitems(rows); i++) {
		far = rig_one(rows[i].answer, 7, true);
		ok(rig.fd == -1 && rig.proxy == rows[i].proxy &&
			(rows[i].text == NULL ||
			    strcmp(rig.text, rows[i].text) == 0),
		    "%s", rig.text);
		rig_until(&rig.nshown, (unsigned)i + 2);
		is_str(rig.shown_text, rig.text, "icsupervisor is told");
		close(far);
	}
	far = rig_one(large, sizeof(large), true);
	is_str(rig.text, "the head of the proxy's answer is over 8 KiB",
	    "too large");
	close(far);
	ok(!rig.worker.lost, "it goes on");
	far = rig_one(OK200, 1, true);
	ok(rig.fd != -1, "and asks again");
	close(rig.fd);
	close(far);
	rig_stop();
}

/* tunneld asks the configured proxy and no other. */
static void
test_who(void)
{
	static const char *const others[] = {"127.0.0.2", "::1"};
	unsigned want;
	int far, fd, un[2];

	for (size_t i = 0; i < 2; i++) {
		rig_start(program);
		rig_via(others[i]);
		rig_secret("a:b", 0);
		rig_go();
		fd = rig_pair(&far);
		rig_tunnel(++rig.last, "example.org", 443, true, fd);
		rig_until(&rig.nanswers, 1);
		ok(rig.proxy == PROTO_PROXY_LOST && recv(far, un, 1, 0) == 0,
		    "another address than %s is told nothing", others[i]);
		close(far);
		rig_stop();
	}
	rig_start(program);
	rig_via("proxy.example");
	rig_go();
	far = rig_one(OK200, 100, true);
	ok(rig.fd != -1, "of a name any address is believed");
	close(rig.fd);
	close(far);
	want = rig.nanswers + 1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		un) == -1)
		err(1, "socketpair");
	rig_tunnel(++rig.last, "example.org", 443, true, un[0]);
	rig_until(&rig.nanswers, want);
	is_int(rig.proxy, PROTO_PROXY_LOST, "but only of TCP");
	close(un[1]);
	rig_stop();
}

/* A host that is on no list is never asked for. */
static void
test_lists(void)
{
	static const struct {
		const char *host;
		unsigned to;
		bool listed;
	} rows[] = {
	    {"a.door.example", 25, true},
	    {"no.door.example", 25, false},
	    {"a.door.example", 26, false},
	    {"door.example.evil", 25, false},
	    {"example.org", 444, false},
	    {"www.example.org", 443, false},
	    {"2001:db8::2", 65535, false},
	};
	unsigned want;
	int far, fd;
	char c;

	rig_start(program);
	rig_via("127.0.0.1");
	rig_go();
	for (size_t i = 0; i < nitems(rows); i++) {
		want = rig.nanswers + 1;
		fd = rig_pair(&far);
		rig_tunnel(++rig.last, rows[i].host, rows[i].to, true, fd);
		if (rows[i].listed) {
			(void)rig_asked(far);
			rig_say(far, OK200, 100);
			rig_until(&rig.nanswers, want);
			ok(rig.fd != -1, "%s:%u is listed", rows[i].host,
			    rows[i].to);
			close(rig.fd);
		} else {
			rig_until(&rig.nanswers, want);
			ok(recv(far, &c, 1, 0) == 0 &&
				rig.proxy == PROTO_PROXY_NONE &&
				strstr(rig.text, "on no list") != NULL,
			    "%s:%u is not, and nothing is asked", rows[i].host,
			    rows[i].to);
		}
		close(far);
	}
	rig_stop();
}

/*
 * icsupervisor sends a TARGET before dialerd can name its host, but tunneld may
 * read the other channel first.
 */
static void
test_late_target(void)
{
	struct msg_TARGET m = {.index = PROTO_FIRST_ADDED,
	    .host = SPAN("late.example"),
	    .port = 443};
	int far, fd;

	rig_start(program);
	rig_via("127.0.0.1");
	rig_go();
	close(rig_one(OK200, 100, true));
	close(rig.fd);
	fd = rig_pair(&far);
	/* Both wait when it goes on, the TUNNEL for longer. */
	ok(kill(rig.worker.pid, SIGSTOP) == 0, "tunneld is stopped");
	rig_tunnel(++rig.last, "late.example", 443, true, fd);
	worker_rig_turn(&rig.worker);
	ok(chan_send(rig.worker.sup, MSG_TARGET, &m, -1) == 0, "TARGET");
	worker_rig_turn(&rig.worker);
	ok(kill(rig.worker.pid, SIGCONT) == 0, "and goes on");
	is_str(rig_asked(far),
	    "CONNECT late.example:443 HTTP/1.1\r\nHost: late.example:443\r\n"
	    "\r\n",
	    "the host is asked for once its TARGET has come");
	rig_say(far, OK200, 100);
	rig_until(&rig.nanswers, 2);
	ok(rig.fd != -1, "and the connection comes back");
	close(rig.fd);
	close(far);
	rig_stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	program = argv[1];
	test_open();
	test_refusals();
	test_who();
	test_lists();
	test_late_target();
	return tap_done();
}
