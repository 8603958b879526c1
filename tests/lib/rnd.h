/* SPDX-License-Identifier: ISC */
/* Numbers that look random and are the same in every run (xorshift). */
#ifndef RND_H
#define RND_H

#include <stdint.h>

/* Returns a number below `n`. */
static inline unsigned
rnd(unsigned n)
{
	static uint64_t seed = 88172645463325252U;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 11) % n;
}

#endif
