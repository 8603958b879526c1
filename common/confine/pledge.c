/* SPDX-License-Identifier: ISC */
/*
 * Turns promises into a seccomp filter, which bpf.c compiles.  The rules of
 * each promise are in one table in this file; a worker lists anything more in
 * its own table.  A filter sees only registers, so a call that takes a path or
 * a sockaddr is allowed completely or not at all.  Flags are checked bit by
 * bit.  A call that is not listed kills the process, and so does any call of a
 * foreign architecture.
 *
 * The kernel takes most of the arguments checked here as 32-bit ints, and the
 * ABI leaves the upper half of their registers undefined.  Masks are therefore
 * 32 bits wide: bits that are ignored here are ignored by the kernel too.
 */
#include "common/confine/pledge.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <linux/futex.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <seccomp.h>

#include "common/confine/bpf.h"
#include "common/span.h"

/* clang-format off */
#define INT_BITS 0xffffffffULL

#define CALL(name, why) {.nr = SCMP_SYS(name), .reason = (why)}
#define CALL1(name, a, why)						\
	{.nr = SCMP_SYS(name), .nargs = 1, .arg = {a}, .reason = (why)}
#define CALL2(name, a, b, why)						\
	{.nr = SCMP_SYS(name), .nargs = 2, .arg = {a, b}, .reason = (why)}
#define CALL3(name, a, b, c, why)					\
	{.nr = SCMP_SYS(name), .nargs = 3, .arg = {a, b, c}, .reason = (why)}

/* Argument `i` is exactly `v`. */
#define IS(i, v) {(i), INT_BITS, (uint64_t)(v) & INT_BITS}
/* Argument `i` has no bit outside `set`. */
#define WITHIN(i, set) {(i), INT_BITS & ~(uint64_t)(set), 0}
/* Argument `i` is `v`, or `v` with any bits of `extra`. */
#define IS_WITH(i, v, extra)						\
	{(i), INT_BITS & ~(uint64_t)(extra), (uint64_t)(v) & INT_BITS}
/* All 64 bits of argument `i` are `v`. */
#define IS_LONG(i, v) {(i), UINT64_MAX, (v)}
/* Argument `i` is a null pointer: all 64 bits count. */
#define IS_NULL(i) {(i), UINT64_MAX, 0}

#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE)
#define RECV_FLAGS (MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC | MSG_PEEK)
#define DATA (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define BORN (SOCK_CLOEXEC | SOCK_NONBLOCK)
#define WALK (O_PATH | O_NOFOLLOW | O_CLOEXEC)
#define SEALABLE (MFD_CLOEXEC | MFD_ALLOW_SEALING)
#define NOEXEC_SEAL 0x8U		/* MFD_NOEXEC_SEAL, Linux 6.3 */

static const struct pledge_rule stdio_rules[] = {
	CALL(read, "what is open"),
	CALL(readv, "what is open"),
	CALL(write, "what is open; O_APPEND holds"),
	CALL(writev, "what is open; O_APPEND holds"),
	CALL2(recvmmsg, WITHIN(3, RECV_FLAGS), IS_NULL(4), "channels"),
	CALL1(sendmsg, WITHIN(2, SEND_FLAGS), "no MSG_FASTOPEN, no MSG_OOB"),
	CALL1(sendmmsg, WITHIN(3, SEND_FLAGS), "the same, many at once"),
	CALL2(recvfrom, WITHIN(3, RECV_FLAGS), IS_NULL(4), "recv()"),
	CALL2(sendto, WITHIN(3, SEND_FLAGS), IS_NULL(4),
	    "send(): no address, no MSG_FASTOPEN"),
	CALL(epoll_wait, "loop"),
	CALL(epoll_pwait, "loop; all there is on arm64"),
	CALL(epoll_ctl, "loop"),
	CALL1(ppoll, IS_NULL(3), "loop, where an epoll set takes no more"),
	CALL(close, "what is open"),
	CALL1(fcntl, IS(1, F_GETFL), "look, never set: O_APPEND holds"),
	CALL1(fcntl, IS(1, F_GET_SEALS), "before a received memfd is mapped"),
	CALL(fstat, "size of a received memfd"),
	CALL2(mmap, WITHIN(2, DATA), IS_WITH(3, ANON,
	    MAP_NORESERVE | MAP_STACK | MAP_POPULATE), "malloc"),
	CALL2(mmap, IS(2, PROT_READ), IS(3, MAP_PRIVATE),
	    "a received memfd; a later mprotect makes a copy, not a write"),
	CALL1(mprotect, WITHIN(2, DATA), "malloc"),
	CALL(munmap, "malloc"),
	CALL1(mremap, WITHIN(3, MREMAP_MAYMOVE), "realloc"),
	CALL(brk, "malloc"),
	CALL1(madvise, IS(2, MADV_DONTNEED), "free"),
	CALL1(madvise, IS(2, MADV_FREE), "free"),
	CALL1(madvise, IS(2, MADV_DONTDUMP), "buffers with outside data"),
	CALL1(futex, IS_WITH(1, FUTEX_WAIT, FUTEX_PRIVATE_FLAG),
	    "once and locks of OpenSSL; no requeue, no PI"),
	CALL1(futex, IS_WITH(1, FUTEX_WAIT_BITSET,
	    FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME), "the same, timed"),
	CALL1(futex, IS_WITH(1, FUTEX_WAKE, FUTEX_PRIVATE_FLAG), "the same"),
	CALL(getpid, "fork check of OpenSSL and arc4random"),
	CALL(getrandom, "OpenSSL, arc4random"),
	CALL(clock_gettime, "where the vDSO cannot"),
	CALL(gettimeofday, "where the vDSO cannot"),
	CALL(time, "where the vDSO cannot"),
	CALL(rt_sigreturn, "end of a handler"),
	CALL(rt_sigprocmask, "libc, around locks"),
	CALL(restart_syscall, "after SIGSTOP and SIGCONT"),
	CALL(exit, "end"),
	CALL(exit_group, "end"),
};

