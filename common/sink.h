/* SPDX-License-Identifier: ISC */
/*
 * Writes into memory of the caller's, which may be secret, and no further:
 * what does not fit is left out whole, and so is all that follows.
 */
#ifndef SINK_H
#define SINK_H

#include <errno.h>
#include <string.h>

#include "common/span.h"

struct sink {
	uint8_t *p;
	size_t cap, len;
	bool full; /* something was left out */
};

static inline void
sink_put(struct sink *o, struct span s)
{
	if (o->full || s.len > o->cap - o->len) {
		o->full = true;
		return;
	}
	if (s.len != 0)
		memcpy(o->p + o->len, s.p, s.len);
	o->len += s.len;
}

/*
 * Its length in *len; -1 with ENOBUFS when something was left out: then nothing
 * is there any more.
 */
static inline int
sink_end(const struct sink *o, size_t *len)
{
	if (o->full) {
		explicit_bzero(o->p, o->len);
		errno = ENOBUFS;
		return -1;
	}
	*len = o->len;
	return 0;
}

#endif
