/* SPDX-License-Identifier: ISC */
/*
 * The answer of a token endpoint: limited in size, in secret memory, and used
 * only when complete.
 */
#ifndef KEYD_TOKEN_ANSWER_H
#define KEYD_TOKEN_ANSWER_H

#include "common/confine/secret.h"
#include "common/http/http1.h"

struct token_answer {
	struct secret *mem;
	size_t got, seen, raw; /* bytes received; bytes scanned for a head;
				  offset behind the parsed chunks */
	bool headed;
	unsigned status;
	size_t head, end; /* end of the head; end of the body behind it */
	struct http1_body body;
};

/*
 * Allocate the secret memory for an answer with `max` bytes behind its head,
 * before confinement. Returns 0, or -1.
 */
int token_answer_new(struct token_answer *, size_t max);
/* Begin a new answer. */
void token_answer_begin(struct token_answer *);
/*
 * Returns the place for the next bytes; *n == 0 means that the answer is too
 * large.
 */
uint8_t *token_answer_room(struct token_answer *, size_t *n);
/*
 * Process `n` bytes that were put there. Returns NULL or the error; sets
 * `*done` if the answer is complete.
 */
const char *token_answer_take(struct token_answer *, size_t n, bool *done);
/* The connection has ended. Returns true if the answer is complete now. */
bool token_answer_ends(struct token_answer *);
/* Returns the body, with chunks joined. */
struct span token_answer_body(const struct token_answer *);

#endif
