/* SPDX-License-Identifier: ISC */
/*
 * Programs, processes, and resources of other processes of the same uid: every
 * sibling and the supervisor.
 */
#include "attempts.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "order.h"

#define E attempt_env
#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define PIDFD_OF(pid) syscall(SYS_pidfd_open, (pid), 0)

static const char *const shell[] = {
    "sh", "-c", "echo RAN >&2; exit " STRING(PROBE_RAN), NULL};
static const char *const nothing[] = {NULL};

ONE(exec_shell, syscall(SYS_execve, "/bin/sh", shell, nothing))
ONE(exec_memfd,
    syscall(SYS_execveat, E.code, "", shell, nothing, AT_EMPTY_PATH))

/* End a child at once if one was created. */
static int
child_result(long pid)
{
	if (pid == 0)
		syscall(SYS_exit_group, 0);
	return attempt_result(pid);
}

#ifdef SYS_fork
static int
do_fork(void)
{
	return child_result(syscall(SYS_fork));
}

static int
do_vfork(void)
{
	return child_result(vfork());
}
#endif

static int
do_clone(void)
{
	return child_result(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int
do_clone_userns(void)
{
	return child_result(
	    syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER, 0, 0, 0, 0));
}

static int
do_clone3(void)
{
	uint64_t args[8] = {[4] = SIGCHLD};

	return child_result(syscall(SYS_clone3, args, sizeof(args)));
}

/* Other processes: the first steps of an attacker. */
ONE_PID(attach, ptrace(PTRACE_ATTACH, pid, NULL, NULL))
ONE_PID(seize, ptrace(PTRACE_SEIZE, pid, NULL, NULL))

static int
vm_pid(pid_t pid, long nr)
{
	long word = 0;
	struct iovec mine = {&word, sizeof(word)};
	struct iovec theirs = {(void *)E.address, sizeof(word)};

	return attempt_result(syscall(nr, pid, &mine, 1L, &theirs, 1L, 0L));
}

static int
vm_read_pid(pid_t pid)
{
	return vm_pid(pid, SYS_process_vm_readv);
}

static int
vm_write_pid(pid_t pid)
{
	return vm_pid(pid, SYS_process_vm_writev);
}

static int
vm_read(void)
{
	return attempt_each(vm_read_pid);
}

static int
vm_write(void)
{
	return attempt_each(vm_write_pid);
}

static int
proc_pid(pid_t pid, const char *name, int flags)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return attempt_result(syscall(SYS_openat, AT_FDCWD, path, flags));
}

