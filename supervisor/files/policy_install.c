/* SPDX-License-Identifier: ISC */
/*
 * Moves the files of a policy into place. Until the last step, "in-force" has
 * everything that was there, and a reader chooses between two directories, not
 * between files. It stays where it is if something cannot be put back: the next
 * installation begins with that.
 */
#include "files/policy_install.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/tree.h"
#include "common/buf.h"
#include "files/policydir.h"

#define INSTALL_MAX ((size_t)32 << 20) /* a file */
#define INSTALL_SERVERS 1024U

struct install {
	const char *dir;
	int fd; /* the directory, locked */
	struct fault *fault;
	/* in-force, and what it is called before and after. */
	char now[PATH_MAX], next[PATH_MAX], old[PATH_MAX];
};

/* Lock out readers and other installations, where the file system can. */
static int
install_open(struct install *in, const char *dir, struct fault *fault)
{
	memset(in, 0, sizeof(*in));
	in->dir = dir;
	in->fault = fault;
	in->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in->fd == -1)
		return fault_errno(fault, "%s", dir);
	while (flock(in->fd, LOCK_EX) == -1 && errno == EINTR)
		continue;
	snprintf(in->now, PATH_MAX, "%.4000s/" POLICYDIR_IN_FORCE, dir);
	snprintf(in->next, PATH_MAX, "%.4000s/" POLICYDIR_IN_FORCE ".new", dir);
	snprintf(in->old, PATH_MAX, "%.4000s/" POLICYDIR_IN_FORCE ".old", dir);
	return 0;
}

/* Remove a directory of ours, if it is there. */
static int
install_drop(const struct install *in, const char *path)
{
	if (tree_remove(path) == -1)
		return fault_errno(in->fault, "%s", path);
	return 0;
}

/* Read a file. Returns 0, 1 if there is none, or -1 with the fault set. */
static int
install_read(const struct install *in, const char *path, struct buf *b)
{
	uint8_t *room;
	ssize_t n = 0;
	int fd, save;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1)
		return errno == ENOENT || errno == ENOTDIR
			   ? 1
			   : fault_errno(in->fault, "%s", path);
	while ((room = buf_room(b, 65536)) != NULL &&
	       (n = read(fd, room, 65536)) > 0)
		buf_grow(b, (size_t)n);
	save = b->failed ? EFBIG : errno;
	close(fd);
	errno = save;
	return b->failed || n == -1 ? fault_errno(in->fault, "%s", path) : 0;
}

/* Make the directories that a file needs, below `dir`. */
static int
install_above(const struct install *in, const char *dir, const char *path)
{
	char sub[PATH_MAX], *slash;

	snprintf(sub, sizeof(sub), "%s", path);
	for (slash = sub + strlen(dir); (slash = strchr(slash + 1, '/')) != NULL;
	     *slash = '/') {
		*slash = '\0';
		if (mkdir(sub, 0700) == -1 && errno != EEXIST)
			return fault_errno(in->fault, "%s", sub);
	}
	return 0;
}

/*
 * Make to/name the same as from/name, which may be none. Returns 0, or -1 with
 * the fault set.
 */
static int
install_copy(const struct install *in, const char *from, const char *to,
    const char *name)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct buf a, b;
	int rv, there;

	snprintf(path, sizeof(path), "%.3800s/%.280s", from, name);
	snprintf(target, sizeof(target), "%.3800s/%.280s", to, name);
	buf_init(&a, INSTALL_MAX);
	buf_init(&b, INSTALL_MAX);
	if ((rv = install_read(in, path, &a)) == -1 ||
	    (there = install_read(in, target, &b)) == -1) {
		rv = -1;
	} else if (rv == 1) {
		rv = 0;
		if (there == 0 && unlink(target) == -1)
			rv = fault_errno(in->fault, "%s", target);
	} else if (there == 0 && span_eq(buf_span(&a), buf_span(&b))) {
		rv = 0;
	} else if ((rv = install_above(in, to, target)) == 0 &&
		   jsonfile_replace(target, buf_span(&a)) == -1) {
		rv = fault_errno(in->fault, "%s", target);
	}
	buf_free(&a);
	buf_free(&b);
	return rv;
}

