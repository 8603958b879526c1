/* SPDX-License-Identifier: ISC */
/*
 * clone.json in a session's directory: which clone the session works on, and
 * which commits of it the user has already. The agent cannot reach it.
 */
#ifndef REPO_RECORD_H
#define REPO_RECORD_H

#include "base/fault.h"
#include "repo/names.h"

#define REPO_RECORD "clone.json"
#define REPO_MAX_PULLED 512U

struct repo_record {
	char dir[4096]; /* the user's repository; "": it came from a URL */
	char url[2048]; /* "": it came from a directory */
	char branch[REPO_NAME];
	char base[REPO_OID]; /* the commit that was cloned; "": unknown */
	/*
	 * The commit of the files as the agent found them: `base`, or one on
	 * top of it with what the user had not committed.
	 */
	char start[REPO_OID];
	char format[8];   /* sha1 or sha256 */
	char session[64]; /* names the branches in the user's repository */
	char pulled[REPO_MAX_PULLED][REPO_OID];
	unsigned npulled;
	/* The last commit that was made of work in no commit; or "". */
	char unsaved[REPO_OID];
	/* The work that was not pulled at the end of the session. */
	bool looked;
	int64_t commits, files;
};

/*
 * Read the record of the session in `dir`. Returns 0, or -1 with the fault set;
 * errno is ENOENT if the session has no clone.
 */
int repo_record_read(
    struct repo_record *, int dirfd, const char *dir, struct fault *);
/* Returns 0, or -1 with errno set. */
int repo_record_write(const struct repo_record *, int dirfd);
/* Note that the user has this commit. The oldest note is dropped. */
void repo_record_pulled(struct repo_record *, const char *oid);

#endif
