/* SPDX-License-Identifier: ISC */
/*
 * Finds the program of an agent on this machine. No agent is run: its version
 * is what its npm package says.
 */
#ifndef ICCTL_AGENT_FIND_H
#define ICCTL_AGENT_FIND_H

#include <limits.h>

#include "files/adapter/adapter.h"
#include "files/config.h"

#define AGENT_VERSION 64U

/*
 * Returns false if it is not installed. Otherwise `program` is its path, and
 * `version` its version, or "" if that is not known.
 */
bool agent_find(const struct adapter *, const struct config *,
    char program[PATH_MAX], char version[AGENT_VERSION]);

#endif
