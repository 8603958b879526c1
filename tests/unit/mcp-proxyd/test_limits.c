/* SPDX-License-Identifier: ISC */
/*
 * Everything that an agent can make grow in mcp-proxyd: calls, bytes, lines,
 * connections, unread answers.
 */
#include "unit/mcp-proxyd/ring.h"

#include <sys/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct proxy *const p = &proxy_env;

/*
 * Calls up to the limit of a server: the next one waits, and other servers do
 * not.
 */
static void
test_admission(void)
{
	static const char ping[] = "{" V ",\"id\":\"p\",\"method\":\"ping\"}\n";
	int fd = connect_agent(), other = connect_agent();
	unsigned calls = 0;
	uint64_t first;
	char line[256];
	const char *s;

	put(fd, INIT);
	put(other, INIT);
	get(fd);
	get(other);
	first = p->last_id + 1;
	for (unsigned i = 0; i < PROTO_MAX_SERVER_CALLS + 2; i++) {
		snprintf(line, sizeof(line), CALL("%u", "\"name\":\"fs__a\""),
		    i + 1);
		put(fd, line);
	}
	put(fd, ping);
	for (s = peers_saw(); (s = strstr(s, "CALL ")) != NULL; s++)
		calls++;
	is_int(calls, PROTO_MAX_SERVER_CALLS, "128 calls of a server go out");
	is_str(get(fd), "", "behind them nothing of this connection is read");
	is_str(ask(other, ping), "{\"id\":\"p\"," V ",\"result\":{}}\n",
	    "another connection is");
	put(other, CALL("1", "\"name\":\"fs__deep__a\""));
	is_str(peers_saw(), "CALL 1 a 0 {}\n", "and another server is called");
	send_answer(last_call, "x");
	get(other);
	is_str(peers_saw(), "", "its end makes no room");
	send_result(back[0], first, false, "{}");
	is_str(peers_saw(), "CALL 0 a 0 {}\n", "one end, one more call");
	is_str(get(fd), "{\"id\":1," V ",\"result\":{}}\n", "its answer");
	send_result(back[0], first + 1, false, "{}");
	is_str(peers_saw(), "CALL 0 a 0 {}\n", "the next");
	is_str(get(fd),
	    "{\"id\":2," V ",\"result\":{}}\n{\"id\":\"p\"," V
	    ",\"result\":{}}\n",
	    "and what was behind it");
	put(other, CALL("2", "\"name\":\"fs__b\""));
	is_str(peers_saw(), "", "at the limit another connection waits too");
	close(fd);
	calls = 0;
	s = peers_saw();
	ok(strstr(s, "CALL 0 b 0 {}\n") != NULL,
	    "a closed connection makes room");
	for (; (s = strstr(s, "CANCEL ")) != NULL; s++)
		calls++;
	is_int(calls, PROTO_MAX_SERVER_CALLS, "its calls are cancelled");
	close(other);
	turns();
	peers_saw();
	is_int(p->ncalls, 0, "nothing is left");
	is_int((long long)p->servers[0].bytes, 0, "no bytes either");
}

/* A call that was given up keeps its place until its end is reported. */
static void
test_given_up(void)
{
	int fd = connect_agent();
	uint64_t first = p->last_id + 1;
	char line[256];

	put(fd, INIT);
	get(fd);
	cancels_last = true;
	for (unsigned i = 0; i < PROTO_MAX_SERVER_CALLS; i++) {
		snprintf(
		    line, sizeof(line), CALL("%u", "\"name\":\"fs__a\""), i);
		put(fd, line);
	}
	put(fd, "{" V ",\"method\":\"notifications/cancelled\",\"params\":"
		"{\"requestId\":0}}\n");
	peers_saw();
	put(fd, CALL("0", "\"name\":\"fs__a\""));
	is_str(peers_saw(), "", "a cancelled call is still counted");
	send_result(back[0], first, false, "{}");
	is_str(
	    peers_saw(), "CALL 0 a 0 {}\n", "until it is answered after all");
	is_str(get(fd), "", "which nobody is told");
	close(fd);
	turns();
	is_int(p->ncalls, PROTO_MAX_SERVER_CALLS,
	    "so are those of a closed "
	    "connection");
	for (uint64_t id = first; id <= last_call; id++)
		send_answer(id, "cancelled");
	is_int(p->ncalls, 0, "until auditd has ended them");
	is_int(p->ngiven_up, 0, "none is left");
	cancels_last = false;
	peers_saw();
}

/*
 * Many connections, each with only a few calls, reach the limit of the session.
 */
