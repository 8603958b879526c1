/* SPDX-License-Identifier: ISC */
/*
 * The values that the session has, in a process that does not have them. A sum
 * over as many bytes as a value has rolls along the text; where its fingerprint
 * is that of a value, the keyed digest decides. The fingerprint has 16 bits
 * only, because a sum of full length could be solved for a short value.
 */
#include "common/mask/mask_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "common/sha256.h"

struct mask_known {
	uint8_t key[MASK_KEY];
	uint64_t base, turn; /* odd numbers made from the key */
	unsigned n, nlengths;
	unsigned lengths[MASK_KNOWN_HEAD + 1];      /* ascending */
	uint64_t last[MASK_KNOWN_HEAD + 1];         /* base to the length - 1 */
	unsigned first[MASK_KNOWN_HEAD + 2];        /* row of each length */
	struct mask_known_row rows[MASK_KNOWN_MAX]; /* by length */
};

struct mask_known *
mask_known_new(const uint8_t key[MASK_KEY])
{
	struct mask_known *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	memcpy(k->key, key, MASK_KEY);
	k->base = mask_known_number(key, 0);
	k->turn = mask_known_number(key, 8);
	return k;
}

void
mask_known_free(struct mask_known *k)
{
	if (k != NULL)
		explicit_bzero(k, sizeof(*k));
	free(k);
}

bool
mask_known_keyed(const struct mask_known *k, const uint8_t key[MASK_KEY])
{
	return memcmp(k->key, key, MASK_KEY) == 0;
}

/* Derive the lengths and the first row of each. */
static void
known_derive(struct mask_known *k)
{
	unsigned n = 0, head;

	for (unsigned i = 0; i < k->n; i++) {
		head = mask_known_head(k->rows[i].len);
		if (n != 0 && k->lengths[n - 1] == head)
			continue;
		k->lengths[n] = head;
		k->first[n] = i;
		k->last[n] = 1;
		for (unsigned e = 1; e < head; e++)
			k->last[n] *= k->base;
		n++;
	}
	k->first[n] = k->n;
	k->nlengths = n;
}

int
mask_known_add(struct mask_known *k, const struct mask_known_row *r)
{
	unsigned at = 0;

	if (r->len < MASK_KNOWN_LEAST) {
		errno = EINVAL;
		return -1;
	}
	for (; at < k->n && k->rows[at].len <= r->len; at++)
		if (k->rows[at].len == r->len &&
		    memcmp(k->rows[at].digest, r->digest, MASK_DIGEST) == 0)
			return 0;
	if (k->n == MASK_KNOWN_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	memmove(
	    k->rows + at + 1, k->rows + at, (k->n - at) * sizeof(k->rows[0]));
	k->rows[at] = *r;
	k->n++;
	known_derive(k);
	return 0;
}

void
mask_roll_init(
    struct mask_rolling *r, const struct mask_known *k, struct span s)
{
	r->known = k;
	r->at = 0;
	r->steps = 0;
	for (unsigned i = 0; k != NULL && i < k->nlengths; i++) {
		r->sums[i] = k->lengths[i] <= s.len
				 ? mask_known_sum(k->base, s.p, k->lengths[i])
				 : 0;
		r->steps += k->lengths[i];
	}
}

/* Returns the length of the longest value of length `i` at `at`, or 0. */
static size_t
known_find(struct mask_rolling *r, struct span s, size_t at, unsigned i)
{
	const struct mask_known *k = r->known;
	const uint16_t print = mask_known_print(k->turn, r->sums[i]);
	uint8_t digest[MASK_DIGEST];
	bool done = false;
	size_t longest = 0;

	for (unsigned n = k->first[i]; n < k->first[i + 1]; n++) {
		if (k->rows[n].print != print)
			continue;
		if (!done)
			mask_known_digest(
			    k->key, s.p + at, k->lengths[i], digest);
		r->steps += done ? 0 : k->lengths[i];
		done = true;
		if (memcmp(digest, k->rows[n].digest, MASK_DIGEST) == 0)
			longest = k->rows[n].len;
	}
	return longest;
}

size_t
mask_roll(struct mask_rolling *r, struct span s, size_t at)
{
	const struct mask_known *k = r->known;
	size_t longest = 0, n;
	unsigned len;

	for (unsigned i = 0; k != NULL && i < k->nlengths; i++) {
		len = k->lengths[i];
		if (len > s.len - at)
			break;
		r->steps++;
		if (at != 0)
			r->sums[i] =
			    (r->sums[i] - k->last[i] * (s.p[at - 1] + 1U)) *
				k->base +
			    s.p[at + len - 1] + 1U;
		if ((n = known_find(r, s, at, i)) > longest)
			longest = n;
	}
	if (longest > s.len - at)
		longest = s.len - at;
	return longest == 0 ? 0 : at + longest;
}
