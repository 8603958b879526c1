/* SPDX-License-Identifier: ISC */
/*
 * Detects duplicate member names: the names of all open objects, on a stack
 * (objects close in reverse order) threaded through a hash table. The hash is
 * SipHash-1-3 with the caller's seed.
 */
#include "body/json.h"

static uint64_t
keys_rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void
keys_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = keys_rotl(v[1], 13) ^ v[0];
	v[3] = keys_rotl(v[3], 16) ^ v[2];
	v[0] = keys_rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = keys_rotl(v[1], 17) ^ v[2];
	v[3] = keys_rotl(v[3], 21) ^ v[0];
	v[2] = keys_rotl(v[2], 32);
}

static uint32_t
keys_hash(const uint64_t seed[2], struct span s)
{
	uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575ULL,
	    seed[1] ^ 0x646f72616e646f6dULL, seed[0] ^ 0x6c7967656e657261ULL,
	    seed[1] ^ 0x7465646279746573ULL};
	uint64_t w;
	size_t left = s.len;
	const uint8_t *p = s.p;

	for (;;) {
		w = 0;
		memcpy(&w, p, left < 8 ? left : 8);
		if (left < 8)
			break;
		v[3] ^= w;
		keys_round(v);
		v[0] ^= w;
		p += 8;
		left -= 8;
	}
	w |= (uint64_t)s.len << 56;
	v[3] ^= w;
	keys_round(v);
	v[0] ^= w;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		keys_round(v);
	w = v[0] ^ v[1] ^ v[2] ^ v[3];
	return (uint32_t)(w ^ w >> 32);
}

/* Returns the name without escapes; uses `buf` only if there are any. */
static struct span
keys_plain(struct span s, uint8_t buf[BODY_MAX_KEY])
{
	int n;

	if (s.len == 0 || memchr(s.p, '\\', s.len) == NULL)
		return s;
	/* An escape is never shorter than its meaning. */
	n = body_json_unescape(s, buf, BODY_MAX_KEY);
	return span_of(buf, n < 0 ? 0 : (size_t)n);
}

/* Returns 0, 1 if the name is a duplicate, or -1 if a limit is exceeded. */
int
body_keys_add(struct body_json *j, struct span key)
{
	uint8_t mine[BODY_MAX_KEY], other[BODY_MAX_KEY];
	struct body_key *k;
	struct span plain;
	uint32_t hash, *bucket;

	if (key.len > BODY_MAX_KEY || j->nkeys == BODY_MAX_KEYS)
		return -1;
	plain = keys_plain(key, mine);
	/* The depth identifies the object: only one is open at each depth. */
	hash = keys_hash(j->seed, plain) + j->depth * 0x9e3779b1U;
	bucket = &j->bucket[hash % BODY_BUCKETS];
	for (uint32_t i = *bucket; i != 0; i = k->next) {
		k = &j->keys[i - 1];
		if (k->hash == hash && k->depth == j->depth &&
		    span_eq(
			keys_plain(span_of(j->base + k->off, k->len), other),
			plain))
			return 1;
	}
	k = &j->keys[j->nkeys++];
	*k = (struct body_key){.off = (uint32_t)(key.p - j->base),
	    .len = (uint32_t)key.len,
	    .hash = hash,
	    .next = *bucket,
	    .depth = (uint16_t)j->depth};
	*bucket = j->nkeys;
	return 0;
}

void
body_keys_drop(struct body_json *j, uint32_t first)
{
	const struct body_key *k;

	while (j->nkeys > first) {
		k = &j->keys[--j->nkeys];
		j->bucket[k->hash % BODY_BUCKETS] = k->next;
	}
}
