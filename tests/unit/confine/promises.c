/* SPDX-License-Identifier: ISC */
/*
 * The calls that each promise adds to stdio, its limits, and calls that no
 * promise gives.
 */
#include "unit/confine/attempts.h"

#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define E attempt_env
#define BORN (SOCK_CLOEXEC | SOCK_NONBLOCK)
#define WALK (O_PATH | O_NOFOLLOW | O_CLOEXEC)

#define ONE(name, call)                                                        \
	static int name(void)                                                  \
	{                                                                      \
		return attempt_result((long)(call));                           \
	}

/* An openat() of a directory without "file" is still an attempt. */
#define OPEN(flags) syscall(SYS_openat, AT_FDCWD, "/etc", flags)

int
attempt_open_path(void)
{
	return attempt_result(OPEN(WALK));
}

/* Returns 0 if none of the four namespaces is that of the test itself. */
int
attempt_namespaces(void)
{
	static const char *const names[] = {"user", "net", "ipc", "uts"};
	char path[40], mine[64];
	ssize_t n;

	for (size_t i = 0; i < nitems(names); i++) {
		(void)snprintf(
		    path, sizeof(path), "/proc/self/ns/%s", names[i]);
		n = syscall(SYS_readlinkat, AT_FDCWD, path, mine, sizeof(mine));
		if (n == -1)
			return errno;
		if (strlen(E.ns[i]) == (size_t)n &&
		    memcmp(E.ns[i], mine, (size_t)n) == 0)
			return EEXIST;
	}
	return 0;
}

ONE(path_directory, OPEN(WALK | O_DIRECTORY))
ONE(path_read, OPEN(O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
ONE(path_follow, OPEN(O_PATH | O_CLOEXEC))
ONE(path_inherit, OPEN(O_PATH | O_NOFOLLOW))
ONE(path_create, syscall(SYS_openat, E.dir, "new", WALK | O_CREAT, 0600))
ONE(path_truncate, OPEN(WALK | O_TRUNC))
ONE(path_tmpfile, OPEN(WALK | O_TMPFILE))
ONE(path_openat2, syscall(SYS_openat2, AT_FDCWD, "/etc", NULL, 0))
ONE(path_link, syscall(SYS_readlinkat, E.dir, "file", NULL, 0))
ONE(path_chmod, syscall(SYS_fchmodat, E.dir, "file", 0777))
ONE(path_xattr, syscall(SYS_getxattr, E.file_path, "user.x", NULL, 0))

static int
path_stat(void)
{
	struct stat st;
	struct statfs fs;

	if (syscall(SYS_newfstatat, E.dir, "file", &st, 0) == -1 ||
	    syscall(SYS_fstatfs, E.file, &fs) == -1)
		return errno;
	return 0;
}

ONE(path_statx, syscall(SYS_statx, E.dir, "file", 0, 0, NULL))

ONE(moved_init, syscall(SYS_inotify_init1, IN_NONBLOCK | IN_CLOEXEC))
ONE(moved_inherit, syscall(SYS_inotify_init1, IN_NONBLOCK))
ONE(moved_watch, syscall(SYS_inotify_add_watch, -1, "/etc",
		     IN_ONLYDIR | IN_MOVE_SELF))
ONE(moved_names, syscall(SYS_inotify_add_watch, -1, "/etc",
		     IN_ONLYDIR | IN_MOVE_SELF | IN_CREATE))
ONE(moved_all, syscall(SYS_inotify_add_watch, -1, "/etc", IN_ALL_EVENTS))
ONE(moved_remove, syscall(SYS_inotify_rm_watch, -1, 1))

ONE(memfd_plain,
    syscall(SYS_memfd_create, "t", MFD_CLOEXEC | MFD_ALLOW_SEALING))
ONE(memfd_inherit, syscall(SYS_memfd_create, "t", MFD_ALLOW_SEALING))
ONE(memfd_huge, syscall(SYS_memfd_create, "t",
		    MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB))
ONE(memfd_map, syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		   E.file, 0L))
ONE(memfd_map_exec, syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC,
			MAP_SHARED, E.file, 0L))
ONE(memfd_size, ftruncate(E.file, 4096))
ONE(memfd_seal, fcntl(E.memfd, F_ADD_SEALS, F_SEAL_SEAL))
ONE(memfd_flags, fcntl(E.memfd, F_SETFL, O_APPEND))

/* Send a memfd as chan.c does. */
static int
memfd_send(void)
{
	int fd;

	fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd == -1 || write(fd, "x", 1) != 1 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) == -1)
		return errno;
	return 0;
}

ONE(accept_born, accept4(E.listener, NULL, NULL, BORN))
ONE(accept_inherit, accept4(E.listener, NULL, NULL, SOCK_NONBLOCK))
ONE(accept_listen, listen(E.listener, 1))

