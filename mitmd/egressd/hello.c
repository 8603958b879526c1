/* SPDX-License-Identifier: ISC */
#include "egressd/hello.h"

#include <string.h>

#define RECORD_HEAD 5U
#define RECORD_MAX 16384U
#define RECORD_HANDSHAKE 22U
#define HANDSHAKE_CLIENT_HELLO 1U
#define EXTENSION_NAME 0U
#define EXTENSION_ECH 0xfe0dU

/* Take `n` bytes off the front. Returns false if there are fewer. */
static bool
take(struct span *s, size_t n, struct span *out)
{
	if (s->len < n)
		return false;
	*out = span_of(s->p, n);
	s->p += n;
	s->len -= n;
	return true;
}

/* Take a number of `bytes` bytes. */
static bool
take_number(struct span *s, size_t bytes, size_t *n)
{
	struct span raw;

	if (!take(s, bytes, &raw))
		return false;
	*n = 0;
	for (size_t i = 0; i < bytes; i++)
		*n = *n << 8 | raw.p[i];
	return true;
}

/* Take a vector whose length is a number of `bytes` bytes before it. */
static bool
take_vector(struct span *s, size_t bytes, struct span *out)
{
	size_t n;

	return take_number(s, bytes, &n) && take(s, n, out);
}

/* server_name: a list of exactly one host_name. */
static bool
hello_name(struct span s, struct hello *h)
{
	struct span list, name;
	size_t type;

	return take_vector(&s, 2, &list) && s.len == 0 &&
	       take_number(&list, 1, &type) && type == 0 &&
	       take_vector(&list, 2, &name) && list.len == 0 &&
	       egress_host(name, h->name) == 0;
}

static enum hello_result
hello_extensions(struct span s, struct hello *h)
{
	bool named = false;
	struct span body;
	size_t type;

	while (s.len != 0) {
		if (!take_number(&s, 2, &type) || !take_vector(&s, 2, &body))
			return HELLO_BAD;
		if (type == EXTENSION_ECH)
			h->ech = true;
		if (type != EXTENSION_NAME)
			continue;
		if (named || !hello_name(body, h))
			return HELLO_BAD;
		named = true;
	}
	return named ? HELLO_NAMED : HELLO_NAMELESS;
}

/* Parse what follows the handshake's header. */
static enum hello_result
hello_body(struct span s, struct hello *h)
{
	struct span fixed, id, ciphers, methods, extensions;

	if (!take(&s, 34, &fixed) || fixed.p[0] != 3 ||
	    !take_vector(&s, 1, &id) || id.len > 32 ||
	    !take_vector(&s, 2, &ciphers) || ciphers.len < 2 ||
	    ciphers.len % 2 != 0 || !take_vector(&s, 1, &methods) ||
	    methods.len == 0)
		return HELLO_BAD;
	if (s.len == 0)
		return HELLO_NAMELESS;
	if (!take_vector(&s, 2, &extensions) || s.len != 0)
		return HELLO_BAD;
	return hello_extensions(extensions, h);
}

/* Check as much of a record's header as is there. */
static enum hello_result
hello_record(struct span s, bool first, size_t *payload)
{
	const enum hello_result wrong = first ? HELLO_OTHER : HELLO_BAD;

	if ((s.len >= 1 && s.p[0] != RECORD_HANDSHAKE) ||
	    (s.len >= 2 && s.p[1] != 3) ||
	    (s.len >= 3 && (s.p[2] == 0 || s.p[2] > 4)))
		return wrong;
	if (s.len < RECORD_HEAD)
		return HELLO_MORE;
	*payload = (size_t)s.p[3] << 8 | s.p[4];
	return *payload == 0 || *payload > RECORD_MAX ? HELLO_BAD : HELLO_NAMED;
}

/*
 * Look at the fragments so far. Sets *whole if they are a ClientHello, of which
 * `n` bytes are there with the rest of this record.
 */
static enum hello_result
hello_so_far(const uint8_t *b, size_t have, size_t n, bool *whole)
{
	size_t want;

	*whole = false;
	if (have >= 1 && b[0] != HANDSHAKE_CLIENT_HELLO)
		return HELLO_BAD;
	if (have < 4)
		return HELLO_MORE;
	want = 4 + ((size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3]);
	/* Nothing may follow it in its record, for keys change behind it. */
	if (want > HELLO_MAX || n > want)
		return HELLO_BAD;
	*whole = have == want;
	return HELLO_MORE;
}

enum hello_result
hello_parse(struct span in, struct hello *h)
{
	uint8_t body[HELLO_MAX] UNCLEARED;
	const uint8_t *start = in.p;
	size_t have = 0, payload, part;
	enum hello_result r;
	bool first = true, whole, full = in.len >= HELLO_MAX_RAW;

	memset(h, 0, sizeof(*h));
	if (full)
		in.len = HELLO_MAX_RAW;
	for (;; first = false) {
		r = hello_record(in, first, &payload);
		if (r == HELLO_MORE && full)
			return HELLO_BAD;
		if (r != HELLO_NAMED)
			return r;
		part = in.len - RECORD_HEAD < payload ? in.len - RECORD_HEAD
						      : payload;
		if (part > sizeof(body) - have)
			return HELLO_BAD;
		memcpy(body + have, in.p + RECORD_HEAD, part);
		r = hello_so_far(body, have + part, have + payload, &whole);
		have += part;
		if (r == HELLO_BAD)
			return r;
		if (whole) {
			h->used =
			    (size_t)(in.p - start) + RECORD_HEAD + payload;
			return hello_body(span_of(body + 4, have - 4), h);
		}
		if (part < payload)
			return full ? HELLO_BAD : HELLO_MORE;
		in.p += RECORD_HEAD + payload;
		in.len -= RECORD_HEAD + payload;
	}
}
