/* SPDX-License-Identifier: ISC */
/* Shared by the builder of the forms and the search for them. */
#ifndef KEYD_SCRUB_FORM_H
#define KEYD_SCRUB_FORM_H

#include "keyd/scrub.h"

#define SCRUB_GRAM 4U /* bytes per entry of the table */

/* Returns `bits` bits of a hash of these four bytes. */
static inline uint32_t
scrub_bits(const uint8_t *p, unsigned bits)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return (w * 0x9e3779b1U) >> (32 - bits);
}

static inline uint32_t
scrub_hash(const struct scrub *s, const uint8_t *p)
{
	return scrub_bits(p, s->bits);
}

/* The lowest bit is set if the table may have these four bytes. */
static inline unsigned
scrub_marked(const struct scrub *s, const uint8_t *p)
{
	uint32_t w = scrub_bits(p, s->mark_bits);

	return (unsigned)s->marks[w >> 3] >> (w & 7);
}

static inline void
scrub_mark(const struct scrub *s, const uint8_t *p)
{
	uint32_t w = scrub_bits(p, s->mark_bits);

	s->marks[w >> 3] |= (uint8_t)(1U << (w & 7));
}

static inline size_t
scrub_window(const struct scrub_form *f)
{
	return f->len < SCRUB_WINDOW ? f->len : SCRUB_WINDOW;
}

/* Not memcmp(), which the style reserves for data that is not secret. */
static inline bool
scrub_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

#endif
