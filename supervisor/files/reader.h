/* SPDX-License-Identifier: ISC */
/*
 * ic-reader, a confined program, reads files that people write for icsupervisor
 * and icctl, and hands back what they use of them. It gets texts on its
 * standard input, a socket, and answers there. It and reader.c include this
 * file.
 */
#ifndef FILES_READER_H
#define FILES_READER_H

#include <stdint.h>

#include "common/buf.h"

#define READER_PROGRAM "ic-reader"

enum reader_kind {
	READER_PROVIDER, /* the text of a provider file, a model: facts.h */
	/* the path of config.json, the user's home, a profile, its text */
	READER_CONFIG,
	READER_KINDS
};

/* The first byte of an answer about config.json. */
#define READER_FAULT 'F' /* the rest is the text of a fault */
#define READER_GOOD 'G'  /* config_pack.h */

#define READER_PARTS 4U
/* One byte more than a file may have, so that its reader says so. */
#define READER_MAX_PART ((8U << 20) + 1)
#define READER_MAX_ANSWER (32U << 20)

/* A request: this, and the parts. An answer: its length, and that many bytes.
 */
struct reader_request {
	uint32_t kind;
	uint32_t len[READER_PARTS];
};

/* The directory of ic-reader, borrowed; without it, icctl finds its own. */
void reader_use(const char *libexecdir);
/*
 * Ask about a text. ic-reader is started if it does not run. Returns 0 with the
 * answer added to the buffer, or -1 with errno set.
 */
int reader_ask(enum reader_kind, const struct span parts[READER_PARTS],
    struct buf *answer);
/* End ic-reader, which stays for the next text. */
void reader_end(void);

#endif
