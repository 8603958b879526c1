/* SPDX-License-Identifier: ISC */
/* The agent: its sandbox, start and end. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>

#include "base/fault.h"

/* Find the agent's program and compose its command and environment. */
int runtime_prepare(struct fault *);
/*
 * Find out whether the sandbox can be made, when it is known what the agent can
 * write.
 */
int runtime_check(struct fault *);
/* Write the files that the agent reads at its start. */
int runtime_orient(struct fault *);
/* Start the agent once the servers have settled, or 30 s after READY. */
void runtime_poll(void);
void runtime_kill(void);
/* The agent's process has been reaped: leave nothing of its sandbox behind. */
void runtime_remove(void);

#endif
