/* SPDX-License-Identifier: ISC */
/*
 * Watches the frames of an HTTP/2 connection before the library acts on them,
 * and reports when too many are expensive for mitmd and useless to the sender
 * (rapid reset, PING, SETTINGS, empty frames), or when a header block is split
 * into too many pieces (CONTINUATION flood). It reads frame headers only, not
 * their contents.
 */
#ifndef H2_SCAN_H
#define H2_SCAN_H

#include "common/span.h"

#define H2_HEADER 9U
#define H2_BURST 500U        /* idle frames at once */
#define H2_RATE 50U          /* and every second */
#define H2_RESET 2U          /* cost of a RST_STREAM */
#define H2_SETTINGS 10U      /* cost of a SETTINGS */
#define H2_WINDOWS 1000U     /* WINDOW_UPDATEs in excess of the bytes sent */
#define H2_WINDOW_BYTES 512U /* bytes of an answer that allow for one */
#define H2_MAX_BLOCK 65536U  /* bytes of a header block */
#define H2_MAX_CONTINUED 16U /* CONTINUATION frames of one block */

struct h2_scan {
	size_t preface; /* bytes of the preface received */
	uint8_t head[H2_HEADER];
	size_t have;
	uint32_t left; /* bytes left of the frame's payload */
	bool block;    /* inside a header block */
	uint32_t bytes;
	unsigned continued;
	unsigned cost;    /* idle frames, reduced as time passes */
	unsigned windows; /* WINDOW_UPDATEs, reduced by bytes sent */
	uint64_t at;      /* when `cost` was last reduced, in ms */
	bool illegal; /* the fault is a forbidden frame, not a number of frames
		       */
};

/*
 * Scan `s`, received at `now`. Returns NULL, or the fault as constant text;
 * `illegal` then distinguishes a forbidden frame from too many frames.
 */
const char *h2_scan(struct h2_scan *, struct span s, uint64_t now);
/*
 * Count a data frame that was sent: the peer may widen its windows again, as it
 * takes the bytes.
 */
void h2_scan_sent(struct h2_scan *, size_t bytes);
/* Returns true inside a frame or a header block. */
bool h2_scan_partial(const struct h2_scan *);

#endif
