/* SPDX-License-Identifier: ISC */
/* The help of icctl as a whole; each command has its own. */
#ifndef ICCTL_HELP_H
#define ICCTL_HELP_H

#include <stdio.h>

/* Print all commands in groups, on one screen. */
void help_short(FILE *to);
/* Print every command with its arguments and what it does. */
void help_all(FILE *to);

#endif
