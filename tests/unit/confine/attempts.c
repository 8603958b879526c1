/* SPDX-License-Identifier: ISC */
#include "unit/confine/attempts.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <linux/futex.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/span.h"

#define PAGE 4096U

struct attempt_env attempt_env;
#define E attempt_env

int
attempt_result(long r)
{
	return r == -1 ? errno : 0;
}

/* Define an attempt that is one call. */
#define ONE(name, call)                                                        \
	static int name(void)                                                  \
	{                                                                      \
		return attempt_result((long)(call));                           \
	}

ONE(open_read, syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY))
ONE(open_beneath, syscall(SYS_openat, E.dir, "file", O_RDONLY))
ONE(open_write, syscall(SYS_openat, AT_FDCWD, E.file_path, O_WRONLY))
ONE(open_new, syscall(SYS_openat, E.dir, "new", O_WRONLY | O_CREAT, 0600))
ONE(open_self, syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR))
ONE(open_openat2, syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0))
ONE(make_dir, syscall(SYS_mkdirat, E.dir, "made", 0700))
ONE(make_link, syscall(SYS_symlinkat, "/etc", E.dir, "link"))
ONE(remove_file, syscall(SYS_unlinkat, E.dir, "file", 0))
ONE(stat_path, syscall(SYS_newfstatat, AT_FDCWD, "/etc", NULL, 0))

static int
run_program(void)
{
	static char *argv[] = {(char *)(uintptr_t) "true", NULL};
	static char *envp[] = {NULL};

	execve("/bin/true", argv, envp);
	return errno;
}

static int
run_fork(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return attempt_result(pid);
}

ONE(run_clone3, syscall(SYS_clone3, NULL, 0))
ONE(run_execveat, syscall(SYS_execveat, E.file, "", NULL, NULL, AT_EMPTY_PATH))
ONE(socket_inet, socket(AF_INET, SOCK_STREAM, 0))
ONE(socket_inet6, socket(AF_INET6, SOCK_DGRAM, 0))
ONE(socket_unix, socket(AF_UNIX, SOCK_STREAM, 0))
ONE(socket_netlink, socket(AF_NETLINK, SOCK_RAW, 0))
ONE(socket_pair, socketpair(AF_UNIX, SOCK_STREAM, 0, E.pair))

static struct sockaddr_in
loopback(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = E.port};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sin;
}

static int
tcp_connect(void)
{
	struct sockaddr_in sin = loopback();

	return attempt_result(
	    connect(E.tcp, (struct sockaddr *)&sin, sizeof(sin)));
}

static int
tcp_bind(void)
{
	struct sockaddr_in sin = loopback();

	sin.sin_port = 0;
	return attempt_result(
	    bind(E.tcp, (struct sockaddr *)&sin, sizeof(sin)));
}

static int
tcp_fastopen(void)
{
	struct sockaddr_in sin = loopback();

	return attempt_result(sendto(
	    E.tcp, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&sin, sizeof(sin)));
}

static int
sendmsg_flags(int flags)
{
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	return attempt_result(sendmsg(E.pair[0], &mh, flags));
}

ONE(send_plain, send(E.pair[0], "x", 1, MSG_NOSIGNAL))
ONE(send_address,
    sendto(E.pair[0], "x", 1, 0, (struct sockaddr *)&E, sizeof(short)))

static int
send_msg(void)
{
	return sendmsg_flags(MSG_DONTWAIT | MSG_NOSIGNAL);
}
static int
send_msg_oob(void)
{
	return sendmsg_flags(MSG_OOB);
}

static int
send_msg_fastopen(void)
{
	return sendmsg_flags(MSG_FASTOPEN);
}

static int
sendmmsg_flags(int flags)
{
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct mmsghdr mm = {.msg_hdr = {.msg_iov = &iov, .msg_iovlen = 1}};

	return attempt_result(sendmmsg(E.pair[0], &mm, 1, flags) == 1 ? 0 : -1);
}

