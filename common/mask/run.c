/* SPDX-License-Identifier: ISC */
/*
 * Runs of characters of one class. The latest are remembered, so that each is
 * walked once, however many places of it a form may begin at.
 */
#include "common/mask/mask_priv.h"

#define B(class) (1U << (class))
#define LINE B(MASK_LINE)
#define IN_WORD (B(MASK_WORD) | B(MASK_URL64) | B(MASK_DOTTED) | B(MASK_NAME))
#define OF_WORD (B(MASK_ALNUM) | IN_WORD | B(MASK_BASE64))
#define LOGIN (LINE | B(MASK_LOGIN))
#define FREE (LOGIN | B(MASK_VALUE))

/* clang-format off */
const uint16_t mask_classes[UINT8_MAX + 1] = {
	[1 ... 9] = LINE, [11 ... 12] = LINE, [14 ... ' '] = LINE,
	['!'] = FREE, ['#'] = LINE | B(MASK_VALUE), ['$'] = FREE,
	['%'] = FREE, ['&'] = FREE, ['('] = FREE, [')'] = LOGIN,
	['*'] = FREE, ['+'] = FREE | B(MASK_BASE64), [','] = LOGIN,
	['-'] = FREE | (IN_WORD & ~B(MASK_WORD)),
	['.'] = FREE | B(MASK_DOTTED) | B(MASK_NAME),
	['/'] = LINE | B(MASK_VALUE) | B(MASK_BASE64),
	['0' ... '9'] = FREE | OF_WORD | B(MASK_DIGITS) | B(MASK_HEX) |
	    B(MASK_UPPER) | B(MASK_LOWER),
	[':'] = FREE, [';'] = LOGIN,
	['='] = FREE | B(MASK_DOTTED) | B(MASK_BASE64), ['>'] = LINE,
	['?'] = LINE | B(MASK_VALUE), ['@'] = FREE,
	['A' ... 'F'] = FREE | OF_WORD | B(MASK_HEX) | B(MASK_UPPER),
	['G' ... 'Z'] = FREE | OF_WORD | B(MASK_UPPER),
	['['] = FREE, [']'] = LOGIN, ['^'] = FREE,
	['_'] = FREE | IN_WORD,
	['a' ... 'f'] = FREE | OF_WORD | B(MASK_HEX) | B(MASK_LOWER),
	['g' ... 'z'] = FREE | OF_WORD | B(MASK_LOWER),
	['{'] = FREE, ['|'] = FREE, ['}'] = LOGIN, ['~'] = FREE | B(MASK_DOTTED),
	[0x7f] = LINE, [0x80 ... 0xff] = FREE,
};
/* clang-format on */

size_t
mask_run(struct mask_scan *m, size_t at, enum mask_class class)
{
	struct mask_runs *r = &m->runs[class];
	size_t i = at;

	for (unsigned k = 0; at < r->top && k < r->n && k < MASK_RUNS; k++)
		if (at >= r->from[k] && at < r->to[k])
			return r->to[k];
	while (i < m->s.len && mask_is(m->s.p[i], class))
		i++;
	m->steps += i - at + 1;
	r->from[r->n % MASK_RUNS] = at;
	r->to[r->n++ % MASK_RUNS] = i;
	if (i > r->top)
		r->top = i;
	return i;
}

void
mask_hide(struct mask_hit *hit, size_t from, size_t to)
{
	hit->from = from;
	hit->to = to;
	hit->len = sizeof(MASK_HIDDEN) - 1;
	memcpy(hit->text, MASK_HIDDEN, hit->len);
}
