/* SPDX-License-Identifier: ISC */
/* The members that prices_parse() sets: each of them has a row here. */
#include "files/prices.h"

#include "files/pack_rows.h"

/* clang-format off */
#define MONEY(s, m) {.kind = PACK_DOUBLE, AT(s, m)}

static const struct pack_row set_rows[] = {
	MONEY(price_set, in), MONEY(price_set, out),
	MONEY(price_set, cache_read), MONEY(price_set, cache_write),
	MONEY(price_set, cache_write_1h),
};

static const struct pack_row step_rows[] = {
	MONEY(price_step, above), PART(price_step, set, set_rows),
};

static const struct pack_row price_rows[] = {
	TEXT(price, model), TEXT(price, host), PART(price, set, set_rows),
	NUMBER(price, nsteps, PRICES_STEPS),
	LIST(price, steps, nsteps, step_rows),
	MONEY(price, audio_in), MONEY(price, audio_out), MONEY(price, search),
	MONEY(price, fast), {.kind = PACK_DOUBLE, EACH(price, tiers)},
	MONEY(price, regional), BOOL(price, special), BOOL(price, rest),
};

static const struct pack_row family_rows[] = {
	TEXT(price_family, begins),
	NUMBER(price_family, family, PRICES_FAMILIES * 2),
};

static const struct pack_row region_rows[] = {TEXT(price_region, host)};

const struct pack_row prices_rows[PRICES_ROWS] = {
	NUMBER(prices, n, PRICES_MAX), NUMBER(prices, own, PRICES_MAX),
	LIST(prices, rows, n, price_rows),
	NUMBER(prices, nfamilies, PRICES_FAMILIES),
	LIST(prices, families, nfamilies, family_rows),
	NUMBER(prices, nregional, PRICES_REGIONAL),
	LIST(prices, regional, nregional, region_rows),
};
/* clang-format on */

int
prices_take(struct prices *ps, struct span s)
{
	prices_clear(ps);
	if (pack_take(&s, prices_rows, nitems(prices_rows), ps) == 0 &&
	    s.len == 0 && ps->own <= ps->n)
		return 0;
	prices_clear(ps);
	return -1;
}
