/* SPDX-License-Identifier: ISC */
/*
 * The first bytes that an MCP server sends through a tunnel: a TLS ClientHello
 * (RFC 8446, 4.1.2) and the host that it names (RFC 6066, 3). Written by a
 * program that is not trusted, so that all of it is hostile: what is not
 * exactly as the RFCs say is bad.
 */
#ifndef HELLO_H
#define HELLO_H

#include "common/net/egress_list.h"
#include "common/span.h"

#define HELLO_MAX 16384U     /* bytes of a ClientHello, its header included */
#define HELLO_MAX_RAW 32768U /* the same in records, which may be short */

enum hello_result {
	HELLO_MORE,     /* neither complete nor wrong yet */
	HELLO_NAMED,    /* a ClientHello for `name` */
	HELLO_NAMELESS, /* a ClientHello that names no host */
	HELLO_OTHER,    /* not TLS */
	HELLO_BAD,      /* not as the RFCs say, or too large */
};

struct hello {
	/* As egress_host() writes it. With ECH it is the outer one. */
	char name[EGRESS_MAX_HOST + 1];
	bool ech; /* an inner ClientHello is there, or a random text like it */
	size_t used; /* bytes of its records, if it is complete */
};

/*
 * Parse all bytes so far. More bytes behind the ClientHello's last record are
 * not looked at. Once the result is not HELLO_MORE, more bytes do not change
 * it; with HELLO_MAX_RAW bytes it never is.
 */
enum hello_result hello_parse(struct span, struct hello *);

/*
 * answer.c: The host's first TLS message. A HelloRetryRequest (RFC 8446, 4.1.4)
 * asks for a second ClientHello.
 */
enum answer_result {
	ANSWER_MORE,  /* not known yet */
	ANSWER_RETRY, /* a HelloRetryRequest */
	ANSWER_OTHER, /* anything else: no second ClientHello is valid */
};

#define ANSWER_KNOWN 38U /* bytes of a ServerHello, up to its random */

struct answer {
	uint8_t head[5];
	uint8_t body[ANSWER_KNOWN];
	size_t nhead, nbody;
	size_t left; /* bytes of this record that were not seen */
};

/* Take the next bytes of the host. `struct answer` begins as zeroes. */
enum answer_result answer_feed(struct answer *, struct span);

/*
 * Returns the length of the whole records at the beginning of `s` that may
 * precede a second ClientHello: change_cipher_spec, and early data that the
 * host skips (RFC 8446, 4.2.10 and D.4).
 */
size_t answer_skip(struct span);

#endif
