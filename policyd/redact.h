/* SPDX-License-Identifier: ISC */
/*
 * What the audit log shall hold instead of arguments (original.md 2.8): card
 * and social security numbers and known kinds of keys masked, long strings as
 * their head, length and digest.
 */
#ifndef REDACT_H
#define REDACT_H

#include "common/json/value.h"

#define REDACT_LONG	16384U	/* longer strings are cut ... */
#define REDACT_HEAD	256U	/* ... to this, or a little less */

/* Is this string to stay whole (a path, a URL)? */
typedef bool redact_whole_fn(const struct value *, void *arg);

/*
 * Changes the tree in place: 1 when something changed, 0 when nothing did, -1
 * with ENOBUFS (the tree is then not to be used).  secrets: mask them.
 */
int redact_tree(struct value *, struct value_pool *, bool secrets,
    redact_whole_fn *, void *arg);
/* Masked text in the pool, or the same span when there is nothing to mask. */
int redact_string(struct value_pool *, struct span, struct span *out);

#endif
