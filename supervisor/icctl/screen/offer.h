/* SPDX-License-Identifier: ISC */
/*
 * Offers of the agent to the person of this viewer: a text to copy, or an
 * address to open. Only the newest offer is kept, and nothing happens with it
 * until the person has seen it whole and said yes.
 */
#ifndef SCREEN_OFFER_H
#define SCREEN_OFFER_H

#include "common/ipc/proto.h"

/* Take an offer. Returns -1 if it is not what termd may send. */
int offer_new(const struct msg_OFFER *);
/* The key was typed: show the offer in the agent's place, and ask. */
void offer_show(void);

/*
 * offered.c: The program that shows it. Descriptor OFFER_FD has the kind, the
 * directory of the session, a NUL, and the text.
 */
#define OFFER_FD 3
#define OFFER_PANEL "offer"
int offered_run(void);

#endif
