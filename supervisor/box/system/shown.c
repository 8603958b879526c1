/* SPDX-License-Identifier: ISC */
/*
 * Each directory is opened once, judged by its descriptor as a server's view
 * is, and bound by it. What the machine has by itself is left out with a
 * warning if it is refused; what the user has named stops the start.
 */
#include "box/system/shown.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "box/view.h"
#include "box/system/var.h"
#include "core/sup.h"

#define BREW "/home/linuxbrew/.linuxbrew"

static struct {
	struct shown list[SURVEY_MAX_TREES];
	size_t n;
} shown;

struct shown *
shown_nth(size_t n)
{
	return n < shown.n ? &shown.list[n] : NULL;
}

bool
shown_has(const char *path)
{
	for (size_t i = 0; i < shown.n; i++)
		if (!shown.list[i].refused &&
		    paths_under(path, shown.list[i].path))
			return true;
	return false;
}

int
shown_refuse(
    struct shown *s, const char *what, const char *at, struct fault *fault)
{
	const char *slash = at[0] != '\0' ? "/" : "";

	if (s->refused)
		return 0;
	s->refused = true;
	if (s->named)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "agentView.allowRead %s: refused, because it has %s "
		    "(%s%s%s), which a read-only mount does not keep from the "
		    "agent. Move it away, or name directories below",
		    s->path, what, s->path, slash, at);
	sup_warn("%s is not in the sandbox: it has %s (%s%s%s), which a "
		 "read-only mount does not keep from the agent",
	    s->path, what, s->path, slash, at);
	return 0;
}

/* Refuse one with a fault that says all. */
static int
shown_refuse_whole(struct shown *s, struct fault *why, struct fault *fault)
{
	s->refused = true;
	if (s->named) {
		*fault = *why;
		fault->kind = FAULT_CONFIG;
		return -1;
	}
	sup_warn("%s, so that it is not in the sandbox", why->text);
	return 0;
}

/* Add the object of `fd`, which this takes. `path` is absolute and clean. */
static int
shown_add(int fd, const char *path, bool named, struct fault *fault)
{
	struct fault why;
	struct shown *s;
	struct stat st;

	if (shown.n == nitems(shown.list)) {
		close(fd);
		if (named)
			return fault_set_kind(fault, FAULT_CONFIG,
			    "agentView.allowRead %s: a sandbox can show %u "
			    "directories of the machine",
			    path, SURVEY_MAX_TREES);
		sup_warn("%s is not in the sandbox: there are more than %u "
			 "such directories",
		    path, SURVEY_MAX_TREES);
		return 0;
	}
	s = &shown.list[shown.n];
	*s = (struct shown){.fd = fd, .dir = -1, .named = named};
	if ((s->path = strdup(path)) == NULL || fstat(fd, &st) == -1) {
		close(fd);
		return fault_errno(fault, "%s", path);
	}
	shown.n++;
	if (S_ISDIR(st.st_mode))
		s->dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (guards_check(&sup.guards, fd,
		named ? "agentView.allowRead" : "the directory", path,
		&why) == -1)
		return shown_refuse_whole(s, &why, fault);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return shown_refuse(
		    s, "no plain file or directory there", "", fault);
	return 0;
}

static int
shown_link(int dirfd, const char *name, const char *path, struct fault *fault)
{
	struct shown *s = &shown.list[shown.n];
	char text[PATH_MAX];
	ssize_t n;

	if ((n = readlinkat(dirfd, name, text, sizeof(text) - 1)) == -1 ||
	    shown.n == nitems(shown.list))
		return 0;
	text[n] = '\0';
	*s = (struct shown){
	    .fd = -1, .dir = -1, .path = strdup(path), .target = strdup(text)};
	if (s->path == NULL || s->target == NULL)
		return fault_errno(fault, "%s", path);
	shown.n++;
	return 0;
}

static int
shown_entry(int dirfd, const char *name, const char *path, struct fault *fault)
{
	struct stat st;
	int fd;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	if (S_ISLNK(st.st_mode))
		return shown_link(dirfd, name, path, fault);
	/* A closed directory is of no use in a sandbox. */
	if (!S_ISDIR(st.st_mode) ||
	    faccessat(dirfd, name, R_OK | X_OK, 0) == -1)
		return 0;
	fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd == -1 ? 0 : shown_add(fd, path, false, fault);
}