/*
 * Memfds are filled with write(): auditd must not have ftruncate.
 */
static const struct pledge_rule memfd_rules[] = {
	CALL1(memfd_create, IS_WITH(1, SEALABLE, NOEXEC_SEAL),
	    "a value too large for a datagram"),
	CALL1(fcntl, IS(1, F_ADD_SEALS), "sealed before it is sent"),
};

/*
 * A shared mapping of exactly this size, which can be written to. What else a
 * worker holds has other sizes or is open in one direction only, as the log is.
 */
static const struct pledge_rule ring_rules[] = {
	CALL3(mmap, IS_LONG(1, PLEDGE_RING_BYTES), IS(2, DATA), IS(3, MAP_SHARED),
	    "the rings of a channel"),
};

/* The kernel refuses the second for what is open for reading only. */
static const struct pledge_rule arena_rules[] = {
	CALL3(mmap, IS_LONG(1, PLEDGE_ARENA_BYTES), IS(2, PROT_READ), IS(3, MAP_SHARED),
	    "the other's memory of an arena"),
	CALL3(mmap, IS_LONG(1, PLEDGE_ARENA_BYTES), IS(2, DATA), IS(3, MAP_SHARED),
	    "its own"),
	CALL1(madvise, IS(2, MADV_REMOVE), "give the pages of a slot back"),
};

static const struct pledge_rule accept_rules[] = {
	CALL1(accept4, IS(3, BORN), "the agent's listener"),
};

static const struct pledge_rule pair_rules[] = {
	CALL3(socketpair, IS(0, AF_UNIX), IS(1, SOCK_STREAM | BORN), IS(2, 0),
	    "body streams"),
};

static const struct pledge_rule shutdown_rules[] = {
	CALL(shutdown, "half close"),
};

static const struct pledge_rule path_rules[] = {
	CALL1(openat, IS_WITH(2, WALK, O_DIRECTORY), "a name, no content"),
	CALL(readlinkat, "links are followed by us"),
	CALL(newfstatat, "type and identity; fstat() of older glibc"),
	CALL(statx, "mount identity"),
	CALL(fstatfs, "kind of file system"),
};

/*
 * inotify tells the number of a watch and no name: a directory's own moves are
 * the only event that can be asked for.
 */
static const struct pledge_rule moved_rules[] = {
	CALL1(inotify_init1, IS(0, IN_NONBLOCK | IN_CLOEXEC), "watches"),
	CALL1(inotify_add_watch, IS(2, IN_ONLYDIR | IN_MOVE_SELF),
	    "a directory's own moves; not what happens in it"),
	CALL(inotify_rm_watch, "what is watched"),
};

