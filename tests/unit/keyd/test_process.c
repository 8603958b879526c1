/* SPDX-License-Identifier: ISC */
/*
 * The running keyd: the built program, confined, between played peers and a TLS
 * provider that records what it receives. argv[1]: keyd.
 */
#include <sys/wait.h>

#include <stdio.h>

#include "common/confine/confine.h"
#include "unit/keyd/play.h"

static void
test_request(void)
{
	char want[512];
	int fd;

	start(&server, true, true, RIG_KEY "\n");
	ok((rig.worker.flags & CONFINE_DUMPABLE0) != 0, "HELLO");
	is_int(rig.state, PROTO_KEY_LOADED,
	    "the key came slowly, and is loaded");
	is_int(rig.length, strlen(RIG_KEY), "its length is told");
	fd = rig_stream(&rig, 9);
	post(fd, 9, 1, "/t/ok", "{\"a\":1}");
	is_int(answer.status, 200, "answered");
	ok(answer.ended && body_is("ok"), "whole");
	look(&server, true);
	snprintf(want, sizeof(want), "POST /t/ok HTTP/1.1\r\n"
	    "host: provider.test:%u\r\nx-api-key: " RIG_KEY "\r\n"
	    "accept-encoding: identity\r\ncontent-length: 7\r\n"
	    "accept: */*\r\ncontent-type: application/json; charset=utf-8\r\n"
	    "\r\n", server.port);
	is_str(seen.head, want, "the head is the documented one");
	is_int(seen.body, 7, "with its body");
	is_int(rig.end.status, 200, "EXCHANGE_END: status");
	is_int(rig.end.sent, 7, "sent");
	is_int(rig.end.unsent, 0, "nothing is left");
	is_int(rig.end.received, 2, "received");
	is_str(rig.end.error, "", "no error");
	is_int(rig.ndials, 2, "a spare is connected");
	post(fd, 9, 2, "/t/chunked", "{}");
	ok(answer.ended && body_is("data: \n\n"),
	    "chunked, after 100 Continue");
	ok(memmem(answer.head, answer.head_len, "set-cookie", 10) == NULL,
	    "no cookie comes through");
	look(&server, true);
	rig_request(&rig, 9, 3, 1, "/t/ok", "", 0);
	rig_answer(&rig, fd, 3, &answer);
	ok(answer.ended && body_is("ok"), "a GET");
	look(&server, true);
	ok(strstr(seen.head, "content-length") == NULL, "without a length");
	is_int(rig.ndials, 2, "all on the two connections that there are");
	rig_request(&rig, 9, 4, 0, "/t/ok", "beta=true", 2);
	rig_body(&rig, fd, 4, "{}", 2);
	rig_answer(&rig, fd, 4, &answer);
	look(&server, true);
	ok(strncmp(seen.head, "POST /t/ok?beta=true HTTP/1.1\r\n", 31) == 0,
	    "a query that is on the route");
	close(fd);
	rig_stop(&rig);
}

static void
test_bulk(void)
{
	static uint8_t frame[STREAM_MAX_FRAME];
	uint64_t sum = 0, want = 0;
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	rig_request(&rig, 1, 1, 0, "/t/ok", "", 64 * sizeof(frame));
	for (size_t i = 0; i < 64; i++) {
		for (size_t j = 0; j < sizeof(frame); j++)
			frame[j] = server_byte(i * 13 + j);
		sum = server_sum(sum, frame, sizeof(frame));
		rig_body(&rig, fd, 1, frame, sizeof(frame));
	}
	rig_answer(&rig, fd, 1, &answer);
	look(&server, true);
	ok(seen.body == 64 * sizeof(frame) && seen.sum == sum,
	    "4 MiB go up unharmed");
	rig_request(&rig, 1, 2, 1, "/t/big", "", 0);
	/*
	 * Without the stream being read for a while, keyd must wait, not grow.
	 */
	for (int i = 0; i < 20; i++)
		rig_turn(&rig);
	rig_answer(&rig, fd, 2, &answer);
	for (size_t i = 0; i < 8388608; i++) {
		uint8_t byte = server_byte(i);

		want = server_sum(want, &byte, 1);
	}
	ok(answer.ended && answer.len == 8388608 && answer.sum == want,
	    "8 MiB come down unharmed");
	look(&server, true);
	close(fd);
	rig_stop(&rig);
}

