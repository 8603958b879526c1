/* SPDX-License-Identifier: ISC */
/* What building the forms and searching for them have in common. */
#ifndef KEYD_SCRUB_FORM_H
#define KEYD_SCRUB_FORM_H

#include "keyd/scrub.h"

#define SCRUB_GRAM 4U /* bytes that the table looks at */

static inline uint32_t
scrub_hash(const struct scrub *s, const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return (w * 0x9e3779b1U) >> (32 - s->bits);
}

static inline size_t
scrub_window(const struct scrub_form *f)
{
	return f->len < SCRUB_WINDOW ? f->len : SCRUB_WINDOW;
}

/* Not memcmp: that is for what is not secret. */
static inline bool
scrub_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

#endif
