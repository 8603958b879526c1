/* SPDX-License-Identifier: ISC */
/*
 * Starts a program with exactly the listed descriptors, environment and
 * signals, and reports whether exec succeeded.
 */
#ifndef SPAWN_H
#define SPAWN_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPAWN_MAX_FDS 128U

/* The fate of a program when the process that started it dies. */
enum spawn_tie {
	SPAWN_KILLED,
	SPAWN_ENDED, /* it gets SIGTERM */
	SPAWN_APART  /* nothing */
};

struct spawn {
	const char *path; /* a name without a slash is looked for in PATH */
	/* Execute the descriptor `exec` instead of `path`. */
	bool by_fd;
	int exec;
	char *const *argv;
	char *const *envp;      /* NULL: ours */
	const char *cwd;        /* NULL: ours */
	int fds[SPAWN_MAX_FDS]; /* become descriptors 0, 1, ...; -1:
				   /dev/null */
	size_t nfds;
	/* Write "0" to `group` first, which enters a control group. */
	bool grouped;
	int group;
	bool session; /* runs in a new session: no signals from the terminal */
	bool worker;  /* ignores SIGTERM, SIGINT and SIGHUP from the start */
	uint64_t nofile; /* hard limit on open files; 0: the user's own */
	enum spawn_tie tie;
};

struct spawned {
	pid_t pid;
	int pidfd;
	int status; /* pipe: the error of a failed exec, or end of file */
};

/*
 * Set umask 077 and the highest limit on descriptors that the user may have for
 * this process; programs that it starts get those that the user has. A process
 * that can do with the user's need not call this. Returns 0, or -1 with errno
 * set.
 */
int spawn_init(void);

#define SPAWNED_INIT                                                           \
	{                                                                      \
		.pid = -1, .pidfd = -1, .status = -1                           \
	}

/*
 * Start a program. The caller keeps its descriptors. Returns 0, or -1 with
 * errno set if nothing was started.
 */
int spawn_start(const struct spawn *, struct spawned *);
/* Wait for exec. Returns 0, or -1 with the child's errno. Closes `status`. */
int spawn_check(struct spawned *);
/*
 * Returns the step that failed, to append to the program's name: "" for exec
 * itself, or ": cannot open /dev/null" or the like.
 */
const char *spawn_step(void);
/*
 * Reap the process of `pidfd`; if `wait`, wait for its exit. Returns 1 with the
 * code and status of waitid(2), 0 if it still runs, or -1 with errno set.
 */
int spawn_reap(int pidfd, bool wait, int *code, int *status);
/*
 * Stop the process, if there is one: send it SIGTERM and wait `ms` milliseconds
 * for its end, or neither if `ms` is 0, and kill it. Reaps it and closes its
 * descriptors.
 */
void spawn_stop(struct spawned *, int ms);
/*
 * Wait for the end of the process, and close its descriptors. Returns its
 * status as a shell does.
 */
int spawn_wait(struct spawned *);
/*
 * Run a program until its end. Returns its status as a shell does, or -1 with
 * errno set if it was not started.
 */
int spawn_run(const struct spawn *);

/* A text that a program wrote, with a NUL; what has no room is lost. */
struct spawn_said {
	char *text;
	size_t cap;
};

/*
 * Run a program until its end, without input, and keep its standard output and
 * its standard error. An `err` without a text is ours. Returns as spawn_run().
 */
int spawn_read(struct spawn *, struct spawn_said out, struct spawn_said err);
/* Write "exited with status 3", "was killed by SIGKILL", ... Returns `dst`. */
const char *spawn_describe(int code, int status, char *dst, size_t cap);
/* Returns the status as a shell does: 128 plus the number for a signal. */
int spawn_status(int code, int status);

#endif
