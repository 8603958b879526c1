/* SPDX-License-Identifier: ISC */
/*
 * The running keyd and the arena that it shares with mitmd: more streams than
 * slots, a mitmd that gives none back, and one that lies. argv[1]: keyd.
 */
#include <stdlib.h>

#include "unit/keyd/play.h"

#define BIG 8388608U

static uint32_t stream;

/* Send an AT frame for a request of `length` bytes, which must be refused. */
static void
lie(const char *name, const struct arena_piece *p, uint64_t length)
{
	uint8_t frame[STREAM_HEADER + STREAM_AT_LEN];
	unsigned alarms = rig.nalarms;
	int fd = rig_stream(&rig, ++stream);

	rig_request(&rig, stream, 1, 0, "/t/ok", "", length);
	stream_at_pack(frame, 1, p);
	if (write(fd, frame, sizeof(frame)) != sizeof(frame))
		ok(false, "write");
	rig_answer(&rig, fd, 1, &answer);
	ok(answer.closed && strncmp(answer.fail, "400 ", 4) == 0,
	    "%s closes the stream (%s)", name, answer.fail);
	rig_until(&rig, &rig.nalarms, alarms + 1);
	is_str(rig.alarm, "stream-mismatch", "... with an alarm");
	close(fd);
}

static void
test_lies(void)
{
	struct arena_piece p, bad;
	uint8_t *at;

	start(&server, true, true, RIG_KEY);
	if ((at = arena_take(chan_arena(rig.mitm), 1, &p)) == NULL) {
		ok(false, "no slot");
		return;
	}
	memset(at, 'm', ARENA_SLOT);
	p.len = 1000;
	bad = p;
	bad.slot = ARENA_SLOTS;
	lie("a slot that is not there", &bad, 1000);
	bad.slot = UINT32_MAX;
	lie("another", &bad, 1000);
	bad = p;
	bad.len = 0;
	lie("a piece of no length", &bad, 1000);
	bad.len = ARENA_SLOT + 1;
	lie("a piece longer than a slot", &bad, ARENA_SLOT + 1);
	bad = p;
	lie("a piece longer than the rest of the body", &bad, 999);
	bad.round--;
	lie("a slot that was taken back", &bad, 1000);
	look(&server, false);
	is_int(seen.len == 0 || seen.body == 0, 1,
	    "no byte of all this reached the provider");
	rig_stop(&rig);
}

/* Ask for an answer of BIG bytes. */
static void
open_big(uint32_t id, int *fd)
{
	*fd = rig_stream(&rig, id);
	rig_request(&rig, id, 1, 1, "/t/big", "", 0);
}

static void
test_many(void)
{
	uint64_t want = 0;
	unsigned good = 0;
	int fds[2 * ARENA_SLOTS];

	start(&server, true, true, RIG_KEY);
	for (size_t i = 0; i < BIG; i++) {
		uint8_t byte = server_byte(i);

		want = server_sum(want, &byte, 1);
	}
	for (uint32_t i = 0; i < 2 * ARENA_SLOTS; i++)
		open_big(i + 1, &fds[i]);
	/* Nobody reads: all slots are given away, and all streams wait. */
	for (unsigned i = 0; i < 2 * ARENA_SLOTS; i++) {
		while (seen.len == 0) {
			rig_turn(&rig);
			look(&server, false);
		}
		seen.len = 0;
	}
	for (uint32_t i = 0; i < 4; i++) {
		rig_answer(&rig, fds[2 * ARENA_SLOTS - 1 - i], 1, &answer);
		good += answer.ended && answer.len == BIG && answer.sum == want;
	}
	is_int(good, 4, "streams without a slot go on");
	good = 0;
	for (uint32_t i = 0; i < 4; i++) {
		rig_answer(&rig, fds[i], 1, &answer);
		good += answer.ended && answer.len == BIG && answer.sum == want;
	}
	is_int(good, 4, "and so do those that have waited with their share");
	for (uint32_t i = 0; i < 2 * ARENA_SLOTS; i++)
		close(fds[i]);
	rig_until(&rig, &rig.nends, 2 * ARENA_SLOTS);
	is_int(rig.nends, 2 * ARENA_SLOTS, "the others are given up");
	open_big(2 * ARENA_SLOTS + 1, &fds[0]);
	rig_answer(&rig, fds[0], 1, &answer);
	ok(answer.ended && answer.len == BIG && answer.sum == want,
	    "a new stream is served, whatever became of their slots");
	close(fds[0]);
	rig_stop(&rig);
}

