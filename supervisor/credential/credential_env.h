/* SPDX-License-Identifier: ISC */
/*
 * A credential in an environment variable of ours: it leaves our memory for a
 * pipe.
 */
#ifndef CREDENTIAL_ENV_H
#define CREDENTIAL_ENV_H

#include "config/fault.h"

/*
 * The read end of a pipe that holds its value, which is then overwritten
 * where it stood; close-on-exec, non-blocking. -1: not set, empty, too long.
 */
int credential_env_pipe(const char *name, struct fault *);
/*
 * The same of a key in two parts: what these name, id, secret and session
 * token (which need not be set), as the JSON of a credential_process.
 */
int credential_env_parts(char *const names[3], struct fault *);
/* The variable vanishes from our environment and /proc/self/environ. */
void credential_env_wipe(const char *name);

#endif