/* Copy the rules of each server that either directory has. */
static int
install_servers(const struct install *in, const char *listed, const char *from,
    const char *to)
{
	char path[PATH_MAX], name[PATH_MAX];
	struct dirent *e;
	unsigned n = 0;
	int rv = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.4000s/servers", listed);
	if ((d = opendir(path)) == NULL)
		return errno == ENOENT || errno == ENOTDIR
			   ? 0
			   : fault_errno(in->fault, "%s", path);
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "servers/%.200s/%s", e->d_name,
		    policydir_names[PROTO_RULES_POLICY]);
		if (++n > INSTALL_SERVERS)
			rv = fault_set(in->fault, "%s: more than %u servers",
			    path, INSTALL_SERVERS);
		else
			rv = install_copy(in, from, to, name);
	}
	closedir(d);
	return rv;
}

/* Make the policy in `to` the same as the one in `from`. */
static int
install_set(const struct install *in, const char *from, const char *to)
{
	static const char *const more[] = {
	    "test-scenarios.json", "constitution.md"};

	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		if (install_copy(in, from, to, policydir_names[k]) == -1)
			return -1;
	for (size_t i = 0; i < nitems(more); i++)
		if (install_copy(in, from, to, more[i]) == -1)
			return -1;
	if (install_servers(in, from, from, to) == -1)
		return -1;
	return install_servers(in, to, from, to);
}

/* Keep what is in force now beside the files that will be moved. */
static int
install_begin(const struct install *in)
{
	if (install_drop(in, in->next) == -1)
		return -1;
	if (mkdir(in->next, 0700) == -1)
		return fault_errno(in->fault, "%s", in->next);
	if (install_set(in, in->dir, in->next) == -1) {
		(void)install_drop(in, in->next);
		return -1;
	}
	if (rename(in->next, in->now) == -1) {
		fault_errno(in->fault, "%s", in->now);
		(void)install_drop(in, in->next);
		return -1;
	}
	(void)fsync(in->fd);
	return 0;
}

/* The files in the directory are in force again. */
static int
install_end(const struct install *in)
{
	(void)fsync(in->fd);
	if (install_drop(in, in->old) == -1)
		return -1;
	if (rename(in->now, in->old) == -1)
		return fault_errno(in->fault, "%s", in->now);
	(void)fsync(in->fd);
	(void)rmdir(in->next);
	return 0;
}

static int
install_move(const struct install *in, const char *from,
    const struct policy_move *m)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "%.3800s/%.280s", from, m->name);
	snprintf(target, sizeof(target), "%.3800s/%.280s", in->dir, m->name);
	if (m->remove) {
		if (unlink(target) == -1 && errno != ENOENT)
			return fault_errno(in->fault, "%s", target);
		return 0;
	}
	if (install_above(in, in->dir, target) == -1)
		return -1;
	if (rename(path, target) == 0)
		return 0;
	if (errno == EXDEV)
		return install_copy(in, from, in->dir, m->name);
	return fault_errno(in->fault, "%s", target);
}

/* Put everything back. The fault stays as it is. */
static void
install_undo(const struct install *in)
{
	struct fault ignored;
	struct install quiet = *in;

	quiet.fault = &ignored;
	if (install_set(&quiet, in->now, in->dir) == 0 &&
	    install_end(&quiet) == 0)
		(void)install_drop(&quiet, in->old);
}

static int
install_recover(const struct install *in)
{
	struct stat st;

	if (install_drop(in, in->old) == -1 || install_drop(in, in->next) == -1)
		return -1;
	if (lstat(in->now, &st) == -1)
		return errno == ENOENT ? 0
				       : fault_errno(in->fault, "%s", in->now);
	if (install_set(in, in->now, in->dir) == -1 || install_end(in) == -1)
		return -1;
	return install_drop(in, in->old);
}

int
policy_install(const char *dir, const char *from, const struct policy_move *m,
    size_t n, struct fault *fault)
{
	struct install in;
	int rv = 0;

	if (n == 0)
		return 0;
	if (install_open(&in, dir, fault) == -1)
		return -1;
	if (install_recover(&in) == -1 || install_begin(&in) == -1) {
		close(in.fd);
		return -1;
	}
	for (size_t i = 0; rv == 0 && i < n; i++)
		rv = install_move(&in, from, &m[i]);
	if (rv == 0)
		rv = install_end(&in);
	if (rv == -1)
		install_undo(&in);
	else
		/* It was in force, and is read by nobody. */
		(void)install_drop(&in, in.old);
	close(in.fd);
	return rv;
}

int
policy_install_recover(const char *dir, struct fault *fault)
{
	struct install in;
	struct stat st;
	int rv;

	if (stat(dir, &st) == -1 && errno == ENOENT)
		return 0;
	if (install_open(&in, dir, fault) == -1)
		return -1;
	rv = install_recover(&in);
	close(in.fd);
	return rv;
}
