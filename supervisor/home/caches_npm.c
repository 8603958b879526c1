/* SPDX-License-Identifier: ISC */
/*
 * Fills the agent's npm cache with links to the shared one. npm rewrites the
 * index of its cache when it looks a package up, and takes a cache that it
 * cannot write for an empty one; over these links it reads packages from the
 * host's cache and writes everything new into the agent's home. The home may
 * stay from an earlier session, whose agent can have set traps: no link is
 * followed, and nothing that is there is replaced.
 */
#include "home/caches.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/sup.h"

#define NPM_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
/* content-v2/sha512/ab/cd/REST */
#define NPM_DEPTH 5U
#define NPM_LINKS 50000U

struct npm_links {
	char target[1024]; /* in the sandbox */
	unsigned n;
};

/* Make a directory unless there is one, and open it. */
static int
npm_dir(int at, const char *name)
{
	if (mkdirat(at, name, 0700) == -1 && errno != EEXIST)
		return -1;
	return openat(at, name, NPM_DIR);
}

static int npm_tree(struct npm_links *, int from, int to, unsigned depth);

static int
npm_entry(struct npm_links *l, int from, int to, const char *name,
    unsigned depth)
{
	struct stat st;
	int in, out, rv = -1;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : -1;
	if (S_ISREG(st.st_mode)) {
		if (l->n++ == NPM_LINKS) {
			errno = E2BIG;
			return -1;
		}
		return symlinkat(l->target, to, name) == 0 || errno == EEXIST
			   ? 0
			   : -1;
	}
	if (!S_ISDIR(st.st_mode) || depth == NPM_DEPTH)
		return 0;
	if ((in = openat(from, name, NPM_DIR)) == -1)
		return -1;
	if ((out = npm_dir(to, name)) != -1) {
		rv = npm_tree(l, in, out, depth + 1);
		close(out);
	}
	close(in);
	return rv;
}

static int
npm_tree(struct npm_links *l, int from, int to, unsigned depth)
{
	const size_t len = strlen(l->target);
	struct dirent *e;
	int fd, rv = 0;
	DIR *d;

	if ((fd = openat(from, ".", NPM_DIR)) == -1)
		return -1;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return -1;
	}
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' ||
		    len + strlen(e->d_name) + 2 > sizeof(l->target) ||
		    (depth == 0 && strcmp(e->d_name, "tmp") == 0))
			continue;
		snprintf(l->target + len, sizeof(l->target) - len, "/%s",
		    e->d_name);
		rv = npm_entry(l, from, to, e->d_name, depth);
		l->target[len] = '\0';
	}
	closedir(d);
	return rv;
}

void
caches_links(void)
{
	const struct cache_shared *c;
	struct npm_links l = {.n = 0};
	int npm, to = -1;

	for (size_t i = 0;; i++) {
		if ((c = caches_nth(i)) == NULL)
			return;
		if (strcmp(c->name, "npm") == 0)
			break;
	}
	(void)strlcpy(l.target, c->inside, sizeof(l.target));
	if ((npm = npm_dir(sup.session.home, ".npm")) != -1)
		to = npm_dir(npm, "_cacache");
	if (to == -1 || npm_tree(&l, c->fd, to, 0) == -1)
		sup_warn("packageCaches.npm: npm sees %s of it: %s",
		    l.n == 0 ? "nothing" : "a part",
		    errno == E2BIG ? "it has more than 50000 files"
				   : strerror(errno));
	if (to != -1)
		close(to);
	if (npm != -1)
		close(npm);
}
