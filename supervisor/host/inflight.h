/* SPDX-License-Identifier: ISC */
/*
 * Descriptors in flight: sent over Unix sockets, and not received yet. The
 * kernel counts those of all processes of a user together, and refuses to pass
 * another to a process whose own soft limit on open files is smaller than the
 * count. So a program that holds many stops those of other sessions whose limit
 * it reaches.
 */
#ifndef HOST_INFLIGHT_H
#define HOST_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A limit that a sandbox does not reach: each of its threads can exceed its own
 * limit by one message with 253 descriptors, sent at the same moment.
 */
#define INFLIGHT_SAFE 262144U

/* Returns false if the kernel does not let this process pass a descriptor. */
bool inflight_possible(void);
/*
 * Returns the number in flight; one more than this process's hard limit on open
 * files if there are more than that.
 */
uint64_t inflight_count(void);
/*
 * Write the processes that hold most of them to `dst`, "python3 (pid 12), node
 * (pid 4)", as far as this process may see it and finds it in `ms`; "" if there
 * is none. Returns `dst`.
 */
const char *inflight_holders(char *dst, size_t cap, unsigned ms);

#endif
