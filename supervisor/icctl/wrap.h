/* SPDX-License-Identifier: ISC */
/*
 * Divides long lines for a screen between words. The texts are visible already,
 * so that a line break of their own is an escape, and never looks like this.
 */
#ifndef WRAP_H
#define WRAP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns the bytes of `p` that fit into `cols` columns, at least one: up to a
 * space if one is in their second half, or if the word behind it fits into a
 * line.
 */
size_t wrap_fit(const char *p, size_t len, unsigned cols);
/* Returns the columns before what continues the long line. */
unsigned wrap_indent(const char *p, size_t len, unsigned cols);
/*
 * Returns the text with its lines divided, which the caller frees, and its
 * length in `*n`; or NULL with errno set.
 */
char *wrap_text(const char *p, size_t len, unsigned cols, size_t *n);

/* Returns the columns that a text takes on a screen. */
unsigned wrap_width(const char *p, size_t len);
/* Returns the columns of the terminal `fd`, or 0 if they are not known. */
unsigned wrap_columns(int fd);
/*
 * Print the text behind `used` columns of a line, divided between words for
 * `cols` columns, or whole if that is 0. Each further line begins with `hang`.
 * There is no newline at the end.
 */
void wrap_hang(
    FILE *, const char *text, unsigned used, const char *hang, unsigned cols);

#endif