static void
test_session_limit(void)
{
	int fd[2] = {connect_agent(), connect_agent()};
	unsigned calls = 0;
	char line[256];
	const char *s;

	put(fd[0], INIT);
	put(fd[1], INIT);
	for (unsigned i = 0; i < PROTO_MAX_CALLS + 3; i++) {
		snprintf(line, sizeof(line),
		    CALL("%u", "\"name\":\"none__%u\""), i, i);
		put(fd[i % 2], line);
	}
	for (s = peers_saw(); (s = strstr(s, "CALL ")) != NULL; s++)
		calls++;
	is_int(calls, PROTO_MAX_CALLS, "256 calls of a session go out");
	send_answer(p->last_id, "x");
	ok(strncmp(peers_saw(), "CALL 65535 none__", 17) == 0,
	    "one end, one more");
	close(fd[0]);
	close(fd[1]);
	turns();
	peers_saw();
	is_int(p->ncalls, 0, "nothing is left");
}

static void
test_bytes(void)
{
	size_t size = 3U << 20;
	char *line = malloc(size + 512);
	int fd = connect_agent();
	unsigned calls = 0;
	const char *s;

	put(fd, INIT);
	get(fd);
	for (int i = 0; i < 6; i++) {
		int n = snprintf(line, 512,
		    "{" V ",\"id\":%d,\"method\":"
		    "\"tools/call\",\"params\":{\"name\":\"fs__a\","
		    "\"arguments\":{\"x\":\"",
		    i);

		memset(line + n, 'y', size);
		memcpy(line + (size_t)n + size, "\"}}}\n", 6);
		if (i < 5)
			put(fd, line);
		else /* not read any more: the socket is full */
			(void)!write(fd, line, 1000);
	}
	for (s = peers_saw(); (s = strstr(s, "CALL ")) != NULL; s++)
		calls++;
	is_int(calls, 5, "five calls of 3 MiB go out");
	ok(p->servers[0].bytes > 15U << 20, "and count as bytes");
	close(fd);
	turns();
	peers_saw();
	is_int((long long)p->servers[0].bytes, 0, "and no more when closed");
	free(line);
}

static void
test_lines(void)
{
	size_t size = PROTO_MAX_LINE + 2;
	char *line = malloc(size + 1);
	int fd = connect_agent();
	const char *s;

	memset(line, ' ', size);
	memcpy(line, "{\"params\":{\"id\":8,\"a\":\"", 23);
	line[size] = '\0';
	put(fd, line);
	put(fd, "\"}," V ",\"method\":\"tools/call\",\"id\":7}\n"
		"{" V ",\"id\":1,\"method\":\"ping\"}\n");
	is_str(get(fd),
	    "{\"error\":{\"code\":-32600,\"message\":\"Invalid Request: line "
	    "longer than 4194304 bytes. Do not retry it as it is: send less "
	    "at once\"},\"id\":7," V "}\n{\"id\":1," V ",\"result\":{}}\n",
	    "a line that is too long is answered on its id, and skipped");
	memset(line, ' ', size);
	put(fd, line);
	put(fd, "\n");
	is_str(get(fd),
	    "{\"error\":{\"code\":-32600,\"message\":\"Invalid Request: line "
	    "longer than 4194304 bytes. Do not retry it as it is: send less "
	    "at once\"}," V "}\n",
	    "one without an id, without");
	close(fd);
	fd = connect_agent();
	line[PROTO_MAX_LINE - 41] = '\0';
	put(fd, line);
	put(fd, "{" V ",\"id\":1,\"method\":\"ping\"}\n");
	is_str(get(fd), "{\"id\":1," V ",\"result\":{}}\n",
	    "the longest line is taken");
	free(line);
	put(fd, "{" V ",\"id\":2,\"method\":\"pi");
	shutdown(fd, SHUT_WR);
	is_str(get(fd),
	    "{\"error\":{\"code\":-32700,\"message\":\"Parse error: the last "
	    "line has no newline\"}," V "}\n<end>",
	    "a line cut short by the end");
	close(fd);
	fd = connect_agent();
	put(fd, INIT);
	get(fd);
	put(fd, CALL("1", "\"name\":\"fs__a\""));
	shutdown(fd, SHUT_WR);
	is_str(get(fd), "", "who has said all may still read");
	send_result(back[0], last_call, false, "{}");
	is_str(get(fd), "{\"id\":1," V ",\"result\":{}}\n<end>",
	    "its answer, and the end");
	close(fd);
	fd = connect_agent();
	for (int i = 0; i < 101; i++)
		put(fd, "\n");
	s = get(fd);
	ok(strstr(s, "more than 100 empty lines") != NULL &&
		strstr(s, "<end>") != NULL,
	    "a flood of empty lines");
	close(fd);
	turns();
	peers_saw();
	is_int(p->nagents, 0, "all are gone");
}

#define FULL                                                                   \
	"{\"error\":{\"code\":-32000,\"message\":\"64 connections are open, "  \
	"which is the limit of a session. Do not retry before one of them is " \
	"closed\"},"

