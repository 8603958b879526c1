/* SPDX-License-Identifier: ISC */
/* Finding out why no sandbox can be made here, and what to do about it. */
#ifndef BOX_PROBE_H
#define BOX_PROBE_H

#include "config/fault.h"

/*
 * Make the sandbox of an agent around nothing and end it. Returns 0, or -1:
 * `why` says what bubblewrap said, `remedy` what a person can do.
 */
int box_probe(struct fault *why, const char **remedy);

#endif
