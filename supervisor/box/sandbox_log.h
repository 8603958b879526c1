/* SPDX-License-Identifier: ISC */
/* Messages of the programs that set up a sandbox, bubblewrap and ic-bridge. */
#ifndef SANDBOX_LOG_H
#define SANDBOX_LOG_H

#include "base/fault.h"

/*
 * Open the log. *theirs is their standard output and error; the caller closes
 * it.
 */
int sandbox_log_open(int *theirs, struct fault *);
/* Read everything that has arrived. */
void sandbox_log_read(void);

#endif
