/* SPDX-License-Identifier: ISC */
/*
 * The running keyd, and a provider whose last bytes and the end of its
 * connection arrive at once, after which it waits: keyd has no other event.
 * argv[1]: keyd.
 */
#include <stdio.h>

#include "tls_end.h"
#include "unit/keyd/play.h"

#define FAIL_CUT "502 the provider's answer ended too early"

static uint32_t stream;
static const unsigned sizes[] = {0, 1, 16383, 16384, 65536, 65537, 250000};

/* Each framing, and for each end whether the answer is whole with it. */
static const struct {
	const char *name;
	bool whole[TLS_ENDS];
} framings[] = {
    {"close", {[TLS_END_NOTIFY] = true}},
    {"length", {true, true, true}},
    {"chunks", {true, true, true}},
    {"cut", {false, false, false}},
};

static void
row(const char *framing, enum tls_end end, unsigned size, bool whole)
{
	uint64_t want = 0;
	char path[64];
	int fd;

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = server_byte(i);

		want = server_sum(want, &byte, 1);
	}
	/* A chunk of no bytes would be the last one. */
	if (strcmp(framing, "close") != 0 && strcmp(framing, "length") != 0 &&
	    size == 0)
		return;
	snprintf(path, sizeof(path), "/t/%s-%s-%u", tls_end_names[end], framing,
	    size);
	fd = rig_stream(&rig, ++stream);
	post(fd, stream, 1, path, "{}");
	ok(answer.ended == whole, "%s: whole or not", path);
	is_str(answer.fail, whole ? "" : FAIL_CUT, "%s: said so", path);
	ok(answer.len == size && answer.sum == want,
	    "%s: every byte before the end", path);
	look(&server, true);
	close(fd);
}

static void
test_answers(void)
{
	start(&server, true, true, RIG_KEY);
	for (size_t f = 0; f < nitems(framings); f++)
		for (unsigned end = 0; end < TLS_ENDS; end++)
			for (size_t i = 0; i < nitems(sizes); i++)
				row(framings[f].name, (enum tls_end)end,
				    sizes[i], framings[f].whole[end]);
	is_int(rig.nalarms, 0, "no alarm");
	rig_stop(&rig);
}

/* An answer whose end came with it is not followed by another request. */
static void
test_again(void)
{
	unsigned first;
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, ++stream);
	post(fd, stream, 1, "/t/notify-length-5", "{}");
	look(&server, true);
	first = seen.conn;
	post(fd, stream, 2, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"), "the next request is answered");
	look(&server, true);
	ok(seen.conn != first, "on another connection");
	close(fd);
	rig_stop(&rig);
}

/* The end of a connection comes with the end of its handshake. */
static void
test_first(const struct server_ca *ca)
{
	struct server own;
	int fd;

	/* The one that the request waits for, and the spare. */
	server_ends_first = 2;
	serve(&own, ca, "provider.test", -60, 3600, true);
	server_ends_first = 0;
	start(&own, true, true, RIG_KEY);
	fd = rig_stream(&rig, ++stream);
	post(fd, stream, 1, "/t/ok", "{}");
	ok(strncmp(answer.fail, "502 no trusted TLS", 18) == 0,
	    "a connection that ended with its handshake gets no request (%s)",
	    answer.fail);
	is_str(rig.end.error, "closed right after the handshake",
	    "the log says why");
	close(fd);
	fd = rig_stream(&rig, ++stream);
	post(fd, stream, 1, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"), "the next one is used");
	look(&own, true);
	ok(seen.conn > 2, "and had no request before");
	close(fd);
	rig_stop(&rig);
	server_stop(&own);
}

static void
run(const struct server_ca *ca)
{
	test_answers();
	test_again();
	test_first(ca);
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
