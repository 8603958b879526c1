/* SPDX-License-Identifier: ISC */
/*
 * Composes bytes in memory that the caller provides and that may be secret.  A
 * piece that does not fit is left out whole, and so is every later one.
 */
#ifndef SINK_H
#define SINK_H

#include <errno.h>
#include <string.h>

#include "common/span.h"

struct sink {
	uint8_t *p;
	size_t cap, len;
	bool full; /* a piece was left out */
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
 * Store the length in `*len`.  If a piece was left out, wipe the memory and
 * return -1 with errno ENOBUFS.
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
