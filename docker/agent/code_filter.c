/* SPDX-License-Identifier: ISC */
/*
 * The system calls of the interpreter.  Node creates threads when it starts and
 * when it likes, so the filter is in force before node is executed and tells a
 * thread from a process by the flags of clone(2).  It is written out by hand
 * because it is installed between fork and exec, and because libseccomp is not
 * in every image that an agent runs in.
 *
 * The list forbids; it does not allow, because each release of node may use
 * other calls for its own memory and threads.  Files are Landlock's part.
 */
#include "docker/agent/code_priv.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>

#if defined(__x86_64__)
#define CODE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CODE_ARCH AUDIT_ARCH_AARCH64
#endif

/* Calls above this one are newer than this list. */
#define CODE_NEWEST 462
#define CODE_X32 0x40000000U

#define DENY (SECCOMP_RET_ERRNO | EPERM)
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)

static const int filter_denied[] = {
/* processes; clone and execveat are below */
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_execve,
    SYS_setsid,
    SYS_setpgid,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_pidfd_getfd,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_kcmp,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_unshare,
    SYS_setns,
    /* network, and descriptors from elsewhere */
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvmsg,
    SYS_recvmmsg,
    /* names, modes and owners of files, which Landlock leaves in part */
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_linkat,
    SYS_symlinkat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_memfd_create,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_inotify_init1,
    SYS_fanotify_init,
    /* mounts, keyrings, and large parts of the kernel */
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_fsopen,
    SYS_fsmount,
    SYS_move_mount,
    SYS_open_tree,
    SYS_add_key,
    SYS_keyctl,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_shmget,
    SYS_shmat,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_personality,
    SYS_vmsplice,
    SYS_splice,
    SYS_tee,
#ifdef SYS_open
    /* the older forms of x86-64 */
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_mkdir,
    SYS_mknod,
    SYS_link,
    SYS_symlink,
    SYS_unlink,
    SYS_rmdir,
    SYS_rename,
    SYS_creat,
    SYS_inotify_init,
#endif
    SYS_renameat,
};

static void
filter_add(struct code_filter *f, struct sock_filter one)
{
	if (f->len < CODE_FILTER_MAX)
		f->code[f->len++] = one;
}

static void
filter_return(struct code_filter *f, uint32_t what)
{
	filter_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static void
filter_load(struct code_filter *f, size_t offset)
{
	filter_add(f, (struct sock_filter)BPF_STMT(
			  BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Load the low half of an argument; both machines are little-endian. */
static void
filter_argument(struct code_filter *f, unsigned n)
{
	filter_load(
	    f, offsetof(struct seccomp_data, args) + n * sizeof(uint64_t));
}

/* Skip `yes` or `no` instructions. */
static void
filter_jump(
    struct code_filter *f, unsigned op, uint32_t k, uint8_t yes, uint8_t no)
{
	filter_add(f, (struct sock_filter)BPF_JUMP(
			  (uint16_t)(BPF_JMP | op | BPF_K), k, yes, no));
}

static void
filter_one(struct code_filter *f, int nr, uint32_t what)
{
	filter_jump(f, BPF_JEQ, (uint32_t)nr, 0, 1);
	filter_return(f, what);
}

/* Allow threads, one execution of node, and signals to the process itself. */
static void
filter_arguments(struct code_filter *f)
{
	/* The library falls back to clone, whose flags can be seen. */
	filter_one(f, SYS_clone3, ABSENT);
	filter_jump(f, BPF_JEQ, SYS_clone, 0, 4);
	filter_argument(f, 0);
	filter_jump(f, BPF_JSET, CLONE_THREAD, 0, 1);
	filter_return(f, SECCOMP_RET_ALLOW);
	filter_return(f, DENY);

	/* The descriptor is closed by the execution. */
	filter_jump(f, BPF_JEQ, SYS_execveat, 0, 6);
	filter_argument(f, 4);
	filter_jump(f, BPF_JEQ, AT_EMPTY_PATH, 0, 3);
	filter_argument(f, 0);
	filter_jump(f, BPF_JEQ, CODE_EXEC_FD, 0, 1);
	filter_return(f, SECCOMP_RET_ALLOW);
	filter_return(f, DENY);

	filter_jump(f, BPF_JEQ, SYS_tgkill, 0, 4);
	filter_argument(f, 0);
	f->self = f->len;
	filter_jump(f, BPF_JEQ, 0, 0, 1);
	filter_return(f, SECCOMP_RET_ALLOW);
	filter_return(f, DENY);

	filter_jump(f, BPF_JEQ, SYS_prlimit64, 0, 4);
	filter_argument(f, 0);
	filter_jump(f, BPF_JEQ, 0, 0, 1);
	filter_return(f, SECCOMP_RET_ALLOW);
	filter_return(f, DENY);
}

/*
 * Without a compiler in node, no memory becomes executable but the libraries
 * that the loader maps.
 */
static void
filter_memory(struct code_filter *f)
{
	filter_jump(f, BPF_JEQ, SYS_mprotect, 1, 0);
	filter_jump(f, BPF_JEQ, SYS_pkey_mprotect, 0, 4);
	filter_argument(f, 2);
	filter_jump(f, BPF_JSET, PROT_EXEC, 0, 1);
	filter_return(f, DENY);
	filter_return(f, SECCOMP_RET_ALLOW);

	filter_jump(f, BPF_JEQ, SYS_mmap, 0, 6);
	filter_argument(f, 2);
	filter_jump(f, BPF_JSET, PROT_EXEC, 0, 3);
	filter_argument(f, 3);
	filter_jump(f, BPF_JSET, MAP_ANONYMOUS, 0, 1);
	filter_return(f, DENY);
	filter_return(f, SECCOMP_RET_ALLOW);
}

void
code_filter_make(struct code_filter *f)
{
	f->len = 0;
	filter_load(f, offsetof(struct seccomp_data, arch));
	filter_jump(f, BPF_JEQ, CODE_ARCH, 1, 0);
	filter_return(f, SECCOMP_RET_KILL_PROCESS);
	filter_load(f, offsetof(struct seccomp_data, nr));
	filter_jump(f, BPF_JGE, CODE_X32, 0, 1);
	filter_return(f, SECCOMP_RET_KILL_PROCESS);
	filter_jump(f, BPF_JGT, CODE_NEWEST, 0, 1);
	filter_return(f, ABSENT);
	filter_one(f, SYS_io_uring_setup, ABSENT);
	filter_one(f, SYS_io_uring_enter, ABSENT);
	filter_one(f, SYS_io_uring_register, ABSENT);
	for (size_t i = 0; i < nitems(filter_denied); i++)
		filter_one(f, filter_denied[i], DENY);
	filter_arguments(f);
	filter_memory(f);
	filter_return(f, SECCOMP_RET_ALLOW);
}
