/* SPDX-License-Identifier: ISC */
/*
 * The canonical form of a request that a person approves.  policyd shows it and
 * takes its digest; keyd composes it again from its own provider file and from
 * the request it is about to send, so the two digests agree only if that
 * request is the one that was shown.  No state; every field is checked, because
 * it comes from a mitmd that an agent may have broken.
 */
#ifndef COMMON_HTTP_APPROVED_H
#define COMMON_HTTP_APPROVED_H

#include "common/buf.h"

struct approved {
	struct span name; /* the provider's name */
	struct span host, method, path, query;
	struct span headers; /* encoded as in REQUEST */
	uint64_t length;     /* the body's, in bytes */
	struct span body;
	struct span refs; /* push only: lines "OLD NEW NAME\n" */
};

/* One ref of a push: its object before and after. */
struct approved_ref {
	struct span old, new, name;
	const char *action; /* "create", "update" or "delete" */
};

/* Returns NULL, or the name of a field that an honest mitmd never sends. */
const char *approved_check(const struct approved *);
/*
 * Take the next ref, "OLD NEW NAME\n", from `rest`.  Returns 1, 0 at the end,
 * or -1 if it is malformed.
 */
int approved_ref(struct span *rest, struct approved_ref *);
/*
 * Returns the repository of a push, or a span with p == NULL if this is no
 * push.
 */
struct span approved_repository(const struct approved *);
/* Write "POST https://host/path?query" into `dst`, cut to fit. */
void approved_target(const struct approved *, char *dst, size_t cap);
/*
 * Append the canonical JSON of a request that approved_check() accepts.
 * Returns 0 or -1.
 */
int approved_write(const struct approved *, struct buf *);
/*
 * Append the text whose SHA-256 an approval is bound to: the canonical JSON
 * array of provider, target and request.  Returns 0 or -1.
 */
int approved_bound(const struct approved *, struct buf *);

#endif
