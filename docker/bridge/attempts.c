/* SPDX-License-Identifier: ISC */
/*
 * The attempts of the break-out test, as attempts.h lists them.  Each function
 * returns 0 if the attempt succeeded, its errno if it was refused, or what it
 * counted.  An attempt that succeeds ends the session, so nothing is undone
 * here but what would stay behind.
 */
#include "bridge.h"

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>

#include <netinet/in.h>

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"

/* Calls that older headers do not know; one number on all machines. */
#define NR_STATMOUNT 457
#define NR_LISTMOUNT 458
#define FAMILY_TIPC 30
#define FAMILY_ALG 38
#define FAMILY_VSOCK 40
#define FAMILY_XDP 44
#define FAMILY_KEY 15
#define PROTOCOL_AUDIT 9
#define PROTOCOL_NETFILTER 12
#define PROTOCOL_UEVENT 15

static const struct attempt_ask *asked;
static int probe_fds[2];

/* The errno of a call that failed, or 0. */
#define TRY(call) ((call) == -1 ? errno : 0)
#define SYSTEM(...) TRY(syscall(__VA_ARGS__))

static int
opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

/* A file that engines mask is there, and has nothing. */
static int
readable(const char *path)
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

static int
writable(const char *path)
{
	return TRY(faccessat(AT_FDCWD, path, W_OK, AT_EACCESS));
}

static int
socket_made(int family, int type, int protocol)
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
static int
connected_inet(int type)
{
	const struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_port = htons(53),
	    .sin_addr.s_addr = htonl(0xc0000201U)};

	return connected(type, &sin, sizeof(sin));
}

static int
connected_unix(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len = strlen(path);

	/* A path that is too long for a socket is looked up all the same. */
	if (len >= sizeof(sun.sun_path))
		return opened(path, O_PATH);
	memcpy(sun.sun_path, path, len);
	return connected(SOCK_STREAM, &sun, sizeof(sun));
}

static int
in_dir(const char *dir, const char *name, int (*try)(const char *))
{
	char path[ATTEMPT_PATH + 64];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	return try(path);
}

static int
path_opened(const char *path)
{
	return opened(path, O_PATH);
}

static int
of_process(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return opened(path, O_RDONLY);
}

static int
traced(pid_t pid)
{
	return TRY(ptrace(PTRACE_SEIZE, pid, 0, 0));
}


static int
connected_tcp6(void)
{
	struct sockaddr_in6 sin6 = {
	    .sin6_family = AF_INET6, .sin6_port = htons(443)};

	memcpy(&sin6.sin6_addr, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	return connected(SOCK_STREAM, &sin6, sizeof(sin6));
}

static int
connected_abstract(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len = strnlen(asked->abstract, sizeof(asked->abstract));

	memcpy(sun.sun_path + 1, asked->abstract, len);
	return connected(SOCK_STREAM, &sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len));
}

static int
user_bus(const char *unused)
{
	char path[64];

	(void)unused;
	snprintf(path, sizeof(path), "/run/user/%u/bus", (unsigned)asked->uid);
	return connected_unix(path);
}

/* The session directory's parent holds all sessions. */
static int
sessions_opened(void)
{
	char path[ATTEMPT_PATH];
	char *slash;

	snprintf(path, sizeof(path), "%s", asked->session);
	if ((slash = strrchr(path, '/')) == NULL || slash == path)
		return ENOENT;
	*slash = '\0';
	return opened(path, O_PATH);
}

/*
 * The agent's own home and workspace may have the names of places on the host;
 * there it may have an ~/.ssh of its own.
 */
static int
ssh_opened(void)
{
	if (strncmp(asked->home, "/home/agent", 11) == 0 ||
	    strncmp(asked->home, "/workspace", 10) == 0)
		return ENOENT;
	return in_dir(asked->home, "/.ssh", path_opened);
}

static int
map_written(void)
{
	int fd, error;

	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return errno;
	error = TRY(write(fd, "0 0 1\n", 6));
	close(fd);
	return error;
}

static int
device_made(void)
{
	char path[64];
	int error;

	snprintf(path, sizeof(path), "/tmp/.ironcurtain.%d", (int)getpid());
	error = TRY(mknod(path, S_IFCHR | 0600, makedev(1, 1)));
	if (error == 0)
		(void)unlink(path);
	return error;
}

