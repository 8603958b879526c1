/* SPDX-License-Identifier: ISC */
/* Finds out why no sandbox can be made here, and what to do about it. */
#ifndef BOX_PROBE_H
#define BOX_PROBE_H

#include "base/fault.h"

/*
 * Make an agent's sandbox without an agent, and end it. Returns 0, or -1 with
 * bubblewrap's message in `why` and advice for a person in `remedy`.
 */
int box_probe(struct fault *why, const char **remedy);

#endif
