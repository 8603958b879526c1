/* SPDX-License-Identifier: ISC */
/*
 * The parts of the machine that sandboxes see. ic-survey looks at them while
 * the workers start.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "base/fault.h"

struct box;

/*
 * Start ic-survey, once the workspace and the guards are known. Returns 0, or
 * -1 with the fault set.
 */
int system_begin(struct fault *);
/*
 * Wait for its report, before the first sandbox is made and once all views are
 * known. Every sandbox then has the copy of /etc. Returns 0, or -1 with the
 * fault set.
 */
int system_end(struct fault *);
/* Add what the agent's sandbox sees of the machine besides /usr and /etc. */
void system_bind(struct box *);

#endif
