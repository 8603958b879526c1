/* SPDX-License-Identifier: ISC */
/*
 * The canonical form of a request that a person approves.  policyd shows it
 * and takes its digest; keyd makes it again from its own provider file and
 * from what it is about to send, so that the two digests agree only if the
 * request is the one that was shown.  Pure; it checks every field, because
 * the words come from a mitmd that an agent may have broken.
 */
#ifndef COMMON_HTTP_APPROVED_H
#define COMMON_HTTP_APPROVED_H

#include "common/buf.h"

struct approved {
	struct span name; /* the provider's */
	struct span host, method, path, query;
	struct span headers; /* as in REQUEST */
	uint64_t length;     /* of the body, and its SHA-256 */
	struct span body;
	struct span refs; /* of a push: lines "OLD NEW NAME\n" */
};

/* One line of a push: what a ref was and what it shall be. */
struct approved_ref {
	struct span old, new, name;
	const char *action; /* "create", "update" or "delete" */
};

/* Returns NULL, or which field no honest mitmd sends. */
const char *approved_check(const struct approved *);
/* Returns 1 with the next ref of `rest`, 0 at the end, -1 if malformed. */
int approved_ref(struct span *rest, struct approved_ref *);
/* The repository of a push; p == NULL if this is none. */
struct span approved_repository(const struct approved *);
/* "POST https://host/path?query" in dst, cut. */
void approved_target(const struct approved *, char *dst, size_t cap);
/* Append the canonical JSON of a good request.  Returns 0 or -1. */
int approved_write(const struct approved *, struct buf *);
/*
 * Append the text whose SHA-256 an approval is bound to: the canonical JSON
 * array of provider, target and request.  Returns 0 or -1.
 */
int approved_bound(const struct approved *, struct buf *);

#endif
