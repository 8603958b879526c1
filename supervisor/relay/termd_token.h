/* SPDX-License-Identifier: ISC */
/*
 * The agent's output cut into functions of a terminal, after the published
 * state machine of the VT500 series.  Nothing is interpreted here, and every
 * count has a limit, so that no later stage sees more than it is made for.
 * Control characters of eight bits do not exist: bytes above 0x7f are UTF-8.
 */
#ifndef TERMD_TOKEN_H
#define TERMD_TOKEN_H

#include "common/span.h"

#define TOKEN_MAX_PARAMS 16U
#define TOKEN_MAX_VALUE 9999U
#define TOKEN_MAX_STRING 4096U /* longer ones vanish */
#define TOKEN_MAX_MARKS 4U     /* that combine with one character */
#define TOKEN_ABSENT 0xffffU   /* a parameter that was left out */

enum token_kind {
	TOKEN_PRINT,   /* c: a character that can be drawn, or combines */
	TOKEN_CONTROL, /* c: BEL, BS, HT, LF, VT, FF, CR, SO or SI */
	TOKEN_ESC,     /* inter, final */
	TOKEN_CSI,     /* lead, inter, final, params */
	TOKEN_OSC,     /* text, without its terminator */
	TOKEN_DCS,     /* as CSI; its text has vanished */
};

struct token {
	enum token_kind kind;
	uint32_t c;
	uint8_t lead;  /* one of "<=>?", or 0 */
	uint8_t inter; /* 0x20 to 0x2f, or 0 */
	uint8_t final;
	unsigned nparams;
	uint16_t params[TOKEN_MAX_PARAMS];
	uint32_t sub; /* bit i: a colon stands before params[i] */
	struct span text;
};

typedef void token_fn(void *arg, const struct token *);

enum token_state {
	TOKEN_GROUND,
	TOKEN_ESCAPE,
	TOKEN_SEQUENCE,      /* in a CSI or DCS, before its final byte */
	TOKEN_IGNORE,        /* the same, of one that makes no sense */
	TOKEN_STRING,        /* OSC: kept; all others: dropped */
	TOKEN_STRING_ESCAPE, /* its terminator, perhaps */
};

struct tokenizer {
	enum token_state state;
	struct token t;
	bool dcs;         /* the sequence is a DCS */
	bool keep;        /* the string is an OSC */
	bool over;        /* and too long */
	uint32_t c;       /* of UTF-8, as far as it came */
	uint32_t least;   /* that is not overlong */
	unsigned more;    /* bytes that it still needs */
	unsigned marks;   /* since the last character that takes a column */
	bool base;        /* there is one that they can combine with */
	uint64_t dropped; /* functions and characters that vanished */
	size_t len;
	uint8_t text[TOKEN_MAX_STRING];
};

void token_init(struct tokenizer *);
void token_feed(struct tokenizer *, struct span, token_fn *, void *arg);
/* The parameter, or this value if it is absent or was not sent. */
unsigned token_param(const struct token *, unsigned i, unsigned otherwise);

#endif
