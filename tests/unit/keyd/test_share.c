/* SPDX-License-Identifier: ISC */
/*
 * The share of the budget that keyd keeps account of, between played peers: the
 * one that plays mitmd says too little, says it twice, or never. argv[1]: keyd.
 */
#include "unit/keyd/play.h"

#include <err.h>

#define LEFT 10000U
/* an answer of unknown length, the template, and four bytes */
#define ONE (PROTO_RESERVED_OUT + PROTO_TEMPLATE_TOKENS + 1U)

static const char turns[] =
    "{\"name\":\"t\",\"host\":\"provider.test\",\"credential\":"
    "{\"env\":\"T_KEY\",\"sentinel\":\"sk-t-ironcurtain-\",\"headers\":["
    "{\"name\":\"x-api-key\"}]},"
    "\"requestHeaders\":[\"accept\",\"content-type\"],"
    "\"responseHeaders\":[\"content-type\"],"
    "\"routes\":[{\"method\":\"POST\",\"path\":\"/t/*\",\"body\":"
    "{\"types\":[\"application/json\"],\"dialect\":\"anthropic\","
    "\"read\":true}}]}";

static uint32_t number;

/* Send a share that is no larger, and wait for its answer. */
static void
share(uint64_t tokens, enum proto_share rest)
{
	const struct msg_SHARE m = {.number = ++number,
	    .rest = (uint8_t)rest,
	    .tokens = tokens,
	    .cost = UINT64_MAX};

	if (chan_send(rig.worker.sup, MSG_SHARE, &m, -1) == -1)
		err(1, "SHARE");
	while (rig.spent.share != number && !rig.worker.lost)
		rig_turn(&rig);
}

static void
settle(uint32_t stream, uint32_t exchange)
{
	uint32_t n[3] = {htole32(stream), htole32(exchange), 0};
	const struct msg_SETTLED m = {
	    .each = span_of((const uint8_t *)n, sizeof(n))};

	if (chan_send(rig.worker.sup, MSG_SETTLED, &m, -1) == -1)
		err(1, "SETTLED");
}

static int
begin(uint32_t stream, uint64_t most)
{
	int fd = rig_stream(&rig, stream);

	rig.most = most;
	rig_request(&rig, stream, 1, 0, "/t/ok", "", 4);
	rig_body(&rig, fd, 1, "{}", 2);
	return fd;
}

static void
finish(int fd)
{
	unsigned want = rig.nends + 1;

	rig_body(&rig, fd, 1, "  ", 2);
	rig_answer(&rig, fd, 1, &answer);
	is_int(answer.status, 200, "it is answered");
	ok(rig_until(&rig, &rig.nends, want), "and its end is reported");
}

/* Returns what is reserved once keyd has handled everything before. */
static uint64_t
held(void)
{
	share(LEFT, PROTO_SHARE_WHOLE);
	return rig.spent.held_tokens;
}

static void
asked(void)
{
	while (!rig.spent.asks && !rig.worker.lost)
		rig_turn(&rig);
}

static void
refused(int fd, const char *name)
{
	rig_answer(&rig, fd, 1, &answer);
	ok(strncmp(answer.fail, "429 ", 4) == 0 && !answer.fail_sent,
	    "%s: refused for the moment", name);
	close(fd);
}

static void
test_running(void)
{
	int fd[4];

	fd[0] = begin(1, 0);
	fd[1] = begin(2, 1);
	asked();
	share(LEFT, PROTO_SHARE_WHOLE);
	fd[2] = begin(3, 0);
	asked();
	is_int((int64_t)rig.spent.held_tokens, 2 * ONE,
	    "two fit, however little mitmd says");
	is_int((int64_t)rig.spent.want_tokens, ONE, "the third one waits");
	is_int((int64_t)rig.spent.turns, 2, "and is no turn yet");
	share(LEFT, PROTO_SHARE_FREE);
	refused(fd[2], "nothing more is free");
	settle(1, 1);
	settle(1, 1);
	is_int((int64_t)held(), 2 * ONE, "one that runs stays reserved");
	finish(fd[0]);
	is_int((int64_t)held(), ONE, "its end gives it back");
	finish(fd[1]);
	is_int((int64_t)held(), ONE, "one that is not counted stays reserved");
	settle(2, 1);
	settle(2, 1);
	settle(9, 9);
	is_int((int64_t)held(), 0, "it is given back once");
	fd[3] = begin(4, 50000);
	asked();
	is_int((int64_t)rig.spent.held_tokens, LEFT,
	    "mitmd says more: all that is left, as nothing else runs");
	share(LEFT, PROTO_SHARE_WHOLE);
	fd[2] = begin(5, 0);
	asked();
	share(LEFT, PROTO_SHARE_WHOLE);
	refused(fd[2], "another one");
	for (unsigned i = 0; i < 4; i++)
		if (i != 2)
			close(fd[i]);
	while (held() != 0 && !rig.worker.lost)
		rig_turn(&rig);
	ok(!rig.worker.lost, "one that was not sent whole is given back");
}

/* The usage of an answer may come behind the next request. */
static void
test_waiting(void)
{
	int a, b;

	share(ONE, PROTO_SHARE_WHOLE);
	a = begin(11, 0);
	finish(a);
	share(ONE, PROTO_SHARE_WHOLE);
	b = begin(12, 0);
	asked();
	share(ONE, PROTO_SHARE_WHOLE);
	is_int((int64_t)rig.spent.held_tokens, ONE, "one has ended");
	settle(11, 1);
	finish(b);
	settle(12, 1);
	close(a);
	close(b);
	a = begin(13, 0);
	finish(a);
	b = begin(14, 0);
	refused(b, "mitmd never says what the one before has used");
	close(a);
}

static void
run(const struct server_ca *ca)
{
	struct rig_upstream u = {.host = "provider.test", .prefix = "",
	    .roots = pem, .port = server.port, .tls = true, .reuse = true};

	rig.provider = turns;
	rig_start(&rig, program, &u, RIG_KEY);
	share(LEFT, PROTO_SHARE_WHOLE);
	test_running();
	test_waiting();
	ok(!rig.worker.lost, "keyd goes on");
	rig_stop(&rig);
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
