/* SPDX-License-Identifier: ISC */
/*
 * ic-repo has ic-gitset write the configuration that git in the sandbox reads:
 * what comes of settings that the user, and perhaps an agent, wrote. Both
 * programs include this file. Reports (base/report.h) on ic-gitset's standard
 * input say what there is; on its standard output are lines for the person
 * (ERRAND_WARN) and the configuration (ERRAND_CONFIG).
 */
#ifndef REPO_GITSET_H
#define REPO_GITSET_H

#define GITSET_PROGRAM "ic-gitset"
#define GITSET_JOB (4U << 20) /* bytes of all that it is told */

enum gitset_told {
	GITSET_FOUND = 'f',  /* there is a repository */
	GITSET_CLONED = 'c', /* the agent gets a clone of it */
	GITSET_BWRAP = 'b',  /* the sandbox has the programs of the host */
	GITSET_HOME = 'h',   /* the user's */
	GITSET_INSIDE = 'x', /* the workspace, as the agent sees it */
	GITSET_LFS = 'l',    /* the program git-lfs, as the sandbox sees it */
	GITSET_DESTINATION = 'd', /* a host with a git destination */
	GITSET_SHOWN = 'v',       /* a path of the host in the sandbox */
	GITSET_ATTRIBUTES = 'a',  /* lines of files of attributes */
	/* "KEY newline VALUE", or "KEY" */
	GITSET_USER = 'u',
	GITSET_SYSTEM = 's', /* the user's, in a file that the sandbox has */
	GITSET_OWN = 'o',    /* the repository's */
};

#endif
