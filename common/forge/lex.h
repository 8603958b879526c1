/* SPDX-License-Identifier: ISC */
/*
 * Words of a GraphQL document (October 2021, section 2.1): names, numbers,
 * strings and punctuation. Private to this folder.
 */
#ifndef FORGE_LEX_H
#define FORGE_LEX_H

#include "common/forge/forge.h"

enum lex_kind {
	LEX_END,
	LEX_PUNCTUATOR,	/* one of ! $ ( ) : = [ ] { | } and SPREAD */
	LEX_SPREAD,	/* ... */
	LEX_NAME,
	LEX_INT,
	LEX_FLOAT,
	LEX_STRING,	/* with its quotes */
};

struct lex_token {
	enum lex_kind kind;
	uint32_t at, len;	/* in the text */
};

#define LEX_MAX_TOKENS	16384U

struct lex {
	struct span text;
	struct lex_token *tokens;	/* in the pool; the last is LEX_END */
	uint32_t count;
};

/* Split the text. Returns 0, or -1 with `fail` filled in. */
int lex_read(struct value_pool *, struct span text, struct lex *,
    struct forge_fail *);
/*
 * Decode a LEX_STRING into the pool. Returns 0, or -1 for an escape that is
 * malformed, or a lone surrogate.
 */
int lex_string(struct value_pool *, const struct lex *,
    const struct lex_token *, struct span *);
struct span lex_text(const struct lex *, const struct lex_token *);

#endif
