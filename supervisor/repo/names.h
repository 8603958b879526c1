/* SPDX-License-Identifier: ISC */
/*
 * Names that come out of a repository: branches, objects and files. They are
 * taken only in the one form that is harmless in every place where they will
 * stand: a command line, a directory of refs, a file system that folds case.
 */
#ifndef REPO_NAMES_H
#define REPO_NAMES_H

#include "common/span.h"

#define REPO_MAX_REFS 256U
#define REPO_NAME 201U /* with its NUL */
#define REPO_OID 65U

struct repo_ref {
	char oid[REPO_OID];
	char name[REPO_NAME]; /* without refs/heads/ */
};

struct repo_refs {
	struct repo_ref list[REPO_MAX_REFS];
	unsigned n;
	/* Is told of each branch that is not taken, and why; may be NULL. */
	void (*refused)(void *arg, struct span name, const char *why);
	void *arg;
};

/* Returns NULL if the name may be that of a branch, or why it may not. */
const char *repo_name_wrong(struct span);
/* Returns true for a whole object name in lower-case hexadecimal. */
bool repo_oid_ok(struct span);
/*
 * Read what git for-each-ref prints with REPO_REFS_FORMAT. Branches whose names
 * are refused are left out; so is what is no commit. Returns 0, or -1 if there
 * are more than REPO_MAX_REFS or if a line has another form.
 */
#define REPO_REFS_FORMAT "--format=%(objectname) %(objecttype) %(refname)"
int repo_refs_parse(struct repo_refs *, struct span);
/*
 * Returns true if the path of a file in a repository is relative, has at most
 * 4095 bytes, and no part of it is empty, ".", ".." or ".git".
 */
bool repo_path_ok(struct span);
/* Take the next of several texts that each end in a NUL. */
bool repo_next(struct span *rest, struct span *item);

#endif
