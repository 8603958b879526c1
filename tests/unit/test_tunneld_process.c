/* SPDX-License-Identifier: ISC */
/*
 * tunneld as it runs, between a played icsupervisor, a played dialerd and a
 * played proxy.  argv[1]: tunneld.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "chan.h"
#include "confine.h"
#include "tap.h"
#include "worker.h"

#define OK200 "HTTP/1.1 200 OK\r\n\r\n"

static const char *program;
static struct loop loop;
static struct chan *sup, *dial;
static pid_t pid;
static bool lost;
static unsigned nhello, nkey, nanswers, nshown;
static uint32_t flags, last;
static struct msg_KEY_STATE key;
static char key_text[257], answer_text[257], shown_text[257];
static unsigned answer_proxy, shown_proxy;
static uint32_t answer_id;
static int answer_fd = -1, listener = -1;
static uint16_t port;

static int
on_hello(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	nhello++;
	flags = m->HELLO.flags;
	return 0;
}

static int
on_key(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	nkey++;
	key = m->KEY_STATE;
	return span_copy(m->KEY_STATE.text, key_text, sizeof(key_text));
}

static int
on_show(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	nshown++;
	shown_proxy = m->TUNNEL_SHOW.proxy;
	return span_copy(m->TUNNEL_SHOW.text, shown_text, sizeof(shown_text));
}

static int
on_tunneled(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	nanswers++;
	answer_id = m->TUNNELED.id;
	answer_fd = fd;
	answer_text[0] = '\0';
	return 0;
}

static int
on_fail(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	nanswers++;
	answer_id = m->TUNNEL_FAIL.id;
	answer_fd = -1;
	answer_proxy = m->TUNNEL_FAIL.proxy;
	return span_copy(m->TUNNEL_FAIL.text, answer_text, sizeof(answer_text));
}

static void
on_closed(struct chan *c, const char *why)
{
	if (why != NULL)
		errx(1, "tunneld broke the protocol: %s", why);
	(void)c;
	lost = true;
}

static const struct chan_handler handlers[] = {{MSG_HELLO, on_hello},
    {MSG_KEY_STATE, on_key}, {MSG_TUNNEL_SHOW, on_show},
    {MSG_TUNNELED, on_tunneled}, {MSG_TUNNEL_FAIL, on_fail}};
static const struct chan_ops ops = {handlers, 5, on_closed};

static void
turn(void)
{
	if (loop_once(&loop, 10) == -1)
		err(1, "loop");
}

static void
until(const unsigned *what, unsigned n)
{
	uint64_t end_at = clock_mono_us() + 30000000;

	while (*what < n && !lost && clock_mono_us() < end_at)
		turn();
}

static struct chan *
end(enum role self, int *other)
{
	struct chan *c;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, fds) == -1 ||
	    (c = chan_new(&loop, fds[0], self, ROLE_TUNNEL, 0, &ops, NULL)) ==
		NULL ||
	    chan_open(c) == -1)
		err(1, "channel");
	*other = fds[1];
	return c;
}

static void
start(void)
{
	char *argv[] = {(char *)(uintptr_t) "tunneld", NULL};
	static char *const none[] = {NULL};
	struct msg_PEER peer = {.role = ROLE_DIAL};
	int fd;

	lost = false;
	nhello = nkey = nanswers = nshown = 0;
	last = 0;
	if (loop_init(&loop, 4) == -1)
		err(1, "loop");
	sup = end(ROLE_SUP, &fd);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		if (dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 2) == -1 ||
		    dup2(fd, WORKER_FD) == -1 || close_range(4, ~0U, 0))
			_exit(127);
		execve(program, argv, none);
		_exit(127);
	}
	close(fd);
	until(&nhello, 1);
	dial = end(ROLE_DIAL, &fd);
	chan_send(sup, MSG_PEER, &peer, fd);
}

static void
via(const char *host)
{
	struct msg_VIA_PROXY m = {.host = span_str(host), .port = port};

	chan_send(sup, MSG_VIA_PROXY, &m, -1);
}

static void
secret(const char *text, unsigned kind)
{
	struct msg_SECRET m = {.kind = (uint8_t)kind};
	unsigned want = nkey + 1;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    write(fds[1], text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "pipe");
	chan_send(sup, MSG_SECRET, &m, fds[0]);
	/* In two parts, as a command might. */
	for (unsigned i = 0; i < 5; i++)
		turn();
	close(fds[1]);
	until(&nkey, want);
}

