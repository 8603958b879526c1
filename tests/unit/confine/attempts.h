/* SPDX-License-Identifier: ISC */
/*
 * What code inside a worker might try, one function each, and what must
 * come of it: bare (the attempt is real: it works, or fails by itself), under
 * Landlock alone, under seccomp alone, and under confine_apply.
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
	ALIVE = -2,	/* whatever the kernel says, but no SIGSYS */
	PORT = -3,	/* EACCES where Landlock knows ports (ABI 4) */
	SCOPE = -4,	/* EPERM where Landlock has scopes (ABI 6) */
};

struct attempt {
	const char *name;
	int (*fn)(void);	/* 0 or an errno; runs in a child of its own */
	int bare, landlock, seccomp, all;
};

/* Under PLEDGE_STDIO and promise; under PLEDGE_STDIO alone always KILLED. */
struct promised {
	enum pledge_promise promise;
	const char *name;
	int (*fn)(void);
	int want;
};

/* A call that no worker has: it must not even reach the kernel. */
struct reached {
	const char *name;
	long nr;
};

enum layer { BARE, LANDLOCK, SECCOMP, ALL };

/* What the attempts find open when they start, and whom they attack. */
struct attempt_env {
	pid_t victim;		/* same uid, dumpable, waits */
	int victim_pidfd;
	void *victim_word;	/* address in it */
	int dir;		/* O_PATH, holds "file" */
	int file;		/* "file" itself, O_RDWR | O_APPEND */
	int memfd;		/* sealed, one page */
	int pair[2];		/* SOCK_STREAM, AF_UNIX */
	int tcp;		/* not connected */
	int dialed;		/* connected */
	int listener;
	uint16_t port;		/* of listener, network order */
	int abstract;		/* AF_UNIX SOCK_DGRAM, not connected */
	char abstract_name[32];	/* of the listener, after the NUL */
	int epoll;
	long reach;		/* call for attempt_reach */
	int broken;		/* pipe without a reader */
	char ns[4][64];		/* user, net, ipc, uts of the test */
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

/* 0 when r is not -1, else errno. */
int attempt_result(long r);
int attempt_open_path(void);
int attempt_namespaces(void);
/* The bare call, all null: a natural error, or death. */
int attempt_reach(void);

/* unit/confine/fixture.c: made once for a user; anew before each attempt. */
void fixture_start(bool as_user);
void fixture_stop(void);
void fixture_reset(bool as_user);
/* In the child, before its layer. */
void fixture_open(void);

/* What comes of fn under layer, in a child of its own. */
int attempt_run(enum layer, const struct confine *, int (*fn)(void));
/* Exit status, KILLED, or 1000 + signal. */
int attempt_outcome(pid_t);
/* In a child: be the user that is under test. */
void attempt_become(void);
/* Ends the test when the machine does not play along. */
void attempt_must(bool, const char *what);

/* unit/confine/state.c: what is in force afterwards, as others see it. */
void state_tests(const char *who, bool root);

#endif
