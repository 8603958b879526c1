/* SPDX-License-Identifier: ISC */
/* Steps over the bytes of a text that are counted as work. */
#include "common/mask/mask_priv.h"

bool
mask_among(uint8_t c, const char *set)
{
	return c != 0 && strchr(set, c) != NULL;
}

size_t
mask_past(struct mask_scan *m, size_t at, size_t to, const char *set)
{
	const size_t from = at;

	while (at < to && mask_among(m->s.p[at], set))
		at++;
	m->steps += at - from + 1;
	return at;
}

size_t
mask_line_end(struct mask_scan *m, size_t at)
{
	const uint8_t *p = memchr(m->s.p + at, '\n', m->s.len - at);
	const size_t end = p == NULL ? m->s.len : (size_t)(p - m->s.p);

	m->steps += end - at + 1;
	return end;
}
