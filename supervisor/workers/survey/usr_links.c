/* SPDX-License-Identifier: ISC */
/*
 * Looks through a directory for symbolic links. Their texts are only read: the
 * place to which one leads is judged by icsupervisor.
 *
 * /usr has more than ten thousand directories, and the start of a session waits
 * for this: a directory costs three system calls (open, read, close), where
 * readdir(3) makes seven.
 */
#include "workers/survey/usr_links.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define LINKS_MAX_DEPTH 32U
#define LINKS_MAX_ENTRIES 2000000U
#define LINKS_BUFFER 65536U
/* The most bytes that the kernel needs for one name. */
#define LINKS_ENTRY (sizeof(struct dirent64) + 8)
/* XFS is not in linux/magic.h of older headers. */
#define LINKS_XFS 0x58465342

struct links {
	void (*found)(const char *path);
	char path[PATH_MAX];
	uint8_t *rooms[LINKS_MAX_DEPTH + 1]; /* LINKS_BUFFER bytes each */
	unsigned entries, depth;
};

static void links_in(struct links *, int fd, bool whole);

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

/*
 * Returns true if the file system of the directory gives all names at once, if
 * there is room for them. Others, such as FUSE, give some, and are to be asked
 * until they give none.
 */
static bool
links_whole(int fd)
{
	struct statfs sf;

	if (fstatfs(fd, &sf) == -1)
		return false;
	return sf.f_type == EXT4_SUPER_MAGIC || sf.f_type == LINKS_XFS ||
	       sf.f_type == BTRFS_SUPER_MAGIC || sf.f_type == TMPFS_MAGIC;
}

static void
links_dir(struct links *l, int dirfd, const char *name, bool whole)
{
	const struct open_how how = {
	    .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = RESOLVE_NO_XDEV};
	int fd;

	/* The interpreter puts its byte code there, and no package a link. */
	if (strcmp(name, "__pycache__") == 0)
		return;
	fd = (int)syscall(SYS_openat2, dirfd, name, &how, sizeof(how));
	if (fd == -1) {
		/* Another file system is mounted there. */
		if (errno != EXDEV && errno != ENOSYS)
			return;
		fd = openat(dirfd, name, (int)how.flags);
		if (fd == -1)
			return;
		whole = links_whole(fd);
	}
	l->depth++;
	links_in(l, fd, whole);
	l->depth--;
	close(fd);
}

static void
links_entry(struct links *l, int dirfd, const struct dirent64 *e, size_t dirlen,
    bool whole)
{
	struct stat st;
	mode_t type = (mode_t)DTTOIF(e->d_type);

	if (++l->entries > LINKS_MAX_ENTRIES)
		return;
	if (e->d_type == DT_UNKNOWN) {
		if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			return;
		type = st.st_mode;
	}
	if (S_ISLNK(type))
		links_one(l, dirfd, e->d_name, dirlen);
	else if (S_ISDIR(type) && l->depth < LINKS_MAX_DEPTH)
		links_dir(l, dirfd, e->d_name, whole);
}

/*
 * Look through the directory `fd`. If `whole`, its file system gives all names
 * at once.
 */
static void
links_in(struct links *l, int fd, bool whole)
{
	const size_t len = strlen(l->path);
	uint8_t **room = &l->rooms[l->depth];
	const struct dirent64 *e;
	long n, at;

	if (*room == NULL && (*room = malloc(LINKS_BUFFER)) == NULL)
		return;
	do {
		n = syscall(SYS_getdents64, fd, *room, LINKS_BUFFER);
		for (at = 0; at < n; at += e->d_reclen) {
			e = (const void *)(*room + at);
			if (strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0 ||
			    (size_t)snprintf(l->path + len,
				sizeof(l->path) - len, "/%s",
				e->d_name) >= sizeof(l->path) - len)
				continue;
			links_entry(l, fd, e, len, whole);
			l->path[len] = '\0';
		}
	} while (n > 0 && (!whole || (size_t)n > LINKS_BUFFER - LINKS_ENTRY));
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
	links_in(&l, dup, links_whole(dup));
	close(dup);
	for (size_t i = 0; i < nitems(l.rooms); i++)
		free(l.rooms[i]);
}
