/* SPDX-License-Identifier: ISC */
/*
 * The person's PATH: directories that the sandbox does not see, and programs in
 * directories that it sees which are links to places that it does not see. A
 * manager keeps its programs in one place and links to them in another, so that
 * what is to be shown is the place to which the links lead.
 */
#include "workers/scan/scan.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/secretive.h"
#include "files/toolchains.h"

#define PATH_NAMED 8U /* directories and programs that a line names */
#define PATH_ENTRIES 2000U

struct path_keys {
	char list[32][PATH_MAX];
	size_t n;
};

static struct {
	const struct scan_path *told;
	struct path_keys keys;
	char names[4096];
	unsigned n, entries;
} path;

static bool
path_in(const char *file, const struct scan_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (paths_under(file, l->list[i]))
			return true;
	return false;
}

/* Returns true if the sandbox sees the file, or will with these keys. */
static bool
path_seen(const char *file)
{
	for (size_t i = 0; i < path.keys.n; i++)
		if (paths_under(file, path.keys.list[i]))
			return true;
	return path_in(file, &path.told->shown);
}

/*
 * Returns true for a directory that nobody is to be told to show: it holds the
 * files of many programs, or agentView refuses it.
 */
static bool
path_refused(const char *dir)
{
	const struct scan_list *l = &path.told->refused;

	for (size_t i = 0; i < l->n; i++)
		if (paths_under(dir, l->list[i]) ||
		    paths_under(l->list[i], dir))
			return true;
	return toolchain_wide(dir, path.told->home.path) ||
	       secretive_path(dir) != NULL;
}

/*
 * Add a directory that is to be shown; it replaces those below it. One that is
 * not to be shown is left out.
 */
static void
path_key(const char *dir)
{
	struct path_keys *k = &path.keys;
	size_t n = 0;

	if (path_seen(dir) || path_refused(dir))
		return;
	for (size_t i = 0; i < k->n; i++)
		if (!paths_under(k->list[i], dir) && i != n++)
			memcpy(k->list[n - 1], k->list[i], PATH_MAX);
	k->n = n;
	if (k->n < sizeof(k->list) / sizeof(k->list[0]))
		(void)strlcpy(k->list[k->n++], dir, PATH_MAX);
}

/*
 * Add a directory of PATH, or rather the manager's, with what it needs. In PATH
 * it may be written with more slashes than config.json takes.
 */
static void
path_key_of(const char *given)
{
	const char *home = path.told->home.path;
	char dir[PATH_MAX];
	char key[PATH_MAX], also[PATH_MAX], below[PATH_MAX];
	const struct toolchain *t;
	struct stat st;

	(void)strlcpy(dir, given, sizeof(dir));
	paths_plain(dir);
	t = toolchain_of(dir, home, key, sizeof(key));
	path_key(key);
	if (t == NULL || t->also == NULL || path.told->home.fd == -1 ||
	    fstatat(path.told->home.fd, t->also, &st, AT_SYMLINK_NOFOLLOW) ==
		-1 ||
	    snprintf(also, sizeof(also), "%s/%s", home, t->also) >=
		(int)sizeof(also))
		return;
	(void)toolchain_of(also, home, below, sizeof(below));
	path_key(below);
}

/* Returns the length of a path with one part more than its first `n` bytes. */
static size_t
path_part(const char *p, size_t n)
{
	return p[n] == '\0' ? n : n + 1 + strcspn(p + n + 1, "/");
}

/*
 * Write the directory that holds a program to which a link leads: the
 * manager's; the one that the directory of the link lies in; or the program's
 * own, with what lies beside its "bin". Anybody may have made the link, so that
 * this is the home, which is refused, rather than all of ~/NAME or
 * ~/.config/NAME for a program that lies there among other files.
 */
static void
path_place(const char *end, const char *from, char *dst, size_t cap)
{
	const char *home = path.told->home.path, *rest;
	size_t top = strlen(home) + 1, n;
	char *slash;

	if (toolchain_of(end, home, dst, cap) != NULL)
		return;
	(void)strlcpy(dst, from, cap);
	slash = strrchr(dst, '/');
	if (slash != NULL && strcmp(slash, "/bin") == 0) {
		*slash = '\0';
		if (!path_refused(dst) && paths_under(end, dst))
			return;
	}
	rest = end + top;
	n = strcspn(rest, "/");
	if (strncmp(rest, ".local/", 7) == 0)
		n = path_part(rest, n);
	if (strncmp(rest, ".local/", 7) == 0 ||
	    strncmp(rest, ".config/", 8) == 0 ||
	    strncmp(rest, ".cache/", 7) == 0)
		n = path_part(rest, n);
	(void)strlcpy(dst, end, cap);
	if ((slash = strrchr(dst, '/')) != NULL)
		*slash = '\0';
	slash = strrchr(dst, '/');
	if (slash == NULL || strcmp(slash, "/bin") != 0) {
		if (strlen(dst) <= top + n)
			(void)strlcpy(dst, home, cap);
	} else if (rest[0] == '.' || (size_t)(slash - dst) > top + n) {
		*slash = '\0';
	}
}

