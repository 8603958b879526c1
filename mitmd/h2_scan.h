/* SPDX-License-Identifier: ISC */
/*
 * Watches the frames of an HTTP/2 connection go by, before the library that
 * acts on them, and says when there are too many of those that cost us and
 * bring the sender nothing (rapid reset, PING, SETTINGS, empty frames), or
 * when a header block is cut in too many pieces (CONTINUATION flood).  It
 * reads nothing but frame headers; what they mean is not its business.
 */
#ifndef H2_SCAN_H
#define H2_SCAN_H

#include "common/span.h"

#define H2_HEADER 9U
#define H2_BURST 500U        /* idle frames at once */
#define H2_RATE 50U          /* and every second */
#define H2_RESET 2U          /* what a RST_STREAM counts */
#define H2_SETTINGS 10U      /* what a SETTINGS counts */
#define H2_WINDOWS 1000U     /* WINDOW_UPDATE without data from us */
#define H2_MAX_BLOCK 65536U  /* bytes of a header block */
#define H2_MAX_CONTINUED 16U /* CONTINUATION frames of one block */

struct h2_scan {
	size_t preface; /* bytes of it that came */
	uint8_t head[H2_HEADER];
	size_t have;
	uint32_t left; /* of the frame's payload */
	bool block;    /* a header block is not whole */
	uint32_t bytes;
	unsigned continued;
	unsigned cost;    /* idle frames, less what time took off */
	unsigned windows; /* WINDOW_UPDATE, less what our data took off */
	uint64_t at;      /* ms, of the latest that was taken off */
	bool illegal;     /* what is wrong is a frame that may not be */
};

/*
 * All of s goes by at `now`. Returns NULL, or what is wrong: constant text;
 * `illegal` then tells a frame that the protocol forbids from too many.
 */
const char *h2_scan(struct h2_scan *, struct span s, uint64_t now);
/* We sent frames of data, for which the peer may widen its window. */
void h2_scan_sent(struct h2_scan *, unsigned frames);
/* Is a frame or a header block cut off? */
bool h2_scan_partial(const struct h2_scan *);

#endif