ONE(pair_stream, socketpair(AF_UNIX, SOCK_STREAM | BORN, 0, E.pair))
ONE(pair_dgram, socketpair(AF_UNIX, SOCK_DGRAM | BORN, 0, E.pair))
ONE(pair_inherit, socketpair(AF_UNIX, SOCK_STREAM, 0, E.pair))
ONE(pair_inet, socketpair(AF_INET, SOCK_STREAM | BORN, 0, E.pair))

ONE(half_close, shutdown(E.pair[0], SHUT_WR))

ONE(dial_inet, socket(AF_INET, SOCK_STREAM | BORN, 0))
ONE(dial_tcp, socket(AF_INET, SOCK_STREAM | BORN, IPPROTO_TCP))
ONE(dial_mptcp, socket(AF_INET, SOCK_STREAM | BORN, 262))
ONE(dial_udp, socket(AF_INET, SOCK_DGRAM | BORN, 0))
ONE(dial_raw, socket(AF_INET, SOCK_RAW | BORN, IPPROTO_TCP))
ONE(dial_unix, socket(AF_UNIX, SOCK_STREAM | BORN, 0))
ONE(dial_netlink, socket(AF_NETLINK, SOCK_RAW | BORN, 0))
ONE(dial_vsock, socket(AF_VSOCK, SOCK_STREAM | BORN, 0))
ONE(dial_blocking, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))

/* A host may lack IPv6. */
static int
dial_inet6(void)
{
	if (socket(AF_INET6, SOCK_STREAM | BORN, 0) == -1 &&
	    errno != EAFNOSUPPORT)
		return errno;
	return 0;
}

static int
dial_connect(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = E.port};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return attempt_result(
	    connect(E.tcp, (struct sockaddr *)&sin, sizeof(sin)));
}

static int
dial_fastopen(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = E.port};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return attempt_result(sendto(
	    E.tcp, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&sin, sizeof(sin)));
}

static int
set_int(int level, int name)
{
	int on = 1;

	return attempt_result(
	    setsockopt(E.dialed, level, name, &on, sizeof(on)));
}

static int
get_int(int level, int name)
{
	int value;
	socklen_t len = sizeof(value);

	return attempt_result(getsockopt(E.dialed, level, name, &value, &len));
}

ONE(dial_bind, bind(E.tcp, NULL, 0))
#define OPTION(fn, call)                                                       \
	static int fn(void)                                                    \
	{                                                                      \
		return call;                                                   \
	}
OPTION(dial_nodelay, set_int(IPPROTO_TCP, TCP_NODELAY))
OPTION(dial_keepalive, set_int(SOL_SOCKET, SO_KEEPALIVE))
OPTION(dial_fastopen_option, set_int(IPPROTO_TCP, TCP_FASTOPEN_CONNECT))
OPTION(dial_ulp, set_int(IPPROTO_TCP, TCP_ULP))
OPTION(dial_device, set_int(SOL_SOCKET, SO_BINDTODEVICE))
OPTION(peer_error, get_int(SOL_SOCKET, SO_ERROR))
OPTION(peer_protocol, get_int(SOL_SOCKET, SO_PROTOCOL))
OPTION(peer_cred, get_int(SOL_SOCKET, SO_PEERCRED))

static int
peer_name(void)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);

	return attempt_result(
	    getpeername(E.dialed, (struct sockaddr *)&sin, &len));
}

ONE(sync_data, fdatasync(E.file))
ONE(sync_all, fsync(E.file))

