/* SPDX-License-Identifier: ISC */
/*
 * Notices that an agent goes in circles.  Each call is an approach (the tool
 * and its arguments) with an outcome (its result).  The same approach with the
 * same outcome is stagnation; many approaches that all fail are being stuck.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include <stdbool.h>

#include "common/span.h"

#define REPEAT_KEPT 32U
#define REPEAT_STAGNATION_WARN 3U
#define REPEAT_STAGNATION_BLOCK 5U
#define REPEAT_STUCK_WARN 5U
#define REPEAT_STUCK_BLOCK 8U
/* After so many blocked calls the turn ends. */
#define REPEAT_GIVE_UP 3U

struct repeat {
	struct repeat_call {
		uint64_t approach, outcome;
	} calls[REPEAT_KEPT];	/* the latest, as a ring */
	unsigned n, at;
	unsigned failures;	/* in a row */
	unsigned blocked;
	bool refused;		/* the latest call was blocked for being stuck */
};

enum repeat_verdict { REPEAT_FINE, REPEAT_WARN, REPEAT_BLOCK };

/* Forget everything: the person has spoken. */
void repeat_reset(struct repeat *);
/*
 * Judge a call before it is made: REPEAT_FINE or REPEAT_BLOCK, with a sentence
 * for the model in `*why`.
 */
enum repeat_verdict repeat_before(
    struct repeat *, struct span tool, struct span args, const char **why);
/* Judge it afterwards: REPEAT_FINE or REPEAT_WARN, with a sentence. */
enum repeat_verdict repeat_after(struct repeat *, struct span tool,
    struct span args, struct span result, bool is_error, const char **why);
/* Returns true if the turn should end. */
bool repeat_hopeless(const struct repeat *);

#endif
