/* SPDX-License-Identifier: ISC */
/*
 * Splits the agent's output into terminal functions, by the published state
 * machine of the VT500 series. Nothing is interpreted here, and every count has
 * a limit, so that later stages need not check. 8-bit control characters do not
 * exist: bytes above 0x7f are UTF-8.
 */
#ifndef TERMD_TOKEN_H
#define TERMD_TOKEN_H

#include "common/span.h"
#include "workers/termd/termd_offer.h"

#define TOKEN_MAX_PARAMS 16U
#define TOKEN_MAX_VALUE 9999U
#define TOKEN_MAX_STRING 4096U /* longer ones are dropped, but for offers */
#define TOKEN_MAX_MARKS 4U     /* combining with one character */
#define TOKEN_ABSENT 0xffffU   /* an omitted parameter */

enum token_kind {
	TOKEN_PRINT,   /* c: a character that can be drawn, or combines */
	TOKEN_JOIN,    /* c: joins characters to an emoji (cluster.h) */
	TOKEN_CONTROL, /* c: BEL, BS, HT, LF, VT, FF, CR, SO or SI */
	TOKEN_ESC,     /* inter, final */
	TOKEN_CSI,     /* lead, inter, final, params */
	TOKEN_OSC,     /* text, without its terminator */
	TOKEN_DCS,     /* as CSI; its text is dropped */
};

struct token {
	enum token_kind kind;
	uint32_t c;
	uint8_t lead;  /* one of "<=>?", or 0 */
	uint8_t inter; /* 0x20 to 0x2f, or 0 */
	uint8_t final;
	unsigned nparams;
	uint16_t params[TOKEN_MAX_PARAMS];
	uint32_t sub; /* bit i: params[i] follows a colon */
	struct span text;
};

typedef void token_fn(void *arg, const struct token *);

enum token_state {
	TOKEN_GROUND,
	TOKEN_ESCAPE,
	TOKEN_SEQUENCE,      /* in a CSI or DCS, before its final byte */
	TOKEN_IGNORE,        /* the same, for an invalid sequence */
	TOKEN_STRING,        /* OSC is kept, all others are dropped */
	TOKEN_STRING_ESCAPE, /* perhaps its terminator */
};

struct tokenizer {
	enum token_state state;
	struct token t;
	bool dcs;         /* the sequence is a DCS */
	bool keep;        /* the string is an OSC */
	bool over;        /* the string is too long */
	uint32_t c;       /* UTF-8 character so far */
	uint32_t least;   /* smallest that is not overlong */
	unsigned more;    /* bytes it still needs */
	unsigned marks;   /* combining marks since the last base character */
	bool base;        /* marks have a character to combine with */
	uint64_t dropped; /* dropped functions and characters */
	size_t len;
	uint8_t text[OFFER_MAX_STRING];
};

void token_init(struct tokenizer *);
void token_feed(struct tokenizer *, struct span, token_fn *, void *arg);
/* Returns the parameter, or `otherwise` if it was omitted. */
unsigned token_param(const struct token *, unsigned i, unsigned otherwise);

#endif
