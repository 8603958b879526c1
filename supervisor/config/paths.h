/* SPDX-License-Identifier: ISC */
/*
 * Where our own files are, and which of the user's must never be seen in a
 * workspace or a view.
 */
#ifndef PATHS_H
#define PATHS_H

#include <sys/types.h>

#include <stdbool.h>

#include "config/fault.h"

struct stat;

struct paths {
	char *bindir;     /* of icsupervisor itself */
	char *libexecdir; /* the workers */
	char *datadir;    /* policies/, providers/, agents/ */
	char *home;       /* IRONCURTAIN_HOME; exists, 0700 */
	char *user_home;
};

/*
 * Found from /proc/self/exe; libexecdir, if not NULL, replaces the workers'
 * place. Makes IRONCURTAIN_HOME.
 */
int paths_init(struct paths *, const char *libexecdir, struct fault *);
void paths_free(struct paths *);
/* Is a directory ours, and closed to others? what dir: in the fault. */
int paths_private(const struct stat *, const char *what, const char *dir,
    struct fault *);
/* May a credential be read from it: a plain file that others cannot read? */
int paths_credential(const struct stat *, const char *path, struct fault *);
/* Is it a directory of ours that nobody else may enter? */
int paths_check_home(const char *home, struct fault *);
/* dir/name in fresh memory; NULL with ENOMEM. */
char *paths_join(const char *dir, const char *name);
/* The host path of an open descriptor, links resolved; NULL with errno. */
char *paths_of_fd(int fd);

/* An object on the host: the same under whatever name. */
struct paths_id {
	dev_t dev;
	ino_t ino;
};

enum guard_kind {
	GUARD_TREE, /* must not be it, hold it, or lie in it */
	GUARD_SELF, /* must not be it or hold it */
};

struct guard {
	enum guard_kind kind;
	char what[96];
	unsigned nids;
	struct paths_id ids[64]; /* itself, then its parents up to / */
};

#define GUARDS_MAX 64U

struct guards {
	struct guard items[GUARDS_MAX];
	unsigned n;
	bool own_set;
	struct paths_id own; /* this session's sandbox/: always allowed */
};

/* Adds path, if it exists. -1 with errno: it exists but cannot be read. */
int guards_add(
    struct guards *, enum guard_kind, const char *what, const char *path);
/* Home, /, IRONCURTAIN_HOME, running sessions, control sockets. */
int guards_init(struct guards *, const struct paths *, struct fault *);
/* This session's own sandbox/ is allowed although it lies in a session. */
int guards_allow(struct guards *, int fd);
/*
 * May fd (O_PATH), which `what` names as path, be shown to an agent or a
 * server?  "what path: is ...": -1.
 */
int guards_check(const struct guards *, int fd, const char *what,
    const char *path, struct fault *);
/* 1: a is b or lies in it (both directories or files), 0 not, -1 errno. */
int paths_within(int a, int b);

#endif
