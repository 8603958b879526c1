/* SPDX-License-Identifier: ISC */
/* What the sandbox's own programs, bubblewrap and ic-bridge, have to say. */
#ifndef SANDBOX_LOG_H
#define SANDBOX_LOG_H

#include "config/fault.h"

/* *theirs: their standard output and error, for the caller to close. */
int sandbox_log_open(int *theirs, struct fault *);
/* Reads what has come. */
void sandbox_log_read(void);

#endif
