/* SPDX-License-Identifier: ISC */
/*
 * Brings work from the clone of a session into the user's repository. A first
 * git sees the clone only, read-only, and writes a pack. A second one checks
 * every object of it in an empty repository of ours. What passed is copied, and
 * a third git, which sees nothing that the agent wrote, makes branches below
 * ironcurtain/SESSION/. No branch is forced, nothing is checked out, and no
 * hook runs.
 */
#ifndef REPO_PULL_H
#define REPO_PULL_H

#include "repo/place.h"
#include "repo/work.h"

struct repo_pulled {
	char ref[2 * REPO_NAME]; /* without refs/heads/ */
	char oid[REPO_OID];
	char was[REPO_OID]; /* its commit before; "": the branch is new */
	const struct repo_ref *from;
	int64_t commits;
	bool same; /* the user's repository has it already */
};

#define REPO_MAX_SIGNED 500U

/* A commit that is to be signed. */
struct repo_signed {
	char oid[REPO_OID];
	struct span commit; /* its text, as git has it */
};

/* The caller's side of signing. */
struct repo_signer {
	/* Show what will be signed. Returns -1 with the fault set to end it. */
	int (*show)(void *arg, const struct repo_signed *, unsigned n,
	    struct fault *);
	/* Sign a text. Returns 0, or -1 with the fault set. */
	int (*sign)(void *arg, struct span, struct buf *, struct fault *);
	void *arg;
};

struct repo_pull {
	struct repo_work *work; /* has been looked at */
	const char *into;       /* the user's repository */
	const char *branch;     /* only this one; NULL: all */
	const struct repo_signer *signer; /* NULL: nothing is signed */
	struct repo_pulled list[REPO_MAX_REFS];
	unsigned n;
	bool left; /* something was not asked for */
};

/*
 * Pull. Returns 0, with the branches in `list`, or -1 with the fault set:
 * the user's repository is then as it was.
 */
int repo_pull(struct repo_pull *, struct fault *);

#endif
