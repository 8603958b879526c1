/* SPDX-License-Identifier: ISC */
/* Another process beside a worker, which has a part of its work. */
#ifndef SIBLING_H
#define SIBLING_H

#include <sys/types.h>

/*
 * Before confinement: fork a process that this one speaks to by datagrams in
 * order. It is a sibling, not a child: a child that is stopped would outlive
 * the worker, because the signal of its parent's death is the worker's, and
 * Landlock lets the worker signal nobody. icsupervisor's signal arrives, and
 * icsupervisor reaps. Returns as fork(2), with the process's own end in `*fd`.
 */
pid_t sibling_fork(int *fd);

#endif
