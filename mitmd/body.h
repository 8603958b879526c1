/* SPDX-License-Identifier: ISC */
/*
 * Bodies of requests that are held whole, until they were looked at; and the
 * room that all of them have together.
 */
#ifndef MITMD_BODY_H
#define MITMD_BODY_H

#include "mitmd.h"

/* Random, before the first body. */
void body_seed_set(const uint64_t seed[2]);
/* Returns true if the body of x->req must be held whole. */
bool body_is_held(const struct exchange *);
/* Hold the body from now on, or stop holding it; what arrived stays. */
void body_hold(struct exchange *);
void body_unhold(struct exchange *);
/* Returns true if there is room to read more of it. */
bool body_room(struct exchange *);
/* More of it. */
enum refusal body_put(struct exchange *, struct span);
/* Where n bytes of it may be written, and that they were; NULL: put them. */
uint8_t *body_place(struct exchange *, size_t n);
void body_placed(struct exchange *, size_t n);
/* It is complete: decoded, filtered; x->req.length is that of what is left. */
enum refusal body_check(struct exchange *);
/* What is held is forgotten. */
void body_drop(struct exchange *);
/* What is held becomes a client's frame with that payload. -1: no room. */
int body_frame(struct exchange *, enum ws_op);

#endif
