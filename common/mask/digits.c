/* SPDX-License-Identifier: ISC */
/* Payment card numbers, with a check digit, and US social security numbers. */
#include "common/mask/mask_priv.h"

#define DIGITS_MIN 13U
#define DIGITS_MAX 19U
#define SSN_DIGITS 9U

static bool
boundary(struct span s, size_t at)
{
	return at >= s.len || !mask_is(s.p[at], MASK_WORD);
}

static bool
luhn(const uint8_t *digits, size_t n)
{
	unsigned sum = 0, d;

	for (size_t i = 0; i < n; i++) {
		d = digits[n - 1 - i] - (unsigned)'0';
		if (i % 2 == 1 && (d *= 2) > 9)
			d -= 9;
		sum += d;
	}
	return sum % 10 == 0;
}

/* Match a card number. Returns its end, or 0. */
static size_t
match_card(struct span s, size_t at, struct mask_hit *hit)
{
	uint8_t digits[DIGITS_MAX], *dst = hit->text;
	size_t ends[DIGITS_MAX], count = 0, i = at;

	while (i < s.len && count < DIGITS_MAX) {
		if (count != 0 && (s.p[i] == ' ' || s.p[i] == '-') &&
		    i + 1 < s.len && mask_is(s.p[i + 1], MASK_DIGITS))
			i++;
		if (!mask_is(s.p[i], MASK_DIGITS))
			break;
		digits[count] = s.p[i];
		ends[count++] = ++i;
	}
	for (; count >= DIGITS_MIN; count--) {
		if (!boundary(s, ends[count - 1]) || !luhn(digits, count))
			continue;
		memcpy(dst, digits, 4);
		dst[4] = ' ';
		memset(dst + 5, '*', count - 8);
		dst[count - 3] = ' ';
		memcpy(dst + count - 2, digits + count - 4, 4);
		hit->len = count + 2;
		return ends[count - 1];
	}
	return 0;
}

/* Match a social security number. Returns its end, or 0. */
static size_t
match_ssn(struct span s, size_t at, struct mask_hit *hit)
{
	uint8_t d[SSN_DIGITS];
	size_t i = at, count = 0;

	while (count < SSN_DIGITS && i < s.len) {
		if ((count == 3 || count == 5) &&
		    (s.p[i] == '-' || s.p[i] == ' '))
			i++;
		if (i >= s.len || !mask_is(s.p[i], MASK_DIGITS))
			return 0;
		d[count++] = s.p[i++];
	}
	if (count < SSN_DIGITS || !boundary(s, i) || d[0] == '9' ||
	    memcmp(d, "000", 3) == 0 || memcmp(d, "666", 3) == 0 ||
	    memcmp(d + 3, "00", 2) == 0 || memcmp(d + 5, "0000", 4) == 0)
		return 0;
	memcpy(hit->text, "***-**-", 7);
	memcpy(hit->text + 7, d + 5, 4);
	hit->len = 11;
	return i;
}

bool
mask_digits(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	size_t end;

	m->steps += 2 * DIGITS_MAX;
	if ((end = match_card(m->s, at, hit)) == 0)
		end = match_ssn(m->s, at, hit);
	hit->from = at;
	hit->to = end;
	return end != 0;
}
