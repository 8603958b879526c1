/* SPDX-License-Identifier: ISC */
/*
 * Regular expressions of "pattern" (ECMA-262), without what cannot be searched
 * in linear time: references to groups, and looking ahead or behind.
 */
#ifndef SCHEMA_PATTERN_H
#define SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

#define PATTERN_CODE 4096U   /* steps of a pattern, repetitions written out */
#define PATTERN_RANGES 2048U /* ranges of characters */

enum pattern_op {
	PATTERN_SET,   /* one character in (or, if `not`, outside of) ranges */
	PATTERN_SPLIT, /* go on at both */
	PATTERN_JUMP,
	PATTERN_START, /* the beginning of the text */
	PATTERN_END,
	PATTERN_WORD, /* a boundary of a word; or, if `not`, none */
	PATTERN_MATCH,
};

/* Targets are relative to the step itself, so that steps can be copied. */
struct pattern_step {
	uint8_t op;
	bool not ;
	uint16_t at, n; /* ranges */
	int16_t a, b;   /* targets */
};

struct pattern {
	struct pattern_step code[PATTERN_CODE];
	struct pattern_range {
		uint32_t from, to;
	} ranges[PATTERN_RANGES];
	unsigned n, nranges;
	const char *why; /* why it is none, or NULL */
};

/* pattern.c: Returns 0, or -1 with `why` set. The text is UTF-8. */
int pattern_compile(struct pattern *, struct span text);
/*
 * pattern_run.c: Returns 1 if it is found in the text, 0 if not, or -1 if this
 * would take more than `*steps` steps. Takes those that it took off.
 */
int pattern_find(const struct pattern *, struct span text, uint64_t *steps);

/* Take a character of valid UTF-8 off the front. */
uint32_t pattern_take(struct span *);

#endif
