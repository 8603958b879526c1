/* SPDX-License-Identifier: ISC */
/*
 * Offers of the agent's screen to the person: a text for the clipboard, by
 * OSC 52, or an address to open, by the sequence that the sandbox's xdg-open
 * writes. Nothing happens with it until the person has seen it and said so.
 */
#ifndef TERMD_OFFER_H
#define TERMD_OFFER_H

#include "common/buf.h"
#include "common/ipc/proto.h"

/* An OSC string may be this long, if it is an offer. */
#define OFFER_MAX_STRING (PROTO_MAX_OFFER / 3U * 4U + 32U)

/* Returns true if the beginning of an OSC string is that of an offer. */
bool offer_begins(struct span);
/*
 * Take an OSC string. Returns true with the kind, and the text added to the
 * buffer: UTF-8 without hidden characters and without controls other than
 * newline and tab. A query, another selection's request to be cleared, and what
 * is no text are no offers.
 */
bool offer_take(struct span osc, enum proto_offer *kind, struct buf *text);

#endif
