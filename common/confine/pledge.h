/* SPDX-License-Identifier: ISC */
/*
 * pledge-style promise sets over libseccomp.  A worker states all that it
 * will ever ask the kernel for in one table beside its main: named promises
 * and, for the odd ones, single rules with a reason.  Whatever is not stated
 * kills the process.
 */
#ifndef PLEDGE_H
#define PLEDGE_H

#include <sys/stat.h>
#include <sys/syscall.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum pledge_promise {
	PLEDGE_STDIO,	/* read/write/recvmsg/sendmsg (flags masked, no
			 * MSG_FASTOPEN) on what is open, epoll, close,
			 * memory without PROT_EXEC, clocks, getrandom, exit;
			 * of a received memfd: F_GET_SEALS, pledge_fstat, and
			 * mmap(PROT_READ, MAP_PRIVATE), never MAP_SHARED */
	PLEDGE_MEMFD,	/* memfd_create, F_ADD_SEALS: send values too large
			 * for a datagram; filled by write(), so no ftruncate
			 * and no MAP_SHARED: auditd's log is open too */
	PLEDGE_ACCEPT,	/* accept4 on a listener that was handed over */
	PLEDGE_PAIR,	/* socketpair(AF_UNIX, SOCK_STREAM) */
	PLEDGE_SHUTDOWN,	/* shutdown */
	PLEDGE_PATH,	/* openat with exactly O_PATH|O_NOFOLLOW|O_CLOEXEC
			 * (and O_DIRECTORY), readlinkat, fstat, statx, fstatfs */
	PLEDGE_DIAL,	/* socket(INET/INET6, STREAM), connect, SO_ERROR,
			 * TCP_NODELAY, SO_KEEPALIVE */
	PLEDGE_PEERNAME,	/* getpeername, getsockopt(SO_ERROR, SO_PROTOCOL) */
	PLEDGE_SYNC,	/* fdatasync */
	PLEDGE_COUNT,
};

/* One argument check: (arg & mask) == value. */
struct pledge_arg {
	unsigned index;
	uint64_t mask;
	uint64_t value;
};

struct pledge_rule {
	int nr;			/* SCMP_SYS(x) */
	unsigned nargs;
	struct pledge_arg arg[3];
	const char *reason;
	int error;		/* 0: allowed; else fails with this errno, for
				 * calls that libraries try and survive */
};

struct pledge {
	const enum pledge_promise *promises;
	size_t npromises;
	const struct pledge_rule *rules;
	size_t nrules;
};

/*
 * Loads the filter: default and foreign architecture (x32, i386) kill the
 * process.  Sets no_new_privs.  -1 with errno; the caller must not go on.
 * The filter comes on top of one that is in force: it can only tighten.
 */
int pledge_apply(const struct pledge *);
/*
 * False in sanitized builds: their run-time asks the kernel for what no
 * worker may have, so pledge_apply loads nothing there and says it here.
 */
bool pledge_enforced(void);
/* "stdio memfd accept", for HELLO, doctor and the man page. */
const char *pledge_name(enum pledge_promise);
/*
 * fstat(2) as the bare call: glibc before 2.39 makes newfstatat of it, which
 * takes a path and is in PLEDGE_PATH alone.
 */
static inline int
pledge_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

#endif
