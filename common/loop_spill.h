/* SPDX-License-Identifier: ISC */
/*
 * The kernel counts the descriptors in epoll sets of all processes of a user
 * together (fs.epoll.max_user_watches), so that one program can use them up. A
 * loop then waits with poll(2) for descriptors that its epoll set did not take,
 * and tries again to add them.
 */
#ifndef LOOP_SPILL_H
#define LOOP_SPILL_H

#include "common/loop.h"

void loop_spill_free(struct loop *);
/*
 * Wait for `io`, which has its descriptor and events. Returns 0, or -1 with
 * errno set.
 */
int loop_spill_add(struct loop *, struct loop_io *);
void loop_spill_del(struct loop *, struct loop_io *);
/*
 * Move descriptors to the epoll set. Returns true if it took all of them.
 */
bool loop_spill_back(struct loop *);
/*
 * Fill l->ready as epoll_wait() does, with events of both kinds. Returns their
 * number, or -1 with errno set.
 */
int loop_spill_wait(struct loop *, int ms);

#endif
