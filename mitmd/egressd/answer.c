/* SPDX-License-Identifier: ISC */
/*
 * Tells a HelloRetryRequest from every other answer of a host. After one, the
 * server may send a second ClientHello in clear text, by which a host can
 * choose whom it serves. The host is trusted as far as it matters here: one
 * that lies to itself about its own answer gains nothing.
 */
#include "egressd/hello.h"

#include <string.h>

#define RECORD_CHANGE 20U
#define RECORD_ALERT 21U
#define RECORD_HANDSHAKE 22U
#define RECORD_DATA 23U
#define RECORD_MAX 16384U
#define RECORD_HEAD 5U
#define HANDSHAKE_SERVER_HELLO 2U
#define RANDOM_AT 6U

/* SHA-256 of "HelloRetryRequest" (RFC 8446, 4.1.3). */
static const uint8_t answer_retry[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a,
    0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2,
    0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8,
    0x33, 0x9c};

/* Begin the record whose header is complete. Returns false if it is no TLS. */
static bool
answer_record(struct answer *a)
{
	a->left = (size_t)a->head[3] << 8 | a->head[4];
	return (a->head[0] == RECORD_ALERT || a->head[0] == RECORD_HANDSHAKE) &&
	       a->head[1] == 3 && a->left != 0 && a->left <= RECORD_MAX;
}

static enum answer_result
answer_byte(struct answer *a, uint8_t byte)
{
	if (a->left == 0) {
		a->head[a->nhead++] = byte;
		if (a->nhead < sizeof(a->head))
			return ANSWER_MORE;
		a->nhead = 0;
		return answer_record(a) ? ANSWER_MORE : ANSWER_OTHER;
	}
	a->left--;
	if (a->head[0] == RECORD_ALERT)
		return ANSWER_MORE;
	a->body[a->nbody++] = byte;
	if (a->body[0] != HANDSHAKE_SERVER_HELLO)
		return ANSWER_OTHER;
	if (a->nbody < sizeof(a->body))
		return ANSWER_MORE;
	return memcmp(
		   a->body + RANDOM_AT, answer_retry, sizeof(answer_retry)) == 0
		   ? ANSWER_RETRY
		   : ANSWER_OTHER;
}

enum answer_result
answer_feed(struct answer *a, struct span s)
{
	enum answer_result r = ANSWER_MORE;

	for (size_t i = 0; r == ANSWER_MORE && i < s.len; i++)
		r = answer_byte(a, s.p[i]);
	return r;
}

size_t
answer_skip(struct span s)
{
	size_t at = 0, n;

	while (s.len - at >= RECORD_HEAD &&
	       (s.p[at] == RECORD_CHANGE || s.p[at] == RECORD_DATA)) {
		n = RECORD_HEAD + ((size_t)s.p[at + 3] << 8 | s.p[at + 4]);
		if (n > s.len - at)
			break;
		at += n;
	}
	return at;
}
