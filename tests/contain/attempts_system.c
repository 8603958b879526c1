/* SPDX-License-Identifier: ISC */
/*
 * Executable memory, the process itself, namespaces, other parts of the kernel.
 */
#include "attempts.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <linux/capability.h>
#include <linux/mqueue.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define E attempt_env
#define PAGE 4096L
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)
/* The offset is passed on the stack: use a long, or half of it is garbage. */
#define MAP(prot, flags, fd) syscall(SYS_mmap, 0L, PAGE, prot, flags, fd, 0L)

static void *
a_page(void)
{
	return mmap(NULL, (size_t)PAGE, RW, ANON, -1, 0);
}

ONE(map_exec, MAP(PROT_READ | PROT_EXEC, ANON, -1))
ONE(map_wx, MAP(RW | PROT_EXEC, ANON, -1))
ONE(map_shared, MAP(RW, MAP_SHARED | MAP_ANONYMOUS, -1))
ONE(map_huge, MAP(PROT_READ, ANON | MAP_FIXED, -1))
ONE(map_file_exec, MAP(PROT_READ | PROT_EXEC, MAP_PRIVATE, E.code))
ONE(protect_exec, mprotect(a_page(), (size_t)PAGE, PROT_READ | PROT_EXEC))
ONE(protect_pkey, syscall(SYS_pkey_mprotect, a_page(), PAGE, PROT_EXEC, -1))
ONE(remap_fixed, syscall(SYS_mremap, a_page(), PAGE, PAGE,
		     MREMAP_MAYMOVE | MREMAP_FIXED, a_page()))
ONE(remap_file, syscall(SYS_remap_file_pages, a_page(), PAGE, 0, 0L, 0))
ONE(advise_dump, madvise(a_page(), (size_t)PAGE, MADV_DODUMP))
ONE(lock_page, mlock(a_page(), (size_t)PAGE))
ONE(make_memfd, syscall(SYS_memfd_create, "x", MFD_CLOEXEC))
ONE(make_sealable,
    syscall(SYS_memfd_create, "x", MFD_CLOEXEC | MFD_ALLOW_SEALING))
ONE(make_secret, syscall(SYS_memfd_secret, 0))

static int
personality_readable(void)
{
	long was = syscall(SYS_personality, 0xffffffffUL);

	return attempt_result(
	    syscall(SYS_personality, (unsigned long)was | 0x0400000UL));
}

ONE(be_dumpable, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
ONE(outlive, prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0))
ONE(allow_tracer, prctl(PR_SET_NAME, "x", 0, 0, 0))
ONE(more_files, setrlimit(RLIMIT_NOFILE, &(struct rlimit){256, 256}))
ONE(become_root, syscall(SYS_setresuid, 0, 0, 0))
ONE(drop_groups, syscall(SYS_setgroups, 0L, NULL))

static int
raise_caps(void)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {
	    {1U << CAP_SYS_ADMIN, 1U << CAP_SYS_ADMIN, 0}, {0, 0, 0}};

	return attempt_result(syscall(SYS_capset, &hdr, data));
}

ONE(add_filter, syscall(SYS_seccomp, 2 /* GET_ACTION_AVAIL */, 0,
		    (uint32_t[1]){0x7fff0000}))
ONE(landlock_version, syscall(SYS_landlock_create_ruleset, NULL, 0L, 1))
ONE(landlock_restrict, syscall(SYS_landlock_restrict_self, -1, 0))
ONE(trace_time, syscall(SYS_ptrace, 0 /* TRACEME */, 0L, 0L, 0L))

#ifdef __x86_64__
ONE(thread_area, syscall(SYS_arch_prctl, 0x1003, (uint64_t[1]){0}))
ONE(entry_x32, syscall(0x40000000 | SYS_getpid))

static int
entry_i386(void)
{
	long r = 20; /* getpid in that table */

	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 :
			 : "memory", "cc", "r8", "r9", "r10", "r11");
	return r > 0 ? 0 : ENOSYS;
}
#endif

/* Namespaces and mounts. */
ONE(new_userns, syscall(SYS_unshare, CLONE_NEWUSER))
ONE(new_netns, syscall(SYS_unshare, CLONE_NEWNET))
ONE(host_netns, syscall(SYS_setns, E.netns, CLONE_NEWNET))
ONE(bind_mount,
    syscall(SYS_mount, "/etc", "/tmp", NULL, (unsigned long)MS_BIND, NULL))
