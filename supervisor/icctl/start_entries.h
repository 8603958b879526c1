/* SPDX-License-Identifier: ISC */
/* Questions of `icctl start` about changed entries of MCP servers. */
#ifndef ICCTL_START_ENTRIES_H
#define ICCTL_START_ENTRIES_H

#include "icctl/icctl.h"

/*
 * Ask on the terminal, if there is one. `file` and `profile` are those of the
 * command line, or NULL. Writes at most `max` values of --approved-entry for
 * icsupervisor to `out`, which the caller frees. Returns their number.
 */
size_t start_entries(const struct icctl *, const char *file,
    const char *profile, char **out, size_t max);

#endif
