/* SPDX-License-Identifier: ISC */
/*
 * Builds and starts one bubblewrap sandbox. Its options are passed in a memfd,
 * so that no environment or path shows in a process list. The objects it binds
 * are named by descriptors, so that the object that was checked is the one that
 * is bound.
 */
#ifndef BOX_H
#define BOX_H

#include <sys/types.h>

#include "base/fault.h"
#include "base/spawn.h"
#include "box/filter.h"
#include "common/buf.h"
#include "files/limits.h"
#include "host/program.h"

struct box {
	struct buf args;        /* NUL-separated */
	int fds[SPAWN_MAX_FDS]; /* 0-2: stdio; 3: args; closed by box_free()
				   from 3 on */
	size_t nfds;
	int group;      /* entrance of its control group, closed by box_free();
			   -1: none */
	uint64_t files; /* hard limit on open files of each process; 0: none */
	bool failed;    /* `error` is the errno of the first failure */
	int error;
};

/* Begin with nothing but a filter; box_init() does the rest. */
void box_begin(struct box *, enum filter_kind, uint64_t files);
/*
 * system/init.c: Begin with new namespaces, a session of its own, the system
 * read-only, and /tmp and /dev/shm of the sizes in the limits.
 */
void box_init(struct box *, enum filter_kind, const struct limits *);
/*
 * system/small.c: Begin as box_init() does, for git without a network: neither
 * /proc nor /dev/shm, three devices, and of /etc what git itself reads. Each
 * mount takes as long as a small git, and a start waits for several.
 */
void box_init_small(struct box *, enum filter_kind, const struct limits *);
/*
 * system/init.c: Returns true if parts of /proc are masked around us, as in a
 * container, so that no sandbox can have a /proc of its own. Sandboxes of
 * FILTER_OURS are made without one then; no others can be made.
 */
bool box_proc_masked(void);
void box_free(struct box *);
void box_arg(struct box *, const char *);
void box_args(struct box *, const char *, const char *, const char *);
void box_setenv(struct box *, const char *name, const char *value);
/* Bind the object of `fd` (borrowed, O_PATH) at `dest`. */
void box_bind(struct box *, int fd, const char *dest, bool writable);
/* Bind a path that IronCurtain owns. */
void box_bind_path(
    struct box *, const char *path, const char *dest, bool writable);
/* Add a read-only file with this content. */
void box_data(struct box *, const char *dest, struct span);
/*
 * Cover a file or directory, by its mode, with one that nobody may read or
 * list: a program inside meets a refusal (EACCES), not something empty. Mounts
 * below such a directory can be reached.
 */
void box_deny(struct box *, const char *path, mode_t mode);
/*
 * system/etc.c: From now on every sandbox has this copy of /etc, made by
 * ic-survey, in the place of the least that programs need. `fd` and `path`,
 * which this takes, are both of its directory.
 */
void box_use_etc(int fd, char *path);
/*
 * Returns true if the path, below /etc, is in the copy, so that something can
 * be mounted there.
 */
bool box_etc_has(const char *path);
/*
 * system/etc.c: Make room for mounts below /etc, at paths that the copy does
 * not have.
 */
void box_etc_room(struct box *, const char *const *paths, size_t n);
/* Bubblewrap's own report about a sandbox, as far as it has been read. */
struct box_report {
	int fd; /* -1: none */
	char text[1024];
	size_t len;
};

/* Have bubblewrap report its status. */
void box_status(struct box *, struct box_report *);
/* Returns process 1 of the sandbox, or -1. */
pid_t box_first(struct box_report *);
/* Returns true if argv was started; called after bubblewrap has ended. */
bool box_reached(struct box_report *);
/* Pass `fd`, which this takes, on to argv. Returns its number there, or -1. */
int box_pass(struct box *, int fd);
/* Start argv in the sandbox. Returns 0, or -1. Each box can be started once. */
int box_spawn(struct box *, const int stdio[3], char *const *argv,
    struct spawned *, struct fault *);
/* Returns the path of bubblewrap, or NULL. */
const char *box_bwrap(void);
/*
 * Returns bubblewrap as a session resolved it; outside a session it is started
 * by its path.
 */
struct host_program *box_program(void);

#endif
