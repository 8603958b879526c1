/* SPDX-License-Identifier: ISC */
/* Steps for which the model may look into the user's own data. */
#ifndef COMPILE_STEP_DATA_H
#define COMPILE_STEP_DATA_H

#include "docker/model/model.h"

#define DATA_CALLS 5U /* calls in one step */

/*
 * Ask the model, and make the calls that it wants, of tools of `server` alone.
 * The policy of the session decides about each. Returns as model_turn().
 */
int data_turn(struct model *, enum model_dialect, const char *system,
    const char *text, const char *server, struct model_answer *);

#endif