static const struct pledge_rule dial_rules[] = {
	CALL3(socket, IS(0, AF_INET), IS(1, SOCK_STREAM | BORN), IS(2, 0),
	    "outbound TCP"),
	CALL3(socket, IS(0, AF_INET), IS(1, SOCK_STREAM | BORN),
	    IS(2, IPPROTO_TCP), "outbound TCP; not MPTCP"),
	CALL3(socket, IS(0, AF_INET6), IS(1, SOCK_STREAM | BORN), IS(2, 0),
	    "outbound TCP"),
	CALL3(socket, IS(0, AF_INET6), IS(1, SOCK_STREAM | BORN),
	    IS(2, IPPROTO_TCP), "outbound TCP; not MPTCP"),
	CALL(connect, "a screened address"),
	CALL2(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_ERROR),
	    "how the connect ended"),
	CALL2(setsockopt, IS(1, IPPROTO_TCP), IS(2, TCP_NODELAY), "latency"),
	CALL2(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_KEEPALIVE),
	    "dead peers are seen"),
};

static const struct pledge_rule peername_rules[] = {
	CALL(getpeername, "who a received socket is connected to"),
	CALL2(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_ERROR), "its state"),
	CALL2(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_PROTOCOL), "TCP, no other"),
};

static const struct pledge_rule sync_rules[] = {
	CALL(fdatasync, "audit.durability: synced"),
};

static const struct pledge_rule sendfile_rules[] = {
	CALL(sendfile, "what is open, as read() and write()"),
	CALL1(ioctl, IS(1, SIOCOUTQ), "bytes that the peer has not read"),
	CALL2(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_DOMAIN), "AF_UNIX, no other"),
	CALL2(getsockopt, IS(1, SOL_SOCKET), IS(2, SO_SNDBUF), "to set it back"),
	CALL2(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_SNDBUF), "for large answers"),
};

#define TABLE(t) t, nitems(t)

static const struct {
	const char *name;
	const struct pledge_rule *rules;
	size_t n;
} table[PLEDGE_COUNT] = {
	[PLEDGE_STDIO]		= {"stdio", TABLE(stdio_rules)},
	[PLEDGE_MEMFD]		= {"memfd", TABLE(memfd_rules)},
	[PLEDGE_RING]		= {"ring", TABLE(ring_rules)},
	[PLEDGE_ARENA]		= {"arena", TABLE(arena_rules)},
	[PLEDGE_ACCEPT]		= {"accept", TABLE(accept_rules)},
	[PLEDGE_PAIR]		= {"pair", TABLE(pair_rules)},
	[PLEDGE_SHUTDOWN]	= {"shutdown", TABLE(shutdown_rules)},
	[PLEDGE_PATH]		= {"path", TABLE(path_rules)},
	[PLEDGE_MOVED]		= {"moved", TABLE(moved_rules)},
	[PLEDGE_DIAL]		= {"dial", TABLE(dial_rules)},
	[PLEDGE_PEERNAME]	= {"peername", TABLE(peername_rules)},
	[PLEDGE_SENDFILE]	= {"sendfile", TABLE(sendfile_rules)},
	[PLEDGE_SYNC]		= {"sync", TABLE(sync_rules)},
};
/* clang-format on */

const char *
pledge_name(enum pledge_promise p)
{
	return (unsigned)p < PLEDGE_COUNT ? table[p].name : "?";
}

bool
pledge_enforced(void)
{
#ifdef IC_SANITIZED
	return false;
#else
	return true;
#endif
}

const struct pledge_rule *
pledge_promised(enum pledge_promise p, size_t *n)
{
	*n = table[p].n;
	return table[p].rules;
}

/* Append pointers to rules. Returns 0, or -1 with errno E2BIG. */
static int
gather(const struct pledge_rule *all[BPF_RULES], size_t *n,
    const struct pledge_rule *rules, size_t nrules)
{
	if (nrules > BPF_RULES - *n) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < nrules; i++)
		all[(*n)++] = &rules[i];
	return 0;
}

int
pledge_compile(const struct pledge *p, struct sock_filter code[BPF_ROOM],
    unsigned short *n)
{
	const struct pledge_rule *all[BPF_RULES], *rules;
	size_t nall = 0, nrules;

	for (size_t i = 0; i < p->npromises; i++) {
		if ((unsigned)p->promises[i] >= PLEDGE_COUNT) {
			errno = EINVAL;
			return -1;
		}
		rules = pledge_promised(p->promises[i], &nrules);
		if (gather(all, &nall, rules, nrules) == -1)
			return -1;
	}
	if (gather(all, &nall, p->rules, p->nrules) == -1)
		return -1;
	return bpf_compile(all, nall, code, n);
}

int
pledge_apply(const struct pledge *p)
{
	static struct sock_filter code[BPF_ROOM];
	struct sock_fprog program = {.filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	if (!pledge_enforced())
		return 0;
	if (pledge_compile(p, code, &program.len) == -1)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
