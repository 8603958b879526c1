/* SPDX-License-Identifier: ISC */
/* Shared by the parts that make a clone. */
#ifndef REPO_CLONE_PRIV_H
#define REPO_CLONE_PRIV_H

#include "repo/clone.h"
#include "repo/place.h"

/*
 * Check every object of a pack; what old programs wrote, and no reader is hurt
 * by, is let through.
 */
#define REPO_STRICT                                                            \
	"--strict=zeroPaddedFilemode=ignore,missingSpaceBeforeDate=ignore,"    \
	"missingSpaceBeforeEmail=ignore,badTimezone=ignore,badEmail=ignore,"   \
	"missingNameBeforeEmail=ignore,badName=ignore,multipleAuthors=ignore," \
	"missingTaggerEntry=ignore"

struct cloning {
	const struct repo_clone *how;
	struct repo_place from;
	struct repo_view to;
	struct repo_record record;
	char dir[4096], ref[4096], origin[2048];
	bool origin_set;
	int new; /* the directory that becomes the clone */
	uint64_t room;
};

/*
 * clone_make.c: Write an empty repository of the record's format and branch to
 * the new directory. Returns 0, or -1 with the fault set.
 */
int clone_empty(struct cloning *, struct fault *);

/* clone_files.c: Take files that are in no commit. */
int clone_untracked(struct cloning *, struct fault *);
int clone_with(struct cloning *, struct fault *);

#endif
