/* SPDX-License-Identifier: ISC */
/* Fingerprints and keyed digests of the values that known.c finds. */
#include "common/mask/mask_priv.h"

#include "common/sha256.h"

unsigned
mask_known_head(size_t len)
{
	return len < MASK_KNOWN_HEAD ? (unsigned)len : MASK_KNOWN_HEAD;
}

uint64_t
mask_known_number(const uint8_t key[MASK_KEY], size_t at)
{
	uint64_t n = 0;

	for (size_t i = 0; i < sizeof(n); i++)
		n = n << 8 | key[at + i];
	return n | 1U;
}

uint64_t
mask_known_sum(uint64_t base, const uint8_t *p, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = sum * base + p[i] + 1U;
	return sum;
}

void
mask_known_digest(const uint8_t key[MASK_KEY], const uint8_t *p, size_t n,
    uint8_t digest[MASK_DIGEST])
{
	const struct span parts[] = {span_of(key, MASK_KEY), span_of(p, n)};

	sha256_spans(parts, nitems(parts), digest);
}

void
mask_known_row(
    const uint8_t key[MASK_KEY], struct span value, struct mask_known_row *r)
{
	const unsigned n = mask_known_head(value.len);

	r->len = value.len < UINT32_MAX ? (uint32_t)value.len : UINT32_MAX;
	r->print = mask_known_print(mask_known_number(key, 8),
	    mask_known_sum(mask_known_number(key, 0), value.p, n));
	mask_known_digest(key, value.p, n, r->digest);
}
