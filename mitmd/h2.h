/* SPDX-License-Identifier: ISC */
/*
 * HTTP/2 on the agent's side: libnghttp2 reads and writes the frames, and each
 * stream is an exchange. The number of streams, header blocks, windows and idle
 * frames of a connection are limited; its flow control opens only as keyd takes
 * the bodies.
 */
#ifndef MITMD_H2_H
#define MITMD_H2_H

#include <nghttp2/nghttp2.h>

#include "h2_head.h"
#include "h2_scan.h"
#include "mitmd.h"

#define H2_MAX_STREAMS 50U
/* bytes of a body that keyd has not taken */
#define H2_STREAM_WINDOW (256U << 10)
#define H2_WINDOW (512U << 10) /* the same for all bodies of a connection */
#define H2_ANSWER (128U << 10) /* bytes of an answer before keyd must wait */
#define H2_FRAME 16384U        /* bytes of a whole DATA frame */
#define H2_SMALL_MS 100U       /* until a smaller one is sent all the same */

struct h2 {
	nghttp2_session *session;
	struct agent *a;
	struct h2_scan scan;
	struct h2_head head;
	bool inside;      /* inside a callback of the library */
	bool over;        /* GOAWAY was sent: no new streams */
	uint64_t partial; /* start of an incomplete frame; 0: none */
	/* h2_turn.c */
	int32_t turn; /* stream whose answer is sent next; 0: none */
	bool small;   /* send whatever the windows admit */
	bool waits;   /* an answer waits for more room than there is */
	struct loop_timer late;
};

/* h2.c */
struct exchange *h2_exchange(struct h2 *, int32_t stream);
/* Send GOAWAY with this code and end the connection. */
void h2_end(struct agent *, uint32_t code, const char *why);

/* h2_turn.c */
/* The answer has bytes, or its end: it takes turns with the others. */
void h2_turn_add(struct exchange *);
/* The stream is over, or there is nothing to send now. */
void h2_turn_drop(struct exchange *);
/* A frame was taken from the answer: it is the turn of the others. */
void h2_turn_taken(struct exchange *);
/*
 * Choose the stream whose answer is sent next, in h->turn. Returns false if
 * there is none that may send now.
 */
bool h2_turn_next(struct h2 *);

/* answer2.c */
extern const struct front front_http2;
/* Open the agent's window again by as much as keyd has taken. */
void answer2_consume(struct exchange *);
/*
 * Discard body bytes after the answer was sent. A limited number is accepted,
 * because some clients lose the answer if their stream is reset.
 */
void answer2_drop(struct exchange *, size_t);
/* The stream is closed: end the exchange or give it up. */
void answer2_closed(struct exchange *);

/* h2_request.c: the callbacks of the library */
nghttp2_session_callbacks *h2_callbacks(void);

#endif