/* Returns true for a program; nothing is said of any other file. */
static bool
path_runs(const char *end)
{
	const struct scan_tree *home = &path.told->home;
	struct stat st;

	return fstatat(home->fd, end + strlen(home->path) + 1, &st,
		   AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0;
}

static void
path_name(const char *file)
{
	char shown[PATH_MAX], tilde[PATH_MAX];
	size_t len = strlen(path.names);

	if (++path.n > PATH_NAMED)
		return;
	(void)scan_vis(span_str(paths_tilde(
			   path.told->home.path, file, tilde, sizeof(tilde))),
	    false, shown, sizeof(shown));
	snprintf(path.names + len, sizeof(path.names) - len, "%s%s",
	    len == 0 ? "" : ", ", shown);
}

/* Look at one program of a directory. If `name`, it is to be named. */
static void
path_program(const char *dir, const char *file, bool name)
{
	const char *home = path.told->home.path;
	char end[PATH_MAX], place[PATH_MAX];

	if (snprintf(end, sizeof(end), "%s/%s", dir, file) >=
		(int)sizeof(end) ||
	    !links_end(&path.told->home, end, sizeof(end)) ||
	    !paths_under(end, home) || strlen(end) <= strlen(home) + 1 ||
	    path_in(end, &path.told->shown) || !path_runs(end))
		return;
	if (name) {
		snprintf(place, sizeof(place), "%s/%s", dir, file);
		path_name(place);
	}
	if (!path_seen(end)) {
		path_place(end, dir, place, sizeof(place));
		path_key(place);
	}
}

/* Look through the links of a directory in the home. */
static void
path_links(const char *dir, bool name)
{
	const struct scan_tree *home = &path.told->home;
	const size_t top = strlen(home->path) + 1;
	struct dirent *e;
	DIR *d;
	int fd;

	if (home->fd == -1 || !paths_under(dir, home->path) ||
	    strlen(dir) <= top)
		return;
	fd = openat(home->fd, dir + top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return;
	}
	while (path.entries < PATH_ENTRIES && (e = readdir(d)) != NULL) {
		path.entries++;
		if (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN)
			path_program(dir, e->d_name, name);
	}
	closedir(d);
}

/* Write the keys as they stand in config.json, and begin anew. */
static const char *
path_list(char *dst, size_t cap)
{
	char tilde[PATH_MAX], shown[PATH_MAX];
	size_t len;

	dst[0] = '\0';
	for (size_t i = 0; i < path.keys.n; i++) {
		(void)scan_vis(span_str(paths_tilde(path.told->home.path,
				   path.keys.list[i], tilde, sizeof(tilde))),
		    true, shown, sizeof(shown));
		len = strlen(dst);
		snprintf(dst + len, cap - len, "%s\"%s\"", len == 0 ? "" : ", ",
		    shown);
	}
	path.names[0] = '\0';
	path.n = path.entries = 0;
	return dst;
}

static void
path_unseen(const struct scan_path *told)
{
	const size_t n = told->unseen.n;
	char names[sizeof(path.names)], keys[4096], key[PATH_MAX];
	char how[sizeof(keys) + 128] = "";
	unsigned count;

	for (size_t i = 0; i < n; i++) {
		path_name(told->unseen.list[i]);
		/* A link in PATH may be one for this shell only, as fnm's. */
		path_key_of(
		    toolchain_of(told->real.list[i], told->home.path, key,
			sizeof(key)) == NULL &&
			    paths_under(told->unseen.list[i], told->home.path)
			? told->unseen.list[i]
			: told->real.list[i]);
	}
	for (size_t i = 0; i < n; i++)
		path_links(told->real.list[i], false);
	count = path.n;
	(void)strlcpy(names, path.names, sizeof(names));
	if (path_list(keys, sizeof(keys))[0] != '\0')
		snprintf(how, sizeof(how),
		    ". To show %s, read-only: "
		    "{\"agentView\":{\"allowRead\":[%s]}} in config.json, or "
		    "run icctl setup",
		    count == 1 ? "it" : "them", keys);
	scan_warn("your PATH has %u director%s that the sandbox does not see: "
		  "%s%s%s",
	    count, count == 1 ? "y" : "ies", names,
	    count > PATH_NAMED ? " and others" : "", how);
}

void
path_say(const struct scan_path *told)
{
	char names[sizeof(path.names)], keys[4096];
	char how[sizeof(keys) + 128] = "";
	unsigned count;

	path.told = told;
	if (told->unseen.n != 0)
		path_unseen(told);
	path.keys.n = 0;
	for (size_t i = 0; i < told->seen.n; i++)
		path_links(told->seen.list[i], true);
	if ((count = path.n) == 0)
		return;
	(void)strlcpy(names, path.names, sizeof(names));
	if (path_list(keys, sizeof(keys))[0] != '\0')
		snprintf(how, sizeof(how),
		    ". To show that as well, read-only, add to \"agentView\": "
		    "{\"allowRead\"} in config.json: %s",
		    keys);
	scan_warn("%u program%s in your PATH %s where the sandbox does not "
		  "see: %s%s%s",
	    count, count == 1 ? "" : "s",
	    count == 1 ? "is a link to" : "are links to", names,
	    count > PATH_NAMED ? " and others" : "", how);
}
