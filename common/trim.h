/* SPDX-License-Identifier: ISC */
/*
 * Gives memory back after a crowd: an allocator keeps what was freed between
 * things that live on, so that one hour of 500 connections would be held for
 * the rest of a session, and as much again as they need for what their
 * handshakes needed.
 */
#ifndef TRIM_H
#define TRIM_H

#include "common/loop.h"

#define TRIM_MIN	16U	/* a crowd */
#define TRIM_MS		2000U	/* until a crowd has settled */

struct trim {
	unsigned most;		/* things alive since the last time */
	unsigned begun;		/* since the last time */
	struct loop_timer timer;
};

/*
 * One has begun, and what that took for a while was freed.  Acts once a crowd
 * of them has settled, with one timer of the loop.
 */
void trim_begun(struct trim *, struct loop *);

/* One was freed, `left` are alive. Acts where three quarters have gone. */
void trim_freed(struct trim *, unsigned left);

#endif
