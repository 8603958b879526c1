/* SPDX-License-Identifier: ISC */
/*
 * icwebd with a browser and a hostile or slow icctl: requests that wait,
 * connections too many, answers to nobody. argv[1]: icwebd.
 */
#include <sys/socket.h>

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/ipc/worker_rig.h"

#define WAIT_MS 5000

static struct {
	struct worker_rig worker;
	const char *program;
	unsigned asked;
	uint64_t n;
	uint8_t route, from;
	char session[65], host[256];
	bool token;
} rig;

static int
on_request(struct chan *c, const struct msg_WEB_REQUEST *m)
{
	rig.asked++;
	rig.n = m->n;
	rig.route = m->route;
	rig.from = m->from;
	rig.token = m->token.len == 32;
	return span_copy(m->session, rig.session, sizeof(rig.session)) == -1 ||
		       span_copy(m->host, rig.host, sizeof(rig.host)) == -1
		   ? -1
		   : 0;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(WEB_REQUEST,	on_request),
};
/* clang-format on */

static const struct chan_ops ops = {
    .handlers = handlers,
    .nhandlers = nitems(handlers),
    .closed = worker_rig_closed,
};

static void
start(void)
{
	static const struct msg_START start_msg;
	struct msg_WEB_SITE site = {.hosts = SPAN("localhost:80\n")};

	rig.asked = 0;
	worker_rig_start(&rig.worker, rig.program, ROLE_WEB, &ops);
	if (chan_send(rig.worker.sup, MSG_WEB_SITE, &site, -1) == -1 ||
	    chan_send(rig.worker.sup, MSG_START, &start_msg, -1) == -1)
		err(1, "start");
	chan_phase(rig.worker.sup, PHASE_RUN);
}

/* Returns a browser's end of a connection. */
static int
browser(void)
{
	static const struct msg_WEB_CONN conn;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1 ||
	    fcntl(pair[1], F_SETFL, O_NONBLOCK) == -1 ||
	    chan_send(rig.worker.sup, MSG_WEB_CONN, &conn, pair[1]) == -1)
		err(1, "browser");
	return pair[0];
}

static void
say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) !=
	    (ssize_t)strlen(text))
		warn("send");
}

/* Read what comes within the time, up to `want` or the end. */
static const char *
reads(int fd, const char *want)
{
	static char text[65536];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t until = clock_mono_us() + WAIT_MS * 1000;
	size_t len = 0;
	ssize_t n = 1;

	text[0] = '\0';
	while (n > 0 && strstr(text, want) == NULL &&
	       clock_mono_us() < until) {
		if (poll(&p, 1, 0) == 0) {
			worker_rig_turn(&rig.worker);
			continue;
		}
		n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		len += n > 0 ? (size_t)n : 0;
		text[len] = '\0';
	}
	return text;
}

static const char *
request(const char *body, const char *more)
{
	static char text[1024];

	snprintf(text, sizeof(text),
	    "POST /api/state HTTP/1.1\r\nHost: localhost:80\r\n"
	    "Origin: http://localhost:80\r\nContent-Type: application/json\r\n"
	    "%sContent-Length: %zu\r\n\r\n%s",
	    more, strlen(body), body);
	return text;
}

static void
answer(uint64_t n, const char *json)
{
	struct msg_WEB_ANSWER m = {
	    .n = n, .status = 200, .json = span_str(json)};

	if (chan_send(rig.worker.sup, MSG_WEB_ANSWER, &m, -1) == -1)
		err(1, "answer");
}

static void
test_request(void)
{
	int fd;

	start();
	fd = browser();
	say(fd, request("{\"session\":\"abc\",\"since\":7}",
		    "X-IronCurtain: 00112233445566778899aabbccddeeff"
		    "00112233445566778899aabbccddeeff\r\n"));
	ok(worker_rig_until(&rig.worker, &rig.asked, 1), "a request comes");
	is_int(rig.route, PROTO_WEB_STATE, "with its route");
	is_int(rig.from, PROTO_FROM_UNSAID, "and what the browser said");
	is_str(rig.session, "abc", "its members");
	is_str(rig.host, "localhost:80", "its host");
	ok(rig.token, "and its token");
	answer(rig.n + 1, "{}");
	answer(rig.n, "{\"mine\":1}");
	ok(strstr(reads(fd, "mine"), "200 OK") != NULL,
	    "the answer goes to it, and one to nobody does no harm");
	say(fd, request("{\"session\":\"next\"}", ""));
	ok(worker_rig_until(&rig.worker, &rig.asked, 2),
	    "the connection takes another one");
	ok(!rig.token, "which has no token");
	answer(rig.n, "{}");
	(void)reads(fd, "{}");
	close(fd);
	worker_rig_stop(&rig.worker);
}

/* Requests that break off, are too long, or are no HTTP. */
static void
test_broken(void)
{
	static const char *const broken[] = {
	    "\r\n\r\n\r\n",
	    "GET\r\n\r\n",
	    "GET / HTTP/9.9\r\nHost: localhost:80\r\n\r\n",
	    "POST /api/state HTTP/1.1\r\nHost: localhost:80\r\n"
	    "Origin: http://localhost:80\r\nContent-Type: application/json\r\n"
	    "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
	    "POST /api/state HTTP/1.1\r\nHost: localhost:80\r\n"
	    "Origin: http://localhost:80\r\nContent-Type: application/json\r\n"
	    "Content-Length: -1\r\n\r\n",
	    "POST /api/state HTTP/1.1\r\nHost: localhost:80\r\n"
	    "Origin: http://localhost:80\r\nContent-Type: application/json\r\n"
	    "Content-Length: 99999999999\r\n\r\nx",
	};
	static char big[60000];
	int fd;

	start();
	for (size_t i = 0; i < nitems(broken); i++) {
		fd = browser();
		say(fd, broken[i]);
		close(fd);
	}
	memset(big, 'h', sizeof(big) - 1);
	memcpy(big, "GET / HTTP/1.1\r\nA: ", 19);
	fd = browser();
	say(fd, big);
	(void)reads(fd, "\r\n\r\n");
	close(fd);
	fd = browser();
	say(fd, "GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n");
	ok(strstr(reads(fd, "</html>"), "<!doctype html>") != NULL,
	    "after requests that are none, the page is served");
	close(fd);
	is_int(rig.asked, 0, "and none of them came to icctl");
	worker_rig_stop(&rig.worker);
}

/* Browsers that leave while they wait. */
static void
test_left(void)
{
	int fds[24], fd;

	start();
	for (size_t i = 0; i < nitems(fds); i++) {
		fds[i] = browser();
		say(fds[i], request("{}", ""));
	}
	ok(worker_rig_until(&rig.worker, &rig.asked, nitems(fds)),
	    "all of them ask");
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
	for (uint64_t n = 1; n <= nitems(fds); n++)
		answer(n, "{\"to\":\"nobody\"}");
	fd = browser();
	say(fd, request("{}", ""));
	ok(worker_rig_until(&rig.worker, &rig.asked, nitems(fds) + 1),
	    "the next one is served");
	close(fd);
	worker_rig_stop(&rig.worker);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: test_webd ICWEBD");
	rig.program = argv[1];
	test_request();
	test_broken();
	test_left();
	return tap_done();
}