static void
target(const char *host, uint16_t to)
{
	struct msg_TARGET m = {.host = span_str(host), .port = to};

	chan_send(sup, MSG_TARGET, &m, -1);
}

static void
go(void)
{
	struct msg_START m = {.proto_pad_ = 0};
	struct msg_DOOR d = {
	    .server = 7, .host = SPAN("*.door.example"), .port = 25};

	target("example.org", 443);
	target("2001:db8::1", 65535);
	chan_send(sup, MSG_DOOR, &d, -1);
	d.denied = 1;
	d.host = SPAN("no.door.example");
	chan_send(sup, MSG_DOOR, &d, -1);
	chan_send(sup, MSG_START, &m, -1);
	chan_phase(sup, PHASE_RUN);
	chan_phase(dial, PHASE_RUN);
}

static void
stop(void)
{
	chan_free(sup);
	chan_free(dial);
	kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	loop_free(&loop);
}

static void
listen_anew(void)
{
	struct sockaddr_in sin = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);

	if ((listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    bind(listener, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(listener, 16) == -1 ||
	    getsockname(listener, (struct sockaddr *)&sin, &len) == -1)
		err(1, "listener");
	port = ntohs(sin.sin_port);
}

/* A connection to the proxy: dialerd's end, and the proxy's in *far. */
static int
pair(int *far)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1 ||
	    connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) == -1 ||
	    (*far = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) == -1)
		err(1, "pair");
	return fd;
}

static void
tunnel(uint32_t id, const char *host, unsigned to, bool quiet, int fd)
{
	struct msg_TUNNEL m = {.id = id,
	    .host = span_str(host),
	    .port = (uint16_t)to,
	    .quiet = quiet};

	answer_fd = -1;
	(void)strlcpy(answer_text, "no answer", sizeof(answer_text));
	chan_send(dial, MSG_TUNNEL, &m, fd);
}

/* What the proxy was asked, up to its empty line. */
static const char *
asked(int far)
{
	static char text[4096];
	size_t n = 0;
	ssize_t got;

	memset(text, 0, sizeof(text));
	while (n < sizeof(text) - 1 && strstr(text, "\r\n\r\n") == NULL) {
		got = recv(far, text + n, sizeof(text) - 1 - n, MSG_DONTWAIT);
		if (got == 0 || (got == -1 && errno != EAGAIN))
			break;
		n += got > 0 ? (size_t)got : 0;
		turn();
	}
	return text;
}

static void
say(int far, const char *text, size_t step)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i += step) {
		if (send(far, text + i, len - i < step ? len - i : step,
			MSG_NOSIGNAL) == -1)
			return;
		if (step < len)
			turn();
	}
}

/* One tunnel: what the proxy says, how it is cut. The proxy's end. */
static int
one(const char *answer, size_t step, bool quiet)
{
	unsigned want = nanswers + 1;
	int far, fd = pair(&far);

	tunnel(++last, "example.org", 443, quiet, fd);
	(void)asked(far);
	say(far, answer, step);
	until(&nanswers, want);
	return far;
}

