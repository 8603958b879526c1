/* SPDX-License-Identifier: ISC */
#include "base/amount.h"

#include <stdint.h>

#define AMOUNT_CENTS 2
#define AMOUNT_MOST 9 /* 10^-9 USD: less is nothing */

static double
amount_scale(int places)
{
	double scale = 1;

	while (places-- > 0)
		scale *= 10;
	return scale;
}

int
amount_places(double n, int least)
{
	int places = least;

	for (n *= amount_scale(least); n > 0 && n < 100 && places < AMOUNT_MOST;
	     n *= 10)
		places++;
	return places;
}

double
amount_floor(double n)
{
	double scale = amount_scale(amount_places(n, AMOUNT_CENTS));

	/* 0.009 is a little less than that as a double. */
	return (double)(uint64_t)(n * scale + 1e-6) / scale;
}
