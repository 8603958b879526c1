/* SPDX-License-Identifier: ISC */
#include "icctl/table.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/visible.h"
#include "icctl/icctl.h"
#include "icctl/wrap.h"

#define TABLE_TEXT ((size_t)64 << 20)
#define TABLE_GAP 2U /* columns of the screen between two of the table */

void
table_begin(struct table *t, const struct table_column *columns, unsigned n)
{
	*t = (struct table){.columns = columns, .ncolumns = n};
	buf_init(&t->text, TABLE_TEXT);
}

void
table_text(struct table *t, struct span s, size_t max)
{
	(void)visible_add(
	    &t->text, span_of(s.p, visible_cut(s, max)), icctl_visible());
	if (s.len > max)
		buf_adds(&t->text, "...");
	buf_addc(&t->text, '\0');
}

void
table_print(struct table *t, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		err(ICCTL_FAILED, "output");
	va_end(ap);
	buf_adds(&t->text, text);
	buf_addc(&t->text, '\0');
	free(text);
}

/* Returns the next cell. */
static const char *
table_next(const char **at)
{
	const char *cell = *at;

	*at += strlen(cell) + 1;
	return cell;
}

static void
table_widen(unsigned *width, const char *cell)
{
	const unsigned n = wrap_width(cell, strlen(cell));

	if (n > *width)
		*width = n;
}

/* Print the last cell: `gap` columns behind the others, or below them. */
static void
table_last(const struct table *t, const char *cell, unsigned used, unsigned gap,
    unsigned first)
{
	const unsigned cols = wrap_columns(STDOUT_FILENO),
		       deep = t->indent + first + TABLE_GAP;
	char *hang = NULL;

	if (cell[0] == '\0') {
		putchar('\n');
		return;
	}
	if (cols == 0 || used + gap + wrap_width(cell, strlen(cell)) <= cols) {
		printf("%*s%s\n", (int)gap, "", cell);
		return;
	}
	if (asprintf(&hang, "%*s", (int)deep, "") == -1)
		err(ICCTL_FAILED, "output");
	printf("\n%s", hang);
	wrap_hang(stdout, cell, deep, hang, cols);
	putchar('\n');
	free(hang);
}

/* Print a row, of which `at` has the cells, or with NULL the headings. */
static void
table_row(const struct table *t, const unsigned *width, const char **at)
{
	unsigned used = 0, gap = t->indent, n, pad;
	const char *cell;

	for (unsigned k = 0; k < t->ncolumns; k++) {
		const struct table_column *c = &t->columns[k];

		cell = at == NULL ? c->heading : table_next(at);
		if (k + 1 == t->ncolumns && !c->right) {
			table_last(t, cell, used, gap, width[0]);
			return;
		}
		n = wrap_width(cell, strlen(cell));
		pad = width[k] - n;
		if (c->right)
			gap += pad;
		printf("%*s%s", (int)gap, "", cell);
		used += gap + n;
		gap = TABLE_GAP + (c->right ? 0 : pad);
	}
	putchar('\n');
}

void
table_put(struct table *t)
{
	const struct span all = buf_span(&t->text);
	const char *at = (const char *)all.p, *end = at + all.len;
	unsigned *width = calloc(t->ncolumns, sizeof(*width));

	if (width == NULL || buf_check(&t->text) == -1)
		err(ICCTL_FAILED, "output");
	for (unsigned k = 0; k < t->ncolumns; k++)
		table_widen(&width[k], t->columns[k].heading);
	for (unsigned k = 0; at != end; k = (k + 1) % t->ncolumns)
		table_widen(&width[k], table_next(&at));
	table_row(t, width, NULL);
	at = (const char *)all.p;
	while (at != end)
		table_row(t, width, &at);
	free(width);
}

void
table_free(struct table *t)
{
	buf_free(&t->text);
}
