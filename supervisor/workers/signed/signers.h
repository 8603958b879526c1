/* SPDX-License-Identifier: ISC */
/*
 * Reads the file of approvers, which people wrote, and the signatures of an
 * answer, which anybody may have sent. Nothing here knows what a signature is:
 * ssh-keygen does.
 */
#ifndef SIGNERS_H
#define SIGNERS_H

#include "base/signed.h"
#include "common/span.h"

#define SIGNERS_MAX 64U /* lines of the file that name a key */
#define SIGNERS_WHY 160U
#define SIGNERS_ARMOR 8192U /* bytes of one signature */

struct signers {
	struct {
		struct span name, key;
	} list[SIGNERS_MAX];
	unsigned n;
	unsigned names; /* different ones */
};

/*
 * Read the file: each line has one plain name, options, the kind of a key, and
 * the key. Returns 0, or -1 with the reason in `why`.
 */
int signers_read(struct signers *, struct span file, char why[SIGNERS_WHY]);
/* Returns true if the file has a key of this name. */
bool signers_know(const struct signers *, struct span name);

/* One signature: the line "NAME SECONDS", and what ssh-keygen wrote. */
struct signers_entry {
	char name[SIGNED_NAME];
	uint64_t expires; /* seconds since 1970 */
	struct span armor;
};

/*
 * Take the first signature of `rest`. Returns 1, 0 at the end, or -1 with the
 * reason in `why`.
 */
int signers_next(
    struct span *rest, struct signers_entry *, char why[SIGNERS_WHY]);

#endif
