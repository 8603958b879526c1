/* SPDX-License-Identifier: ISC */
/* The user's own options of a runtime, as far as a sandbox may have them. */
#ifndef BOX_CLIENTS_OPTIONS_H
#define BOX_CLIENTS_OPTIONS_H

#include <stdbool.h>

#include "common/buf.h"

enum options_kind {
	OPTIONS_NODE,
	OPTIONS_JVM
};

/*
 * Append the words of `text`, which the user's environment has, each after a
 * space, to `b`. Words that name a file, load code, open a port or may hold a
 * credential are left out. Returns true if all were taken.
 */
bool clients_options(struct buf *b, enum options_kind, const char *text);

#endif
