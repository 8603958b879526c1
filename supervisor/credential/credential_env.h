/* SPDX-License-Identifier: ISC */
/*
 * A credential in an environment variable of this process: it leaves our memory
 * for a pipe.
 */
#ifndef CREDENTIAL_ENV_H
#define CREDENTIAL_ENV_H

#include "base/fault.h"

/*
 * Write the variable's value to a pipe, overwrite it in place and remove it.
 * Returns the pipe's read end (close-on-exec, non-blocking), or -1 with the
 * fault set if the variable is unset, empty or too long.
 */
int credential_env_pipe(const char *name, struct fault *);
/*
 * Do the same for a key in parts: `names` are the variables of id, secret and
 * session token (which may be unset). The pipe holds the JSON that a
 * credential_process prints.
 */
int credential_env_parts(char *const names[3], struct fault *);
/*
 * Overwrite the variable and remove it from the environment, and so from
 * /proc/self/environ.
 */
void credential_env_wipe(const char *name);

#endif
