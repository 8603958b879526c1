/* SPDX-License-Identifier: ISC */
/*
 * Compares a number with the largest double without converting it, because
 * strtod() follows the locale.
 */
#include "common/json/number.h"

#include "common/json/text.h"

#define EXPONENT_MAX 100000 /* beyond any limit of ours */
#define LARGEST_DIGITS 309  /* before the point of the largest double */

/*
 * The first digits of 2^1024 - 2^970, from which on a number is rounded to
 * infinity.  No number of ours is longer, so none is equal to it.
 */
static const char first_infinite[] =
    "17976931348623158079372897140530341507993";

/* Read the exponent at `p`, which saturates. */
static int
read_exponent(const uint8_t *p, const uint8_t *end)
{
	bool negative = p < end && *p == '-';
	int n = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++)
		if (n < EXPONENT_MAX)
			n = n * 10 + (*p - '0');
	return negative ? -n : n;
}

bool
number_is_finite(struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len, *e = p;
	bool point = false, less = false, more = false;
	int digits = 0; /* before the point, without zeros in front */
	size_t n = 0;   /* that were compared */

	while (e < end && *e != 'e' && *e != 'E')
		e++;
	if (e == end)
		return true;
	for (; p < e; p++) {
		if (*p == '.')
			point = true;
		if (!text_is_digit(*p))
			continue;
		if (n == 0 && *p == '0') {
			digits -= point;
			continue;
		}
		digits += !point;
		if (!less && !more && n < sizeof(first_infinite) - 1) {
			less = *p < (uint8_t)first_infinite[n];
			more = *p > (uint8_t)first_infinite[n];
		}
		n++;
	}
	digits += read_exponent(e + 1, end);
	if (n == 0 || digits < LARGEST_DIGITS)
		return true;
	return digits == LARGEST_DIGITS && !more;
}
