/* SPDX-License-Identifier: ISC */
/*
 * The break-out test: what a program in the sandbox must not be able to do.
 * ic-bridge makes each attempt inside the sandbox, before anything of the agent
 * runs there, and reports what came of it; icsupervisor, which alone judges,
 * compares the reports with this table.  An attempt never changes anything, and
 * its arguments are such that a call which is let through fails with another
 * error than the one that its guard gives.
 */
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define ATTEMPT_NONCE 16U
#define ATTEMPT_PATH 1024U
#define ATTEMPT_ERRORS 4U
/* The mounts of the session's own files, whose identity is compared. */
#define ATTEMPT_PLACES                                                         \
	"/workspace", "/home/agent", "/run/ironcurtain", "/etc/ironcurtain",   \
	    "/opt/ironcurtain/bin/ic-bridge"
#define ATTEMPT_MOUNTS 5U
/* The sandbox has process numbers of its own, which begin at 1. */
#define ATTEMPT_HOLDER 64U

/* The layers that stop attempts: "the sandbox lacks ..." in a message. */
#define ON_NET "the network namespace"
#define ON_MOUNT "the mount namespace"
#define ON_READONLY "the read-only mounts"
#define ON_PID "the process namespace"
#define ON_USER "the user namespace without capabilities"
#define ON_FILTER "the system-call filter"
#define ON_TERMINAL "the separation from the terminal"
#define ON_FDS "open files of its own"
#define ON_DUMPABLE "the protection of its first processes"
#define ON_MASK "the masks in /proc"
#define ON_LIMITS "the hard limits"

/*
 * A(name, what it tries, its guard, the errors that the guard gives): the
 * attempt fails with one of the errors.
 */