static int
setuid_made(void)
{
	int fd = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 04700);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

/* The session's own processes cannot be told from the host's lowest numbers. */
static int
of_supervisor(int error, int expected)
{
	return asked->pid <= ATTEMPT_HOLDER ? expected : error;
}

static int
supervisor_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, asked->pid, 0);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

static int
memory(long call, pid_t pid)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)&asked, 1};

	return TRY(syscall(call, pid, &here, 1, &there, 1, 0));
}

static int
capabilities_raised(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{~0U, ~0U, ~0U}, {0, 0, 0}};

	return SYSTEM(SYS_capset, &head, data);
}

static int
limit_raised(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		return errno;
	if (rl.rlim_max == RLIM_INFINITY)
		return EPERM;
	rl.rlim_max++;
	return TRY(setrlimit(RLIMIT_NOFILE, &rl));
}

/* ---- what is counted; -1 if it cannot be told */

/*
 * Counts the lines of `path` after the first `skip` whose first (or last) word
 * is not the loopback interface.
 */
static int
lines(const char *path, int skip, bool last)
{
	char line[512], *word, *next, *save;
	int n = 0, k = 0;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		/* A kernel without IPv6 has no IPv6 routes. */
		return errno == ENOENT ? 0 : -1;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (k++ < skip)
			continue;
		word = strtok_r(line, " \t\n:", &save);
		while (last && (next = strtok_r(NULL, " \t\n", &save)) != NULL)
			word = next;
		n += word != NULL && strcmp(word, "lo") != 0;
	}
	fclose(f);
	return n;
}

static int
foreign_processes(void)
{
	struct dirent *e;
	int n = 0;
	DIR *d;

	if ((d = opendir("/proc")) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 1 && pid != getpid() && pid != getppid())
			n++;
	}
	closedir(d);
	return n;
}

/* Adds up a hexadecimal or decimal field of /proc/self/status. */
static int
status_bits(const char *prefix)
{
	char line[256];
	int n = 0;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, prefix, strlen(prefix)) == 0)
			n += __builtin_popcountll(
			    strtoull(strchr(line, ':') + 1, NULL, 16));
	fclose(f);
	return n;
}

static int
seccomp_mode(void)
{
	char line[256];
	int n = 0;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Seccomp:", 8) == 0)
			n = (int)strtol(line + 8, NULL, 10);
	fclose(f);
	return n;
}

static int
foreign_ids(void)
{
	uid_t u[3];
	gid_t g[3];
	int n = 0;

	if (getresuid(&u[0], &u[1], &u[2]) == -1 ||
	    getresgid(&g[0], &g[1], &g[2]) == -1)
		return -1;
	for (int i = 0; i < 3; i++)
		n += (u[i] != asked->uid) + (g[i] != asked->gid);
	return n;
}

/* Standard files, the two pipes of the probe, and this very directory. */
static int
foreign_files(void)
{
	struct dirent *e;
	int n = 0;
	DIR *d;

	if ((d = opendir("/proc/self/fd")) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		int fd = (int)strtol(e->d_name, NULL, 10);

		if (fd > 2 && fd != probe_fds[0] && fd != probe_fds[1] &&
		    fd != dirfd(d))
			n++;
	}
	closedir(d);
	return n;
}

/* Counts standard files that are terminals, or files and sockets. */
static int
standard(bool terminals)
{
	struct stat st;
	int n = 0;

	for (int fd = 0; fd < 3; fd++) {
		if (fstat(fd, &st) == -1)
			continue;
		/* Devices of major 1 are /dev/null and the like. */
		n += terminals ? S_ISCHR(st.st_mode) && major(st.st_rdev) != 1
			       : !S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode);
	}
	return n;
}

static int
setuid_mounts(void)
{
	static const char *const places[] = {
	    "/workspace", "/home/agent", "/tmp", "/dev/shm"};
	struct statvfs fs;
	int n = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (statvfs(places[i], &fs) == 0)
			n += (fs.f_flag & ST_NOSUID) == 0;
	return n;
}