static void
test_early(void)
{
	unsigned conn;
	uint64_t body;
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	rig_request(&rig, 1, 1, 0, "/t/early", "", 6);
	rig_body(&rig, fd, 1, "abc", 3);
	rig_answer(&rig, fd, 1, &answer);
	ok(answer.ended && body_is("early"),
	    "an answer does not wait for the rest of the body");
	rig_until(&rig, &rig.nends, 1);
	is_int(rig.end.sent, 3, "what was sent is told");
	is_int(rig.end.unsent, 3, "and what was not");
	rig_request(&rig, 1, 2, 0, "/t/ok", "", 2);
	rig_body(&rig, fd, 1, "def", 3);
	rig_body(&rig, fd, 2, "{}", 2);
	rig_answer(&rig, fd, 2, &answer);
	ok(answer.ended && body_is("ok"),
	    "the rest is dropped, and the next request served");
	look(&server, true);
	conn = seen.conn;
	body = seen.body;
	look(&server, true);
	is_int(body + seen.body, 5, "the first one was cut off");
	ok(seen.conn != conn, "each had a connection of its own");
	close(fd);
	fd = rig_stream(&rig, 2);
	rig_request(&rig, 2, 1, 0, "/t/slam", "", 1000000);
	rig_answer(&rig, fd, 1, &answer);
	is_int(answer.status, 413, "an early refusal comes through");
	close(fd);
	rig_stop(&rig);
}

/* A request for each row, and whether the next one uses the same connection. */
static const struct {
	const char *path;
	bool again;
	const char *fail;	/* the expected failure, if any */
} rules[] = {
    {"/t/ok", true, ""},
    {"/t/chunked", true, ""},
    {"/t/error", false, ""},
    {"/t/until-close", false, ""},
    {"/t/short", false, "502 the provider's answer ended"},
    {"/t/redirect", false, "502 the provider redirects"},
    {"/t/gzip", false, "502 the provider's answer has a coding"},
    {"/t/hang-up", false, "502 the provider closed the connection without"},
    {"/t/babble", false, ""},
};

static void
test_rules(void)
{
	uint32_t stream = 0;
	unsigned conns[2];
	int fd;

	start(&server, true, true, RIG_KEY);
	for (size_t i = 0; i < nitems(rules); i++) {
		bool seen_first;

		/* The most recently used connection serves the next request. */
		fd = rig_stream(&rig, ++stream);
		post(fd, stream, 1, rules[i].path, "{}");
		is_int(strncmp(answer.fail, rules[i].fail,
		    strlen(rules[i].fail)), 0, "%s: %s", rules[i].path,
		    answer.fail);
		is_int(answer.closed, rules[i].fail[0] != '\0',
		    "the stream closes when it failed, else not");
		close(fd);
		seen_first = strcmp(rules[i].path, "/t/hang-up") != 0;
		if (seen_first)
			look(&server, true);
		conns[0] = seen.conn;
		fd = rig_stream(&rig, ++stream);
		post(fd, stream, 1, "/t/ok", "{}");
		look(&server, true);
		conns[1] = seen.conn;
		close(fd);
		if (seen_first)
			is_int(conns[0] == conns[1], rules[i].again,
			    "%s: used again or not", rules[i].path);
	}
	fd = rig_stream(&rig, ++stream);
	rig_request(&rig, stream, 1, 3, "/log/ok", "", 2);
	rig_body(&rig, fd, 1, "{}", 2);
	rig_answer(&rig, fd, 1, &answer);
	look(&server, true);
	conns[0] = seen.conn;
	post(fd, stream, 2, "/t/ok", "{}");
	look(&server, true);
	ok(seen.conn != conns[0],
	    "not again where a 2xx need not have read the body");
	close(fd);
	is_int(rig.nalarms, 1, "one alarm");
	is_str(rig.alarm, "trailing-data", "for bytes after an answer");
	rig_stop(&rig);
}