/* clang-format off */
#define ATTEMPTS_REFUSED(A)							\
	/* the network */							\
	A(udp,		"sending a datagram to a host",		ON_NET,		ENETUNREACH)			\
	A(tcp,		"connecting to a host",			ON_NET,		ENETUNREACH)			\
	A(tcp6,		"connecting to a host by IPv6",		ON_NET,		ENETUNREACH, EAFNOSUPPORT, EADDRNOTAVAIL) \
	A(abstract,	"connecting to an abstract socket of the host", ON_NET,	ECONNREFUSED)			\
	A(raw,		"opening a raw socket",			ON_USER,	EPERM, EACCES)			\
	A(packet,	"opening a packet socket",		ON_FILTER,	EAFNOSUPPORT)			\
	A(vsock,	"opening a socket to the hypervisor",	ON_FILTER,	EAFNOSUPPORT)			\
	A(alg,		"opening a socket of the kernel's ciphers", ON_FILTER,	EAFNOSUPPORT)			\
	A(pfkey,	"opening a socket of the kernel's IPsec", ON_FILTER,	EAFNOSUPPORT)			\
	A(xdp,		"opening an AF_XDP socket",		ON_FILTER,	EAFNOSUPPORT)			\
	A(tipc,		"opening a TIPC socket",		ON_FILTER,	EAFNOSUPPORT)			\
	A(audit,	"opening the kernel's audit socket",	ON_FILTER,	EPROTONOSUPPORT, EAFNOSUPPORT)	\
	A(uevent,	"opening the kernel's device events",	ON_FILTER,	EPROTONOSUPPORT, EAFNOSUPPORT)	\
	A(netfilter,	"opening the kernel's firewall",	ON_FILTER,	EPROTONOSUPPORT, EAFNOSUPPORT)	\
	A(resolver,	"reading the host's resolver configuration", ON_MOUNT,	ENOENT)				\
	/* files and sockets of the host */					\
	A(session,	"opening the session directory",	ON_MOUNT,	ENOENT, EACCES)			\
	A(control,	"connecting to the control socket",	ON_MOUNT,	ENOENT, EACCES)			\
	A(sessions,	"opening the directory of all sessions", ON_MOUNT,	ENOENT, EACCES)			\
	A(ssh,		"opening the user's ~/.ssh",		ON_MOUNT,	ENOENT, EACCES)			\
	A(bus,		"connecting to the user's message bus",	ON_MOUNT,	ENOENT, EACCES)			\
	A(system_bus,	"connecting to the system's message bus", ON_MOUNT,	ENOENT, EACCES)			\
	A(engine,	"connecting to the container engine",	ON_MOUNT,	ENOENT, EACCES)			\
	A(shadow,	"reading the host's /etc/shadow",	ON_MOUNT,	ENOENT, EACCES)			\
	A(sys,		"opening /sys",				ON_MOUNT,	ENOENT, EACCES)			\
	A(mem,		"opening /dev/mem",			ON_MOUNT,	ENOENT, EACCES)			\
	A(kvm,		"opening /dev/kvm",			ON_MOUNT,	ENOENT, EACCES)			\
	A(fuse,		"opening /dev/fuse",			ON_MOUNT,	ENOENT, EACCES)			\
	A(tun,		"opening /dev/net/tun",			ON_MOUNT,	ENOENT, EACCES)			\
	A(loop,		"opening /dev/loop-control",		ON_MOUNT,	ENOENT, EACCES)			\
	A(disk,		"opening /dev/sda",			ON_MOUNT,	ENOENT, EACCES)			\
	A(vdisk,	"opening /dev/vda",			ON_MOUNT,	ENOENT, EACCES)			\
	A(kmsg,		"opening /dev/kmsg",			ON_MOUNT,	ENOENT, EACCES)			\
	/* writing where nothing is to be written */				\
	A(write_root,	"writing to /",				ON_READONLY,	EROFS, EACCES)			\
	A(write_usr,	"writing to /usr/bin",			ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(write_etc,	"writing to /etc",			ON_READONLY,	EROFS, EACCES)			\
	A(write_passwd,	"writing to /etc/passwd",		ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(write_dev,	"writing to /dev",			ON_READONLY,	EROFS, EACCES)			\
	A(write_run,	"writing to /run",			ON_READONLY,	EROFS, EACCES)			\
	A(write_sockets,"writing beside the session's sockets",	ON_READONLY,	EROFS, EACCES)			\
	A(write_ours,	"writing to /opt/ironcurtain",		ON_READONLY,	EROFS, EACCES)			\
	A(write_bridge,	"writing to ic-bridge",			ON_READONLY,	EROFS, EACCES, ETXTBSY)		\
	A(write_caches,	"writing to a shared package cache",	ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(write_sys,	"writing to /sys",			ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(core_pattern,	"setting the kernel's core_pattern",	ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(modprobe,	"setting the kernel's modprobe",	ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(sysrq,	"writing to /proc/sysrq-trigger",	ON_READONLY,	EROFS, EACCES, EPERM, ENOENT)	\
	A(forwarding,	"setting ip_forward",			ON_READONLY,	EROFS, EACCES, ENOENT)		\
	A(uid_map,	"writing a uid map",			ON_USER,	EROFS, EACCES, EPERM)		\
	A(keys,		"reading /proc/keys",			ON_MASK,	EACCES, ENOENT, EPERM)		\
	A(key_users,	"reading /proc/key-users",		ON_MASK,	EACCES, ENOENT, EPERM)		\
	A(kallsyms,	"reading /proc/kallsyms",		ON_MASK,	EACCES, ENOENT, EPERM)		\
	A(kcore,	"reading /proc/kcore",			ON_MASK,	EACCES, ENOENT, EPERM)		\
	A(device,	"making a device",			ON_USER,	EPERM)				\
	A(setuid_file,	"making a setuid file",			ON_FILTER,	EPERM)				\
	A(setgid_dir,	"setting the setgid bit",		ON_FILTER,	EPERM)				\
	/* other processes */							\
	A(signal,	"signalling icsupervisor",		ON_PID,		ESRCH)				\
	A(pidfd,	"opening icsupervisor by pidfd",	ON_PID,		ESRCH)				\
	A(proc_sup,	"opening icsupervisor in /proc",	ON_PID,		ENOENT)				\
	A(first_trace,	"tracing the sandbox's first process",	ON_DUMPABLE,	EPERM)				\
	A(first_mem,	"opening the first process's memory",	ON_DUMPABLE,	EACCES, EPERM)			\
	A(first_root,	"opening the first process's root",	ON_DUMPABLE,	EACCES, EPERM)			\
	A(first_fds,	"opening the first process's input",	ON_DUMPABLE,	EACCES, EPERM)			\
	A(first_environ,"reading the first process's environment", ON_DUMPABLE,	EACCES, EPERM)			\
	A(first_net,	"opening the first process's network",	ON_DUMPABLE,	EACCES, EPERM)			\
	A(bridge_trace,	"tracing ic-bridge",			ON_DUMPABLE,	EPERM)				\
	A(bridge_read,	"reading ic-bridge's memory",		ON_DUMPABLE,	EPERM)				\
	A(bridge_write,	"writing ic-bridge's memory",		ON_DUMPABLE,	EPERM)				\
	A(bridge_mem,	"opening ic-bridge's memory",		ON_DUMPABLE,	EACCES, EPERM)			\
	A(bridge_fds,	"opening ic-bridge's input",		ON_DUMPABLE,	EACCES, EPERM)			\
	A(getfd,	"taking a file of another process",	ON_FILTER,	EPERM)				\
	A(compare,	"comparing kernel objects",		ON_FILTER,	EPERM)				\
	/* identity and privileges */						\
	A(setuid,	"becoming another user",		ON_USER,	EPERM, EINVAL)			\
	A(setgid,	"becoming another group",		ON_USER,	EPERM, EINVAL)			\
	A(setgroups,	"dropping the groups",			ON_USER,	EPERM)				\
	A(capset,	"raising capabilities",			ON_USER,	EPERM)				\
	A(ambient,	"raising ambient capabilities",		ON_USER,	EPERM)				\
	A(limit_up,	"raising a hard limit",			ON_LIMITS,	EPERM)				\
	/* ENOTSUP: the user's own hard limit is 0, and cannot be raised. */	\
	A(core,		"handing a crash to the host's handler", ON_LIMITS,	EPERM, ENOTSUP)			\
	/* namespaces and mounts */						\
	A(new_user,	"making a user namespace",		ON_FILTER,	EPERM)				\
	A(new_net,	"making a network namespace",		ON_FILTER,	EPERM)				\
	A(new_mount,	"making a mount namespace",		ON_FILTER,	EPERM)				\
	A(clone3,	"calling clone3",			ON_FILTER,	ENOSYS)				\
	A(setns,	"entering a namespace",			ON_FILTER,	EPERM)				\
	A(mount,	"mounting",				ON_FILTER,	EPERM)				\
	A(umount,	"unmounting",				ON_FILTER,	EPERM)				\
	A(pivot_root,	"changing the root mount",		ON_FILTER,	EPERM)				\
	A(chroot,	"changing the root directory",		ON_FILTER,	EPERM)				\
	A(open_tree,	"copying a mount",			ON_FILTER,	EPERM)				\
	A(move_mount,	"moving a mount",			ON_FILTER,	EPERM)				\
	A(fsopen,	"opening a filesystem by name",		ON_FILTER,	EPERM)				\
	A(mount_attr,	"changing a mount's attributes",	ON_FILTER,	EPERM)				\
	A(statmount,	"asking about mounts",			ON_FILTER,	ENOSYS)				\
	A(listmount,	"listing mounts",			ON_FILTER,	ENOSYS)				\
	A(by_handle,	"opening a file by its handle",		ON_FILTER,	EPERM)				\
	A(handle,	"asking for a file's handle",		ON_FILTER,	EPERM)				\
	/* the kernel's large interfaces, and the machine */			\
	A(bpf,		"loading a BPF program",		ON_FILTER,	EPERM)				\
	A(io_uring,	"setting up io_uring",			ON_FILTER,	EPERM)				\
	A(affinity,	"using more processors",		ON_FILTER,	EPERM)				\
	A(aio,		"setting up asynchronous I/O",		ON_FILTER,	ENOSYS)				\
	A(perf,		"opening a performance counter",	ON_FILTER,	EPERM)				\
	A(userfaultfd,	"handling page faults",			ON_FILTER,	EPERM)				\
	A(fanotify,	"watching a filesystem",		ON_FILTER,	EPERM)				\
	A(keyring,	"reading the session keyring",		ON_FILTER,	EPERM)				\
	A(add_key,	"adding a key to a keyring",		ON_FILTER,	EPERM)				\
	A(request_key,	"requesting a key",			ON_FILTER,	EPERM)				\
	A(vmsplice,	"splicing memory",			ON_FILTER,	EPERM)				\
	A(quotactl,	"changing quotas",			ON_FILTER,	EPERM)				\
	A(personality,	"changing the execution domain",	ON_FILTER,	EPERM)				\
	A(module,	"loading a kernel module",		ON_FILTER,	EPERM)				\
	A(module_file,	"loading a kernel module's file",	ON_FILTER,	EPERM)				\
	A(kexec,	"loading another kernel",		ON_FILTER,	EPERM)				\
	A(reboot,	"restarting the machine",		ON_FILTER,	EPERM)				\
	A(swapon,	"adding swap space",			ON_FILTER,	EPERM)				\
	A(acct,		"turning on process accounting",	ON_FILTER,	EPERM)				\
	A(syslog,	"reading the kernel's log",		ON_FILTER,	EPERM)				\
	A(clock,	"setting the clock",			ON_FILTER,	EPERM)				\
	A(clock_adjust,	"adjusting the clock",			ON_FILTER,	EPERM)				\
	A(hostname,	"setting the host's name",		ON_FILTER,	EPERM)				\
	A(move_pages,	"moving pages of memory",		ON_FILTER,	EPERM)				\
	/* the terminal */							\
	A(tty,		"opening the user's terminal",		ON_TERMINAL,	ENXIO)				\
	A(sti,		"typing into the terminal",		ON_FILTER,	EPERM)				\
	A(tioclinux,	"reading the console",			ON_FILTER,	EPERM)

/* A(name, what is counted, its guard, the number that must be found) */
#define ATTEMPTS_COUNTED(A)							\
	A(interfaces,	"network interfaces besides lo",	ON_NET,		0)	\
	A(routes,	"network routes",			ON_NET,		0)	\
	A(routes6,	"IPv6 routes away from lo",		ON_NET,		0)	\
	A(processes,	"foreign processes in /proc",		ON_PID,		0)	\
	A(identity,	"user or group ids that are not the user's", ON_USER,	0)	\
	A(capabilities,	"capabilities",				ON_USER,	0)	\
	A(privileges,	"PR_SET_NO_NEW_PRIVS",			ON_USER,	1)	\
	A(filtered,	"the mode of seccomp",			ON_FILTER,	2)	\
	A(files,	"open files that nobody gave",		ON_FDS,		0)	\
	A(terminals,	"terminals among the standard files",	ON_TERMINAL,	0)	\
	A(host_files,	"files of the host among the standard files", ON_FDS,	0)	\
	A(nosuid,	"writable mounts that allow setuid programs", ON_READONLY, 0)	\
	A(swapped,	"mounts of other files than the session's", ON_MOUNT,	0)	\
	A(owned,	"first processes whose memory the agent owns", ON_DUMPABLE, 0)

/*
 * E(name, engines, a further error or count): what is right in a container of
 * these engines as well, and why.
 */
#define IN_DOCKER 1U
#define IN_PODMAN 2U
#define IN_SERVER 4U /* the sandbox of an MCP server, in `icctl doctor` */
#define ATTEMPT_SUCCESS (-1)
#define ATTEMPTS_ENGINE(E)							\
	/* Engines show /sys read-only, of the container's own network. */	\
	E(sys,		IN_DOCKER | IN_PODMAN,	ATTEMPT_SUCCESS)		\
	/* Docker masks a fixed list of files.  These show no address to an	\
	 * ordinary user, and how many keys each user has. */			\
	E(kallsyms,	IN_DOCKER,		ATTEMPT_SUCCESS)		\
	E(key_users,	IN_DOCKER,		ATTEMPT_SUCCESS)		\
	/* Docker binds /workspace and /home/agent as their file system is	\
	 * mounted.  no_new_privs makes setuid programs ordinary ones, and	\
	 * the filter denies making one. */					\
	E(nosuid,	IN_DOCKER | IN_PODMAN,	1)				\
	E(nosuid,	IN_DOCKER | IN_PODMAN,	2)

/*
 * N(name): attempts on what only the agent's sandbox has. A server's has neither
 * a home directory nor the session's sockets. Its first process is bubblewrap's,
 * which has the server's own filter and no capability, and guards nothing.
 */
#define ATTEMPTS_NOT_IN_SERVER(N)						\
	N(swapped) N(write_sockets)						\
	N(first_mem) N(first_root) N(first_fds) N(first_environ) N(first_net)	\
	N(bridge_mem) N(bridge_fds) N(owned)
/* clang-format on */

enum attempt {
#define A(name, what, guard, ...) ATTEMPT_##name,
	ATTEMPTS_REFUSED(A)
	ATTEMPTS_COUNTED(A)
#undef A
	ATTEMPT_COUNT
};

/* From icsupervisor, on the pipe that the probe reads. */
struct attempt_ask {
	uint8_t nonce[ATTEMPT_NONCE];
	uint32_t count; /* ATTEMPT_COUNT, by icsupervisor's own table */
	uint32_t pid;   /* icsupervisor's, on the host */
	uint32_t uid, gid;
	uint32_t core; /* icsupervisor's hard limit on core dumps, 0 or 1 */
	uint32_t cpus; /* processors that the sandbox is held to; 0: any */
	char session[ATTEMPT_PATH]; /* the session directory, on the host */
	char home[ATTEMPT_PATH];    /* the user's home directory, on the host */
	char abstract[64];          /* an abstract socket that listens there */
	struct {
		uint64_t dev, ino; /* as on the host */
	} mounts[ATTEMPT_MOUNTS];
};

/* To icsupervisor: the nonce, and then one record for each attempt, in order. */
struct attempt_record {
	uint32_t number;
	int32_t found; /* the attempt's errno, 0 if it succeeded; or the count */
};

#endif
