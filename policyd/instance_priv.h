/* SPDX-License-Identifier: ISC */
/* Shared by instance.c and instance_queue.c. */
#ifndef INSTANCE_PRIV_H
#define INSTANCE_PRIV_H

#include "policyd.h"

#define INSTANCE_AGAIN "\nNothing was done. It may be tried again."

/* How many there are, those that are ending included. */
unsigned instance_running(const struct policyd_env *);
/* Its objects, each with a message of its own. */
void instance_ask(
    struct policyd_env *, struct instance *, const struct outside *);

#endif
