/* SPDX-License-Identifier: ISC */
/* Words that people know from other programs, and what to write instead. */
#ifndef ICCTL_INSTEAD_H
#define ICCTL_INSTEAD_H

#include <stdbool.h>

/*
 * Returns what to write instead of a word or an option of a command, such as
 * "policy" or "mcp add", or NULL. The command "" is icctl itself.
 */
const char *instead_of(const char *command, const char *word);
/* Print that, if there is something. Returns true if it did. */
bool instead_say(const char *command, const char *word);

#endif