static int
send_many(void)
{
	return sendmmsg_flags(MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int
send_many_fastopen(void)
{
	return sendmmsg_flags(MSG_FASTOPEN);
}

static int
abstract_connect(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len = strlen(E.abstract_name);

	memcpy(sun.sun_path + 1, E.abstract_name, len);
	return attempt_result(connect(E.abstract, (struct sockaddr *)&sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)));
}

ONE(other_attach, ptrace(PTRACE_SEIZE, E.victim, NULL, NULL))

static int
other_read(void)
{
	long word;
	struct iovec mine = {&word, sizeof(word)};
	struct iovec theirs = {E.victim_word, sizeof(word)};

	return attempt_result(
	    process_vm_readv(E.victim, &mine, 1, &theirs, 1, 0));
}

static int
other_mem(void)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", E.victim);
	return attempt_result(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
}

ONE(other_pidfd, syscall(SYS_pidfd_open, E.victim, 0))
ONE(other_getfd, syscall(SYS_pidfd_getfd, E.victim_pidfd, 1, 0))
ONE(other_signal, kill(E.victim, 0))
ONE(other_pidfd_signal,
    syscall(SYS_pidfd_send_signal, E.victim_pidfd, 0, NULL, 0))

static int
other_limits(void)
{
	struct rlimit rl;

	return attempt_result(prlimit(E.victim, RLIMIT_NOFILE, NULL, &rl));
}

ONE(self_signal, syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0))

/*
 * The offset is passed on the stack and must be a long, or half of it is
 * undefined.
 */
#define MAP(prot, flags, fd) syscall(SYS_mmap, 0, PAGE, prot, flags, fd, 0L)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

ONE(map_anon, MAP(RW, ANON, -1))
ONE(map_exec, MAP(PROT_READ | PROT_EXEC, ANON, -1))
ONE(map_wx, MAP(RW | PROT_EXEC, ANON, -1))
ONE(map_exec_high, MAP(PROT_EXEC | (1LL << 32), ANON, -1))
ONE(map_file_exec, MAP(PROT_READ | PROT_EXEC, MAP_PRIVATE, E.file))
ONE(map_file, MAP(PROT_READ, MAP_PRIVATE, E.file))
ONE(map_file_shared, MAP(PROT_READ, MAP_SHARED, E.file))
ONE(map_file_write, MAP(RW, MAP_SHARED, E.file))
ONE(map_sealed, MAP(PROT_READ, MAP_PRIVATE, E.memfd))

static void *
a_page(void)
{
	return mmap(NULL, PAGE, RW, ANON, -1, 0);
}

ONE(protect_exec, mprotect(a_page(), PAGE, PROT_READ | PROT_EXEC))
ONE(protect_read, mprotect(a_page(), PAGE, PROT_READ))
ONE(protect_pkey, syscall(SYS_pkey_mprotect, a_page(), PAGE, PROT_EXEC, -1))
ONE(remap, syscall(SYS_mremap, a_page(), PAGE, 2 * PAGE, MREMAP_MAYMOVE))
ONE(remap_fixed, syscall(SYS_mremap, a_page(), PAGE, PAGE,
		     MREMAP_MAYMOVE | MREMAP_FIXED, a_page()))
ONE(advise_free, madvise(a_page(), PAGE, MADV_DONTNEED))
ONE(advise_dump, madvise(a_page(), PAGE, MADV_DODUMP))

static int
futex_op(int op)
{
	uint32_t word = 0;

	return attempt_result(syscall(SYS_futex, &word, op, 1, NULL, NULL, 0));
}

static int
futex_wake(void)
{
	return futex_op(FUTEX_WAKE_PRIVATE);
}

static int
futex_wait(void)
{
	return futex_op(FUTEX_WAIT_PRIVATE);
}

static int
futex_requeue_pi(void)
{
	return futex_op(FUTEX_CMP_REQUEUE_PI_PRIVATE);
}

