/* SPDX-License-Identifier: ISC */
/*
 * Copies files of the user's into the agent's home: instructions, skills and
 * commands, as the adapter lists them. The agent may be able to write where
 * they come from, so that a link is followed only where follow.c allows it, and
 * only plain files are read. What may be a credential stays.
 */
#include "home/files.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "box/system/shown.h"
#include "common/buf.h"
#include "common/log.h"
#include "common/plural.h"
#include "core/sup.h"
#include "files/toolchains.h"
#include "home/follow.h"

#define FILES_MAX_SIZE ((off_t)1 << 20)
#define FILES_MAX_TOTAL ((size_t)16 << 20)
#define FILES_MAX 1000U
#define FILES_MAX_DEPTH 8U
#define FILES_MAX_SAID 20U
#define FILES_MAX_SEEN 20000U

struct copying {
	char path[1024]; /* below either home */
	size_t total;
	unsigned n, left, depth, seen;
	bool linked; /* the file lies behind a link */
	struct paths_id above[FILES_MAX_DEPTH]; /* directories around it */
	struct fault *fault;
};

/* Say that a file is left out, for the first ones. */
static void
files_leave(struct copying *c, const char *why, const char *what)
{
	char shown[1100];

	if (c->left++ >= FILES_MAX_SAID)
		return;
	sup_warn("%s: ~/%s is not copied: %s%s", sup.adapter.file,
	    log_vis(span_str(c->path), shown, sizeof(shown)), why, what);
}

/* Read a file of at most FILES_MAX_SIZE. Returns -1 with errno set. */
static int
files_read(int fd, struct buf *b)
{
	uint8_t *p;
	ssize_t n;

	do {
		if ((p = buf_room(b, 65536)) == NULL)
			return -1;
		if ((n = read(fd, p, 65536)) > 0)
			buf_grow(b, (size_t)n);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == -1 ? -1 : 0;
}

/*
 * Returns true if the adapter's own "home" has this file: the user's text
 * follows it there.
 */
static bool
files_own(const char *path)
{
	const struct adapter_files *f = &sup.adapter.home;

	for (unsigned i = 0; i < f->n; i++)
		if (strcmp(f->list[i].path, path) == 0)
			return true;
	return false;
}

/* Put the adapter's own text, which was just written, before the user's. */
static int
files_before(const char *path, struct buf *all)
{
	int fd, rv;

	fd = openat(sup.session.home, path,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return -1;
	rv = files_read(fd, all);
	close(fd);
	buf_addc(all, '\n');
	return rv;
}

static int
files_put(struct copying *c, struct span text)
{
	const bool own = files_own(c->path);
	struct buf all;
	int rv = 0;

	buf_init(&all, 3U << 20);
	if (own)
		rv = files_before(c->path, &all);
	buf_addspan(&all, text);
	if (rv == 0 && !all.failed)
		rv = session_seed(sup.session.home, c->path, own ? 0600 : 0400,
		    buf_span(&all));
	if (rv == -1 || all.failed)
		rv = fault_errno(
		    c->fault, "%s/home/%s", sup.session.dir, c->path);
	buf_free(&all);
	c->n++;
	c->total += text.len;
	return rv;
}

static int
files_copy(struct copying *c, int fd, const struct stat *st)
{
	const char *form;
	struct buf b;
	int rv = 0;

	if (st->st_size > FILES_MAX_SIZE) {
		files_leave(c, "it has more than 1 MiB", "");
		return 0;
	}
	if (c->n == FILES_MAX || c->total > FILES_MAX_TOTAL) {
		files_leave(c, "there are more than 1000 files or 16 MiB", "");
		return 0;
	}
	buf_init(&b, (size_t)FILES_MAX_SIZE + 65536);
	if (files_read(fd, &b) == -1)
		files_leave(c, strerror(errno), "");
	else if ((form = secretive_text(buf_span(&b))) != NULL)
		files_leave(c, "it has what looks like a key: ", form);
	else
		rv = files_put(c, buf_span(&b));
	buf_free(&b);
	return rv;
}

/*
 * Open an entry of a directory. Returns a descriptor, or -1 after the reason
 * was said.
 */
static int
files_open(struct copying *c, int dir, const char *name)
{
	char why[1100], *path = NULL, *at;
	int fd = -1;

	if (!c->linked) {
		fd = openat(
		    dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd == -1 && errno != ELOOP && errno != ENOENT)
			files_leave(c, strerror(errno), "");
		if (fd != -1 || errno != ELOOP)
			return fd;
	}
	/* Below a link, each place is judged like the link's own end. */
	if ((at = paths_of_fd(dir)) == NULL ||
	    (path = paths_join(at, name)) == NULL) {
		files_leave(c, strerror(errno), "");
	} else if ((fd = home_follow(path, why, sizeof(why))) == -1) {
		files_leave(c, why, "");
	} else {
		c->linked = true;
	}
	free(at);
	free(path);
	return fd;
}

static int files_take(struct copying *, int dir, const char *name);

/* Returns true if the directory is one of those around it. */
static bool
files_circle(struct copying *c, const struct stat *st)
{
	for (unsigned i = 0; i < c->depth; i++)
		if (c->above[i].dev == st->st_dev &&
		    c->above[i].ino == st->st_ino)
			return true;
	c->above[c->depth] = (struct paths_id){st->st_dev, st->st_ino};
	return false;
}

static int
files_tree(struct copying *c, int fd, const struct stat *st)
{
	const size_t len = strlen(c->path);
	struct dirent *e;
	DIR *d;
	int rv = 0;

	if (c->depth == FILES_MAX_DEPTH || files_circle(c, st)) {
		files_leave(c,
		    c->depth == FILES_MAX_DEPTH ? "it is too deep"
						: "its link leads in a circle",
		    "");
		return 0;
	}
	if ((d = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 0))) == NULL) {
		files_leave(c, strerror(errno), "");
		return 0;
	}
	c->depth++;
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    strcmp(e->d_name, ".git") == 0 ||
		    strcmp(e->d_name, "node_modules") == 0 ||
		    len + strlen(e->d_name) + 2 > sizeof(c->path))
			continue;
		snprintf(
		    c->path + len, sizeof(c->path) - len, "/%s", e->d_name);
		rv = files_take(c, fd, e->d_name);
		c->path[len] = '\0';
	}
	c->depth--;
	closedir(d);
	return rv;
}

