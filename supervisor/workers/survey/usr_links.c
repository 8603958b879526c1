/* SPDX-License-Identifier: ISC */
/*
 * Looks through a directory for symbolic links. Their texts are only read: the
 * place to which one leads is judged by icsupervisor.
 */
#include "workers/survey/usr_links.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define LINKS_MAX_DEPTH 32U
#define LINKS_MAX_ENTRIES 2000000U

struct links {
	void (*found)(const char *path);
	char path[PATH_MAX];
	unsigned entries, depth;
};

static void links_in(struct links *, int fd);

/*
 * Write the absolute path that `text`, of a link in the directory `dir`, names,
 * without "." and "..". Returns false if it does not fit.
 */
static bool
links_resolve(const char *dir, const char *text, char dst[PATH_MAX])
{
	char whole[2 * PATH_MAX], *p, *word, *save;
	size_t len = 0, n;

	snprintf(
	    whole, sizeof(whole), "%s/%s", text[0] == '/' ? "" : dir, text);
	for (p = whole; (word = strtok_r(p, "/", &save)) != NULL; p = NULL) {
		if (strcmp(word, ".") == 0)
			continue;
		if (strcmp(word, "..") == 0) {
			while (len > 0 && dst[--len] != '/')
				;
			continue;
		}
		n = strlen(word);
		if (len + n + 2 > PATH_MAX)
			return false;
		dst[len++] = '/';
		memcpy(dst + len, word, n);
		len += n;
	}
	dst[len] = '\0';
	return true;
}

static void
links_one(struct links *l, int dirfd, const char *name, size_t dirlen)
{
	char text[PATH_MAX], to[PATH_MAX], last;
	ssize_t n;
	bool ok;

	if ((n = readlinkat(dirfd, name, text, sizeof(text) - 1)) == -1)
		return;
	text[n] = '\0';
	last = l->path[dirlen];
	l->path[dirlen] = '\0';
	ok = links_resolve(l->path, text, to);
	l->path[dirlen] = last;
	if (ok && strncmp(to, "/var/", 5) == 0)
		l->found(to);
}

static void
links_entry(struct links *l, int dirfd, const struct dirent *e, size_t dirlen)
{
	struct stat st;
	mode_t type = (mode_t)DTTOIF(e->d_type);
	int fd;

	if (++l->entries > LINKS_MAX_ENTRIES)
		return;
	if (e->d_type == DT_UNKNOWN) {
		if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			return;
		type = st.st_mode;
	}
	if (S_ISLNK(type)) {
		links_one(l, dirfd, e->d_name, dirlen);
		return;
	}
	if (!S_ISDIR(type) || l->depth == LINKS_MAX_DEPTH)
		return;
	fd = openat(
	    dirfd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	l->depth++;
	links_in(l, fd);
	l->depth--;
}

/* Look through a directory, and close `fd`. */
static void
links_in(struct links *l, int fd)
{
	const size_t len = strlen(l->path);
	struct dirent *e;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    (size_t)snprintf(l->path + len, sizeof(l->path) - len,
			"/%s", e->d_name) >= sizeof(l->path) - len)
			continue;
		links_entry(l, fd, e, len);
		l->path[len] = '\0';
	}
	closedir(d);
}

void
usr_links(int fd, const char *top, void (*found)(const char *path))
{
	static struct links l;
	int dup = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dup == -1)
		return;
	l = (struct links){.found = found};
	(void)strlcpy(l.path, top, sizeof(l.path));
	links_in(&l, dup);
}
