/* SPDX-License-Identifier: ISC */
/*
 * The answer of a token endpoint: bounded, in secret memory, and nobody's
 * before it is whole.
 */
#ifndef KEYD_TOKEN_ANSWER_H
#define KEYD_TOKEN_ANSWER_H

#include "common/confine/secret.h"
#include "common/http/http1.h"

struct token_answer {
	struct secret *mem;
	size_t got, seen, raw; /* bytes; looked at for a head; of chunks */
	bool headed;
	unsigned status;
	size_t head, end; /* of the head; of the body behind it */
	struct http1_body body;
};

/* Secret memory for it, before lock-down. -1: none. */
int token_answer_new(struct token_answer *);
/* Nothing of it is there: forgets what was. */
void token_answer_begin(struct token_answer *);
/* Where the next bytes go; *n == 0: it is too large. */
uint8_t *token_answer_room(struct token_answer *, size_t *n);
/* n bytes were put there. NULL, or what is wrong; *done: it is whole. */
const char *token_answer_take(struct token_answer *, size_t n, bool *done);
/* The connection is over: is it whole now? */
bool token_answer_ends(struct token_answer *);
/* What came behind the head, chunks joined. */
struct span token_answer_body(const struct token_answer *);

#endif
