/* SPDX-License-Identifier: ISC */
/* Goes on with a conversation that an earlier run of the session began. */
#ifndef TALK_MEND_H
#define TALK_MEND_H

#include "base/fault.h"
#include "conversation/talk_cut.h"

/*
 * Choose the agent's own conversation to go on with. Returns 0, or -1 with the
 * fault set.
 */
int talk_again(struct fault *);
/* Give a turn that the death of a run cut short the ends that it lacks. */
void talk_mend(const struct talk_cut *, uint32_t turn);

#endif