/* An answer that refuses the key is passed on, and reported to the user. */
static void
test_refused(void)
{
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/ok", "{}");
	look(&server, true);
	is_int(rig.ntroubles, 0, "an answer is no trouble");
	post(fd, 1, 2, "/t/refused", "{}");
	look(&server, true);
	is_int(answer.status, 401, "a 401 is an answer for the agent");
	ok(rig_until(&rig, &rig.ntroubles, 1), "and the user is told");
	is_str(rig.trouble,
	    "REFUSED (401): the provider does not accept the credential",
	    "that the provider refuses the key");
	close(fd);
	rig_stop(&rig);
}

static void
test_never(void)
{
	unsigned conn;
	int fd;

	start(&server, true, false, RIG_KEY);
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/ok", "{}");
	look(&server, true);
	conn = seen.conn;
	ok(strstr(seen.head, "\r\nconnection: close\r\n") != NULL,
	    "reuse never: says so to the provider");
	post(fd, 1, 2, "/t/ok", "{}");
	look(&server, true);
	ok(seen.conn != conn, "and takes a new connection");
	post(fd, 1, 3, "/t/ok", "{}");
	look(&server, true);
	ok(seen.resumed, "whose TLS session is an earlier one's");
	close(fd);
	rig_stop(&rig);
}

