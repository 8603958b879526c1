/* SPDX-License-Identifier: ISC */
/*
 * Promise sets in the style of pledge(2), over seccomp(2).  A worker lists
 * everything it will ever ask of the kernel in one table beside its main():
 * named promises, and single rules with a reason for the rest.  Any other call
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

#define PLEDGE_RING_BYTES 131328U /* the rings of a channel: ring.h */
#define PLEDGE_ARENA_BYTES 2101248U /* one memory of an arena: arena.h */

enum pledge_promise {
	/*
	 * read/write/recvmsg/sendmsg (flags masked, no MSG_FASTOPEN) on open
	 * descriptors, epoll, close, memory without PROT_EXEC, clocks,
	 * getrandom, exit; on a received memfd: F_GET_SEALS, pledge_fstat() and
	 * mmap(PROT_READ, MAP_PRIVATE); MAP_SHARED is in PLEDGE_RING and
	 * PLEDGE_ARENA alone
	 */
	PLEDGE_STDIO,
	/*
	 * memfd_create, F_ADD_SEALS: send values too large for a datagram.
	 * Memfds are filled with write(), so there is no ftruncate: auditd has
	 * its log open too
	 */
	PLEDGE_MEMFD,
	/*
	 * mmap(PROT_READ|PROT_WRITE, MAP_SHARED) of exactly PLEDGE_RING_BYTES.
	 * The kernel refuses it for what is open in one direction only, as the
	 * log is
	 */
	PLEDGE_RING,
	/*
	 * mmap(MAP_SHARED) of exactly PLEDGE_ARENA_BYTES, for reading and for
	 * both; madvise(MADV_REMOVE), which needs a mapping that can be written
	 * to
	 */
	PLEDGE_ARENA,
	PLEDGE_ACCEPT,	/* accept4 on a listener that was passed in */
	PLEDGE_PAIR,	/* socketpair(AF_UNIX, SOCK_STREAM) */
	PLEDGE_SHUTDOWN,	/* shutdown */
	PLEDGE_MOVED,	/* inotify: which directory was moved, no other event */
	PLEDGE_PATH,	/* openat with exactly O_PATH|O_NOFOLLOW|O_CLOEXEC
			 * (and O_DIRECTORY), readlinkat, fstat, statx, fstatfs */
	PLEDGE_DIAL,	/* socket(INET/INET6, STREAM), connect, SO_ERROR,
			 * TCP_NODELAY, SO_KEEPALIVE */
	PLEDGE_PEERNAME,	/* getpeername, getsockopt(SO_ERROR, SO_PROTOCOL) */
	PLEDGE_SYNC,	/* fdatasync */
	PLEDGE_SENDFILE,	/* sendfile between open descriptors; of a socket,
				 * its domain, what its peer has not read, and the
				 * size of its queue */
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
	/*
	 * 0: allowed; else the call fails with this errno, for calls that
	 * libraries try and can do without
	 */
	int error;
};

struct pledge {
	const enum pledge_promise *promises;
	size_t npromises;
	const struct pledge_rule *rules;
	size_t nrules;
};

/*
 * Compile and load the filter.  A call that is not listed, or is of a foreign architecture
 * (x32, i386), kills the process.  Sets no_new_privs.  Returns 0, or -1 with
 * errno set; the caller must then not continue.  The filter is added to any
 * that is in force, so it can only restrict further.
 */
int pledge_apply(const struct pledge *);
/*
 * Returns false in sanitized builds: the sanitizers' run-time needs calls that
 * no worker may have, so pledge_apply() loads no filter there.
 */
bool pledge_enforced(void);
/*
 * The name of a promise, such as "stdio", for HELLO, doctor and the man page.
 */
const char *pledge_name(enum pledge_promise);
/*
 * Call fstat(2) directly.  glibc before 2.39 turns fstat() into newfstatat,
 * which takes a path and is in PLEDGE_PATH only.
 */
static inline int
pledge_fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

#endif
