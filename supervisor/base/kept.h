/* SPDX-License-Identifier: ISC */
/*
 * The programs of ours, held open from the start of a session. When an upgrade
 * has put others into their place, the session goes on with those that it began
 * with: the two kinds need not understand each other.
 */
#ifndef BASE_KEPT_H
#define BASE_KEPT_H

#include <stdbool.h>

#define KEPT_MAX 64U

/*
 * Hold each program of this directory, which is borrowed; of more than
 * KEPT_MAX, or without descriptors left, some are not held.
 */
void kept_begin(const char *libexecdir);
/*
 * Returns a descriptor of the program that this path had at the start, if there
 * is none now, or another one; otherwise -1. It is ours.
 */
int kept_find(const char *path);
/* Returns true if a program is not the one that was held, or is gone. */
bool kept_changed(void);

#endif
