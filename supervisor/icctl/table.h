/* SPDX-License-Identifier: ISC */
/*
 * Tables for people: a column is as wide on the screen as its widest cell. The
 * last one goes on below the others, divided between words, if the terminal is
 * too narrow for it.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

#include "common/buf.h"

struct table_column {
	const char *heading;
	bool right; /* numbers: the cells end below each other */
};

struct table {
	const struct table_column *columns; /* borrowed */
	unsigned ncolumns;
	unsigned indent; /* columns of the screen before the first one */
	struct buf text; /* the cells, each with its NUL, row by row */
};

/* Begin a table without rows. */
void table_begin(struct table *, const struct table_column *, unsigned n);
/*
 * Add the next cell, in the form that a terminal can show, whoever wrote the
 * text; at most `max` of its bytes.
 */
void table_text(struct table *, struct span, size_t max);
/* Add the next cell, which is a text of ours. */
void table_print(struct table *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Print the headings and the rows on standard output. */
void table_put(struct table *);
void table_free(struct table *);

#endif
