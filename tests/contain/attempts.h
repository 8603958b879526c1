/* SPDX-License-Identifier: ISC */
/*
 * Actions that code running inside a worker might attempt. A row has the system
 * call, the resources given to the attempt in addition to the worker's own, and
 * the expected results without confinement and under each layer alone. Under
 * all layers together the process is killed, unless the row or the role has
 * another result, with the reason.
 */
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "common/ipc/proto.h"

/* clang-format off */
/* Expected results: errnos, or these; up to four in a row. */
enum {
	WORKS = 200,	/* the attacker's goal was reached */
	KILLED,		/* SIGSYS */
	PORT,		/* EACCES if Landlock has ports (ABI 4), else WORKS */
	SCOPE,		/* EPERM if Landlock has scopes (ABI 6), else WORKS */
	TRUNC,		/* EACCES if Landlock has truncation (ABI 3), else WORKS */
	HARMLESS,	/* done without effect: the row says why */
	SENT,		/* a frame was sent: its receiver must end the
			   session */
	CLOSED,		/* the receiver has closed the channel */
	FAULT,		/* SIGSEGV: the processor lacks this entry */
};
/* In an empty root, no path leads anywhere. */
#define NOWHERE OR(ENOENT, ESRCH)
#define OR(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define OR3(a, b, c) (OR(a, b) | (uint32_t)(c) << 16)

/* dialerd's resolver has no role in the protocol. */
#define ATTEMPT_RESOLVER ROLE_COUNT

/* Resources given to the worker before its lock-down. */
enum given {
	G_TCP = 1 << 0,		/* an unconnected TCP socket */
	G_UDP = 1 << 1,		/* an unconnected UDP socket */
	G_UNIX = 1 << 2,	/* an unconnected Unix stream socket */
	G_ABSTRACT = 1 << 3,	/* an unconnected Unix datagram socket */
	G_LISTENER = 1 << 4,	/* a listening TCP socket */
	G_DIR = 1 << 5,		/* libexecdir, opened for reading */
	G_FILE = 1 << 6,	/* a file of the user, opened O_RDWR */
	G_CODE = 1 << 7,	/* a memfd with a program */
	G_PIDFD = 1 << 8,	/* pidfd of the parent, or of the victim */
	G_NETNS = 1 << 9,	/* the host's network namespace */
	G_TTY = 1 << 10,	/* a terminal */
	G_PIPE = 1 << 11,
	G_PIDS = 1 << 12,	/* exact pids of siblings and supervisor */
};

struct attempt {
	const char *name;
	const char *call;	/* the system call that is tested */
	int (*fn)(void);	/* returns 0 if it worked, an errno, or one
				   of the above */
	unsigned given;
	uint32_t roles;		/* R() bits; 0: all, and the resolver */
	uint32_t bare, landlock, seccomp, private;
	uint32_t all;		/* all layers; 0: KILLED */
	const char *why;	/* the reason for `all`, or for a bare
				   failure */
	/*
	 * Results where the machine lacks `missing`, under layers that are not
	 * expected to kill: the row is skipped then, if all else is right.
	 */
	uint32_t lacks;
	const char *missing;
};

struct attempt_table {
	const struct attempt *rows;
	size_t n;
};

/* A role whose filter allows the call; other means must stop the attempt. */
struct exception {
	const char *name;
	enum role role;
	uint32_t seccomp, all;
	const char *why;
};

/* Set by probe.c. */
struct attempt_env {
	enum role role;
	pid_t victim;		/* 0: all of `pids`, or those near this pid */
	uintptr_t address;	/* an address in the victim */
	const char *session, *home, *libexec, *abstract_name;
	uint16_t port;		/* port of a listener on loopback, network
				   order */
	int tcp, udp, un, abstract, listener, dir, file, code, pidfd, netns,
	    tty, pipe[2], pids;
	int log;		/* auditd's log */
	int channels[PROTO_MAX_SERVERS];
	enum role peers[PROTO_MAX_SERVERS];
	unsigned nchannels;
	unsigned arg;		/* index of the channel */
	int nice;		/* own nice value, read before the lock-down */
};

extern struct attempt_env attempt_env;
extern const struct attempt_table attempts_files, attempts_process,
    attempts_system, attempts_sockets, attempts_log, attempts_frames;
extern const struct attempt_table *const attempt_tables[];
extern const size_t attempt_ntables;
extern const struct exception exceptions[];
extern const size_t nexceptions;

/* Returns 0, or errno if r is -1. */
int attempt_result(long r);
/*
 * Call fn for the victim, or for each of the others. Returns 0 if any call
 * works.
 */
int attempt_each(int (*fn)(pid_t));
/* Returns dir "/" name. */
const char *attempt_path(const char *dir, const char *name);

/* The attempt is a single call. */
#define ONE(name, expr)							\
	static int name(void)						\
	{								\
		return attempt_result((long)(expr));			\
	}
#define ONE_PID(name, expr)						\
	static int name##_pid(pid_t pid)				\
	{								\
		return attempt_result((long)(expr));			\
	}								\
	static int name(void)						\
	{								\
		return attempt_each(name##_pid);			\
	}

/* Killed under seccomp alone and under all layers. */
#define ROW(name, call, fn, given, bare, landlock, private)		\
	{name, call, fn, given, 0, bare, landlock, KILLED, private, 0, NULL,  \
	    0, NULL}
#define SAME(name, call, fn, given, bare)				\
	ROW(name, call, fn, given, bare, bare, bare)
/* Fails for an ordinary user even without confinement. */
#define NEVER(name, call, fn, given, bare, why)				\
	{name, call, fn, given, 0, bare, bare, KILLED, bare, 0, why, 0, NULL}
/* For an entry to the kernel that some processors lack. */
#define IF_THERE(name, call, fn, bare, lacks, missing)			\
	{name, call, fn, 0, 0, bare, bare, OR(KILLED, FAULT), bare,	\
	    OR(KILLED, FAULT), NULL, lacks, missing}
#define NO_CAP "needs a capability that no user has"
#define TABLE(rows) {rows, nitems(rows)}

/* clang-format on */

/* Returns the table's n-th row over all parts, or NULL after the last. */
const struct attempt *attempt_row(size_t n);

#endif