/* clang-format off */
const struct promised promised[] = {
	{PLEDGE_PATH, "a name", attempt_open_path, DONE},
	{PLEDGE_PATH, "a directory", path_directory, DONE},
	{PLEDGE_PATH, "content", path_read, KILLED},
	{PLEDGE_PATH, "a name, following", path_follow, KILLED},
	{PLEDGE_PATH, "a name, inherited", path_inherit, KILLED},
	{PLEDGE_PATH, "O_CREAT", path_create, KILLED},
	{PLEDGE_PATH, "O_TRUNC", path_truncate, KILLED},
	{PLEDGE_PATH, "O_TMPFILE", path_tmpfile, KILLED},
	{PLEDGE_PATH, "openat2", path_openat2, KILLED},
	{PLEDGE_PATH, "readlinkat", path_link, EINVAL},
	{PLEDGE_PATH, "stat", path_stat, DONE},
	{PLEDGE_PATH, "statx", path_statx, EFAULT},
	{PLEDGE_PATH, "chmod", path_chmod, KILLED},
	{PLEDGE_PATH, "getxattr", path_xattr, KILLED},
	{PLEDGE_MOVED, "watch for moves", moved_watch, EBADF},
	{PLEDGE_MOVED, "watch for names", moved_names, KILLED},
	{PLEDGE_MOVED, "watch for anything", moved_all, KILLED},
	{PLEDGE_MOVED, "inotify_init1", moved_init, DONE},
	{PLEDGE_MOVED, "inotify_init1, inherited", moved_inherit, KILLED},
	{PLEDGE_MOVED, "inotify_rm_watch", moved_remove, EBADF},
	{PLEDGE_MEMFD, "memfd_create", memfd_plain, DONE},
	{PLEDGE_MEMFD, "memfd_create, inherited", memfd_inherit, KILLED},
	{PLEDGE_MEMFD, "memfd_create, huge", memfd_huge, KILLED},
	{PLEDGE_MEMFD, "map shared", memfd_map, KILLED},
	{PLEDGE_MEMFD, "map shared as code", memfd_map_exec, KILLED},
	{PLEDGE_MEMFD, "ftruncate", memfd_size, KILLED},
	{PLEDGE_MEMFD, "F_ADD_SEALS", memfd_seal, EPERM},
	{PLEDGE_MEMFD, "fill and seal", memfd_send, DONE},
	{PLEDGE_MEMFD, "F_SETFL", memfd_flags, KILLED},
	{PLEDGE_ACCEPT, "accept4", accept_born, EAGAIN},
	{PLEDGE_ACCEPT, "accept4, inherited", accept_inherit, KILLED},
	{PLEDGE_ACCEPT, "listen", accept_listen, KILLED},
	{PLEDGE_PAIR, "stream", pair_stream, DONE},
	{PLEDGE_PAIR, "datagram", pair_dgram, KILLED},
	{PLEDGE_PAIR, "inherited", pair_inherit, KILLED},
	{PLEDGE_PAIR, "inet", pair_inet, KILLED},
	{PLEDGE_SHUTDOWN, "shutdown", half_close, DONE},
	{PLEDGE_DIAL, "socket", dial_inet, DONE},
	{PLEDGE_DIAL, "socket, TCP by name", dial_tcp, DONE},
	{PLEDGE_DIAL, "socket inet6", dial_inet6, DONE},
	{PLEDGE_DIAL, "socket MPTCP", dial_mptcp, KILLED},
	{PLEDGE_DIAL, "socket UDP", dial_udp, KILLED},
	{PLEDGE_DIAL, "socket raw", dial_raw, KILLED},
	{PLEDGE_DIAL, "socket unix", dial_unix, KILLED},
	{PLEDGE_DIAL, "socket netlink", dial_netlink, KILLED},
	{PLEDGE_DIAL, "socket vsock", dial_vsock, KILLED},
	{PLEDGE_DIAL, "socket, blocking", dial_blocking, KILLED},
	{PLEDGE_DIAL, "connect", dial_connect, DONE},
	{PLEDGE_DIAL, "bind", dial_bind, KILLED},
	{PLEDGE_DIAL, "MSG_FASTOPEN", dial_fastopen, KILLED},
	{PLEDGE_DIAL, "TCP_NODELAY", dial_nodelay, DONE},
	{PLEDGE_DIAL, "SO_KEEPALIVE", dial_keepalive, DONE},
	{PLEDGE_DIAL, "SO_ERROR", peer_error, DONE},
	{PLEDGE_DIAL, "TCP_FASTOPEN_CONNECT", dial_fastopen_option, KILLED},
	{PLEDGE_DIAL, "TCP_ULP", dial_ulp, KILLED},
	{PLEDGE_DIAL, "SO_BINDTODEVICE", dial_device, KILLED},
	{PLEDGE_PEERNAME, "getpeername", peer_name, DONE},
	{PLEDGE_PEERNAME, "SO_ERROR", peer_error, DONE},
	{PLEDGE_PEERNAME, "SO_PROTOCOL", peer_protocol, DONE},
	{PLEDGE_PEERNAME, "SO_PEERCRED", peer_cred, KILLED},
	{PLEDGE_PEERNAME, "setsockopt", dial_nodelay, KILLED},
	{PLEDGE_SYNC, "fdatasync", sync_data, DONE},
	{PLEDGE_SYNC, "fsync", sync_all, KILLED},
};
/* clang-format on */

const size_t npromised = nitems(promised);

#define R(name)                                                                \
	{                                                                      \
#name, SYS_##name                                              \
	}

/* clang-format off */
const struct reached reached[] = {
	R(accept4), R(add_key), R(bpf), R(close_range), R(connect), R(dup3),
	R(getpeername), R(init_module), R(inotify_init1), R(io_uring_setup),
	R(kcmp), R(keyctl), R(kill), R(landlock_restrict_self), R(listen),
	R(memfd_create), R(memfd_secret), R(mount), R(move_mount),
	R(open_by_handle_at), R(perf_event_open), R(personality),
	R(pivot_root), R(process_madvise), R(process_vm_writev), R(pwritev2),
	R(quotactl), R(reboot), R(rt_sigaction), R(rt_sigqueueinfo),
	R(seccomp), R(set_mempolicy), R(setns), R(setresuid), R(setsockopt),
	R(shmget), R(splice), R(swapon), R(timer_create), R(umount2),
	R(userfaultfd), R(vmsplice), R(wait4),
};
/* clang-format on */

const size_t nreached = nitems(reached);

int
attempt_reach(void)
{
	return attempt_result(syscall(E.reach, -1, 0, 0, 0, 0, 0));
}