#ifdef __x86_64__
ONE(entry_x32, syscall(0x40000000 | SYS_getpid))

static int
entry_i386(void)
{
	long r = 20; /* getpid of the 32-bit table */

	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 :
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return r > 0 ? 0 : ENOSYS;
}
#endif

ONE(fd_flags, fcntl(E.file, F_GETFL))
ONE(fd_set_flags, fcntl(E.file, F_SETFL, O_RDWR))
ONE(fd_seals, fcntl(E.memfd, F_GET_SEALS))
ONE(fd_add_seals, fcntl(E.memfd, F_ADD_SEALS, F_SEAL_SEAL))
ONE(fd_dup, fcntl(E.file, F_DUPFD_CLOEXEC, 0))
ONE(fd_own, fcntl(E.pair[0], F_SETOWN, E.victim))
ONE(fd_write, write(E.file, "x", 1))
ONE(fd_pwrite, pwrite(E.file, "x", 1, 0))
ONE(fd_truncate, ftruncate(E.file, 0))
ONE(fd_allocate, syscall(SYS_fallocate, E.file, 0, 0, PAGE))
ONE(fd_sync, fdatasync(E.file))
ONE(fd_tiocsti, syscall(SYS_ioctl, E.file, TIOCSTI | (1LL << 32), "x"))
ONE(fd_ioctl, syscall(SYS_ioctl, E.file, TCGETS, NULL))
ONE(fd_sendfile, syscall(SYS_sendfile, E.pair[0], E.file, NULL, 1))
ONE(fd_epoll, epoll_wait(E.epoll, (struct epoll_event[1]){{0}}, 1, 0))
ONE(fd_poll, syscall(SYS_ppoll, &(struct pollfd){E.epoll, POLLIN, 0}, 1L,
		 (long[2]){0}, NULL, 8L))
ONE(fd_poll_mask, syscall(SYS_ppoll, &(struct pollfd){E.epoll, POLLIN, 0}, 1L,
		      (long[2]){0}, (long[1]){0}, 8L))
ONE(fd_close, close(E.file))
ONE(fd_shutdown, shutdown(E.pair[0], SHUT_WR))

static int
fd_stat(void)
{
	struct stat st;

	if (pledge_fstat(E.file, &st) == -1)
		return errno;
	return S_ISREG(st.st_mode) ? 0 : EINVAL;
}

static int
fd_recv(void)
{
	char c;

	if (send(E.pair[1], "x", 1, 0) != 1)
		return errno;
	return attempt_result(recv(E.pair[0], &c, 1, MSG_DONTWAIT));
}

/* If SIGPIPE has a handler, it runs and returns: rt_sigreturn. */
ONE(fd_broken, write(E.broken, "x", 1))
static int
clocks(void)
{
	struct timespec ts;
	struct timeval tv;

	if (syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &ts) == -1 ||
	    syscall(SYS_gettimeofday, &tv, NULL) == -1)
		return errno;
	return 0;
}

static int
randomness(void)
{
	char c;

	return attempt_result(syscall(SYS_getrandom, &c, 1, 0));
}

