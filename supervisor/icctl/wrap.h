/* SPDX-License-Identifier: ISC */
/*
 * Divides long lines for a screen between words. The texts are visible already,
 * so that a line break of their own is an escape, and never looks like this.
 */
#ifndef WRAP_H
#define WRAP_H

#include <stddef.h>

/*
 * Returns the bytes of `p` that fit into `cols` columns, at least one, up to a
 * space if one is in their second half.
 */
size_t wrap_fit(const char *p, size_t len, unsigned cols);
/* Returns the columns before what continues the long line. */
unsigned wrap_indent(const char *p, size_t len, unsigned cols);
/*
 * Returns the text with its lines divided, which the caller frees, and its
 * length in `*n`; or NULL with errno set.
 */
char *wrap_text(const char *p, size_t len, unsigned cols, size_t *n);

#endif
