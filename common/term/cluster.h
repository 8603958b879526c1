/* SPDX-License-Identifier: ISC */
/*
 * Emoji of several characters, which terminals and agents count as one of two
 * columns: a symbol with a variation selector or a skin tone, symbols that are
 * joined, and keycaps. Only symbols join, and never letters, so that nothing is
 * hidden in a word. termd and the viewer of its cells use the same rules.
 */
#ifndef TERM_CLUSTER_H
#define TERM_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_JOINER 0x200dU
#define CLUSTER_EMOJI 0xfe0fU /* the variation selector for a picture */
#define CLUSTER_WIDTH 2

/* Returns true if a cluster may begin with `c`. */
bool cluster_begins(uint32_t c);
/* Returns true if the `n` characters are one complete cluster of several. */
bool cluster_good(const uint32_t *chars, unsigned n);

enum cluster_join {
	CLUSTER_NOT,   /* `c` begins something else */
	CLUSTER_WAITS, /* it joins what follows, if that joins, too */
	CLUSTER_JOINED
};

/*
 * Join `c` to the `*n` characters of a cell, at least one, of which `chars` has
 * room for `max`. `*wait` is 0 or the character that waits, and is kept by the
 * caller together with the cell.
 */
enum cluster_join cluster_join(
    uint32_t *chars, unsigned *n, unsigned max, uint32_t *wait, uint32_t c);

#endif
