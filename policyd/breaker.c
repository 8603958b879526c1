/* SPDX-License-Identifier: ISC */
/*
 * Counts identical calls.  Keys are SipHash-2-4 (Aumasson, Bernstein 2012)
 * under a random key, so that the agent cannot choose calls that collide.
 */
#include "breaker.h"

#include <sys/random.h>

#include <endian.h>
#include <stdlib.h>

#define SETS 512U
#define WAYS 4U

struct entry {
	uint32_t times[BREAKER_CALLS]; /* ring of times in ms */
	uint16_t first, n;
};

/* A search reads the first two members, which share a line of the cache. */
struct set {
	uint64_t hash[WAYS]; /* 0: free */
	uint32_t last[WAYS]; /* time of the last call, in ms */
	struct entry entries[WAYS];
};

struct breaker {
	uint64_t key[2];
	struct set sets[SETS];
};

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t
rotate(uint64_t x, unsigned b)
{
	return x << b | x >> (64 - b);
}

static void
sip_rounds(struct sip *s, unsigned n)
{
	while (n-- > 0) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static void
sip_word(struct sip *s, uint64_t m)
{
	s->v3 ^= m;
	sip_rounds(s, 2);
	s->v0 ^= m;
}

/* Hash one piece and its length, so that adjacent pieces cannot be confused. */
static void
sip_piece(struct sip *s, struct span in)
{
	uint64_t m, tail = (uint64_t)in.len << 8;
	size_t i = 0;

	for (; i + 8 <= in.len; i += 8) {
		memcpy(&m, in.p + i, 8);
		sip_word(s, le64toh(m));
	}
	m = 0;
	for (unsigned k = 0; i < in.len; i++, k++)
		m |= (uint64_t)in.p[i] << (8 * k);
	sip_word(s, m);
	sip_word(s, tail);
}

static uint64_t
key_of(const struct breaker *b, struct span server, struct span tool,
    struct span args)
{
	struct sip s = {
	    b->key[0] ^ 0x736f6d6570736575ULL,
	    b->key[1] ^ 0x646f72616e646f6dULL,
	    b->key[0] ^ 0x6c7967656e657261ULL,
	    b->key[1] ^ 0x7465646279746573ULL,
	};
	uint64_t h;

	sip_piece(&s, server);
	sip_piece(&s, tool);
	sip_piece(&s, args);
	s.v2 ^= 0xff;
	sip_rounds(&s, 4);
	h = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	return h == 0 ? 1 : h;
}

struct breaker *
breaker_new(void)
{
	struct breaker *b;

	if ((b = calloc(1, sizeof(*b))) == NULL)
		return NULL;
	if (getrandom(b->key, sizeof(b->key), 0) != sizeof(b->key)) {
		free(b);
		return NULL;
	}
	return b;
}

void
breaker_free(struct breaker *b)
{
	free(b);
}

/* Returns the place of the hash in the set; makes one if there is none. */
static unsigned
find(struct set *s, uint64_t hash, uint32_t now)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < WAYS; i++) {
		if (s->hash[i] == hash)
			return i;
	}
	for (unsigned i = 0; i < WAYS; i++) {
		if (s->hash[i] == 0) {
			oldest = i;
			break;
		}
		if (now - s->last[i] > now - s->last[oldest])
			oldest = i;
	}
	s->hash[oldest] = hash;
	s->entries[oldest].first = s->entries[oldest].n = 0;
	return oldest;
}

bool
breaker_allow(struct breaker *b, struct span server, struct span tool,
    struct span args, uint64_t now)
{
	uint64_t hash = key_of(b, server, tool, args);
	struct set *s = &b->sets[hash % SETS];
	uint32_t t = (uint32_t)now;
	unsigned i = find(s, hash, t);
	struct entry *e = &s->entries[i];

	while (e->n != 0 && t - e->times[e->first] >= BREAKER_WINDOW) {
		e->first = (uint16_t)((e->first + 1U) % BREAKER_CALLS);
		e->n--;
	}
	if (e->n == BREAKER_CALLS)
		return false;
	e->times[(e->first + e->n) % BREAKER_CALLS] = s->last[i] = t;
	e->n++;
	return true;
}
