/* SPDX-License-Identifier: ISC */
/*
 * The shapes of answers as tables: the meaning of each member in each context.
 * Private to the meter. Names are compared folded: in lower case, without
 * underscores and dashes, since gateways spell each other's names in their own
 * way.
 */
#ifndef METER_CTX_H
#define METER_CTX_H

#include "body/meter.h"

enum meter_ctx {
	MC_NONE, /* ignored */
	/*
	 * The answer, and objects and lists in it that may hold the usage. As a
	 * string it is text.
	 */
	MC_ROOT,
	MC_USAGE, /* the entries of a list of these are added up */
	/* An object, or a list with an entry for each kind of tokens. */
	MC_IN_DETAILS,
	MC_OUT_DETAILS,
	MC_WRITES,    /* tokens written to the cache, by the time to live */
	MC_TTL_KINDS, /* the same, as a list */
	MC_PART,  /* content: its strings are text if they have such a name */
	MC_ALL,   /* content: all strings are text, and names */
	MC_WHOLE, /* as MC_TEXT, unless the same text came in pieces before */
	MC_TEXT,  /* a string is text; in an object see MC_PART */
	MC_DELTA, /* the same, but as an object like MC_ROOT */
	/* Scalars. */
	MC_MODEL,
	MC_FINISH, /* a string: the answer is complete */
	MC_STATUS, /* so if it is one of some words */
	MC_DONE,   /* so if it is true */
	MC_SPEED,
	MC_TIER,
	MC_GEO,
	MC_COST,
	MC_KIND,  /* an entry is audio, or kept for an hour */
	MC_ENTRY, /* the tokens of an entry */
	MC_COUNT, /* plus enum meter_count: a number */
};

/* Returns the meaning of the member `key` of an object in this context. */
uint8_t meter_member(uint8_t in, struct span key);

#endif