static int
mounts_swapped(void)
{
	static const char *const places[ATTEMPT_MOUNTS] = {ATTEMPT_PLACES};
	struct stat st;
	int n = 0;

	for (size_t i = 0; i < ATTEMPT_MOUNTS; i++)
		n += stat(places[i], &st) == -1 ||
		     st.st_dev != asked->mounts[i].dev ||
		     st.st_ino != asked->mounts[i].ino;
	return n;
}

/* A process that may be inspected owns its own memory. */
static int
owned_memory(void)
{
	const pid_t first[] = {1, getppid()};
	struct stat st;
	char path[32];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)first[i]);
		if (stat(path, &st) == 0)
			/* 65534 stands for users who are not mapped. */
			n += asked->uid != 0 && asked->uid != 65534 &&
			     st.st_uid == asked->uid;
	}
	return n;
}

/* clang-format off */
#define NAMESPACE(flag) SYSTEM(SYS_unshare, flag)
#define TRIES(T)								\
	T(udp,		connected_inet(SOCK_DGRAM))				\
	T(tcp,		connected_inet(SOCK_STREAM))				\
	T(tcp6,		connected_tcp6())					\
	T(abstract,	connected_abstract())					\
	T(raw,		socket_made(AF_INET, SOCK_RAW, IPPROTO_ICMP))		\
	T(packet,	socket_made(AF_PACKET, SOCK_RAW, 0))			\
	T(vsock,	socket_made(FAMILY_VSOCK, SOCK_STREAM, 0))		\
	T(alg,		socket_made(FAMILY_ALG, SOCK_SEQPACKET, 0))		\
	T(pfkey,	socket_made(FAMILY_KEY, SOCK_RAW, 2))			\
	T(xdp,		socket_made(FAMILY_XDP, SOCK_RAW, 0))			\
	T(tipc,		socket_made(FAMILY_TIPC, SOCK_STREAM, 0))		\
	T(audit,	socket_made(AF_NETLINK, SOCK_RAW, PROTOCOL_AUDIT))	\
	T(uevent,	socket_made(AF_NETLINK, SOCK_RAW, PROTOCOL_UEVENT))	\
	T(netfilter,	socket_made(AF_NETLINK, SOCK_RAW, PROTOCOL_NETFILTER))	\
	T(resolver,	readable("/etc/resolv.conf"))			\
	T(session,	opened(asked->session, O_PATH))				\
	T(control,	in_dir(asked->session, "/control.sock", connected_unix)) \
	T(sessions,	sessions_opened())					\
	T(ssh,		ssh_opened())						\
	T(bus,		user_bus(NULL))						\
	T(system_bus,	connected_unix("/run/dbus/system_bus_socket"))		\
	T(engine,	connected_unix("/var/run/docker.sock"))			\
	T(shadow,	opened("/etc/shadow", O_RDONLY))			\
	T(sys,		opened("/sys/kernel", O_PATH))				\
	T(mem,		opened("/dev/mem", O_RDONLY))				\
	T(kvm,		opened("/dev/kvm", O_RDWR))				\
	T(fuse,		opened("/dev/fuse", O_RDWR))				\
	T(tun,		opened("/dev/net/tun", O_RDWR))				\
	T(loop,		opened("/dev/loop-control", O_RDWR))			\
	T(disk,		opened("/dev/sda", O_RDONLY))				\
	T(vdisk,	opened("/dev/vda", O_RDONLY))				\
	T(kmsg,		opened("/dev/kmsg", O_RDONLY))				\
	T(write_root,	writable("/"))						\
	T(write_usr,	writable("/usr/bin"))					\
	T(write_etc,	writable("/etc"))					\
	T(write_passwd,	opened("/etc/passwd", O_WRONLY))			\
	T(write_dev,	writable("/dev"))					\
	T(write_run,	writable("/run"))					\
	T(write_sockets, writable("/run/ironcurtain"))				\
	T(write_ours,	writable("/opt/ironcurtain"))				\
	T(write_bridge,	opened("/opt/ironcurtain/bin/ic-bridge", O_WRONLY))	\
	T(write_sys,	writable("/sys/kernel"))				\
	T(core_pattern,	opened("/proc/sys/kernel/core_pattern", O_WRONLY))	\
	T(modprobe,	opened("/proc/sys/kernel/modprobe", O_WRONLY))		\
	T(sysrq,	opened("/proc/sysrq-trigger", O_WRONLY))		\
	T(forwarding,	opened("/proc/sys/net/ipv4/ip_forward", O_WRONLY))	\
	T(uid_map,	map_written())						\
	T(keys,		readable("/proc/keys"))				\
	T(key_users,	readable("/proc/key-users"))			\
	T(kallsyms,	readable("/proc/kallsyms"))			\
	T(kcore,	readable("/proc/kcore"))			\
	T(device,	device_made())						\
	T(setuid_file,	setuid_made())						\
	T(setgid_dir,	SYSTEM(SYS_fchmod, -1, 02700))				\
	T(signal,	of_supervisor(TRY(kill((pid_t)asked->pid, 0)), ESRCH))	\
	T(pidfd,	of_supervisor(supervisor_pidfd(), ESRCH))		\
	T(proc_sup,	of_supervisor(of_process((pid_t)asked->pid, "status"), ENOENT)) \
	T(first_trace,	traced(1))						\
	T(first_mem,	of_process(1, "mem"))					\
	T(first_root,	of_process(1, "root"))					\
	T(first_fds,	of_process(1, "fd/0"))					\
	T(first_environ, of_process(1, "environ"))				\
	T(first_net,	of_process(1, "ns/net"))				\
	T(bridge_trace,	traced(getppid()))					\
	T(bridge_read,	memory(SYS_process_vm_readv, getppid()))		\
	T(bridge_write,	memory(SYS_process_vm_writev, getppid()))		\
	T(bridge_mem,	of_process(getppid(), "mem"))				\
	T(bridge_fds,	of_process(getppid(), "fd/0"))				\
	T(getfd,	SYSTEM(SYS_pidfd_getfd, -1, 0, 0))			\
	T(compare,	SYSTEM(SYS_kcmp, getpid(), getpid(), 99, 0, 0))		\
	T(setuid,	TRY(setuid(asked->uid + 1)))				\
	T(setgid,	TRY(setgid(asked->gid + 1)))				\
	T(setgroups,	TRY(setgroups(0, NULL)))				\
	T(capset,	capabilities_raised())					\
	T(ambient,	TRY(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0))) \
	T(limit_up,	limit_raised())						\
	T(new_user,	NAMESPACE(CLONE_NEWUSER))				\
	T(new_net,	NAMESPACE(CLONE_NEWNET))				\
	T(new_mount,	NAMESPACE(CLONE_NEWNS))					\
	T(clone3,	SYSTEM(SYS_clone3, NULL, 0))				\
	T(setns,	SYSTEM(SYS_setns, -1, 0))				\
	T(mount,	SYSTEM(SYS_mount, NULL, NULL, NULL, 0, NULL))		\
	T(umount,	SYSTEM(SYS_umount2, NULL, 0))				\
	T(pivot_root,	SYSTEM(SYS_pivot_root, NULL, NULL))			\
	T(chroot,	SYSTEM(SYS_chroot, NULL))				\
	T(open_tree,	SYSTEM(SYS_open_tree, -1, NULL, 0))			\
	T(move_mount,	SYSTEM(SYS_move_mount, -1, NULL, -1, NULL, 0))		\
	T(fsopen,	SYSTEM(SYS_fsopen, NULL, 0))				\
	T(mount_attr,	SYSTEM(SYS_mount_setattr, -1, NULL, 0, NULL, 0))	\
	T(statmount,	SYSTEM(NR_STATMOUNT, NULL, NULL, 0, 0))			\
	T(listmount,	SYSTEM(NR_LISTMOUNT, NULL, NULL, 0, 0))			\
	T(by_handle,	SYSTEM(SYS_open_by_handle_at, -1, NULL, 0))		\
	T(handle,	SYSTEM(SYS_name_to_handle_at, -1, NULL, NULL, NULL, 0))	\
	T(bpf,		SYSTEM(SYS_bpf, -1, NULL, 0))				\
	T(io_uring,	SYSTEM(SYS_io_uring_setup, 0, NULL))			\
	T(perf,		SYSTEM(SYS_perf_event_open, NULL, 0, 0, -1, 0))		\
	T(userfaultfd,	SYSTEM(SYS_userfaultfd, -1))				\
	T(fanotify,	SYSTEM(SYS_fanotify_init, -1, 0))			\
	T(keyring,	SYSTEM(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0)) \
	T(add_key,	SYSTEM(SYS_add_key, NULL, NULL, NULL, 0, 0))		\
	T(request_key,	SYSTEM(SYS_request_key, NULL, NULL, NULL, 0))		\
	T(vmsplice,	SYSTEM(SYS_vmsplice, -1, NULL, 0, 0))			\
	T(quotactl,	SYSTEM(SYS_quotactl, 0, NULL, 0, NULL))			\
	T(personality,	SYSTEM(SYS_personality, 0xffffffffUL))			\
	T(module,	SYSTEM(SYS_init_module, NULL, 0, NULL))			\
	T(module_file,	SYSTEM(SYS_finit_module, -1, NULL, 0))			\
	T(kexec,	SYSTEM(SYS_kexec_load, 0, ~0UL, NULL, 0))		\
	T(reboot,	SYSTEM(SYS_reboot, 0, 0, 0, NULL))			\
	T(swapon,	SYSTEM(SYS_swapon, NULL, 0))				\
	T(acct,		SYSTEM(SYS_acct, (const char *)-1))			\
	T(syslog,	SYSTEM(SYS_syslog, 10, NULL, 0))			\
	T(clock,	SYSTEM(SYS_clock_settime, 0, NULL))			\
	T(clock_adjust,	SYSTEM(SYS_adjtimex, NULL))				\
	T(hostname,	SYSTEM(SYS_sethostname, NULL, -1))			\
	T(move_pages,	SYSTEM(SYS_move_pages, 0, 1, NULL, NULL, NULL, -1))	\
	T(tty,		opened("/dev/tty", O_RDWR))				\
	T(sti,		TRY(ioctl(-1, TIOCSTI, "x")))				\
	T(tioclinux,	TRY(ioctl(-1, TIOCLINUX, "\2")))			\
	T(interfaces,	lines("/proc/net/dev", 2, false))				\
	T(routes,	lines("/proc/net/route", 1, false))				\
	T(routes6,	lines("/proc/net/ipv6_route", 0, true))			\
	T(processes,	foreign_processes())					\
	T(identity,	foreign_ids())						\
	T(capabilities,	status_bits("Cap"))					\
	T(privileges,	prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))			\
	T(filtered,	seccomp_mode())						\
	T(files,	foreign_files())					\
	T(terminals,	standard(true))						\
	T(host_files,	standard(false))					\
	T(nosuid,	setuid_mounts())					\
	T(swapped,	mounts_swapped())					\
	T(owned,	owned_memory())

