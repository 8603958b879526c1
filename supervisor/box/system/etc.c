/* SPDX-License-Identifier: ISC */
/*
 * /etc of a sandbox is one read-only mount of a copy, which a session makes at
 * its start (workers/survey/etc_copy.h). The sandboxes of git that icctl starts
 * have only the files that every program needs.
 *
 * Nothing can be mounted at a name that the copy does not have, because nothing
 * creates it on a read-only mount. A sandbox that needs such a place gets a
 * directory in memory, in which the parts of the copy are mounted one by one.
 */
#include "box/system/etc.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/box.h"
#include "box/system/survey.h"

#define ETC "/etc"
#define ETC_ROOM_DEPTH 16U

static struct {
	int fd; /* -1: there is no copy */
	char *path;
} etc = {.fd = -1};

/* The paths for which room is made. */
struct room {
	const char *const *paths;
	size_t n;
	unsigned depth;
};

void
box_use_etc(int fd, char *path)
{
	if (etc.fd != -1)
		close(etc.fd);
	free(etc.path);
	etc.fd = fd;
	etc.path = path;
}

bool
box_etc_has(const char *path)
{
	struct stat st;

	if (etc.fd == -1)
		return false;
	if (strcmp(path, ETC) == 0)
		return true;
	return strncmp(path, ETC "/", 5) == 0 &&
	       fstatat(etc.fd, path + 5, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISLNK(st.st_mode);
}

void
box_etc_files(struct box *b, const char *const *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (access(files[i], F_OK) == 0)
			box_args(b, "--ro-bind", files[i], files[i]);
}

void
box_etc_passwd(struct box *b)
{
	char text[256];
	int n;

	n = snprintf(text, sizeof(text), "agent:x:%u:%u:agent:%s:/bin/sh\n",
	    (unsigned)geteuid(), (unsigned)getegid(), "/home/agent");
	box_data(b, "/etc/passwd", span_of(text, (size_t)n));
}

/* Bind the files that programs need. */
static void
box_etc_least(struct box *b)
{
	static const char *const files[] = {"/etc/ld.so.cache",
	    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
	    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates",
	    "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/localtime",
	    "/etc/timezone", "/etc/terminfo", "/etc/perl", "/etc/gitconfig"};
	char text[64];
	int n;

	box_etc_files(b, files, nitems(files));
	box_etc_passwd(b);
	n = snprintf(text, sizeof(text), "agent:x:%u:\n", (unsigned)getegid());
	box_data(b, "/etc/group", span_of(text, (size_t)n));
	box_data(b, "/etc/hosts", SPAN(SURVEY_HOSTS));
	box_data(b, "/etc/nsswitch.conf", SPAN(SURVEY_NSS));
}

void
box_etc(struct box *b)
{
	if (etc.fd != -1)
		box_bind(b, etc.fd, ETC, false);
	else
		box_etc_least(b);
}

/* Returns 2 if one of the paths is `path`, 1 if one lies below it, or 0. */
static int
room_meets(const struct room *r, const char *path)
{
	const size_t len = strlen(path);
	int meets = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (strncmp(r->paths[i], path, len) != 0)
			continue;
		if (r->paths[i][len] == '\0')
			return 2;
		if (r->paths[i][len] == '/')
			meets = 1;
	}
	return meets;
}

static void room_open(struct box *, struct room *, int fd, const char *path);

static void
room_entry(struct box *b, struct room *r, int dirfd, const char *name,
    const char *path)
{
	const int meets = room_meets(r, path);
	char text[PATH_MAX], from[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	if (meets == 2 || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return;
	if (S_ISLNK(st.st_mode)) {
		if (meets == 0 && (n = readlinkat(dirfd, name, text,
				       sizeof(text) - 1)) != -1) {
			text[n] = '\0';
			box_args(b, "--symlink", text, path);
		}
		return;
	}
	if (meets == 1 && S_ISDIR(st.st_mode) && r->depth < ETC_ROOM_DEPTH &&
	    (fd = openat(dirfd, name,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) != -1) {
		r->depth++;
		room_open(b, r, fd, path);
		r->depth--;
		return;
	}
	snprintf(from, sizeof(from), "%s%s", etc.path, path + strlen(ETC));
	box_args(b, "--ro-bind", from, path);
}

/* Mount the entries of a directory of the copy, and close `fd`. */
static void
room_open(struct box *b, struct room *r, int fd, const char *path)
{
	char below[PATH_MAX];
	struct dirent *e;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		b->failed = true;
		return;
	}
	box_args(b, r->depth == 0 ? "--tmpfs" : "--dir", path, NULL);
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0 &&
		    snprintf(below, sizeof(below), "%s/%s", path, e->d_name) <
			(int)sizeof(below))
			room_entry(b, r, fd, e->d_name, below);
	closedir(d);
}

void
box_etc_room(struct box *b, const char *const *paths, size_t n)
{
	struct room r = {.paths = paths, .n = n};
	int fd;

	if (etc.fd == -1)
		return;
	fd = openat(etc.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		b->failed = true;
	else
		room_open(b, &r, fd, ETC);
}
