/* SPDX-License-Identifier: ISC */
/*
 * Copies files that are in no commit into a clone. No link is followed on
 * either side, only regular files are read, and what looks like a credential is
 * refused.
 */
#ifndef REPO_WITH_H
#define REPO_WITH_H

#include "base/fault.h"
#include "common/span.h"

enum repo_copied {
	REPO_COPIED,
	REPO_REFUSED, /* a credential, a link: the fault says why */
	REPO_FAILED,
};

/*
 * Copy the file `path`, which is relative, from one directory to the other.
 * Takes the number of bytes from `*room`.
 */
enum repo_copied repo_copy(
    int from, int to, const char *path, uint64_t *room, struct fault *);
/* Returns why a file of this name is taken for a credential, or NULL. */
const char *repo_credential_name(const char *path);
/* Returns why a file with this beginning is taken for one, or NULL. */
const char *repo_credential_text(struct span);

#endif
