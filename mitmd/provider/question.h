/* SPDX-License-Identifier: ISC */
/*
 * The route of a provider on which one plain question is put to a model: for
 * the approver, and for icsupervisor, which checks the setting at the start.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include "provider/provider.h"

#define QUESTION_MAX_PATH 256U

/*
 * Find the first route of a dialect that the approver speaks (messages of
 * Anthropic, chat completions, responses, generateContent), and write its path
 * with this model. Returns the route's number, or -1 if there is none.
 */
int question_route(const struct provider *, struct span model,
    char path[QUESTION_MAX_PATH]);

#endif