/* An answer before the body was read: the rest of the slot is discarded. */
static void
test_early(void)
{
	static uint8_t body[100000];
	int fd;

	start(&server, true, true, RIG_KEY);
	fd = rig_stream(&rig, 1);
	memset(body, 'e', sizeof(body));
	rig_request(&rig, 1, 1, 3, "/log/early", "", 3 * sizeof(body));
	rig_body(&rig, fd, 1, body, sizeof(body));
	rig_answer(&rig, fd, 1, &answer);
	ok(answer.ended, "an answer before the whole body");
	rig_body(&rig, fd, 1, body, sizeof(body));
	rig_body(&rig, fd, 1, body, sizeof(body));
	rig_request(&rig, 1, 2, 1, "/t/ok", "", 0);
	rig_answer(&rig, fd, 2, &answer);
	ok(answer.ended && answer.status == 200,
	    "the rest is discarded, and the stream goes on");
	close(fd);
	rig_stop(&rig);
}

/*
 * Frames that keyd reads with one call: 'b' is a BODY frame of 1,000 bytes, 'B'
 * one of 30,000, and 'A' an AT frame of a whole slot.
 */
static const struct {
	const char *frames;
	bool early; /* the request is answered before its body */
} mixes[] = {
    {"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbA", false},
    {"BBA", false},
    {"bBAb", false},
    {"BBAAbAAbb", false},
    {"AbBAbAbBA", false},
    {"BBAbA", true},
};

/* Compose the frames, with the next bytes of the body. Returns their length. */
static size_t
mix_compose(const char *frames, uint8_t *dst, uint64_t *length, uint64_t *sum)
{
	static uint8_t bytes[ARENA_SLOT];
	struct arena *a = chan_arena(rig.mitm);
	struct stream_frame f = {1, STREAM_BODY, 0};
	struct arena_piece p;
	uint8_t *at = dst, *slot;

	*length = *sum = 0;
	for (; *frames != '\0'; frames++) {
		f.len = *frames == 'A'   ? ARENA_SLOT
			: *frames == 'B' ? 30000
					 : 1000;
		for (size_t i = 0; i < f.len; i++)
			bytes[i] = server_byte(*length + i);
		*length += f.len;
		*sum = server_sum(*sum, bytes, f.len);
		if (*frames != 'A') {
			stream_pack(at, &f);
			memcpy(at + STREAM_HEADER, bytes, f.len);
			at += STREAM_HEADER + f.len;
			continue;
		}
		if ((slot = arena_take(a, 1, &p)) == NULL)
			return 0;
		memcpy(slot, bytes, ARENA_SLOT);
		p.len = ARENA_SLOT;
		stream_at_pack(at, 1, &p);
		at += STREAM_HEADER + STREAM_AT_LEN;
	}
	return (size_t)(at - dst);
}

/* Bytes that stand before and behind slots in one read keep their order. */
static void
test_mixes(const struct server_ca *ca)
{
	static uint8_t all[2 * STREAM_MAX_FRAME];
	struct server own;
	uint64_t length, sum;
	size_t len;
	int fd;

	serve(&own, ca, "provider.test", -60, 3600, false);
	for (size_t i = 0; i < nitems(mixes); i++) {
		start(&own, true, true, RIG_KEY);
		fd = rig_stream(&rig, 1);
		len = mix_compose(mixes[i].frames, all, &length, &sum);
		/* keyd reads nothing until dialerd, played here, has dialed. */
		rig_request(&rig, 1, 1, mixes[i].early ? 3 : 0,
		    mixes[i].early ? "/log/early" : "/t/ok", "", length);
		is_int(write(fd, all, len), (long)len, "%s: written at once",
		    mixes[i].frames);
		rig_answer(&rig, fd, 1, &answer);
		is_str(answer.fail, "", "nothing fails");
		ok(answer.ended && answer.status == 200, "it is answered");
		if (!mixes[i].early && answer.ended) {
			look(&own, true);
			ok(seen.body == length && seen.sum == sum,
			    "the provider has every byte in its place");
		}
		rig_request(&rig, 1, 2, 1, "/t/ok", "", 0);
		rig_answer(&rig, fd, 2, &answer);
		ok(answer.ended && answer.status == 200,
		    "the stream serves the next request");
		look(&own, answer.ended);
		close(fd);
		rig_stop(&rig);
	}
	server_stop(&own);
}

static void
run(const struct server_ca *ca)
{
	test_lies();
	test_many();
	test_early();
	test_mixes(ca);
}

int
main(int argc, char **argv)
{
	if (setenv(RIG_ARENA, "1", 1) == -1)
		return 1;
	return play(argc, argv, run);
}
