/* SPDX-License-Identifier: ISC */
/*
 * "packageCaches" of config.json: caches of package managers on the host, which
 * agents read and never write.
 */
#ifndef HOME_CACHES_H
#define HOME_CACHES_H

#include <stddef.h>

#include "base/fault.h"

struct cache_shared {
	const char *name;   /* "npm" */
	char *path;         /* the directory that is shown, on the host */
	const char *inside; /* and where it is in the sandbox */
	int fd;             /* O_PATH */
};

/*
 * Open and examine the caches, once the workspace is known. Returns 0, or -1
 * with the fault set.
 */
int caches_open(struct fault *);
/* Returns the nth cache that is shared, or NULL. */
const struct cache_shared *caches_nth(size_t n);
/* Returns the nth NAME=VALUE that makes a tool use one, or NULL. */
const char *caches_env(size_t n);
/* caches_npm.c: Link npm's shared cache into the agent's own. */
void caches_links(void);
/* Say which ones are shared, for people. */
void caches_say(void);

#endif
