/* SPDX-License-Identifier: ISC */
/* The agent: its box, its start, its end. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>

#include "config/fault.h"

/* Finds the agent's program and composes its command and environment. */
int runtime_prepare(struct fault *);
/* Writes what it reads at its start. */
int runtime_orient(struct fault *);
/* Starts it once the servers have settled, or 30 s after READY. */
void runtime_poll(void);
void runtime_kill(void);

#endif
