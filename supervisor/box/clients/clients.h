/* SPDX-License-Identifier: ISC */
/*
 * The proxy and the CA of a session for the programs that the agent runs:
 * clients/table.h says which one learns it how.
 */
#ifndef BOX_CLIENTS_H
#define BOX_CLIENTS_H

#include <stddef.h>

#include "base/fault.h"

struct box;

/*
 * Append NAME=VALUE in allocated memory to env[*n], of which there are at most
 * `max`. Returns 0, or -1 with the fault set.
 */
int clients_environment(char **env, size_t *n, size_t max, struct fault *);
/*
 * Write the files of clients into orientation/, once ca-bundle.pem is there.
 * Returns 0, or -1 with the fault set.
 */
int clients_files(struct fault *);
/* Mount files over those of the JDKs that the sandbox sees. */
void clients_bind(struct box *);

#endif
