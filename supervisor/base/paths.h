/* SPDX-License-Identifier: ISC */
/*
 * The directories of IronCurtain, and the user's directories that must never
 * appear in a workspace or a view.
 */
#ifndef PATHS_H
#define PATHS_H

#include <sys/types.h>

#include <stdbool.h>

#include "base/fault.h"

struct stat;

struct paths {
	char *bindir;     /* directory of icsupervisor */
	char *libexecdir; /* the workers */
	char *datadir;    /* policies/, providers/, agents/ */
	char *home;       /* IRONCURTAIN_HOME; exists, 0700 */
	char *user_home;
};

/*
 * Find the directories from /proc/self/exe, and create IRONCURTAIN_HOME.
 * `libexecdir`, if not NULL, replaces the workers' directory. Returns 0, or -1
 * with the fault set.
 */
int paths_init(struct paths *, const char *libexecdir, struct fault *);
void paths_free(struct paths *);
/*
 * Check that a directory is ours and closed to others. `what` and `dir` are for
 * the fault.
 */
int paths_private(const struct stat *, const char *what, const char *dir,
    struct fault *);
/*
 * Check that a credential may be read from the open file: a plain one that
 * others cannot read, or one of root's that nobody can write, on a mount that is
 * read-only, which is how engines of containers hand secrets over.
 */
int paths_credential(
    int fd, const struct stat *, const char *path, struct fault *);
/*
 * Check that IRONCURTAIN_HOME is a directory of ours that others cannot enter.
 */
int paths_check_home(const char *home, struct fault *);
/* Returns "dir/name", which the caller frees, or NULL with ENOMEM. */
char *paths_join(const char *dir, const char *name);
/*
 * Returns the host path of an open descriptor, links resolved, which the caller
 * frees; or NULL with errno set.
 */
char *paths_of_fd(int fd);

/*
 * Take ".", ".." and doubled slashes out of an absolute path, as text: no link
 * is looked at.
 */
void paths_plain(char *path);

/* Returns true if the path is `dir` or below it, as text without . and .. */
bool paths_under(const char *path, const char *dir);

/* Identifies a file or directory of the host, whatever its name. */
struct paths_id {
	dev_t dev;
	ino_t ino;
};

enum guard_kind {
	GUARD_TREE, /* must not be it, contain it, or lie in it */
	GUARD_SELF, /* must not be it or contain it */
};

struct guard {
	enum guard_kind kind;
	char what[96];
	unsigned nids;
	struct paths_id ids[64]; /* the guarded directory, then its parents up
				    to / */
	bool but_set;
	struct paths_id but; /* GUARD_TREE: what lies below it is allowed */
};

#define GUARDS_MAX 64U

struct guards {
	struct guard items[GUARDS_MAX];
	unsigned n;
	bool own_set;
	struct paths_id own; /* this session's sandbox/: always allowed */
};

/*
 * Guard `path`, if it exists. Returns 0, or -1 with errno set if it exists but
 * cannot be read.
 */
int guards_add(
    struct guards *, enum guard_kind, const char *what, const char *path);
/*
 * Guard the home directory, /, IRONCURTAIN_HOME, running sessions, control
 * sockets and the directories of the kernel.
 */
int guards_init(struct guards *, const struct paths *, struct fault *);
/*
 * Allow this session's own sandbox/, although it lies in a session directory.
 */
int guards_allow(struct guards *, int fd);
/*
 * Check that an agent or a server may see `fd` (O_PATH). Returns 0, or -1 with
 * the fault "what path: is ...".
 */
int guards_check(const struct guards *, int fd, const char *what,
    const char *path, struct fault *);
/* Returns true for a path below a directory, without empty parts, . and .. */
bool paths_below_ok(const char *);
/*
 * Returns the path as people read and paste it: with ~ for their home
 * directory, unless a shell would split or change the rest. Returns `dst`.
 */
const char *paths_tilde(
    const char *user_home, const char *path, char *dst, size_t cap);
/*
 * Returns 1 if `a` is `b` or lies in it (both directories or files), 0 if not,
 * or -1 with errno set.
 */
int paths_within(int a, int b);

#endif