#define PROC(fn, name, flags)                                                  \
	static int fn##_pid(pid_t pid)                                         \
	{                                                                      \
		return proc_pid(pid, name, flags);                             \
	}                                                                      \
	static int fn(void)                                                    \
	{                                                                      \
		return attempt_each(fn##_pid);                                 \
	}
PROC(proc_mem, "mem", O_RDWR)
PROC(proc_environ, "environ", O_RDONLY)
PROC(proc_maps, "maps", O_RDONLY)
PROC(proc_fds, "fd", O_RDONLY | O_DIRECTORY)
PROC(proc_fd0, "fd/0", O_PATH | O_CLOEXEC | O_NOFOLLOW)

static int
proc_cwd_pid(pid_t pid)
{
	char path[64], to[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
	return attempt_result(
	    syscall(SYS_readlinkat, AT_FDCWD, path, to, sizeof(to)));
}

static int
proc_cwd(void)
{
	return attempt_each(proc_cwd_pid);
}

ONE_PID(open_pidfd, PIDFD_OF(pid))
ONE(get_fd, syscall(SYS_pidfd_getfd, E.pidfd, 0, 0))
ONE(signal_pidfd, syscall(SYS_pidfd_send_signal, E.pidfd, 0, NULL, 0))
ONE(advise_other,
    syscall(SYS_process_madvise, E.pidfd,
	&(struct iovec){(void *)(E.address & ~4095UL), 4096}, 1L, MADV_COLD, 0))
ONE_PID(compare, syscall(SYS_kcmp, pid, getpid(), 0, 0, 0))
ONE_PID(kill_other, syscall(SYS_kill, pid, 0))
ONE_PID(tgkill_other, syscall(SYS_tgkill, pid, pid, 0))
ONE_PID(tkill_other, syscall(SYS_tkill, pid, 0))

static int
queue_pid(pid_t pid)
{
	siginfo_t si = {.si_code = SI_QUEUE};

	return attempt_result(syscall(SYS_rt_sigqueueinfo, pid, 0, &si));
}

static int
queue_other(void)
{
	return attempt_each(queue_pid);
}

ONE(kill_all, syscall(SYS_kill, -1, 0))
ONE_PID(limits_other,
    syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, NULL, (struct rlimit[1]){{0}}))
ONE_PID(nice_other, syscall(SYS_setpriority, PRIO_PROCESS, pid, 19))
ONE_PID(
    affinity_other, syscall(SYS_sched_setaffinity, pid, 8L, (uint64_t[1]){1}))
ONE_PID(scheduler_other,
    syscall(SYS_sched_setscheduler, pid, SCHED_BATCH, &(struct sched_param){0}))
ONE_PID(io_other, syscall(SYS_ioprio_set, 1, pid, 3 << 13))
ONE_PID(move_other,
    syscall(SYS_migrate_pages, pid, 8L, (uint64_t[1]){1}, (uint64_t[1]){1}))
ONE_PID(group_other, syscall(SYS_setpgid, pid, 0))
ONE(wait_any, syscall(SYS_wait4, -1, NULL, 1, NULL))
ONE(get_parent, syscall(SYS_getppid))

/* clang-format off */
static const struct attempt rows[] = {
	ROW("execve a shell", "execve", exec_shell, 0, WORKS, EACCES, NOWHERE),
	/* Landlock does not cover memfds: only seccomp applies. */
	SAME("execveat a memfd", "execveat", exec_memfd, G_CODE, WORKS),
#ifdef SYS_fork
	ROW("fork", "fork", do_fork, 0, WORKS, WORKS, EAGAIN),
	ROW("vfork", "vfork", do_vfork, 0, WORKS, WORKS, EAGAIN),
#endif
	ROW("clone", "clone", do_clone, 0, WORKS, WORKS, EAGAIN),
	ROW("clone a user namespace", "clone", do_clone_userns, 0, WORKS, WORKS,
	    OR(EAGAIN, EPERM)),
	ROW("clone3", "clone3", do_clone3, 0, WORKS, WORKS, EAGAIN),
	/* every sibling and the supervisor */
	ROW("ptrace attach", "ptrace", attach, 0, WORKS, EPERM, EPERM),
	ROW("ptrace seize", "ptrace", seize, 0, WORKS, EPERM, EPERM),
	ROW("read another's memory", "process_vm_readv", vm_read, 0, WORKS,
	    EPERM, EPERM),
	ROW("write another's memory", "process_vm_writev", vm_write, 0, WORKS,
	    EPERM, EPERM),
	ROW("open another's memory", "openat", proc_mem, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("open another's environment", "openat", proc_environ, 0, WORKS,
	    EACCES, NOWHERE),
	ROW("open another's map", "openat", proc_maps, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("list another's descriptors", "openat", proc_fds, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("name another's descriptor", "openat", proc_fd0, G_PIDS, WORKS,
	    WORKS, NOWHERE),
	ROW("read another's working directory", "readlinkat", proc_cwd, G_PIDS,
	    WORKS, EACCES, NOWHERE),
	SAME("pidfd_open", "pidfd_open", open_pidfd, 0, WORKS),
	ROW("take another's descriptor", "pidfd_getfd", get_fd, G_PIDFD, WORKS,
	    EPERM, EPERM),
	ROW("signal by pidfd", "pidfd_send_signal", signal_pidfd, G_PIDFD,
	    WORKS, SCOPE, WORKS),
	NEVER("process_madvise", "process_madvise", advise_other, G_PIDFD,
	    OR(EPERM, EACCES), NO_CAP),
	ROW("kcmp", "kcmp", compare, 0, WORKS, EPERM, EPERM),
	ROW("kill", "kill", kill_other, 0, WORKS, SCOPE, WORKS),
	ROW("kill everyone", "kill", kill_all, 0, WORKS, OR(EPERM, WORKS),
	    WORKS),
	ROW("tgkill", "tgkill", tgkill_other, 0, WORKS, SCOPE, WORKS),
	ROW("tkill", "tkill", tkill_other, 0, WORKS, SCOPE, WORKS),
	ROW("queue a signal", "rt_sigqueueinfo", queue_other, 0, WORKS, SCOPE,
	    WORKS),
	SAME("limits of another", "prlimit64", limits_other, 0, WORKS),
	SAME("priority of another", "setpriority", nice_other, 0, WORKS),
	SAME("affinity of another", "sched_setaffinity", affinity_other, 0,
	    WORKS),
	SAME("scheduler of another", "sched_setscheduler", scheduler_other, 0,
	    WORKS),
	SAME("I/O priority of another", "ioprio_set", io_other, 0, WORKS),
	ROW("migrate another's pages", "migrate_pages", move_other, 0,
	    OR(WORKS, ENOSYS), OR3(WORKS, EPERM, ENOSYS), OR(EPERM, ENOSYS)),
	NEVER("process group of another", "setpgid", group_other, 0, ESRCH,
	    "it is not our child"),
	NEVER("wait for a child", "wait4", wait_any, 0, ECHILD, "there is none"
	    ),
	SAME("getppid", "getppid", get_parent, 0, WORKS),
};
/* clang-format on */

const struct attempt_table attempts_process = TABLE(rows);
