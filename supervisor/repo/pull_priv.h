/* SPDX-License-Identifier: ISC */
/* Shared by the parts of a pull. */
#ifndef REPO_PULL_PRIV_H
#define REPO_PULL_PRIV_H

#include "repo/pull.h"

struct pulling {
	struct repo_pull *how;
	const struct repo_env *env;
	struct repo_place user;
	char have[REPO_MAX_PULLED + 1 + REPO_MAX_REFS][REPO_OID];
	unsigned nhave; /* commits that the user's repository has */
	int quarantine;
	struct repo_view view; /* the quarantine's */
	char pack[REPO_OID];   /* the name of what was copied; "": nothing */
};

/*
 * pull_check.c: Bring the commits of `list` into the quarantine and check
 * everything. Returns 0, or -1 with the fault set.
 */
int pull_quarantine(struct pulling *, struct fault *);
/* Add the commits of `list`, and without those that the user has, to `in`. */
void pull_revs(const struct pulling *, struct buf *in);
/*
 * pull_sign.c: Replace the commits in the quarantine by signed ones. Returns 0,
 * or -1 with the fault set.
 */
int pull_sign(struct pulling *, struct fault *);
/*
 * pull_copy.c: Copy the checked objects into the user's repository, where
 * nothing refers to them yet. Returns 0, or -1 with the fault set and without a
 * trace.
 */
int pull_copy(struct pulling *, struct fault *);
/* Remove what was copied. */
void pull_uncopy(struct pulling *);
/*
 * pull_names.c: Choose the names of the branches in the user's repository.
 * Returns 0, or -1 with the fault set.
 */
int pull_names(struct pulling *, struct fault *);

#endif
