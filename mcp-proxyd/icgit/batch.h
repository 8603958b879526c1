/* SPDX-License-Identifier: ISC */
/*
 * `icgit batch`: runs one git after the other in the sandbox in which it is
 * started, because a sandbox and its Landlock rules take much longer to make
 * than a git takes to run. Each of them is made harmless as one in a sandbox of
 * its own is (icgit_wrap).
 *
 * A request on standard input is a struct icgit_request, then the words, each
 * ending in a NUL, then the input of git. It may have two gits, the first of
 * which gets the input and writes into the second one. Answers on standard
 * output are frames: a struct icgit_frame and its bytes. The last frame of a
 * request has the kind ICGIT_STATUS and git's exit status as its only byte.
 * Both ends are on one machine, in its byte order.
 */
#ifndef ICGIT_BATCH_H
#define ICGIT_BATCH_H

#include <stdint.h>

#define ICGIT_BATCH "batch" /* its one argument */
#define ICGIT_BATCH_WORDS (1U << 20)
#define ICGIT_BATCH_INPUT (128U << 20)
#define ICGIT_BATCH_CHUNK 16384U

struct icgit_request {
	uint32_t words; /* bytes */
	uint32_t first; /* bytes of them that are a first git's; or 0 */
	uint32_t input;
};

enum icgit_kind {
	ICGIT_OUT = 1, /* standard output */
	ICGIT_ERR,     /* standard error */
	ICGIT_STATUS,
};

struct icgit_frame {
	uint32_t kind;
	uint32_t len; /* at most ICGIT_BATCH_CHUNK */
};

/* Serve until the input ends. Returns an exit status. */
int icgit_batch(void);

#endif
