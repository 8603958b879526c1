/* SPDX-License-Identifier: ISC */
/*
 * Redacts arguments for the audit log: masks card numbers, social security
 * numbers and known kinds of keys, and replaces long strings by their head,
 * length and digest.
 */
#ifndef REDACT_H
#define REDACT_H

#include "common/json/value.h"

#define REDACT_LONG	16384U	/* longer strings are cut ... */
#define REDACT_HEAD	256U	/* ... to at most this length */

/* Returns true if the string must stay whole (a path, a URL). */
typedef bool redact_whole_fn(const struct value *, void *arg);

/*
 * Redact the tree in place; mask secrets if `secrets`. Returns 1 if it changed,
 * 0 if not, or -1 with ENOBUFS; the tree must not be used then.
 */
int redact_tree(struct value *, struct value_pool *, bool secrets,
    redact_whole_fn *, void *arg);
/*
 * Mask a string. *out is in the pool, or the same span if nothing is masked.
 * Returns 0, or -1.
 */
int redact_string(struct value_pool *, struct span, struct span *out);

#endif
