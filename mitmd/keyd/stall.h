/* SPDX-License-Identifier: ISC */
/*
 * The arithmetic of a timer that is armed once and, when it fires, checks how
 * long a connection has really been quiet.
 */
#ifndef KEYD_STALL_H
#define KEYD_STALL_H

#include <stdint.h>

/*
 * Returns the milliseconds until `limit` after the latest progress, or 0 if
 * that time has come.
 */
static inline uint64_t
stall_left(uint64_t quiet, uint64_t limit)
{
	return quiet < limit ? limit - quiet : 0;
}

#endif
