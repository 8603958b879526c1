/* SPDX-License-Identifier: ISC */
/*
 * Returns memory to the kernel after a crowd.  An allocator keeps the memory
 * freed between objects that live on.  Without this, an hour with 500
 * connections would cost their memory for the rest of the session, and as much
 * again for their handshakes.
 */
#ifndef TRIM_H
#define TRIM_H

#include "common/loop.h"

#define TRIM_MIN	16U	/* connections that make a crowd */
#define TRIM_MS		2000U	/* time for a crowd to settle */

struct trim {
	unsigned most;		/* highest number alive since the last trim */
	unsigned begun;		/* begun since the last trim */
	struct loop_timer timer;
};

/*
 * Count an object that has begun and has freed its temporary memory.  Trims
 * once a crowd of them has settled; uses one timer of the loop.
 */
void trim_begun(struct trim *, struct loop *);

/*
 * Count an object that was freed; `left` are still alive.  Trims if three
 * quarters of them are gone.
 */
void trim_freed(struct trim *, unsigned left);

#endif
