/* SPDX-License-Identifier: ISC */
/*
 * Attempts that code inside a worker might make, one function each, and their
 * expected results: bare (so that the attempt is known to be real: it works, or
 * fails by itself), under Landlock alone, under seccomp alone, and under
 * confine_apply().
 */
#ifndef CONFINE_ATTEMPTS_H
#define CONFINE_ATTEMPTS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/confine/confine.h"

enum {
	DONE = 0,	/* positive: fails with this errno */
	KILLED = -1,	/* SIGSYS */
	ALIVE = -2,	/* any result of the kernel, but no SIGSYS */
	PORT = -3,	/* EACCES where Landlock knows ports (ABI 4) */
	SCOPE = -4,	/* EPERM where Landlock has scopes (ABI 6) */
};

struct attempt {
	const char *name;
	int (*fn)(void);	/* 0 or an errno; runs in its own child */
	int bare, landlock, seccomp, all;
};

/*
 * Results under PLEDGE_STDIO and the promise; under PLEDGE_STDIO alone every
 * one is KILLED.
 */
struct promised {
	enum pledge_promise promise;
	const char *name;
	int (*fn)(void);
	int want;
};

/* A call that no worker may make: it must not even reach the kernel. */
struct reached {
	const char *name;
	long nr;
};

enum layer { BARE, LANDLOCK, SECCOMP, ALL };

/* The objects that attempts find open when they start, and their victim. */
struct attempt_env {
	pid_t victim;		/* same uid, dumpable, waits */
	int victim_pidfd;
	void *victim_word;	/* address in it */
	int dir;		/* O_PATH, contains "file" */
	int file;		/* "file" itself, O_RDWR | O_APPEND */
	int memfd;		/* sealed, one page */
	int pair[2];		/* SOCK_STREAM, AF_UNIX */
	int tcp;		/* not connected */
	int dialed;		/* connected */
	int listener;
	uint16_t port;		/* the listener's, network order */
	int abstract;		/* AF_UNIX SOCK_DGRAM, not connected */
	char abstract_name[32];	/* the listener's, after the NUL */
	int epoll;
	long reach;		/* call for attempt_reach */
	int broken;		/* pipe without a reader */
	char ns[4][64];		/* user, net, ipc, uts of the test itself */
	char dir_path[64];
	char file_path[80];
};

extern struct attempt_env attempt_env;
extern const struct attempt attempts[];
extern const size_t nattempts;
extern const struct promised promised[];
extern const size_t npromised;
extern const struct reached reached[];
extern const size_t nreached;

/* Returns 0 if r is not -1, else errno. */
int attempt_result(long r);
int attempt_open_path(void);
int attempt_namespaces(void);
/* Make the bare call with null arguments: a natural error, or death. */
int attempt_reach(void);

/* unit/confine/fixture.c: made once per user, and reset before each attempt. */
void fixture_start(bool as_user);
void fixture_stop(void);
void fixture_reset(bool as_user);
/* Call in the child, before its layer is applied. */
void fixture_open(void);

/* Returns the result of `fn` under the layer, in a child of its own. */
int attempt_run(enum layer, const struct confine *, int (*fn)(void));
/* Returns the exit status, KILLED, or 1000 + signal. */
int attempt_outcome(pid_t);
/* In a child: become the user under test. */
void attempt_become(void);
/* End the test if the machine does not support it. */
void attempt_must(bool, const char *what);

/* unit/confine/state.c: the state afterwards, as other processes see it. */
void state_tests(const char *who, bool root);

#endif
