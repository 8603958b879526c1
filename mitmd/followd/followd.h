/* SPDX-License-Identifier: ISC */
/* followd's internals; connections and answers are those of keyd.h. */
#ifndef FOLLOWD_H
#define FOLLOWD_H

#include "keyd/keyd.h"

/* place.c: the file at one place, for one answer */
void place_init(void);
int place_fetch(struct chan *, const struct msg_FOLLOW_GO *);

/* serve.c */
void followd_serve(void) __attribute__((noreturn));

#endif
