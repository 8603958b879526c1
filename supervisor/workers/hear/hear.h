/* SPDX-License-Identifier: ISC */
/* The parts of ic-hear. The lines that they read are a relay's. */
#ifndef HEAR_HEAR_H
#define HEAR_HEAR_H

#include "base/hear.h"
#include "common/json/value.h"

#define HEAR_POOL (48U << 20)

struct hear {
	struct value_pool *pool;
	bool met; /* the relay has said who it is */
	/* Write a frame of two parts; the program and its tests say how. */
	void (*put)(enum hear_kind, struct span, struct span);
};

/*
 * Take a line, without its newline. Returns NULL, or the reason why the relay
 * is heard no longer.
 */
const char *hear_line(struct hear *, struct span line);
/* Pass on a line of the relay's errors, shortened, as well-formed text. */
void hear_said(struct hear *, struct span line);

#endif
