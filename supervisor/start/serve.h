/* SPDX-License-Identifier: ISC */
/* The services of the session's own, which ic-serve starts. */
#ifndef START_SERVE_H
#define START_SERVE_H

#include "base/fault.h"

/* Start ic-serve, if there is such a service. Returns 0, or -1. */
int serve_begin(struct fault *);
/* Wait until it has started all. Returns 0, or -1 with the fault set. */
int serve_wait(struct fault *);
/* End ic-serve, and what it has started with it. */
void serve_end(void);

#endif
