/* SPDX-License-Identifier: ISC */
/* Declarations shared by instance.c and instance_queue.c. */
#ifndef INSTANCE_PRIV_H
#define INSTANCE_PRIV_H

#include "policyd.h"

#define INSTANCE_AGAIN "\nNothing was done. It may be tried again."

/* Returns the number of instances, including those that are ending. */
unsigned instance_running(const struct policyd_env *);
/* Request the instance; each of its objects has a message. */
void instance_ask(
    struct policyd_env *, struct instance *, const struct outside *);

#endif
