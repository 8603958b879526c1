/* SPDX-License-Identifier: ISC */
/*
 * A credential in an environment variable of ours: it leaves our memory for a
 * pipe.
 */
#ifndef CREDENTIAL_ENV_H
#define CREDENTIAL_ENV_H

#include "fault.h"

/*
 * The read end of a pipe that holds its value, which is then overwritten
 * where it stood; close-on-exec, non-blocking. -1: not set, empty, too long.
 */
int credential_env_pipe(const char *name, struct fault *);
/* The variable vanishes from our environment and /proc/self/environ. */
void credential_env_wipe(const char *name);

#endif