ONE(self_dumpable, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
ONE(self_limits, setrlimit(RLIMIT_NOFILE, &(struct rlimit){1, 1}))
ONE(self_userns, unshare(CLONE_NEWUSER))
ONE(self_chroot, syscall(SYS_chroot, E.dir_path))
ONE(self_chdir, syscall(SYS_fchdir, E.dir))
ONE(self_pid, syscall(SYS_getpid))

/* clang-format off */
const struct attempt attempts[] = {
	/* Files. */
	{"open a file to read", open_read, DONE, EACCES, KILLED, KILLED},
	{"open through a held directory", open_beneath, DONE, EACCES, KILLED,
	    KILLED},
	{"open a file to write", open_write, DONE, EACCES, KILLED, KILLED},
	{"create a file", open_new, DONE, EACCES, KILLED, KILLED},
	{"open own memory", open_self, DONE, EACCES, KILLED, KILLED},
	{"open a name only", attempt_open_path, DONE, DONE, KILLED, KILLED},
	{"openat2", open_openat2, ALIVE, ALIVE, KILLED, KILLED},
	{"make a directory", make_dir, DONE, EACCES, KILLED, KILLED},
	{"make a link", make_link, DONE, EACCES, KILLED, KILLED},
	{"remove a file", remove_file, DONE, EACCES, KILLED, KILLED},
	{"stat a path", stat_path, EFAULT, EFAULT, KILLED, KILLED},
	{"chdir", self_chdir, DONE, DONE, KILLED, KILLED},
	{"chroot", self_chroot, ALIVE, ALIVE, KILLED, KILLED},

	/* Programs and processes. */
	{"execve", run_program, DONE, EACCES, KILLED, KILLED},
	{"execveat", run_execveat, EACCES, EACCES, KILLED, KILLED},
	{"fork", run_fork, DONE, DONE, KILLED, KILLED},
	{"clone3", run_clone3, EINVAL, EINVAL, KILLED, KILLED},
	{"attach to another", other_attach, DONE, EPERM, KILLED, KILLED},
	{"read another's memory", other_read, DONE, EPERM, KILLED, KILLED},
	{"open another's memory", other_mem, DONE, EACCES, KILLED, KILLED},
	{"pidfd of another", other_pidfd, DONE, DONE, KILLED, KILLED},
	{"descriptor of another", other_getfd, DONE, EPERM, KILLED, KILLED},
	{"signal another", other_signal, DONE, SCOPE, KILLED, KILLED},
	{"signal by pidfd", other_pidfd_signal, DONE, SCOPE, KILLED, KILLED},
	{"limits of another", other_limits, DONE, DONE, KILLED, KILLED},
	{"signal itself", self_signal, DONE, DONE, KILLED, KILLED},
	{"be dumpable", self_dumpable, DONE, DONE, KILLED, KILLED},
	{"set limits", self_limits, DONE, DONE, KILLED, KILLED},
	{"new user namespace", self_userns, ALIVE, ALIVE, KILLED, KILLED},

	/* Sockets. */
	{"socket inet", socket_inet, DONE, DONE, KILLED, KILLED},
	{"socket inet6", socket_inet6, ALIVE, ALIVE, KILLED, KILLED},
	{"socket unix", socket_unix, DONE, DONE, KILLED, KILLED},
	{"socket netlink", socket_netlink, DONE, DONE, KILLED, KILLED},
	{"socketpair", socket_pair, DONE, DONE, KILLED, KILLED},
	{"connect TCP", tcp_connect, DONE, PORT, KILLED, KILLED},
	{"bind TCP", tcp_bind, DONE, PORT, KILLED, KILLED},
	{"connect by MSG_FASTOPEN", tcp_fastopen, ALIVE, ALIVE, KILLED, KILLED},
	{"connect abstract", abstract_connect, DONE, SCOPE, KILLED, KILLED},
	{"send", send_plain, DONE, DONE, DONE, DONE},
	{"sendto an address", send_address, ALIVE, ALIVE, KILLED, KILLED},
	{"sendmsg", send_msg, DONE, DONE, DONE, DONE},
	{"sendmsg MSG_OOB", send_msg_oob, ALIVE, ALIVE, KILLED, KILLED},
	{"sendmsg MSG_FASTOPEN", send_msg_fastopen, ALIVE, ALIVE, KILLED,
	    KILLED},
	{"sendmmsg", send_many, DONE, DONE, DONE, DONE},
	{"sendmmsg MSG_FASTOPEN", send_many_fastopen, ALIVE, ALIVE, KILLED,
	    KILLED},
	{"recv", fd_recv, DONE, DONE, DONE, DONE},
	{"write to a broken pipe", fd_broken, EPIPE, EPIPE, EPIPE, EPIPE},

	/* Memory. */
	{"map memory", map_anon, DONE, DONE, DONE, DONE},
	{"map executable memory", map_exec, DONE, DONE, KILLED, KILLED},
	{"map writable code", map_wx, DONE, DONE, KILLED, KILLED},
	{"map code, a high bit set", map_exec_high, ALIVE, ALIVE, KILLED,
	    KILLED},
	{"map a file as code", map_file_exec, ALIVE, ALIVE, KILLED, KILLED},
	{"map a file privately", map_file, DONE, DONE, DONE, DONE},
	{"map a sealed memfd", map_sealed, DONE, DONE, DONE, DONE},
	{"map a file shared", map_file_shared, DONE, DONE, KILLED, KILLED},
	{"map a file to write", map_file_write, DONE, DONE, KILLED, KILLED},
	{"mprotect exec", protect_exec, DONE, DONE, KILLED, KILLED},
	{"mprotect read", protect_read, DONE, DONE, DONE, DONE},
	{"pkey_mprotect exec", protect_pkey, ALIVE, ALIVE, KILLED, KILLED},
	{"mremap", remap, DONE, DONE, DONE, DONE},
	{"mremap fixed", remap_fixed, DONE, DONE, KILLED, KILLED},
	{"madvise free", advise_free, DONE, DONE, DONE, DONE},
	{"madvise dodump", advise_dump, DONE, DONE, KILLED, KILLED},
	{"futex wake", futex_wake, DONE, DONE, DONE, DONE},
	{"futex wait", futex_wait, EAGAIN, EAGAIN, EAGAIN, EAGAIN},
	{"futex requeue PI", futex_requeue_pi, ALIVE, ALIVE, KILLED, KILLED},

	/* Open descriptors. */
	{"look at flags", fd_flags, DONE, DONE, DONE, DONE},
	{"clear O_APPEND", fd_set_flags, DONE, DONE, KILLED, KILLED},
	{"look at seals", fd_seals, DONE, DONE, DONE, DONE},
	{"add seals", fd_add_seals, EPERM, EPERM, KILLED, KILLED},
	{"duplicate", fd_dup, DONE, DONE, KILLED, KILLED},
	{"aim SIGIO", fd_own, DONE, DONE, KILLED, KILLED},
	{"append", fd_write, DONE, DONE, DONE, DONE},
	{"pwrite", fd_pwrite, DONE, DONE, KILLED, KILLED},
	{"truncate", fd_truncate, DONE, DONE, KILLED, KILLED},
	{"fallocate", fd_allocate, DONE, DONE, KILLED, KILLED},
	{"fdatasync", fd_sync, DONE, DONE, KILLED, KILLED},
	{"ioctl TIOCSTI, a high bit set", fd_tiocsti, ENOTTY, ALIVE, KILLED,
	    KILLED},
	{"ioctl TCGETS", fd_ioctl, ENOTTY, ALIVE, KILLED, KILLED},
	{"sendfile", fd_sendfile, DONE, DONE, KILLED, KILLED},
	{"fstat", fd_stat, DONE, DONE, DONE, DONE},
	{"epoll_wait", fd_epoll, DONE, DONE, DONE, DONE},
	{"ppoll", fd_poll, DONE, DONE, DONE, DONE},
	{"ppoll with a signal mask", fd_poll_mask, DONE, DONE, KILLED, KILLED},
	{"close", fd_close, DONE, DONE, DONE, DONE},
	{"shutdown", fd_shutdown, DONE, DONE, KILLED, KILLED},

	/* The process itself. */
	{"clocks", clocks, DONE, DONE, DONE, DONE},
	{"getrandom", randomness, DONE, DONE, DONE, DONE},
	{"getpid", self_pid, DONE, DONE, DONE, DONE},
#ifdef __x86_64__
	{"getpid by x32", entry_x32, ALIVE, ALIVE, KILLED, KILLED},
	{"getpid by int 0x80", entry_i386, ALIVE, ALIVE, KILLED, KILLED},
#endif
};
/* clang-format on */

const size_t nattempts = nitems(attempts);
