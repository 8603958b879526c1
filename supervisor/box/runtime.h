/* SPDX-License-Identifier: ISC */
/* The agent: its sandbox, start and end. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <sys/types.h>

#include <stdbool.h>

#include "config/fault.h"

/* ic-bridge's place in every sandbox. */
#define RUNTIME_BRIDGE "/opt/ironcurtain/bin/ic-bridge"

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

/* Returns the kind of the sandbox, as --runtime names it. */
const char *runtime_name(void);
/* Returns the image of a container, "NAME (ID)", or NULL. */
const char *runtime_image(void);
/* Returns the path of ic-bridge on the host. */
const char *runtime_bridge(void);
/*
 * Returns the process of the host below which everything in the sandbox is, or
 * 0 if none is known.
 */
pid_t runtime_root(void);
/* Returns the sandbox's first process on the host, or 0. */
pid_t runtime_first(void);

#endif
