/* SPDX-License-Identifier: ISC */
/*
 * The client's half of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel
 * binding or, as SCRAM-SHA-256-PLUS, bound to the server's certificate
 * (tls-server-end-point, RFC 5929). The password never leaves it: the server
 * gets a proof, and proves that it knows the password's verifier itself.
 */
#ifndef SCRAM_H
#define SCRAM_H

#include "common/sha256.h"

/* The least that RFC 7677 permits; the most costs a quarter of a second. */
#define SCRAM_MIN_ROUNDS 4096U
#define SCRAM_MAX_ROUNDS 600000U
#define SCRAM_MAX_NONCE 128U
#define SCRAM_MAX_SALT 64U
#define SCRAM_MAX_TEXT 512U
#define SCRAM_MAX_ERROR 200U
#define SCRAM_MAX_BOUND 64U /* the hash of a certificate */

/*
 * The password, salted, which is as good as the password: the caller keeps this
 * in secret memory, and its next login to the same server costs no rounds.
 */
struct scram_kept {
	uint8_t salt[SCRAM_MAX_SALT];
	size_t nsalt; /* 0: nothing is kept */
	uint32_t rounds;
	uint8_t key[SHA256_SIZE];
};

/* One exchange. */
struct scram {
	uint8_t bound[SCRAM_MAX_BOUND];
	size_t nbound;             /* 0: no channel is bound */
	char bare[SCRAM_MAX_TEXT]; /* client-first-message-bare */
	size_t nonce;              /* the place of its nonce */
	bool answered;
	uint8_t server[SHA256_SIZE]; /* the signature that must come then */
	char why[SCRAM_MAX_ERROR];   /* the reason of a failure */
};

/*
 * Begin with this user, which PostgreSQL ignores, and a nonce of printable
 * characters without commas. Returns the text to send, behind the head.
 */
const char *scram_begin(struct scram *, const char *user, const char *nonce);
/* Bind the exchange, which has begun, to this hash of a certificate. */
void scram_bind(struct scram *, struct span hash);
/* Returns the head of the first message, which says whether it is bound. */
const char *scram_head(const struct scram *);
/*
 * Answer the server's first message. Returns the length of the text in `out`,
 * or 0 with the reason in `why`. `kept` may change.
 */
size_t scram_answer(struct scram *, struct span first, struct span password,
    struct scram_kept *kept, char out[SCRAM_MAX_TEXT]);
/* Returns true if the server's last message proves that it is the right one. */
bool scram_verify(struct scram *, struct span last);

#endif