static void
test_open(void)
{
	char text[64] = "";
	int far, fd;

	start();
	ok((flags & CONFINE_DUMPABLE0) != 0, "HELLO");
	via("127.0.0.1");
	secret("corp\\me:p@ss:wo rd\n", 0);
	ok(key.state == PROTO_KEY_LOADED && key.length == 18,
	    "a credential is taken; its length is told");
	go();
	fd = pair(&far);
	tunnel(++last, "example.org", 443, true, fd);
	is_str(asked(far),
	    "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n"
	    "Proxy-Authorization: Basic Y29ycFxtZTpwQHNzOndvIHJk\r\n\r\n",
	    "exactly this is asked");
	say(far, OK200, 100);
	until(&nanswers, 1);
	ok(answer_id == 1 && answer_fd != -1, "and comes back open");
	ok(send(far, "later", 5, 0) == 5 &&
		recv(answer_fd, text, sizeof(text), 0) == 5,
	    "and is the same connection");
	is_int(shown_proxy, PROTO_PROXY_NONE, "icsupervisor is told");
	close(answer_fd);
	close(far);
	fd = pair(&far);
	tunnel(++last, "2001:db8::1", 65535, true, fd);
	ok(strncmp(asked(far),
	       "CONNECT [2001:db8::1]:65535 HTTP/1.1\r\n"
	       "Host: [2001:db8::1]:65535\r\n",
	       65) == 0,
	    "an IPv6 address in brackets");
	close(far);
	until(&nanswers, 2);
	is_str(answer_text, "the proxy closed the connection without an answer",
	    "closed");
	ok(answer_proxy == PROTO_PROXY_BROKEN && answer_id == last,
	    "is an answer that makes no sense");
	far = one(OK200 "early", 1000, true);
	is_str(answer_text, "the proxy sent bytes before the tunnel was used",
	    "bytes behind the head, where the other side must be silent");
	close(far);
	far = one(OK200 "early", 1000, false);
	ok(answer_fd != -1 && recv(answer_fd, text, sizeof(text), 0) == 5 &&
		memcmp(text, "early", 5) == 0,
	    "where it need not be they stay in the connection");
	close(answer_fd);
	close(far);
	far = one("HTTP/1.1 200 OK\r\nA: b\r\n\r\nx", 1, false);
	ok(answer_fd != -1, "byte by byte");
	until(&nanswers, nanswers);
	ok(answer_fd != -1 &&
		recv(answer_fd, text, sizeof(text), MSG_DONTWAIT) <= 1,
	    "no byte of the head is left");
	close(answer_fd);
	close(far);
	stop();
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
	start();
	via("127.0.0.1");
	go();
	fd = pair(&far);
	tunnel(++last, "example.org", 443, true, fd);
	is_str(asked(far),
	    "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n"
	    "\r\n",
	    "without a credential nothing is said of one");
	close(far);
	until(&nanswers, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		far = one(rows[i].answer, 7, true);
		ok(answer_fd == -1 && answer_proxy == rows[i].proxy &&
			(rows[i].text == NULL ||
			    strcmp(answer_text, rows[i].text) == 0),
		    "%s", answer_text);
		for (unsigned k = 0; k < 20 && nshown < i + 2; k++)
			turn();
		is_str(shown_text, answer_text, "icsupervisor is told");
		close(far);
	}
	far = one(large, sizeof(large), true);
	is_str(answer_text, "the head of the proxy's answer is over 8 KiB",
	    "too large");
	close(far);
	ok(!lost, "it goes on");
	far = one(OK200, 1, true);
	ok(answer_fd != -1, "and asks again");
	close(answer_fd);
	close(far);
	stop();
}

/* It is the proxy that was named, or nobody. */
static void
test_who(void)
{
	static const char *const others[] = {"127.0.0.2", "::1"};
	unsigned want;
	int far, fd, un[2];

	for (size_t i = 0; i < 2; i++) {
		start();
		via(others[i]);
		secret("a:b", 0);
		go();
		fd = pair(&far);
		tunnel(++last, "example.org", 443, true, fd);
		until(&nanswers, 1);
		ok(answer_proxy == PROTO_PROXY_LOST && recv(far, un, 1, 0) == 0,
		    "another address than %s is told nothing", others[i]);
		close(far);
		stop();
	}
	start();
	via("proxy.example");
	go();
	far = one(OK200, 100, true);
	ok(answer_fd != -1, "of a name any address is believed");
	close(answer_fd);
	close(far);
	want = nanswers + 1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		un) == -1)
		err(1, "socketpair");
	tunnel(++last, "example.org", 443, true, un[0]);
	until(&nanswers, want);
	is_int(answer_proxy, PROTO_PROXY_LOST, "but only of TCP");
	close(un[1]);
	stop();
}

/* What is on no list is asked of nobody. */
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

	start();
	via("127.0.0.1");
	go();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		want = nanswers + 1;
		fd = pair(&far);
		tunnel(++last, rows[i].host, rows[i].to, true, fd);
		if (rows[i].listed) {
			(void)asked(far);
			say(far, OK200, 100);
			until(&nanswers, want);
			ok(answer_fd != -1, "%s:%u is listed", rows[i].host,
			    rows[i].to);
			close(answer_fd);
		} else {
			until(&nanswers, want);
			ok(recv(far, &c, 1, 0) == 0 &&
			       answer_proxy == PROTO_PROXY_NONE &&
			       strstr(answer_text, "on no list") != NULL,
			    "%s:%u is not, and nothing is asked", rows[i].host,
			    rows[i].to);
		}
		close(far);
	}
	stop();
}

