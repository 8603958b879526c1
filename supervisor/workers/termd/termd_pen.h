/* SPDX-License-Identifier: ISC */
/* The appearance of the next characters: SGR, interpreted by termd alone. */
#ifndef TERMD_PEN_H
#define TERMD_PEN_H

#include "common/term/cells.h"
#include "workers/termd/termd_token.h"

struct pen {
	uint32_t fg, bg; /* cells.h */
	uint16_t attr;
};

/* Apply an SGR sequence; unsupported parameters are ignored. */
void pen_sgr(struct pen *, const struct token *);

#endif