ONE(unmount, syscall(SYS_umount2, "/proc", 2))
ONE(pivot, syscall(SYS_pivot_root, "/tmp", "/tmp"))
ONE(open_fs, syscall(SYS_fsopen, "tmpfs", 0))
ONE(clone_tree, syscall(SYS_open_tree, AT_FDCWD, "/tmp", 1 /* CLONE */))
ONE(move_mounts, syscall(SYS_move_mount, AT_FDCWD, "/tmp", AT_FDCWD, "/tmp", 0))
ONE(set_mount,
    syscall(SYS_mount_setattr, AT_FDCWD, "/tmp", 0, (uint64_t[4]){1}, 32L))

/* Parts of the kernel that no worker needs. */
ONE(uring, syscall(SYS_io_uring_setup, 1, (char[120]){0}))
ONE(uring_enter, syscall(SYS_io_uring_enter, 3, 1, 0, 0, NULL, 0L))
ONE(userfault, syscall(SYS_userfaultfd, 1 /* USER_MODE_ONLY */))
ONE(bpf_map, syscall(SYS_bpf, 0, (uint32_t[16]){2, 4, 4, 1}, 64))

static int
perf(void)
{
	static uint32_t attr[32] = {1, 128}; /* software event, its size */

	attr[10] = 0x60; /* exclude kernel and hypervisor */
	return attempt_result(
	    syscall(SYS_perf_event_open, attr, 0, -1, -1, 0L));
}

ONE(key_add, syscall(SYS_add_key, "user", "ic-contain", "x", 1L, -3))
ONE(key_session, syscall(SYS_keyctl, 0, -4, 0, 0, 0))
ONE(key_request, syscall(SYS_request_key, "user", "ic-none", NULL, -3))
ONE(quota, syscall(SYS_quotactl, 0x80000700, "/dev/none", 0, NULL))
ONE(swap, syscall(SYS_swapon, "/none", 0))
ONE(restart, syscall(SYS_reboot, 0, 0, 0, NULL))
ONE(module, syscall(SYS_init_module, NULL, 0L, ""))
ONE(module_file, syscall(SYS_finit_module, -1, "", 0))
ONE(kexec, syscall(SYS_kexec_load, 0L, 0L, NULL, 4L << 16))
ONE(account, syscall(SYS_acct, "/none"))
ONE(kernel_log, syscall(SYS_syslog, 5, NULL, 0))
ONE(host_name, syscall(SYS_sethostname, "x", 1L))
ONE(set_clock,
    syscall(SYS_clock_settime, CLOCK_REALTIME, &(struct timespec){0, -1}))
ONE(read_clock_state, syscall(SYS_adjtimex, (char[256]){0}))
/*
 * Kernel objects outlive the process that made them. Each is removed again, so
 * that the next run, perhaps of another user, finds the machine unchanged.
 */
static int
shared_memory(void)
{
	long id = syscall(SYS_shmget, 0, PAGE, 0600 | IPC_CREAT);
	int r = attempt_result(id);

	if (id >= 0)
		(void)shmctl((int)id, IPC_RMID, NULL);
	return r;
}

static int
message_queue(void)
{
	long id = syscall(SYS_msgget, 0, 0600 | IPC_CREAT);
	int r = attempt_result(id);

	if (id >= 0)
		(void)msgctl((int)id, IPC_RMID, NULL);
	return r;
}

static int
semaphores(void)
{
	long id = syscall(SYS_semget, 0, 1, 0600 | IPC_CREAT);
	int r = attempt_result(id);

	if (id >= 0)
		(void)semctl((int)id, 0, IPC_RMID);
	return r;
}

static int
posix_queue(void)
{
	/*
	 * The smallest queue: the kernel counts the bytes of all queues of the
	 * user, in all containers.
	 */
	const struct mq_attr smallest = {.mq_maxmsg = 1, .mq_msgsize = 1};
	char name[32];
	long fd;
	int r;

	(void)snprintf(name, sizeof(name), "ic-contain-%d-%ld", (int)getuid(),
	    (long)getpid());
	fd = syscall(SYS_mq_open, name, O_CREAT | O_EXCL | O_RDWR, 0600,
	    &smallest);
	r = attempt_result(fd);
	if (fd >= 0)
		(void)syscall(SYS_mq_unlink, name);
	return r;
}

ONE(timer, syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, (int[1]){0}))
ONE(timer_fd, syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0))
ONE(event_fd, syscall(SYS_eventfd2, 0, 0))
ONE(epoll_new, syscall(SYS_epoll_create1, 0))
ONE(signal_action, syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 8L))
ONE(alternate_stack, syscall(SYS_sigaltstack, NULL, (char[64]){0}))
ONE(name_of_host, syscall(SYS_uname, (char[512]){0}))
/* SCHED_BATCH with the current nice value: lowering it needs a capability. */
ONE(own_scheduler, syscall(SYS_sched_setattr, 0,
		       ((uint32_t[12]){48, 3, 0, 0, (uint32_t)E.nice}), 0))