static void
test_secrets(void)
{
	static const struct {
		const char *text;
		unsigned kind;
		enum proto_key state;
		const char *why;
	} rows[] = {
	    {"a:b", 0, PROTO_KEY_LOADED, NULL},
	    {"a:", 0, PROTO_KEY_LOADED, NULL},
	    {"a%3Ab:c%40%25", 1, PROTO_KEY_LOADED, NULL},
	    {"", 0, PROTO_KEY_EMPTY, "empty"},
	    {"\n", 0, PROTO_KEY_EMPTY, "empty"},
	    {"justone", 0, PROTO_KEY_BAD, "is no USER:PASSWORD"},
	    {"a%3Ab", 0, PROTO_KEY_BAD, "is no USER:PASSWORD"},
	    {":b", 0, PROTO_KEY_BAD, "has no user name before its colon"},
	    {"a:b\nc:d", 0, PROTO_KEY_BAD,
		"holds a line break or another control character"},
	    {"a:b%0d%0aX: y", 1, PROTO_KEY_BAD,
		"holds a line break or another control character"},
	    {"a:b%00", 1, PROTO_KEY_BAD,
		"holds a line break or another control character"},
	    {"a:b%4", 1, PROTO_KEY_BAD,
		"holds a % that is no escape: % itself is written %25"},
	    {"a:b%zz", 1, PROTO_KEY_BAD,
		"holds a % that is no escape: % itself is written %25"},
	};
	static char large[4000];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start();
		via("127.0.0.1");
		secret(rows[i].text, rows[i].kind);
		ok(key.state == rows[i].state &&
			(rows[i].why == NULL ||
			    strcmp(key_text, rows[i].why) == 0),
		    "%.*s: %s", (int)strcspn(rows[i].text, "\n"), rows[i].text,
		    key_text);
		stop();
	}
	memset(large, 'x', sizeof(large) - 1);
	large[1] = ':';
	for (size_t n = 512; n <= 3999; n = n == 512 ? 513 : n + 3486) {
		large[n] = '\0';
		start();
		secret(large, 0);
		is_int(key.state, n == 512 ? PROTO_KEY_LOADED : PROTO_KEY_BAD,
		    "%zu bytes", n);
		stop();
		large[n] = 'x';
	}
}

/* Each of these ends it. */
static void
test_violations(void)
{
	static const struct {
		uint32_t id;
		const char *host;
		unsigned to;
		const char *why;
	} rows[] = {
	    {0, "example.org", 443, "id 0"},
	    {1, "example.org", 0, "port 0"},
	    {1, "", 443, "no host"},
	    {1, "Example.org", 443, "a host in another spelling"},
	    {1, "example.org.", 443, "a host with a dot behind"},
	    {1, "a\r\nX: y", 443, "a host with a line break"},
	    {1, "a b", 443, "a host with a space"},
	    {1, "a:1", 443, "a host with a port"},
	    {1, "0x7f000001", 443, "a number"},
	};
	struct msg_SECRET m = {.kind = 0};
	int far, fd;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start();
		via("127.0.0.1");
		go();
		fd = pair(&far);
		tunnel(rows[i].id, rows[i].host, rows[i].to, true, fd);
		until(&nanswers, 1);
		ok(lost && recv(far, &fd, 1, 0) <= 0, "%s: it ends unasked",
		    rows[i].why);
		close(far);
		stop();
	}
	start();
	via("127.0.0.1");
	go();
	close(one(OK200, 100, true));
	close(answer_fd);
	fd = pair(&far);
	tunnel(1, "example.org", 443, true, fd);
	until(&nanswers, 2);
	ok(lost, "an id twice");
	close(far);
	stop();
	start();
	via("127.0.0.1");
	secret("a:b", 0);
	chan_send(sup, MSG_SECRET, &m, open("/dev/null", O_RDONLY | O_CLOEXEC));
	until(&nkey, 2);
	ok(lost, "a credential twice");
	stop();
	start();
	via("127.0.0.1");
	via("127.0.0.1");
	until(&nkey, 1);
	ok(lost, "a proxy twice");
	stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	program = argv[1];
	(void)signal(SIGPIPE, SIG_IGN);
	listen_anew();
	test_open();
	test_refusals();
	test_who();
	test_lists();
	test_secrets();
	test_violations();
	return tap_done();
}