/* Take a file, or all that is below a directory. */
static int
files_take(struct copying *c, int dir, const char *name)
{
	const bool linked = c->linked;
	const char *form;
	struct stat st;
	int fd, rv = 0;

	if (c->seen++ == FILES_MAX_SEEN)
		files_leave(c, "there are more than 20000 names", "");
	if (c->seen > FILES_MAX_SEEN || (fd = files_open(c, dir, name)) == -1)
		return 0;
	if (fstat(fd, &st) == -1)
		files_leave(c, strerror(errno), "");
	else if ((form = secretive_name(name)) != NULL)
		files_leave(c, "files of such a name hold credentials: ", form);
	else if (S_ISDIR(st.st_mode))
		rv = files_tree(c, fd, &st);
	else if (S_ISREG(st.st_mode))
		rv = files_copy(c, fd, &st);
	else
		files_leave(c, "it is no plain file", "");
	close(fd);
	c->linked = linked;
	return rv;
}

/*
 * Open the directory on the way to an entry. Returns -1 if there is none, after
 * the reason was said.
 */
static int
files_way(struct copying *c, int dir, const char *part)
{
	struct stat st;
	int fd;

	if ((fd = files_open(c, dir, part)) == -1)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return fd;
	files_leave(c, "there is no plain directory on its way: ", part);
	close(fd);
	return -1;
}

/* Take one entry of the list, following its directories. */
static int
files_entry(struct copying *c, int home, const char *entry)
{
	const char *rest = entry, *slash;
	char part[256];
	int dir = fcntl(home, F_DUPFD_CLOEXEC, 0), next, rv = 0;

	(void)strlcpy(c->path, entry, sizeof(c->path));
	c->linked = false;
	while (dir != -1 && (slash = strchr(rest, '/')) != NULL) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - rest), rest);
		next = files_way(c, dir, part);
		close(dir);
		dir = next;
		rest = slash + 1;
	}
	if (dir != -1) {
		rv = files_take(c, dir, rest);
		close(dir);
	}
	return rv;
}

/* Copy the files in which toolchains that are shown find a version. */
static int
files_choices(struct copying *c, int home)
{
	const struct toolchain *t;
	char dir[PATH_MAX];
	int rv = 0;

	for (size_t i = 0; rv == 0 && (t = toolchain_nth(i)) != NULL; i++)
		if (t->choice != NULL &&
		    toolchain_path(t, sup.paths.user_home, dir, sizeof(dir)) ==
			0 &&
		    shown_has(dir))
			rv = files_entry(c, home, t->choice);
	return rv;
}

int
home_take_files(struct fault *fault)
{
	struct copying c = {.fault = fault};
	char **list = sup.adapter.home_files;
	const struct config_agent *own;
	int home, rv = 0;

	if (sup.session.home == -1)
		return 0;
	own = config_agent(&sup.config, sup.adapter.name);
	if (own != NULL && own->no_home_files)
		return 0;
	home = open(sup.paths.user_home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (home == -1)
		return 0;
	for (; rv == 0 && list != NULL && *list != NULL; list++)
		rv = files_entry(&c, home, *list);
	if (rv == 0)
		rv = files_choices(&c, home);
	close(home);
	if (c.left > FILES_MAX_SAID)
		sup_warn("%s: %u more file%s not copied", sup.adapter.file,
		    c.left - FILES_MAX_SAID,
		    plural_are(c.left - FILES_MAX_SAID));
	if (c.n != 0)
		sup_note("%u file%s of yours %s in the agent's home (homeFiles "
			 "of %s)",
		    c.n, plural(c.n), c.n == 1 ? "is" : "are",
		    sup.adapter.file);
	return rv;
}
