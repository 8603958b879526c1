/* SPDX-License-Identifier: ISC */
/* Shared by the files that read and compose start.json. */
#ifndef START_FILE_PRIV_H
#define START_FILE_PRIV_H

#include <stddef.h>

#define START_FILE_VERSION 1

struct start_row {
	const char *name, *value; /* value NULL: a flag */
};

/* Returns the row of an option without its "--", or NULL. */
const struct start_row *start_row_find(const char *name);
/* Returns the reason why this cannot be an option's value, or NULL. */
const char *start_value_wrong(const char *, size_t len);

#endif