ONE(memory_policy, syscall(SYS_set_mempolicy, 0, NULL, 0L))
ONE(barrier, syscall(SYS_membarrier, 0, 0, 0))

/* clang-format off */
static const struct attempt rows[] = {
	/* memory */
	SAME("map executable memory", "mmap", map_exec, 0, WORKS),
	SAME("map writable code", "mmap", map_wx, 0, WORKS),
	SAME("map shared memory", "mmap", map_shared, 0, WORKS),
	NEVER("map at address 0", "mmap", map_huge, 0, OR(EPERM, EACCES),
	    "vm.mmap_min_addr"),
	SAME("map a file as code", "mmap", map_file_exec, G_CODE, WORKS),
	SAME("mprotect exec", "mprotect", protect_exec, 0, WORKS),
	SAME("pkey_mprotect exec", "pkey_mprotect", protect_pkey, 0, WORKS),
	SAME("mremap over another", "mremap", remap_fixed, 0, WORKS),
	NEVER("remap_file_pages", "remap_file_pages", remap_file, 0,
	    OR(EINVAL, ENOSYS), "the mapping is private"),
	SAME("madvise DODUMP", "madvise", advise_dump, 0, WORKS),
	ROW("mlock", "mlock", lock_page, 0, WORKS, WORKS, EPERM),
	SAME("memfd_create", "memfd_create", make_memfd, 0, WORKS),
	SAME("memfd_create, sealable", "memfd_create", make_sealable, 0, WORKS),
	ROW("memfd_secret", "memfd_secret", make_secret, 0, OR(WORKS, ENOSYS),
	    OR(WORKS, ENOSYS), OR(WORKS, ENOSYS)),
	SAME("personality READ_IMPLIES_EXEC", "personality",
	    personality_readable, 0, WORKS),
	/* the process itself */
	SAME("be dumpable", "prctl", be_dumpable, 0, WORKS),
	SAME("outlive the supervisor", "prctl", outlive, 0, WORKS),
	SAME("another name", "prctl", allow_tracer, 0, WORKS),
	ROW("more files", "setrlimit", more_files, 0, WORKS, WORKS,
	    OR(EPERM, WORKS)),
	NEVER("become root", "setresuid", become_root, 0, OR(EPERM, EINVAL),
	    NO_CAP),
	NEVER("drop groups", "setgroups", drop_groups, 0, EPERM, NO_CAP),
	NEVER("raise capabilities", "capset", raise_caps, 0, EPERM, NO_CAP),
	SAME("ask seccomp", "seccomp", add_filter, 0, WORKS),
	SAME("ask Landlock", "landlock_create_ruleset", landlock_version, 0,
	    WORKS),
	{ "restrict itself", "landlock_restrict_self", landlock_restrict, 0, 0,
	    OR(EPERM, EBADF), EBADF, KILLED, EBADF, 0, "no such descriptor" },
	SAME("be traced", "ptrace", trace_time, 0, WORKS),
#ifdef __x86_64__
	SAME("arch_prctl", "arch_prctl", thread_area, 0, WORKS),
	/* The filter sees the call even if the kernel lacks this table. */
	NEVER("getpid by x32", "x32", entry_x32, 0, OR(WORKS, ENOSYS),
	    "where the kernel has that table"),
	IF_THERE("getpid by int 0x80", "i386", entry_i386, WORKS,
	    OR(FAULT, ENOSYS), "this kernel has no 32-bit entry"),
#endif
	/* namespaces and mounts */
	ROW("new user namespace", "unshare", new_userns, 0, OR(WORKS, EPERM),
	    OR(WORKS, EPERM), OR(EPERM, WORKS)),
	NEVER("new network namespace", "unshare", new_netns, 0, EPERM, NO_CAP),
	NEVER("the host's network", "setns", host_netns, G_NETNS, EPERM,
	    NO_CAP),
	NEVER("mount", "mount", bind_mount, 0, OR(EPERM, NOWHERE), NO_CAP),
	NEVER("unmount", "umount2", unmount, 0, OR(EPERM, NOWHERE), NO_CAP),
	NEVER("pivot_root", "pivot_root", pivot, 0, OR(EPERM, NOWHERE), NO_CAP),
	NEVER("fsopen", "fsopen", open_fs, 0, EPERM, NO_CAP),
	NEVER("open_tree", "open_tree", clone_tree, 0, OR(EPERM, NOWHERE),
	    NO_CAP),
	NEVER("move_mount", "move_mount", move_mounts, 0, OR(EPERM, NOWHERE),
	    NO_CAP),
	NEVER("mount_setattr", "mount_setattr", set_mount, 0,
	    OR(EPERM, NOWHERE),
	    NO_CAP),
	/* other parts of the kernel */
	ROW("io_uring_setup", "io_uring_setup", uring, 0, OR3(WORKS, EPERM,
	    ENOSYS), OR3(WORKS, EPERM, ENOSYS),
	    OR3(ENOMEM, EPERM, ENOSYS)),
	NEVER("io_uring_enter", "io_uring_enter", uring_enter, 0,
	    OR(EOPNOTSUPP, ENOSYS), "the descriptor is no ring"),
	SAME("userfaultfd", "userfaultfd", userfault, 0, OR3(WORKS, EPERM,
	    ENOSYS)),
	SAME("bpf", "bpf", bpf_map, 0, OR3(WORKS, EPERM, ENOSYS)),
	SAME("perf_event_open", "perf_event_open", perf, 0, OR3(WORKS, EACCES,
	    OR(ENOSYS, ENOENT))),
	SAME("add_key", "add_key", key_add, 0, OR(WORKS, ENOSYS)),
	SAME("keyctl", "keyctl", key_session, 0, OR3(WORKS, ENOKEY, ENOSYS)),
	NEVER("request_key", "request_key", key_request, 0, OR(ENOKEY, ENOSYS),
	    "there is no such key"),
	NEVER("quotactl", "quotactl", quota, 0, OR3(EPERM, ENOSYS, NOWHERE),
	    "there is no such device"),
	NEVER("swapon", "swapon", swap, 0, OR(EPERM, ENOSYS), NO_CAP),
	NEVER("reboot", "reboot", restart, 0, EPERM, NO_CAP),
	NEVER("init_module", "init_module", module, 0, OR(EPERM, ENOSYS),
	    NO_CAP),
	NEVER("finit_module", "finit_module", module_file, 0, OR(EPERM, ENOSYS),
	    NO_CAP),
	NEVER("kexec_load", "kexec_load", kexec, 0, OR(EPERM, ENOSYS), NO_CAP),
	NEVER("acct", "acct", account, 0, OR(EPERM, ENOSYS), NO_CAP),
	NEVER("clear the kernel log", "syslog", kernel_log, 0,
	    OR(EPERM, ENOSYS), NO_CAP),
	NEVER("sethostname", "sethostname", host_name, 0, EPERM, NO_CAP),
	NEVER("set the clock", "clock_settime", set_clock, 0, OR(EPERM, EINVAL),
	    NO_CAP),
	SAME("adjtimex", "adjtimex", read_clock_state, 0, WORKS),
	SAME("System V memory", "shmget", shared_memory, 0, OR(WORKS, ENOSYS)),
	SAME("System V messages", "msgget", message_queue, 0,
	    OR(WORKS, ENOSYS)),
	SAME("System V semaphores", "semget", semaphores, 0, OR(WORKS, ENOSYS)),
	{"POSIX queue", "mq_open", posix_queue, 0, 0, OR(WORKS, ENOSYS),
	    OR3(WORKS, EACCES, ENOSYS), KILLED,
	    OR3(EOVERFLOW, EACCES, OR(WORKS, ENOSYS)), 0, NULL, EMFILE,
	    "other processes of this user hold all bytes of POSIX queues"},
	SAME("timer", "timer_create", timer, 0, WORKS),
	SAME("timerfd", "timerfd_create", timer_fd, 0, WORKS),
	SAME("eventfd", "eventfd2", event_fd, 0, WORKS),
	SAME("another epoll", "epoll_create1", epoll_new, 0, WORKS),
	SAME("signal handler", "rt_sigaction", signal_action, 0, WORKS),
	SAME("signal stack", "sigaltstack", alternate_stack, 0, WORKS),
	SAME("uname", "uname", name_of_host, 0, WORKS),
	SAME("own scheduler", "sched_setattr", own_scheduler, 0, WORKS),
	SAME("memory policy", "set_mempolicy", memory_policy, 0,
	    OR(WORKS, ENOSYS)),
	SAME("membarrier", "membarrier", barrier, 0, OR(WORKS, ENOSYS)),
};
/* clang-format on */

const struct attempt_table attempts_system = TABLE(rows);