static void
test_reflect(void)
{
	struct msg_UNLOCK unlock = {.proto_pad_ = 0};
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	post(fd, 1, 1, "/t/reflect", "{}");
	ok(strstr(answer.fail, "held the credential") != NULL && answer.closed,
	    "a credential in an answer cuts the stream");
	ok(memmem(answer.body, answer.len, RIG_KEY, 8) == NULL,
	    "nothing of it came through: %.*s", (int)answer.len, answer.body);
	ok(rig_until(&rig, &rig.nstates, 2), "KEY_STATE");
	is_int(rig.state, PROTO_KEY_LOCKED, "is locked");
	is_str(rig.alarm, "credential-reflected", "an alarm is raised");
	look(&server, true);
	close(fd);
	fd = rig_stream(&rig, 2);
	post(fd, 2, 1, "/t/ok", "{}");
	ok(strstr(answer.fail, "icctl unlock") != NULL,
	    "then requests are refused, with the next step");
	look(&server, false);
	is_int(seen.len, 0, "and reach nobody");
	close(fd);
	chan_send(rig.worker.sup, MSG_UNLOCK, &unlock, -1);
	rig_until(&rig, &rig.nstates, 3);
	is_int(rig.state, PROTO_KEY_LOADED, "unlocked");
	fd = rig_stream(&rig, 3);
	post(fd, 3, 1, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"), "it goes on");
	look(&server, true);
	close(fd);
	rig_stop(&rig);
}

/* Requests that only a compromised mitmd sends. */
static const struct {
	const char *name;
	unsigned route;
	const char *path, *query;
	uint64_t length;
} mismatches[] = {
    {"no such route", 7, "/t/ok", "", 0},
    {"a later route that fits, too", 4, "/t/ok", "", 2},
    {"another path", 0, "/u/ok", "", 2},
    {"a path with dots", 0, "/t/..", "", 2},
    {"a path with CR LF", 0, "/t/ok HTTP/1.1\r\nx: y", "", 2},
    {"an escape", 0, "/t/%6fk", "", 2},
    {"a query that no route has", 0, "/t/ok", "key=1", 2},
    {"a body on a GET", 1, "/t/ok", "", 2},
    {"a body over the limit", 0, "/t/ok", "", 16777217},
};

static void
test_mismatch(void)
{
	uint32_t stream = 0;
	int fd;

	start(&server, true, true, RIG_KEY);
	for (size_t i = 0; i < nitems(mismatches);
	     i++) {
		fd = rig_stream(&rig, ++stream);
		rig_request(&rig, stream, 1, mismatches[i].route,
		    mismatches[i].path, mismatches[i].query,
		    mismatches[i].length);
		rig_answer(&rig, fd, 1, &answer);
		ok(strncmp(answer.fail, "403 the request does not fit", 28) ==
		    0 && answer.closed, "%s: refused", mismatches[i].name);
		close(fd);
	}
	rig_until(&rig, &rig.nends, stream);
	is_int(rig.nends, stream, "all ends are reported");
	is_int(rig.nalarms, stream, "each with an alarm");
	is_str(rig.alarm, "request-mismatch", "of this kind");
	fd = rig_stream(&rig, 100);
	post(fd, 100, 5, "/t/ok", "{}");
	look(&server, true);
	rig_request(&rig, 100, 5, 1, "/t/ok", "", 0);
	rig_answer(&rig, fd, 5, &answer);
	ok(answer.closed, "an exchange number twice: the stream closes");
	close(fd);
	rig_request(&rig, 77, 1, 1, "/t/ok", "", 0);
	rig_until(&rig, &rig.nends, stream + 3);
	is_str(rig.end.error, "the stream is gone",
	    "a stream that is not there");
	look(&server, false);
	is_int(seen.len, 0, "nothing of all this reached the provider");
	rig_stop(&rig);
}

static void
test_frames(void)
{
	static const struct {
		const char *name;
		uint32_t exchange;
		size_t len;
	} frames[] = {
	    {"of another exchange", 2, 4},
	    {"empty", 1, 0},
	    {"one byte too many", 1, 11},
	};
	uint32_t stream = 0;
	int fd;

	start(&server, true, true, RIG_KEY);
	for (size_t i = 0; i < nitems(frames); i++) {
		fd = rig_stream(&rig, ++stream);
		rig_request(&rig, stream, 1, 0, "/t/ok", "", 10);
		rig_body(&rig, fd, frames[i].exchange, "0123456789a",
		    frames[i].len);
		rig_answer(&rig, fd, 1, &answer);
		ok(answer.closed && strncmp(answer.fail, "400 ", 4) == 0,
		    "a frame %s closes the stream", frames[i].name);
		close(fd);
	}
	is_str(rig.alarm, "stream-mismatch", "with an alarm");
	fd = rig_stream(&rig, ++stream);
	rig_request(&rig, stream, 1, 0, "/t/ok", "", 10);
	rig_body(&rig, fd, 1, "0123456789", 10);
	rig_body(&rig, fd, 1, "x", 1);
	rig_answer(&rig, fd, 1, &answer);
	ok(answer.closed, "a frame behind the last one too");
	close(fd);
	fd = rig_stream(&rig, ++stream);
	rig_request(&rig, stream, 1, 0, "/t/ok", "", 10);
	rig_body(&rig, fd, 1, "01234", 5);
	for (int i = 0; i < 20; i++)
		rig_turn(&rig);
	close(fd);
	rig_until(&rig, &rig.nends, stream);
	is_str(rig.end.error, "given up by the agent", "a short body ends it");
	rig_stop(&rig);
}

static void
test_digest(void)
{
	int status = 0;

	start(&server, true, true, RIG_KEY);
	rig.digest[0] ^= 1;
	is_int(rig_stream(&rig, 1), -1, "provider files that differ");
	rig_until_true(&rig, &rig.worker.lost);
	waitpid(rig.worker.pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 2,
	    "are a violation: keyd ends (%#x)", (unsigned)status);
	rig_stop(&rig);
}

static void
run(const struct server_ca *ca)
{
	test_request();
	test_bulk();
	test_early();
	test_rules();
	test_refused();
	test_never();
	test_reflect();
	test_mismatch();
	test_frames();
	test_digest();
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
