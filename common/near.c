/* SPDX-License-Identifier: ISC */
/*
 * The distance between two words: the number of letters that must be inserted,
 * omitted, replaced, or exchanged with their neighbour.  Words come from people
 * and from their files; long ones are not compared.
 */
#include "common/near.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NEAR_LONGEST 63U

static unsigned
near_min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int
near_letter(char c)
{
	return tolower((unsigned char)c);
}

/* Returns the distance; neither word may be longer than NEAR_LONGEST. */
static unsigned
near_distance(const char *a, const char *b)
{
	unsigned rows[3][NEAR_LONGEST + 1], *two = rows[0], *one = rows[1];
	unsigned *now = rows[2], *swap;
	size_t na = strlen(a), nb = strlen(b);
	unsigned cost;

	memset(rows, 0, sizeof(rows));
	for (size_t k = 0; k <= nb; k++)
		one[k] = (unsigned)k;
	for (size_t i = 1; i <= na; i++) {
		now[0] = (unsigned)i;
		for (size_t k = 1; k <= nb; k++) {
			cost = near_letter(a[i - 1]) != near_letter(b[k - 1]);
			now[k] = near_min(near_min(one[k], now[k - 1]) + 1,
			    one[k - 1] + cost);
			if (i > 1 && k > 1 &&
			    near_letter(a[i - 1]) == near_letter(b[k - 2]) &&
			    near_letter(a[i - 2]) == near_letter(b[k - 1]))
				now[k] = near_min(now[k], two[k - 2] + 1);
		}
		swap = two;
		two = one;
		one = now;
		now = swap;
	}
	return one[nb];
}

const char *
near_name(const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t n = strlen(word), len, dashes = strspn(word, "-");
	unsigned d, least = NEAR_LONGEST;

	/* Dashes make no option longer, and one letter is like any other. */
	if (n < dashes + 2 || n > NEAR_LONGEST)
		return NULL;
	for (; *names != NULL; names++) {
		len = strlen(*names);
		if (len > NEAR_LONGEST)
			continue;
		d = near_distance(word, *names);
		/* One of the words is the beginning of the other. */
		if (strncasecmp(word, *names, n < len ? n : len) == 0 &&
		    (n < len ? n : len) >= dashes + 3)
			d = near_min(d, 1);
		if (d < least &&
		    d <= (n < dashes + 5 ? 1 : n < dashes + 8 ? 2 : 3)) {
			least = d;
			best = *names;
		}
	}
	return best;
}

char *
near_hint(const char *word, const char *const *names, char *dst)
{
	const char *near = near_name(word, names);

	dst[0] = '\0';
	/* An option without its value is no misspelt one. */
	if (near != NULL && strcmp(near, word) != 0)
		snprintf(dst, NEAR_HINT, " (did you mean %s?)", near);
	return dst;
}
