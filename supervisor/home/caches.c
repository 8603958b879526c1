/* SPDX-License-Identifier: ISC */
/*
 * Shares package caches of the host with the agent, read-only. Only the part of
 * a cache that holds packages is shown: neither the tool's own directory, where
 * its settings and credentials are, nor checkouts of repositories. A cache that
 * is in the workspace, or that a link leads to, is refused: an agent may have
 * made it. Links inside it lead nowhere in the sandbox.
 */
#include "home/caches.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "common/buf.h"
#include "common/log.h"
#include "core/sup.h"

/*
 * Deeper are the packages themselves, whose authors may use such names, and
 * whose bytes are no one's secret.
 */
#define CACHES_DEPTH 2U
#define CACHES_ENTRIES 200000U
#define CACHES_FILE ((off_t)1 << 20)
#define CACHES_INSIDE "/opt/ironcurtain/caches"

/* The order of the enum in config.h. */
static const struct {
	const char *name;
	const char *usual; /* below the user's home; NULL: there is none */
	const char *part;  /* the directory of it that is shown; NULL: all */
	const char *inside;
} caches_kinds[CONFIG_CACHES] = {
    {"cargo", ".cargo", "registry", CACHES_INSIDE "/cargo/registry"},
    {"go", "go/pkg/mod", "cache/download", CACHES_INSIDE "/go"},
    {"npm", ".npm", "_cacache", CACHES_INSIDE "/npm/_cacache"},
    {"pip", NULL, NULL, CACHES_INSIDE "/pip"},
};

static const struct {
	unsigned kind;
	const char *line;
} caches_lines[] = {
    /* cargo adds nothing to a cache that it cannot write. */
    {CACHE_CARGO, "CARGO_HOME=" CACHES_INSIDE "/cargo"},
    {CACHE_CARGO, "CARGO_INSTALL_ROOT=/home/agent/.cargo"},
    {CACHE_CARGO, "CARGO_NET_OFFLINE=true"},
    /* These have a cache of their own besides (caches_npm.c). */
    {CACHE_NPM, "npm_config_prefer_offline=true"},
    {CACHE_GO, "GOPROXY=file://" CACHES_INSIDE "/go,direct"},
    {CACHE_PIP, "PIP_FIND_LINKS=" CACHES_INSIDE "/pip"},
    {CACHE_PIP, "UV_FIND_LINKS=" CACHES_INSIDE "/pip"},
};

struct caches_walk {
	const char *name; /* the kind of cache */
	const char *top;
	char path[1024]; /* below it */
	unsigned entries;
	struct fault *fault;
};

static struct {
	struct cache_shared list[CONFIG_CACHES];
	size_t n;
	const char *env[nitems(caches_lines)];
	size_t nenv;
} caches;

static int
caches_refuse(const struct caches_walk *w, const char *why, const char *what)
{
	char shown[1100];

	return fault_set_kind(w->fault, FAULT_CONFIG,
	    "packageCaches.%s: %s/%s: %s%s. Move it away, or name another "
	    "directory",
	    w->name, w->top, log_vis(span_str(w->path), shown, sizeof(shown)),
	    why, what);
}

/* Refuse a file that has what looks like a key. */
static int
caches_file(struct caches_walk *w, int dir, const char *name)
{
	const char *form = NULL;
	struct stat st;
	uint8_t *p;
	ssize_t n;
	int fd, rv = 0;

	fd = openat(
	    dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return caches_refuse(w, strerror(errno), "");
	if ((p = malloc((size_t)CACHES_FILE)) == NULL) {
		rv = fault_errno(w->fault, "packageCaches.%s", w->name);
	} else if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		   st.st_size <= CACHES_FILE) {
		n = read(fd, p, (size_t)CACHES_FILE);
		if (n == -1)
			rv = caches_refuse(w, strerror(errno), "");
		else
			form = secretive_text(span_of(p, (size_t)n));
	}
	free(p);
	close(fd);
	return form == NULL
		   ? rv
		   : caches_refuse(w, "it has what looks like a key: ", form);
}

static int caches_tree(struct caches_walk *, int parent, const char *name,
    unsigned depth);

static int
caches_entry(
    struct caches_walk *w, int dir, const char *name, unsigned depth)
{
	const char *form = secretive_name(name);
	struct stat st;

	if (++w->entries > CACHES_ENTRIES)
		return caches_refuse(
		    w, "too many files for a package cache", "");
	if (form != NULL)
		return caches_refuse(
		    w, "files of such a name hold credentials: ", form);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		/* The tool may remove what it no longer needs. */
		return errno == ENOENT ? 0
				       : caches_refuse(w, strerror(errno), "");
	if (S_ISLNK(st.st_mode))
		return caches_refuse(w, "it is a symbolic link", "");
	if (S_ISREG(st.st_mode))
		return caches_file(w, dir, name);
	if (!S_ISDIR(st.st_mode))
		return caches_refuse(w, "it is no plain file", "");
	return depth == CACHES_DEPTH ? 0
				     : caches_tree(w, dir, name, depth + 1);
}