static void
test_connections(void)
{
	int fd[PROXY_AGENTS + 1];

	for (size_t i = 0; i <= PROXY_AGENTS; i++)
		fd[i] = connect_agent();
	is_str(ask(fd[PROXY_MAX_AGENTS], INIT), FULL "\"id\":0," V "}\n<end>",
	    "one connection too many is told so, in answer to its request");
	is_str(get(fd[PROXY_AGENTS]), FULL V "}\n<end>",
	    "and without one, if there are many");
	is_str(ask(fd[PROXY_MAX_AGENTS - 1],
		   "{" V ",\"id\":1,\"method\":\"ping\"}\n"),
	    "{\"id\":1," V ",\"result\":{}}\n", "the 64th works");
	p->w.loop.now += PROXY_FULL_MS;
	agents_tick(p);
	turns();
	is_str(get(fd[PROXY_AGENTS - 1]), "<end>",
	    "one that asks for nothing is closed after a while");
	is_int(p->nfull, 0, "all of these are gone");
	for (size_t i = 0; i <= PROXY_AGENTS; i++)
		close(fd[i]);
	turns();
	fd[0] = connect_agent();
	is_str(ask(fd[0], "{" V ",\"id\":1,\"method\":\"ping\"}\n"),
	    "{\"id\":1," V ",\"result\":{}}\n", "and so does a later one");
	close(fd[0]);
	turns();
}

/* Answers that nobody reads. */
static void
test_unread(void)
{
	size_t size = 1U << 20;
	char *json = malloc(size + 64), line[256];
	int fd = connect_agent();
	unsigned n;

	memcpy(json, "{\"content\":\"", 12);
	memset(json + 12, 'z', size);
	memcpy(json + 12 + size, "\"}", 3);
	put(fd, INIT);
	get(fd);
	for (n = 0; n < 20 && p->nagents != 0; n++) {
		snprintf(
		    line, sizeof(line), CALL("%u", "\"name\":\"fs__a\""), n);
		put(fd, line);
		send_result(back[0], last_call, false, json);
	}
	ok(n >= 8 && n <= 11, "closed when 8 MiB are unread (%u MiB)", n);
	is_int(p->nagents, 0, "the connection is gone");
	close(fd);
	turns();
	peers_saw();
	free(json);
}

#define PING(id) "{" V ",\"id\":" id ",\"method\":\"ping\"}\n"
#define PONG(id) "{\"id\":" id "," V ",\"result\":{}}\n"

/* Run the loop until no connection is slow any more. */
static void
fast_again(void)
{
	while (p->slow.at != 0)
		(void)loop_once(&p->w.loop, -1);
	turns();
}

/* Refusals that are only counted, and many cancellations, slow down. */
static void
test_slow(void)
{
	int fd = connect_agent(), other = connect_agent();
	char line[256];

	put(fd, INIT);
	put(other, INIT);
	get(fd);
	get(other);
	put(fd, CALL("1", "\"name\":\"fs__a\""));
	send_answer(last_call, "no");
	get(fd);
	is_str(ask(fd, PING("2")), PONG("2"), "a refusal does not slow down");
	put(fd, CALL("3", "\"name\":\"fs__a\""));
	send_counted(last_call, "no");
	ok(strstr(get(fd), "\"text\":\"no\"") != NULL,
	    "a refusal that is only counted is answered at once");
	is_str(ask(fd, PING("4")), "", "and then nothing is read");
	is_str(ask(other, PING("1")), PONG("1"), "from this connection");
	fast_again();
	is_str(get(fd), PONG("4"), "for a while");
	put(fd, CALL("5", "\"name\":\"fs__a\""));
	send_counted(last_call, "no");
	get(fd);
	put(fd, PING("6"));
	shutdown(fd, SHUT_WR);
	is_str(get(fd), "", "a slow connection that ends");
	fast_again();
	is_str(get(fd), PONG("6") "<end>", "is read to its end");
	close(fd);
	for (unsigned i = 0; i <= PROXY_CANCELS; i++) {
		is_str(ask(other, PING("2")), PONG("2"), "cancelled: %u", i);
		snprintf(line, sizeof(line),
		    CALL("%u",
			"\"name\":\"fs__a\"") "{" V
					      ",\"method\":\"notifications/"
					      "cancelled\",\"params\":"
					      "{\"requestId\":%u}}\n",
		    i + 10, i + 10);
		put(other, line);
	}
	is_str(ask(other, PING("3")), "", "one more, and nothing is read");
	close(other);
	turns();
	is_int(p->nagents, 0, "unless the agent closes");
	fast_again();
	peers_saw();
	is_int(p->ncalls, 0, "no call is left");
}

int
main(void)
{
	set_up();
	test_admission();
	test_given_up();
	test_session_limit();
	test_bytes();
	test_lines();
	test_connections();
	test_unread();
	test_slow();
	is_str(closed_why, "", "no channel was broken");
	tear_down();
	return tap_done();
}
