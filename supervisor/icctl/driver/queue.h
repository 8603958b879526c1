/* SPDX-License-Identifier: ISC */
/* The requests that wait or run, and the input that they come from. */
#ifndef DRIVER_QUEUE_H
#define DRIVER_QUEUE_H

#include "icctl/driver/priv.h"

/* Start as many as may run. */
void queue_start(struct driver *);
/* Read input, which must be there, and take its lines. */
void queue_read(struct driver *);
/* Read no more; if `cancel`, also cancel what runs or waits. */
void queue_end(struct driver *, bool cancel);
/* Forget a request that does not run. */
void queue_remove(struct driver *, struct request *);

#endif