/* Add what is in a directory, except the name `but`. */
static int
shown_below(const char *top, const char *but, struct fault *fault)
{
	char path[PATH_MAX];
	struct dirent *e;
	int rv = 0;
	DIR *d;

	if ((d = opendir(top)) == NULL)
		return 0;
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    (but != NULL && strcmp(e->d_name, but) == 0) ||
		    snprintf(path, sizeof(path), "%s/%s", top, e->d_name) >=
			(int)sizeof(path) ||
		    view_taken_tree(path))
			continue;
		rv = shown_entry(dirfd(d), e->d_name, path, fault);
	}
	closedir(d);
	return rv;
}

static int
shown_whole(const char *path, struct fault *fault)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd == -1 ? 0 : shown_add(fd, path, false, fault);
}

/* Returns true for places that the sandbox makes up, or has from elsewhere. */
static bool
shown_in_system(const char *path)
{
	static const char *const trees[] = {"/usr", "/etc", "/bin", "/sbin",
	    "/lib", "/lib32", "/lib64", "/libx32", "/home/agent"};

	for (size_t i = 0; i < nitems(trees); i++)
		if (paths_under(path, trees[i]))
			return true;
	return view_taken(path);
}

/*
 * Add a directory that the user names. If links lead to it, it is seen at both
 * paths.
 */
static int
shown_named(const char *path, struct fault *fault)
{
	const char *form;
	char *real;
	int fd, rv;

	if ((fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "agentView.allowRead %s: %s. Remove it from config.json",
		    path, strerror(errno));
	if ((real = paths_of_fd(fd)) == NULL) {
		close(fd);
		return fault_errno(fault, "agentView.allowRead %s", path);
	}
	if ((form = secretive_path(real)) != NULL) {
		rv = fault_set_kind(fault, FAULT_CONFIG,
		    "agentView.allowRead %s: refused, because such a place "
		    "holds credentials (%s). Remove it from config.json",
		    path, form);
		close(fd);
	} else if (shown_in_system(path) || shown_in_system(real)) {
		rv = fault_set_kind(fault, FAULT_CONFIG,
		    "agentView.allowRead %s: refused, because the sandbox has "
		    "its own %s. Remove it from config.json",
		    path, real);
		close(fd);
	} else {
		rv = shown_add(fd, real, true, fault);
		if (rv == 0 && strcmp(real, path) != 0) {
			fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
			rv = fd == -1 ? fault_errno(fault, "%s", path)
				      : shown_add(fd, path, true, fault);
		}
	}
	free(real);
	return rv;
}

int
shown_find(struct fault *fault)
{
	if (sup.opt.trial != NULL)
		return 0;
	if (sup.opt.runtime != RUNTIME_BWRAP) {
		if (sup.config.shown != NULL && sup.config.shown[0] != NULL)
			sup_warn("agentView.allowRead in config.json has no "
				 "effect here: a container has the programs "
				 "of its image");
		return 0;
	}
	for (char **p = sup.config.shown; p != NULL && *p != NULL; p++)
		if (shown_named(*p, fault) == -1)
			return -1;
	if (shown_below("/opt", NULL, fault) == -1 ||
	    shown_whole("/nix/store", fault) == -1 ||
	    shown_below(BREW, "var", fault) == -1)
		return -1;
	return 0;
}

int
shown_var(const struct var_list *l, struct fault *fault)
{
	int fd;

	if (sup.opt.runtime != RUNTIME_BWRAP || sup.opt.trial != NULL)
		return 0;
	for (size_t i = 0; i < l->n; i++)
		if ((fd = var_open(l->paths[i])) != -1 &&
		    shown_add(fd, l->paths[i], false, fault) == -1)
			return -1;
	return 0;
}

/* Returns the place that the agent can write and that meets the directory. */
static const char *
shown_writable(const struct shown *s)
{
	const struct places *p = &sup.host.places;
	int fd, meets;

	for (unsigned i = 0; i < p->n; i++) {
		if ((fd = open(p->names[i], O_PATH | O_CLOEXEC)) == -1)
			continue;
		meets = paths_within(fd, s->fd) == 1 ||
			paths_within(s->fd, fd) == 1;
		close(fd);
		if (meets)
			return p->names[i];
	}
	return NULL;
}

int
shown_judge(struct fault *fault)
{
	const char *place;
	struct fault why;
	struct shown *s;

	for (size_t i = 0; (s = shown_nth(i)) != NULL; i++) {
		if (s->refused || s->target != NULL ||
		    (place = shown_writable(s)) == NULL)
			continue;
		fault_set(&why,
		    "%s%s: refused, because the agent or a server can write "
		    "%s",
		    s->named ? "agentView.allowRead " : "", s->path, place);
		if (shown_refuse_whole(s, &why, fault) == -1)
			return -1;
	}
	return 0;
}
