/* SPDX-License-Identifier: ISC */
/*
 * Gives memory back after a crowd: an allocator keeps what was freed between
 * things that live on, so that one hour of 500 connections would be held for
 * the rest of a session.
 */
#ifndef TRIM_H
#define TRIM_H

#define TRIM_MIN	16U	/* a crowd */

struct trim {
	unsigned most;		/* things alive since the last time */
};

/* One was freed, `left` are alive. Acts where three quarters have gone. */
void trim_freed(struct trim *, unsigned left);

#endif
