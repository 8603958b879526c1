/* SPDX-License-Identifier: ISC */
/* The routes of a provider whose requests count as steps of a budget. */
#ifndef RESUME_ROUTES_H
#define RESUME_ROUTES_H

#include "common/json/value.h"

/*
 * Returns the numbers of those routes in the provider file `text`, or null if
 * it cannot be read; NULL if memory ran out. Sets `*messages` if one of them is
 * a WebSocket, whose messages are steps that have no records.
 */
struct value *routes_of_steps(
    struct value_pool *, struct span text, bool *messages);

#endif
