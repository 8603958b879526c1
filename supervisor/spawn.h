/* SPDX-License-Identifier: ISC */
/*
 * Starting a program with exactly the descriptors, environment and signals
 * that are listed, and knowing whether exec worked.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#define SPAWN_MAX_FDS 64U

struct spawn {
	const char *path;
	/* Execute the descriptor instead of the path. */
	bool by_fd;
	int exec;
	char *const *argv;
	char *const *envp;
	const char *cwd;        /* NULL: ours */
	int fds[SPAWN_MAX_FDS]; /* becomes descriptor 0, 1, ...; -1: /dev/null
				 */
	size_t nfds;
	bool session; /* a session of its own: no terminal signals */
	bool worker;  /* ignores SIGTERM, SIGINT and SIGHUP from the start */
};

struct spawned {
	pid_t pid;
	int pidfd;
	int status; /* pipe: errno of a failed exec, else its end */
};

/*
 * Takes umask 077 and as many descriptors as it may need for us; what we start
 * gets the user's own.
 */
int spawn_init(void);

#define SPAWNED_INIT                                                           \
	{                                                                      \
		.pid = -1, .pidfd = -1, .status = -1                           \
	}

/*
 * Starts it; dies with us. The caller's descriptors stay the caller's. -1 with
 * errno: nothing was started.
 */
int spawn_start(const struct spawn *, struct spawned *);
/* Waits until exec happened: 0, or -1 with its errno. Closes status. */
int spawn_check(struct spawned *);
/*
 * What failed then, to be put behind the program's name: "" if it was exec
 * itself, else ": cannot open /dev/null" or the like.
 */
const char *spawn_step(void);
/*
 * Collects the exit of pidfd, waiting for it if told to. 1 and the waitid
 * status, 0 still running, -1 errno.
 */
int spawn_reap(int pidfd, bool wait, int *code, int *status);
/* "exited with status 3", "was killed by SIGKILL", ... */
const char *spawn_describe(int code, int status, char *dst, size_t cap);
/* As a shell says it: the status, or 128 and the signal. */
int spawn_status(int code, int status);

#endif
