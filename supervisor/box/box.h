/* SPDX-License-Identifier: ISC */
/*
 * One bubblewrap sandbox in the making: its options travel in a memfd, so
 * that no environment or path shows in a process list, and what it binds is
 * named by descriptors, so that what was checked is what is bound.
 */
#ifndef BOX_H
#define BOX_H

#include <sys/types.h>

#include "box/filter.h"
#include "common/buf.h"
#include "config/fault.h"
#include "config/limits.h"
#include "host/program.h"
#include "spawn.h"

struct box {
	struct buf args;        /* NUL-separated */
	int fds[SPAWN_MAX_FDS]; /* 0-2: its stdio; 3: args; owned from 3 on */
	size_t nfds;
	bool failed; /* errno of the first failure in error */
	int error;
};

/*
 * The namespaces, a session of its own, the system, read-only, and /tmp and
 * /dev/shm of the sizes that the limits say.
 */
void box_init(struct box *, enum filter_kind, const struct limits *);
void box_free(struct box *);
void box_arg(struct box *, const char *);
void box_args(struct box *, const char *, const char *, const char *);
void box_setenv(struct box *, const char *name, const char *value);
/* Binds what fd (borrowed, O_PATH) is at dest. */
void box_bind(struct box *, int fd, const char *dest, bool writable);
/* The same of a path of ours. */
void box_bind_path(
    struct box *, const char *path, const char *dest, bool writable);
/* A read-only file with these bytes. */
void box_data(struct box *, const char *dest, struct span);
/* Will say whether argv was reached: read end of a pipe, or -1. */
int box_status(struct box *);
/* Did argv run? Reads what bubblewrap told `fd`, once it has ended. */
bool box_reached(int fd);
/* Starts argv in it. The box can be started once. */
int box_spawn(struct box *, const int stdio[3], char *const *argv,
    struct spawned *, struct fault *);
/* Where bubblewrap is, or NULL. */
const char *box_bwrap(void);
/* What a session resolves it to, once; else it is started by its path. */
struct host_program *box_program(void);

#endif
