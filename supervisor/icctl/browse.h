/* SPDX-License-Identifier: ISC */
/* The person's browser, by the desktop's own program. */
#ifndef ICCTL_BROWSE_H
#define ICCTL_BROWSE_H

#include <stdbool.h>

/* A fixed path, and no shell: what is opened is one argument of it. */
#define BROWSE_PROGRAM "/usr/bin/xdg-open"

/* Returns true if there is a desktop whose program can open something. */
bool browse_may(void);
/* Open a file or an address. Returns 0, or -1 with errno set. */
int browse(const char *what);

#endif