static int
caches_tree(
    struct caches_walk *w, int parent, const char *name, unsigned depth)
{
	const size_t len = strlen(w->path);
	struct dirent *e;
	int fd, rv = 0;
	DIR *d;

	fd = openat(parent, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return caches_refuse(w, strerror(errno), "");
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return caches_refuse(w, strerror(errno), "");
	}
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (len + strlen(e->d_name) + 2 > sizeof(w->path)) {
			rv = caches_refuse(w, "a path in it is too long", "");
			break;
		}
		snprintf(w->path + len, sizeof(w->path) - len, "%s%s",
		    len != 0 ? "/" : "", e->d_name);
		rv = caches_entry(w, fd, e->d_name, depth);
		w->path[len] = '\0';
	}
	closedir(d);
	return rv;
}

/* Returns the name of a place that the directory contains, or NULL. */
static const char *
caches_contains(int dir)
{
	const struct places *p = &sup.host.places;
	bool inside;
	int fd;

	for (unsigned i = 0; i < p->n; i++) {
		if ((fd = open(p->paths[i], O_PATH | O_NOFOLLOW | O_CLOEXEC)) ==
		    -1)
			continue;
		inside = paths_within(fd, dir) != 0;
		close(fd);
		if (inside)
			return p->names[i];
	}
	return NULL;
}

/* Refuse a directory that an agent can have made or exchanged. */
static int
caches_place(const struct cache_shared *c, const char *named,
    struct fault *fault)
{
	const char *place;
	char what[64];

	if (strcmp(c->path, named) != 0)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "packageCaches.%s: a symbolic link leads from %s to %s. "
		    "Name the directory itself",
		    c->name, named, c->path);
	snprintf(what, sizeof(what), "packageCaches.%s", c->name);
	if (guards_check(&sup.guards, c->fd, what, c->path, fault) == -1)
		return -1;
	if (paths_within(c->fd, sup.workspace) != 0 ||
	    paths_within(sup.workspace, c->fd) != 0)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "packageCaches.%s: %s: refused, because the agent can "
		    "write there: it is in the workspace, or contains it",
		    c->name, c->path);
	if ((place = places_of(&sup.host.places, c->path, NULL)) != NULL ||
	    (place = caches_contains(c->fd)) != NULL)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "packageCaches.%s: %s: refused, because an agent can write "
		    "%s",
		    c->name, c->path, place);
	return 0;
}

/* Write the path of the part that is shown. */
static int
caches_path(unsigned kind, char dst[PATH_MAX])
{
	const char *set = sup.config.caches[kind],
		   *part = caches_kinds[kind].part;
	int n;

	if (set[0] != '\0')
		n = snprintf(dst, PATH_MAX, "%s", set);
	else
		n = snprintf(dst, PATH_MAX, "%s/%s", sup.paths.user_home,
		    caches_kinds[kind].usual);
	while (n > 1 && n < PATH_MAX && dst[n - 1] == '/')
		dst[--n] = '\0';
	if (part != NULL && n < PATH_MAX)
		n += snprintf(
		    dst + n, (size_t)(PATH_MAX - n), "/%s", part);
	return n < PATH_MAX ? 0 : -1;
}

static int
caches_take(unsigned kind, struct fault *fault)
{
	struct cache_shared *c = &caches.list[caches.n];
	struct caches_walk w = {.fault = fault};
	static char path[PATH_MAX];

	*c = (struct cache_shared){.name = caches_kinds[kind].name,
	    .inside = caches_kinds[kind].inside};
	errno = ENAMETOOLONG;
	if (caches_path(kind, path) == -1 ||
	    (c->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    (c->path = paths_of_fd(c->fd)) == NULL)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "packageCaches.%s: %s: %s. Fill the cache first, name "
		    "another directory, or remove the key",
		    c->name, path, strerror(errno));
	if (caches_place(c, path, fault) == -1)
		return -1;
	w.name = c->name;
	w.top = c->path;
	if (caches_tree(&w, c->fd, ".", 0) == -1)
		return -1;
	for (size_t i = 0; i < nitems(caches_lines); i++)
		if (caches_lines[i].kind == kind)
			caches.env[caches.nenv++] = caches_lines[i].line;
	caches.n++;
	return 0;
}

int
caches_open(struct fault *fault)
{
	if (sup.opt.runtime == RUNTIME_NONE || sup.opt.trial != NULL ||
	    sup.opt.check)
		return 0;
	for (unsigned i = 0; i < CONFIG_CACHES; i++)
		if (sup.config.caches[i] != NULL &&
		    caches_take(i, fault) == -1)
			return -1;
	return 0;
}

const struct cache_shared *
caches_nth(size_t n)
{
	return n < caches.n ? &caches.list[n] : NULL;
}

const char *
caches_env(size_t n)
{
	return n < caches.nenv ? caches.env[n] : NULL;
}

void
caches_say(void)
{
	char where[PATH_MAX];

	for (size_t i = 0; i < caches.n; i++)
		sup_note("package cache of %s, read-only: %s",
		    caches.list[i].name,
		    paths_tilde(sup.paths.user_home, caches.list[i].path, where,
			sizeof(where)));
}
