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

#include "base/fault.h"
#include "common/buf.h"

#define READER_PROGRAM "ic-reader"

enum reader_kind {
	READER_PROVIDER, /* the text of a provider file, a model: facts.h */
	/* the path of config.json, the user's home, a profile, its text */
	READER_CONFIG,
	READER_SERVERS, /* enum reader_servers */
	/* path and text of the user's own prices.json, and of the shipped one;
	   the first path is empty if there is none */
	READER_PRICES,
	READER_ADAPTER, /* the path of an agent's file, its name, its text */
	READER_KINDS
};

/* The first byte of an answer, except for those about provider files. */
#define READER_FAULT 'F' /* the rest is the text of a fault */
#define READER_GOOD 'G'  /* the rest is packed: base/pack.h */

#define READER_PARTS 6U

/* The parts of a request to read mcp-servers.json. */
enum reader_servers {
	READER_SERVERS_FILE, /* its path */
	READER_SERVERS_HOME, /* the user's */
	READER_SERVERS_TEXT,
	READER_SERVERS_SECRETS,   /* serverCredentials as a text, or nothing */
	READER_SERVERS_ALLOWED,   /* each of --allow-unsandboxed, and a NUL */
	READER_SERVERS_VARIABLES, /* each NAME=VALUE, and a NUL */
};
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
/*
 * Ask about a text of which the answer begins with READER_GOOD or READER_FAULT.
 * `file` is its path, for messages. Returns 0 with the rest of the good answer
 * in the buffer, or -1 with the fault set.
 */
int reader_read(enum reader_kind, const struct span parts[READER_PARTS],
    const char *file, struct buf *answer, struct fault *);
/* Returns -1 with the fault that an answer is not what its header says. */
int reader_bad(struct fault *);
/* End ic-reader, which stays for the next text. */
void reader_end(void);

#endif