#define T(name, expression)							\
	static int try_##name(void) { return expression; }
TRIES(T)
#undef T

static int (*const tries[ATTEMPT_COUNT])(void) = {
#define T(name, expression) [ATTEMPT_##name] = try_##name,
	TRIES(T)
#undef T
};
/* clang-format on */

/* Read or write exactly `len` bytes.  Returns false if that cannot be done. */
static bool
all(int fd, void *bytes, size_t len, bool in)
{
	uint8_t *p = bytes;
	ssize_t n;

	while (len != 0) {
		n = in ? read(fd, p, len) : write(fd, p, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

int
probe_run(int in, int out)
{
	static struct attempt_record records[ATTEMPT_COUNT];
	static struct attempt_ask ask;

	if (!all(in, &ask, sizeof(ask), true) || ask.count != ATTEMPT_COUNT)
		return BRIDGE_EXIT_USAGE;
	ask.session[sizeof(ask.session) - 1] = '\0';
	ask.home[sizeof(ask.home) - 1] = '\0';
	asked = &ask;
	probe_fds[0] = in;
	probe_fds[1] = out;
	for (uint32_t i = 0; i < ATTEMPT_COUNT; i++)
		records[i] = (struct attempt_record){i, tries[i]()};
	return all(out, ask.nonce, sizeof(ask.nonce), false) &&
		       all(out, records, sizeof(records), false)
		   ? 0
		   : BRIDGE_EXIT_SESSION;
}
