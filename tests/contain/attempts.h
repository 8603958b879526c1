/* SPDX-License-Identifier: ISC */
/*
 * What code that runs inside a worker might try.  A row: the system call, what
 * the attempt is handed besides what the worker has, and what must come of it
 * without confinement and under each layer alone.  Under all of them together
 * the process is killed, unless the row or the role says otherwise and why.
 */
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "common/ipc/proto.h"

/* clang-format off */
/* Errnos, or these; up to four may be listed. "It" is Landlock. */
enum {
	WORKS = 200,	/* it did what the attacker wants */
	KILLED,		/* SIGSYS */
	PORT,		/* EACCES where it has ports (ABI 4), else WORKS */
	SCOPE,		/* EPERM where it has scopes (ABI 6), else WORKS */
	TRUNC,		/* EACCES where it has truncation (ABI 3), else WORKS */
	HARMLESS,	/* done, and nothing came of it: the row says why */
	SENT,		/* a frame left: its receiver must end the session */
	CLOSED,		/* the receiver has closed the channel */
	FAULT,		/* SIGSEGV: the processor has no such entry */
};
/* No path leads anywhere in an empty root. */
#define NOWHERE OR(ENOENT, ESRCH)
#define OR(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define OR3(a, b, c) (OR(a, b) | (uint32_t)(c) << 16)

/* dialerd's resolver is no role of the protocol. */
#define ATTEMPT_RESOLVER ROLE_COUNT

/* Handed to the worker before its lock-down. */
enum given {
	G_TCP = 1 << 0,		/* an unconnected TCP socket */
	G_UDP = 1 << 1,		/* an unconnected UDP socket */
	G_UNIX = 1 << 2,	/* an unconnected Unix stream socket */
	G_ABSTRACT = 1 << 3,	/* an unconnected Unix datagram socket */
	G_LISTENER = 1 << 4,	/* a listening TCP socket */
	G_DIR = 1 << 5,		/* the libexecdir, open for reading */
	G_FILE = 1 << 6,	/* a file of the user's, O_RDWR */
	G_CODE = 1 << 7,	/* a memfd that holds a program */
	G_PIDFD = 1 << 8,	/* of its parent, or the victim */
	G_NETNS = 1 << 9,	/* the host's network namespace */
	G_TTY = 1 << 10,	/* a terminal of its own */
	G_PIPE = 1 << 11,
	G_PIDS = 1 << 12,	/* the exact pids of siblings and supervisor */
};

struct attempt {
	const char *name;
	const char *call;	/* the system call that it is about */
	int (*fn)(void);	/* 0 worked, an errno, or one of the above */
	unsigned given;
	uint32_t roles;		/* R() bits; 0: all, and the resolver */
	uint32_t bare, landlock, seccomp, private;
	uint32_t all;		/* 0: KILLED */
	const char *why;	/* of `all`, or of a bare failure */
	/* Bare outcomes that mean that this machine does not have it: the row
	 * is skipped, and `missing` is named. */
	uint32_t lacks;
	const char *missing;
};

struct attempt_table {
	const struct attempt *rows;
	size_t n;
};

/* A role for which the filter has the call; the rest must hold. */
struct exception {
	const char *name;
	enum role role;
	uint32_t seccomp, all;
	const char *why;
};

/* What the attempts find; made in probe.c. */
struct attempt_env {
	enum role role;
	pid_t victim;		/* 0: all of `pids`, or near our own pid */
	uintptr_t address;	/* in it */
	const char *session, *home, *libexec, *abstract_name;
	uint16_t port;		/* of a listener on loopback, network order */
	int tcp, udp, un, abstract, listener, dir, file, code, pidfd, netns,
	    tty, pipe[2], pids;
	int log;		/* auditd's */
	int channels[PROTO_MAX_SERVERS];
	enum role peers[PROTO_MAX_SERVERS];
	unsigned nchannels;
	unsigned arg;		/* which channel */
	int nice;		/* ours, read before the lock-down */
};

extern struct attempt_env attempt_env;
extern const struct attempt_table attempts_files, attempts_process,
    attempts_system, attempts_sockets, attempts_log, attempts_frames;
extern const struct attempt_table *const attempt_tables[];
extern const size_t attempt_ntables;
extern const struct exception exceptions[];
extern const size_t nexceptions;

/* 0 when r is not -1, else errno. */
int attempt_result(long r);
/* Calls fn for the victim, or for each of the others: 0 if any works. */
int attempt_each(int (*fn)(pid_t));
/* dst = dir "/" name. */
const char *attempt_path(const char *dir, const char *name);

/* One call is the whole attempt. */
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

/* Under seccomp alone and under all, killed. */
#define ROW(name, call, fn, given, bare, landlock, private)		\
	{name, call, fn, given, 0, bare, landlock, KILLED, private, 0, NULL,  \
	    0, NULL}
#define SAME(name, call, fn, given, bare)				\
	ROW(name, call, fn, given, bare, bare, bare)
/* Does not work for a user even when nothing confines it. */
#define NEVER(name, call, fn, given, bare, why)				\
	{name, call, fn, given, 0, bare, bare, KILLED, bare, 0, why, 0, NULL}
/* The same, of what some machines do not have at all. */
#define IF_THERE(name, call, fn, bare, lacks, missing)			\
	{name, call, fn, 0, 0, bare, bare, KILLED, bare, 0, NULL, lacks,      \
	    missing}
#define NO_CAP "needs a capability that no user has"
#define TABLE(rows) {rows, sizeof(rows) / sizeof((rows)[0])}

/* clang-format on */

/* The table's row by its number over all parts; NULL behind the last. */
const struct attempt *attempt_row(size_t n);

#endif
