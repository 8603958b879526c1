/* SPDX-License-Identifier: ISC */
/*
 * HTTP/2 towards the agent: libnghttp2 reads and writes the frames, each
 * stream is an exchange.  A connection's streams, header blocks, windows and
 * idle frames are bounded; its flow control opens only as keyd's side takes
 * the bodies.
 */
#ifndef MITMD_H2_H
#define MITMD_H2_H

#include <nghttp2/nghttp2.h>

#include "h2_head.h"
#include "h2_scan.h"
#include "mitmd.h"

#define H2_MAX_STREAMS 50U
#define H2_STREAM_WINDOW (256U << 10) /* of a body, not taken by keyd */
#define H2_WINDOW (512U << 10)        /* of all bodies of a connection */
#define H2_ANSWER (128U << 10)        /* of an answer, then keyd waits */

struct h2 {
	nghttp2_session *session;
	struct agent *a;
	struct h2_scan scan;
	struct h2_head head;
	bool inside;      /* a callback of the library's runs */
	bool over;        /* GOAWAY is said: no new streams */
	uint64_t partial; /* since when a frame is cut off; 0: it is not */
};

/* h2.c */
struct exchange *h2_exchange(struct h2 *, int32_t stream);
/* GOAWAY with this code, then the end of the connection. */
void h2_end(struct agent *, uint32_t code, const char *why);

/* answer2.c */
extern const struct front front_http2;
/* Gives back what the agent may send, as far as keyd took it. */
void answer2_consume(struct exchange *);
/*
 * The answer does not wait for the rest of the request: a little of that is
 * dropped, as some clients lose the answer when their stream is reset.
 */
void answer2_drop(struct exchange *, size_t);
/* The stream is closed: the exchange is over, or given up. */
void answer2_closed(struct exchange *);

/* h2_request.c: what the library calls */
nghttp2_session_callbacks *h2_callbacks(void);

#endif
