/* SPDX-License-Identifier: ISC */
/*
 * The attempts of the break-out test that need more than one call.  Each
 * returns 0 if it succeeded, or its errno if it was refused.
 */
#include "attempts_priv.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <linux/capability.h>

#include <netinet/in.h>

#include <stdio.h>
#include <string.h>

int
tried_reading(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char byte;
	ssize_t n;
	int error;

	if (fd == -1)
		return errno;
	n = read(fd, &byte, 1);
	error = n == -1 ? errno : n == 0 ? ENOENT : 0;
	close(fd);
	return error;
}

int
tried_writing(const char *path)
{
	return TRY(faccessat(AT_FDCWD, path, W_OK, AT_EACCESS));
}

int
tried_caches(void)
{
	static const char *const places[] = {"/opt/ironcurtain/caches/cargo",
	    "/opt/ironcurtain/caches/cargo/registry",
	    "/opt/ironcurtain/caches/go", "/opt/ironcurtain/caches/npm",
	    "/opt/ironcurtain/caches/npm/_cacache",
	    "/opt/ironcurtain/caches/pip"};
	int error = ENOENT, found;

	/* Those that are not shared are not there. */
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		found = tried_writing(places[i]);
		if (found != ENOENT)
			error = found;
		if (found == 0)
			return 0;
	}
	return error;
}

int
tried_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

static int
connected(int type, const void *address, socklen_t len)
{
	const struct sockaddr *sa = address;
	int fd, error;

	fd = socket(sa->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return errno;
	error = TRY(connect(fd, sa, len));
	close(fd);
	/* The connection is on its way. */
	return error == EINPROGRESS || error == EAGAIN ? 0 : error;
}

/* 192.0.2.1 and 2001:db8::1 are for documentation: they belong to nobody. */
int
tried_inet(int type)
{
	const struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_port = htons(53),
	    .sin_addr.s_addr = htonl(0xc0000201U)};

	return connected(type, &sin, sizeof(sin));
}

int
tried_unix(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	/* A path that is too long for a socket is looked up all the same. */
	if (len >= sizeof(sun.sun_path))
		return tried_open(path, O_PATH);
	memcpy(sun.sun_path, path, len);
	return connected(SOCK_STREAM, &sun, sizeof(sun));
}

int
tried_tcp6(void)
{
	struct sockaddr_in6 sin6 = {
	    .sin6_family = AF_INET6, .sin6_port = htons(443)};

	memcpy(&sin6.sin6_addr, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	return connected(SOCK_STREAM, &sin6, sizeof(sin6));
}

int
tried_abstract(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len =
	    strnlen(attempt_asked->abstract, sizeof(attempt_asked->abstract));

	memcpy(sun.sun_path + 1, attempt_asked->abstract, len);
	return connected(SOCK_STREAM, &sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len));
}

int
tried_bus(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/user/%u/bus",
	    (unsigned)attempt_asked->uid);
	return tried_unix(path);
}

int
tried_control(void)
{
	char path[ATTEMPT_PATH + 64];

	snprintf(path, sizeof(path), "%s/control.sock", attempt_asked->session);
	return tried_unix(path);
}

/*
 * The session directory's parent holds all sessions. If the workspace has its
 * own path here, one of its empty parents may have the same name: the
 * directory of the host is the one that holds this session.
 */
int
tried_sessions(void)
{
	char path[ATTEMPT_PATH];
	struct stat st;
	char *slash;

	if (lstat(attempt_asked->session, &st) == -1)
		return errno;

	snprintf(path, sizeof(path), "%s", attempt_asked->session);
	if ((slash = strrchr(path, '/')) == NULL || slash == path)
		return ENOENT;
	*slash = '\0';
	return tried_open(path, O_PATH);
}

/*
 * The agent's own home and workspace may have the names of places on the host;
 * there it may have an ~/.ssh of its own.
 */
int
tried_ssh(void)
{
	char path[ATTEMPT_PATH + 64];

	if (strncmp(attempt_asked->home, "/home/agent", 11) == 0 ||
	    strncmp(attempt_asked->home, "/workspace", 10) == 0)
		return ENOENT;
	snprintf(path, sizeof(path), "%s/.ssh", attempt_asked->home);
	return tried_open(path, O_PATH);
}

int
tried_uid_map(void)
{
	int fd, error;

	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return errno;
	error = TRY(write(fd, "0 0 1\n", 6));
	close(fd);
	return error;
}

int
tried_device(void)
{
	char path[64];
	int error;

	snprintf(path, sizeof(path), "/tmp/.ironcurtain.%d", (int)getpid());
	error = TRY(mknod(path, S_IFCHR | 0600, makedev(1, 1)));
	if (error == 0)
		(void)unlink(path);
	return error;
}

int
tried_setuid_file(void)
{
	int fd = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 04700);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

int
tried_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, attempt_asked->pid, 0);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

int
tried_capabilities(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{~0U, ~0U, ~0U}, {0, 0, 0}};

	return SYSTEM(SYS_capset, &head, data);
}

int
tried_limit(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		return errno;
	if (rl.rlim_max == RLIM_INFINITY)
		return EPERM;
	rl.rlim_max++;
	return TRY(setrlimit(RLIMIT_NOFILE, &rl));
}

/* A sandbox that may use all processors has nothing to refuse. */
int
tried_affinity(void)
{
	return attempt_asked->cpus == 0
		   ? EPERM
		   : SYSTEM(SYS_sched_setaffinity, 0, 0, NULL);
}

/*
 * The kernel starts the handler of core_pattern, as root on the host, unless
 * the soft limit is 1.
 */
int
tried_core(void)
{
	struct rlimit rl, after;

	if (getrlimit(RLIMIT_CORE, &rl) == -1)
		return errno;
	if (rl.rlim_max == 0 && attempt_asked->core == 0)
		return ENOTSUP;
	if (rl.rlim_cur != 1 || rl.rlim_max != 1)
		return 0;
	rl.rlim_cur = 0;
	(void)setrlimit(RLIMIT_CORE, &rl);
	if (getrlimit(RLIMIT_CORE, &after) == -1)
		return errno;
	if (after.rlim_cur == 1)
		return EPERM;
	rl.rlim_cur = 1;
	(void)setrlimit(RLIMIT_CORE, &rl);
	return 0;
}
