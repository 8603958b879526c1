/* SPDX-License-Identifier: ISC */
/* How characters look that are printed next: SGR, read by us alone. */
#ifndef TERMD_PEN_H
#define TERMD_PEN_H

#include "common/term/cells.h"
#include "relay/termd_token.h"

struct pen {
	uint32_t fg, bg; /* cells.h */
	uint16_t attr;
};

/* Applies an SGR sequence; what it has that we have not changes nothing. */
void pen_sgr(struct pen *, const struct token *);

#endif
