/* SPDX-License-Identifier: ISC */
/* How every sandbox begins: init.c, and small.c for git's. */
#ifndef BOX_SYSTEM_INIT_H
#define BOX_SYSTEM_INIT_H

#include "box/box.h"

/*
 * Begin with new namespaces, a session of its own and the programs of the host.
 * `nested`: the sandbox may make user namespaces.
 */
void box_apart(
    struct box *, enum filter_kind, const struct limits *, bool nested);
/* Add an empty directory in memory, of at most this size; 0: no limit. */
void box_tmpfs(struct box *, const char *dest, uint64_t mib);

#endif
