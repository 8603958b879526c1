/* SPDX-License-Identifier: ISC */
/*
 * The sessions of many machines as one live set. A file names relays: programs
 * such as ssh or kubectl that run `icctl relay` there. What a relay prints is
 * read by a process of its own, ic-hear, and its sessions are named
 * RELAY/SESSION here, so that a machine can lie about its own sessions and no
 * others.
 */
#ifndef ICCTL_FLEET_H
#define ICCTL_FLEET_H

#include "icctl/icctl.h"
#include "icctl/live/live.h"

#define FLEET_NODES 1024U /* relays at once */
/* Timers that the caller's loop must have room for, besides LIVE_TIMERS. */
#define FLEET_TIMERS (3 * FLEET_NODES + 32)

/*
 * Follow the sessions of this machine, of `ctl->dir` alone if that is set, or
 * those of the relays of the file `ctl->hub`. Otherwise as live_new(); of a
 * file with a mistake it says why, and ends the program.
 */
struct live *fleet_follow(struct icctl *, struct loop *, unsigned flags,
    const struct live_ops *, void *arg);
/* End the relays, if there are any, and free the set. */
void fleet_leave(struct live *);
/*
 * relay.c: Tell on standard output what all sessions do, and take requests on
 * standard input, until its end. Returns an exit status.
 */
int relay_run(struct icctl *);

#endif
