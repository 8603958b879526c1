/* SPDX-License-Identifier: ISC */
/* The grammar of emoji clusters, in a form that is narrower than Unicode's. */
#include "common/term/cluster.h"

#include <stddef.h>

#include "common/span.h"
#include "common/term/width.h"

#define CLUSTER_KEYCAP 0x20e3U

static bool
is_keycap_base(uint32_t c)
{
	return (c >= '0' && c <= '9') || c == '#' || c == '*';
}

static bool
is_tone(uint32_t c)
{
	return c >= 0x1f3fb && c <= 0x1f3ff;
}

/* Returns true for symbols, some of which are pictures. */
static bool
is_symbol(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0xa9, 0xa9}, {0xae, 0xae}, {0x203c, 0x203c},
	    {0x2049, 0x2049}, {0x2122, 0x2122}, {0x2139, 0x2139},
	    {0x2190, 0x21ff}, {0x2300, 0x23ff}, {0x24c2, 0x24c2},
	    {0x25a0, 0x27bf}, {0x2934, 0x2935}, {0x2b00, 0x2bff},
	    {0x3030, 0x3030}, {0x303d, 0x303d}, {0x3297, 0x3297},
	    {0x3299, 0x3299}, {0x1f000, 0x1f1e5}, {0x1f200, 0x1faff}};

	for (size_t i = 0; i < nitems(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return term_width(c) > 0;
	return false;
}

bool
cluster_begins(uint32_t c)
{
	return is_symbol(c) || is_keycap_base(c);
}

/*
 * Returns true if the cluster of `n` characters goes on with `c`. It may then
 * still be incomplete.
 */
static bool
goes_on(const uint32_t *chars, unsigned n, uint32_t c)
{
	uint32_t last = chars[n - 1];

	if (is_keycap_base(chars[0])) {
		if (n == 1)
			return c == CLUSTER_EMOJI;
		return n == 2 && c == CLUSTER_KEYCAP;
	}
	if (last == CLUSTER_JOINER)
		return is_symbol(c) && !is_tone(c);
	if (c == CLUSTER_JOINER)
		return is_symbol(last) || last == CLUSTER_EMOJI;
	return (c == CLUSTER_EMOJI || is_tone(c)) && is_symbol(last) &&
	       !is_tone(last);
}

bool
cluster_good(const uint32_t *chars, unsigned n)
{
	if (n < 2 || !cluster_begins(chars[0]))
		return false;
	for (unsigned i = 1; i < n; i++)
		if (!goes_on(chars, i, chars[i]))
			return false;
	return is_keycap_base(chars[0]) ? n == 3
					: chars[n - 1] != CLUSTER_JOINER;
}

enum cluster_join
cluster_join(
    uint32_t *chars, unsigned *n, unsigned max, uint32_t *wait, uint32_t c)
{
	unsigned len = *n;
	bool waited = *wait != 0;

	if (waited && len < max)
		chars[len++] = *wait;
	*wait = 0;
	if (len >= max || !cluster_begins(chars[0]) || !goes_on(chars, len, c))
		return CLUSTER_NOT;
	chars[len++] = c;
	if (cluster_good(chars, len)) {
		*n = len;
		return CLUSTER_JOINED;
	}
	/* Two that wait are no emoji. */
	if (waited)
		return CLUSTER_NOT;
	*wait = c;
	return CLUSTER_WAITS;
}
