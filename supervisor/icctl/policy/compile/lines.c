/* SPDX-License-Identifier: ISC */
/* The longest common subsequence of two short texts, by lines. */
#include "icctl/policy/compile/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "icctl/icctl.h"

#define LINES_MAX 2000U

struct lines {
	struct span list[LINES_MAX];
	size_t n;
};

static void
split(struct span text, struct lines *out)
{
	struct span line;

	out->n = 0;
	while (out->n < LINES_MAX && span_line(&text, &line))
		out->list[out->n++] = line;
}

static void
put(const char *sign, struct span line)
{
	fputs(sign, stdout);
	icctl_put(line, 2000, false);
	putchar('\n');
}

unsigned
lines_print(struct span old, struct span new)
{
	static struct lines a, b;
	uint16_t *best;
	size_t i = 0, k = 0, w;
	unsigned n = 0;

	split(old, &a);
	split(new, &b);
	w = b.n + 1;
	if ((best = calloc((a.n + 1) * w, sizeof(*best))) == NULL)
		return 1;
	for (size_t x = a.n; x-- > 0;)
		for (size_t y = b.n; y-- > 0;) {
			uint16_t down = best[(x + 1) * w + y];
			uint16_t right = best[x * w + y + 1];

			best[x * w + y] =
			    span_eq(a.list[x], b.list[y])
				? (uint16_t)(best[(x + 1) * w + y + 1] + 1)
			    : down > right ? down
					   : right;
		}
	while (i < a.n || k < b.n) {
		if (i < a.n && k < b.n && span_eq(a.list[i], b.list[k])) {
			put("  ", a.list[i++]);
			k++;
		} else if (k == b.n ||
			   (i < a.n && best[(i + 1) * w + k] >=
					   best[i * w + k + 1])) {
			put("- ", a.list[i++]);
			n++;
		} else {
			put("+ ", b.list[k++]);
			n++;
		}
	}
	free(best);
	return n;
}
