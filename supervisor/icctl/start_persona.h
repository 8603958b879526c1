/* SPDX-License-Identifier: ISC */
/* The policy of a session that is started with a persona. */
#ifndef ICCTL_START_PERSONA_H
#define ICCTL_START_PERSONA_H

#include "files/persona.h"

/*
 * Returns the policy of the persona, or NULL for the usual one. Says on
 * standard error if it is not made of the persona's constitution as it is now.
 */
const char *start_persona_policy(const struct persona *, const char *name);

#endif
