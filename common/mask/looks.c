/* SPDX-License-Identifier: ISC */
/* Values that look like a secret by themselves, where a name only hints at one.
 */
#include "common/mask/mask_priv.h"

#define RANDOM_LEAST 20U /* bytes of a key; fewer may be a word */
#define RANDOM_MOST 64U  /* bytes that are looked at */
#define WORDS_LEAST 12U  /* words of a seed (BIP 39) */
#define WORD_LEAST 3U
#define WORD_MOST 8U

static bool
is_uuid(struct span v)
{
	return v.len == 36 && v.p[8] == '-' && v.p[13] == '-' &&
	       v.p[18] == '-' && v.p[23] == '-';
}

/* Returns the kind of a letter or a digit: random text changes it often. */
static unsigned
kind_of(uint8_t c)
{
	if (mask_is(c, MASK_DIGITS))
		return 1;
	return c >= 'a' && c <= 'z' ? 2 : 3;
}

bool
mask_is_number(struct span v)
{
	size_t i = 0;

	while (i < v.len && mask_is(v.p[i], MASK_DIGITS))
		i++;
	return i == v.len;
}

bool
mask_mixed(struct span v)
{
	bool digit = false, letter = false;

	for (size_t i = 0; i < v.len && i < MASK_MIXED; i++) {
		digit |= mask_is(v.p[i], MASK_DIGITS);
		letter |= mask_is(v.p[i], MASK_ALNUM) &&
			  !mask_is(v.p[i], MASK_DIGITS);
	}
	return digit && letter;
}

bool
mask_random(struct span v)
{
	const size_t n = v.len < RANDOM_MOST ? v.len : RANDOM_MOST;
	size_t changes = 0, marks = 0, digits = 0, letters = 0;
	unsigned last = 0, kind;

	if (v.len < RANDOM_LEAST || is_uuid(v))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!mask_is(v.p[i], MASK_ALNUM)) {
			if (memchr("+/_-", v.p[i], 4) != NULL)
				marks++;
			else if (v.p[i] != '=' || i < n - 2)
				return false;
			continue;
		}
		kind = kind_of(v.p[i]);
		digits += kind == 1;
		letters += kind != 1;
		changes += last != 0 && kind != last;
		last = kind;
	}
	/* Names of things have marks between their words. */
	return digits >= 2 && letters >= 2 && (marks == 0 || changes * 5 >= n);
}

size_t
mask_phrase(struct mask_scan *m, size_t at)
{
	size_t i = at, end = at, from;
	unsigned words = 0;

	while (words < 2 * WORDS_LEAST) {
		for (from = i; i < m->s.len && i - from <= WORD_MOST &&
			       m->s.p[i] >= 'a' && m->s.p[i] <= 'z';
		     i++)
			continue;
		if (i - from < WORD_LEAST || i - from > WORD_MOST)
			break;
		words++;
		end = i;
		if (mask_at(m, i) != ' ')
			break;
		i++;
	}
	m->steps += i - at;
	return words >= WORDS_LEAST ? end : 0;
}
