/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/copy_tree.h"

#include <sys/sendfile.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/treehash.h"

#define COPY_DEPTH 64U

struct copying {
	unsigned files;
	uint64_t bytes;
	struct fault *fault;
};

static int copy_directory(
    struct copying *, int from, int to, const char *path, unsigned depth);

static int
copy_too_much(struct copying *c)
{
	return fault_set(c->fault,
	    "there are more than %u files or %llu MiB in that directory. Put "
	    "the server into a directory of its own",
	    TREEHASH_FILES, (unsigned long long)(TREEHASH_BYTES >> 20));
}

/* Copy the contents, as many as there are; the file may grow meanwhile. */
static int
copy_contents(struct copying *c, int in, int out)
{
	ssize_t n;

	do {
		n = sendfile(out, in, NULL, 1U << 20);
		if (n > 0 && (c->bytes += (uint64_t)n) > TREEHASH_BYTES)
			return copy_too_much(c);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : fault_errno(c->fault, "copy");
}

static int
copy_file(
    struct copying *c, int from, int to, const char *name, const char *path)
{
	struct stat st;
	int in, out = -1, rv = -1;

	in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in == -1 || fstat(in, &st) == -1) {
		fault_errno(c->fault, "%s", path);
	} else if (!S_ISREG(st.st_mode)) {
		fault_set(c->fault, "%s: is no plain file", path);
	} else if ((out = openat(to, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			(st.st_mode & 0100) != 0 ? 0700 : 0600)) == -1) {
		fault_errno(c->fault, "copy of %s", path);
	} else {
		rv = copy_contents(c, in, out);
	}
	if (in != -1)
		close(in);
	if (out != -1)
		close(out);
	return rv;
}

/* Returns true if a link at this depth leads to a place above or elsewhere. */
static bool
copy_leaves(const char *target, unsigned depth)
{
	unsigned at = depth;
	size_t n;

	if (target[0] == '/')
		return true;
	for (; *target != '\0'; target += n + (target[n] == '/')) {
		n = strcspn(target, "/");
		if (n == 2 && strncmp(target, "..", 2) == 0) {
			if (at == 0)
				return true;
			at--;
		} else if (n != 0 && (n != 1 || target[0] != '.')) {
			at++;
		}
	}
	return false;
}

static int
copy_link(struct copying *c, int from, int to, const char *name,
    const char *path, unsigned depth)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n == -1)
		return fault_errno(c->fault, "%s", path);
	target[n] = '\0';
	if (copy_leaves(target, depth))
		return fault_set(c->fault,
		    "%s: the link leads out of the directory, to %s. Replace "
		    "it by what it leads to",
		    path, target);
	return symlinkat(target, to, name) == 0
		   ? 0
		   : fault_errno(c->fault, "copy of %s", path);
}

static int
copy_entry(struct copying *c, int from, int to, const char *name,
    const char *above, unsigned depth)
{
	char path[PATH_MAX];
	struct stat st;
	int in, out, rv = -1;

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", above,
		above[0] != '\0' ? "/" : "", name) >= sizeof(path) ||
	    depth > COPY_DEPTH || ++c->files > TREEHASH_FILES)
		return copy_too_much(c);
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return fault_errno(c->fault, "%s", path);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name, path, depth);
	if (!S_ISDIR(st.st_mode))
		return copy_file(c, from, to, name, path);
	if (strcmp(name, ".git") == 0)
		return 0;
	in =
	    openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in == -1)
		return fault_errno(c->fault, "%s", path);
	if (mkdirat(to, name, 0700) == -1 ||
	    (out = openat(to, name,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1) {
		fault_errno(c->fault, "copy of %s", path);
		close(in);
		return -1;
	}
	rv = copy_directory(c, in, out, path, depth + 1);
	close(out);
	return rv;
}

/* Copy a directory. Takes `from`. */
static int
copy_directory(
    struct copying *c, int from, int to, const char *path, unsigned depth)
{
	struct dirent *e;
	DIR *dir;
	int rv = 0;

	if ((dir = fdopendir(from)) == NULL) {
		close(from);
		return fault_errno(c->fault, "%s", path);
	}
	while (rv == 0 && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rv = copy_entry(c, from, to, e->d_name, path, depth);
	closedir(dir);
	return rv;
}

int
copy_tree(int from, const char *only, int to, struct fault *fault)
{
	struct copying c = {.fault = fault};
	int fd;

	if (only != NULL)
		return copy_file(&c, from, to, only, only);
	fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd == -1 ? fault_errno(fault, "copy")
			: copy_directory(&c, fd, to, "", 0);
}
