/* SPDX-License-Identifier: ISC */
/* Compares checkpoints, for `icctl diff`. */
#ifndef ICCTL_UNDO_DIFF_H
#define ICCTL_UNDO_DIFF_H

#include "icctl/icctl.h"

/*
 * Show what turn `turn` changed, or that turn up to `upto`, which may be NULL.
 * Returns an exit status.
 */
int undo_diff(struct icctl *, const char *turn, const char *upto);

#endif
