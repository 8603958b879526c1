/* SPDX-License-Identifier: ISC */
/*
 * Amazon's event streams through mitmd: they pass unchanged, however they are
 * split. If the budget ends one, the agent always gets complete messages, and a
 * last one with the reason.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

#include "tap.h"
#include "unit/mitmd/rig.h"

#define LONG 70000U
#define TYPE "application/vnd.amazon.eventstream"
#define LAST "validationException"

static uint8_t got[256 << 10];
static size_t ngot;

static void
put_u32(struct buf *b, uint32_t n)
{
	uint8_t p[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16),
	    (uint8_t)(n >> 8), (uint8_t)n};

	buf_add(b, p, 4);
}

/* Append a message without headers, of `len` spaces. */
static void
message(struct buf *b, size_t len)
{
	size_t at = b->len;

	put_u32(b, (uint32_t)(16 + len));
	put_u32(b, 0);
	put_u32(b, (uint32_t)crc32(0, b->p + b->off + at, 8));
	for (size_t i = 0; i < len; i++)
		buf_addc(b, ' ');
	put_u32(b, (uint32_t)crc32(0, b->p + b->off + at, (uInt)(b->len - at)));
}

/* Join the chunks of an answer in place. */
static void
join(void)
{
	uint8_t *p = memmem(got, ngot, "\r\n\r\n", 4), *end = got + ngot;
	uint8_t *to = got;
	size_t n;

	p = p == NULL ? end : p + 4;
	while (p < end && (n = strtoul((char *)p, NULL, 16)) != 0) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (p == NULL || n > (size_t)(end - p) - 1)
			break;
		memmove(to, p + 1, n);
		to += n;
		p += n + 3;
	}
	ngot = (size_t)(to - got);
}

/* Read to the end of the answer. Returns true if it ended properly. */
static bool
receive(SSL *s)
{
	uint64_t end = clock_mono_us() + 5000000;
	bool whole = false;
	size_t n;

	ngot = 0;
	while (!whole && clock_mono_us() < end) {
		if (SSL_read_ex(s, got + ngot, sizeof(got) - 1 - ngot, &n) == 1)
			ngot += n;
		else if (SSL_get_error(s, 0) == SSL_ERROR_WANT_READ)
			rig_turn(5);
		else
			break;
		whole =
		    ngot > 7 && memcmp(got + ngot - 7, "\r\n0\r\n\r\n", 7) == 0;
	}
	got[ngot] = '\0';
	return whole;
}

static bool
take(SSL *s)
{
	bool whole = receive(s);

	join();
	return whole;
}

/* Send body bytes as keyd, while the agent reads. */
static void
give(const uint8_t *p, size_t len)
{
	size_t n;

	for (; len != 0; p += n, len -= n) {
		n = len < 16384 ? len : 16384;
		rig_frame(STREAM_BODY, p, n);
		rig_turn(0);
	}
}

static SSL *
begin(unsigned framing, uint64_t length)
{
	unsigned n = rig.req.count;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, "POST /v1/turns HTTP/1.1\r\n" HOST KEY JSON
	       "content-length: 2\r\n\r\n{}");
	if (!rig_requested(n + 1))
		errx(1, "no request came");
	rig_head_of(TYPE, 200, framing, length);
	return s;
}

static void
spent(void)
{
	static const char text[] = "\0"
				   "402 maxTotalTokens is 50. icctl "
				   "budget set";

	rig_frame(STREAM_FAIL, text, sizeof(text) - 1);
}

static bool
says_why(const uint8_t *p, size_t len)
{
	return memmem(p, len, LAST, sizeof(LAST) - 1) != NULL &&
	       memmem(p, len, "icctl budget set", 16) != NULL && len >= 16 &&
	       (p[2] << 8 | p[3]) == (int)len;
}

static void
test_cut(struct span s, size_t first)
{
	size_t bad = 0, want;
	SSL *ssl;

	for (size_t cut = 0; cut <= s.len; cut++) {
		ssl = begin(2, 0);
		give(s.p, cut);
		spent();
		want = cut < first ? 0 : cut < s.len ? first : s.len;
		if (!take(ssl) || ngot < want || memcmp(got, s.p, want) != 0 ||
		    !says_why(got + want, ngot - want)) {
			if (bad++ == 0)
				printf("# cut at %zu: %zu bytes\n", cut, ngot);
		}
		rig_close(ssl);
	}
	is_int(bad, 0,
	    "cut at each place: whole messages, and one that says "
	    "why");
}

/* If no message can follow, the answer is just cut. */
static void
test_silent(struct span s, struct span lasting)
{
	uint8_t wrong[64];
	SSL *ssl = begin(1, s.len);

	give(s.p, s.len - 1);
	spent();
	ok(!receive(ssl) && memmem(got, ngot, LAST, sizeof(LAST) - 1) == NULL,
	    "where a length was promised nothing follows");
	rig_close(ssl);
	ssl = begin(2, 0);
	give(lasting.p, lasting.len - 1);
	spent();
	ok(!take(ssl) && ngot == lasting.len - 1,
	    "nor within a message that is too long to wait for");
	rig_close(ssl);
	memset(wrong, 'x', sizeof(wrong));
	ssl = begin(2, 0);
	give(wrong, sizeof(wrong));
	spent();
	ok(!take(ssl) && ngot == sizeof(wrong) && memcmp(got, wrong, ngot) == 0,
	    "nor after what is no message");
	rig_close(ssl);
}

static void
test_through(struct span s, const char *name, size_t step, size_t len)
{
	SSL *ssl = begin(2, 0);

	for (size_t at = 0; at < len; at += step)
		give(s.p + at, step < len - at ? step : len - at);
	rig_frame(STREAM_END, NULL, 0);
	ok(take(ssl) && ngot == len && memcmp(got, s.p, len) == 0, "%s", name);
	rig_close(ssl);
}

int
main(int argc, char **argv)
{
	struct buf two, lasting;
	size_t first;
	SSL *s;

	if (argc != 2)
		return 2;
	buf_init(&two, 4096);
	message(&two, 20);
	first = two.len;
	message(&two, 33);
	buf_init(&lasting, 1U << 20);
	message(&lasting, LONG);
	rig_start(argv[1]);
	test_cut(buf_span(&two), first);
	test_silent(buf_span(&two), buf_span(&lasting));
	test_through(buf_span(&two), "whole", two.len, two.len);
	test_through(buf_span(&two), "byte by byte", 1, two.len);
	test_through(
	    buf_span(&two), "the provider's own half message", 7, two.len - 3);
	message(&lasting, 5);
	test_through(buf_span(&lasting), "a long one", 1000, lasting.len);
	s = begin(2, 0);
	give(buf_span(&lasting).p, lasting.len - 4);
	spent();
	ok(take(s) && ngot > LONG + 16 &&
		says_why(got + LONG + 16, ngot - LONG - 16),
	    "after a long one there is a place again");
	rig_close(s);
	ok(rig_alive(), "mitmd survived it all%s%s",
	    rig.why[0] != '\0' ? ": " : "", rig.why);
	rig_stop();
	buf_free(&two);
	buf_free(&lasting);
	return tap_done();
}
