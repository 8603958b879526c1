/* SPDX-License-Identifier: ISC */
/*
 * Bodies of requests that are held whole until they have been checked, and the
 * memory that all of them share.
 */
#ifndef MITMD_BODY_H
#define MITMD_BODY_H

#include "mitmd.h"

/* Set the seed for the scanner: random, and before the first body. */
void body_seed_set(const uint64_t seed[2]);
/* Returns true if the body of x->req must be held whole. */
bool body_is_held(const struct exchange *);
/* Hold the body from now on, or stop holding it; what arrived stays. */
void body_hold(struct exchange *);
void body_unhold(struct exchange *);
/* Returns true if there is room to read more of the body. */
bool body_room(struct exchange *);
/* Append to the held body. */
enum refusal body_put(struct exchange *, struct span);
/*
 * Returns space for `n` bytes of the body, to be committed with body_placed(),
 * or NULL if they must go through body_put().
 */
uint8_t *body_place(struct exchange *, size_t n);
void body_placed(struct exchange *, size_t n);
/*
 * The body is complete: decode and filter it, and set x->req.length to the
 * length of the result.
 */
enum refusal body_check(struct exchange *);
/* Drop the held body. */
void body_drop(struct exchange *);
/*
 * Replace the held body by one client frame with it as payload. Returns 0, or
 * -1 if there is no room.
 */
int body_frame(struct exchange *, enum ws_op);

#endif
