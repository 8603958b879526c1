/* SPDX-License-Identifier: ISC */
/* Counts the processes of a container that the kernel killed for memory. */
#ifndef BOX_OOM_H
#define BOX_OOM_H

#include <sys/types.h>

/* Find the control group of this process of the container. */
void oom_open(pid_t);
/* Returns the number so far; 0 without such a group. */
unsigned oom_killed(void);

#endif
