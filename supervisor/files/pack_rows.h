/* SPDX-License-Identifier: ISC */
/*
 * Short forms of the rows of base/pack.h, for a structure `s` and its member
 * `m`: included by the files that hold such rows, and by no other.
 */
#ifndef FILES_PACK_ROWS_H
#define FILES_PACK_ROWS_H

#include <stddef.h>

#include "base/pack.h"

/* clang-format off */
#define AT(s, m) .at = offsetof(struct s, m), .size = sizeof(((struct s *)NULL)->m)
#define BOOL(s, m) {.kind = PACK_BOOL, AT(s, m)}
#define NUMBER(s, m, max) {.kind = PACK_NUMBER, AT(s, m), .most = (max)}
#define SIGNED(s, m) {.kind = PACK_SIGNED, AT(s, m)}
#define BYTES(s, m) {.kind = PACK_BYTES, AT(s, m)}
#define TEXT(s, m) {.kind = PACK_TEXT, AT(s, m)}
#define STRING(s, m) {.kind = PACK_STRING, AT(s, m)}
#define STRINGS(s, m) {.kind = PACK_STRINGS, AT(s, m)}
#define JSON(s, m) {.kind = PACK_JSON, AT(s, m)}
#define NAME(s, m, list) {.kind = PACK_NAME, AT(s, m), .names = (list)}
#define PART(s, m, of)							\
	{.kind = PACK_PART, AT(s, m), .rows = (of), .nrows = nitems(of)}
/* An array: as many of its members as `count` says. */
#define EACH(s, m)							\
	.at = offsetof(struct s, m), .size = sizeof(((struct s *)NULL)->m[0]), \
	.n = nitems(((struct s *)NULL)->m)
#define COUNT(s, m)							\
	.count = offsetof(struct s, m), .count_size = sizeof(((struct s *)NULL)->m)
#define LIST(s, m, c, of)						\
	{.kind = PACK_PART, EACH(s, m), COUNT(s, c), .rows = (of),	\
	.nrows = nitems(of)}
/* clang-format on */

#endif
