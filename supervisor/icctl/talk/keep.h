/* SPDX-License-Identifier: ISC */
/* Approvals of the last run: shown to a person, who says which apply again. */
#ifndef ICCTL_TALK_KEEP_H
#define ICCTL_TALK_KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "resume/carry.h"

/*
 * Show them, if there are any, and ask. Returns the number of values in `out`
 * for --keep-grant of icsupervisor, which the caller frees; 0 without a
 * terminal or if not `can_ask`.
 */
size_t keep_options(
    const struct carry *, bool can_ask, char *out[CARRY_GRANTS]);

#endif
