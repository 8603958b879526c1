/* SPDX-License-Identifier: ISC */
/*
 * Makes the attempts of the break-out test, as attempts.h lists them, and
 * reports them.  Each expression gives 0 if the attempt succeeded, its errno if
 * it was refused, or a count.  An attempt that succeeds ends the session, so
 * nothing is undone here but what would stay behind.
 */
#include "attempts.h"

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>

#include <netinet/in.h>

#include <grp.h>
#include <sched.h>
#include <signal.h>

#include "attempts_priv.h"
#include "bridge.h"

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

const struct attempt_ask *attempt_asked;
int attempt_fds[2];

/* The session's own processes cannot be told from the host's lowest numbers. */
static int
of_supervisor(int error, int expected)
{
	return attempt_asked->pid <= ATTEMPT_HOLDER ? expected : error;
}

/* clang-format off */
#define NAMESPACE(flag) SYSTEM(SYS_unshare, flag)
#define TRIES(T)								\
	T(udp,		tried_inet(SOCK_DGRAM))					\
	T(tcp,		tried_inet(SOCK_STREAM))				\
	T(tcp6,		tried_tcp6())						\
	T(abstract,	tried_abstract())					\
	T(raw,		tried_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP))		\
	T(packet,	tried_socket(AF_PACKET, SOCK_RAW, 0))			\
	T(vsock,	tried_socket(FAMILY_VSOCK, SOCK_STREAM, 0))		\
	T(alg,		tried_socket(FAMILY_ALG, SOCK_SEQPACKET, 0))		\
	T(pfkey,	tried_socket(FAMILY_KEY, SOCK_RAW, 2))			\
	T(xdp,		tried_socket(FAMILY_XDP, SOCK_RAW, 0))			\
	T(tipc,		tried_socket(FAMILY_TIPC, SOCK_STREAM, 0))		\
	T(audit,	tried_socket(AF_NETLINK, SOCK_RAW, PROTOCOL_AUDIT))	\
	T(uevent,	tried_socket(AF_NETLINK, SOCK_RAW, PROTOCOL_UEVENT))	\
	T(netfilter,	tried_socket(AF_NETLINK, SOCK_RAW, PROTOCOL_NETFILTER))	\
	T(resolver,	tried_reading("/etc/resolv.conf"))			\
	T(session,	tried_open(attempt_asked->session, O_PATH))		\
	T(control,	tried_control())					\
	T(sessions,	tried_sessions())					\
	T(ssh,		tried_ssh())						\
	T(bus,		tried_bus())						\
	T(system_bus,	tried_unix("/run/dbus/system_bus_socket"))		\
	T(engine,	tried_unix("/var/run/docker.sock"))			\
	T(shadow,	tried_open("/etc/shadow", O_RDONLY))			\
	T(sys,		tried_open("/sys/kernel", O_PATH))			\
	T(mem,		tried_open("/dev/mem", O_RDONLY))			\
	T(kvm,		tried_open("/dev/kvm", O_RDWR))				\
	T(fuse,		tried_open("/dev/fuse", O_RDWR))			\
	T(tun,		tried_open("/dev/net/tun", O_RDWR))			\
	T(loop,		tried_open("/dev/loop-control", O_RDWR))		\
	T(disk,		tried_open("/dev/sda", O_RDONLY))			\
	T(vdisk,	tried_open("/dev/vda", O_RDONLY))			\
	T(kmsg,		tried_open("/dev/kmsg", O_RDONLY))			\
	T(write_root,	tried_writing("/"))					\
	T(write_usr,	tried_writing("/usr/bin"))				\
	T(write_etc,	tried_writing("/etc"))					\
	T(write_passwd,	tried_open("/etc/passwd", O_WRONLY))			\
	T(write_dev,	tried_writing("/dev"))					\
	T(write_run,	tried_writing("/run"))					\
	T(write_sockets, tried_writing("/run/ironcurtain"))			\
	T(write_ours,	tried_writing("/opt/ironcurtain"))			\
	T(write_bridge,	tried_open("/opt/ironcurtain/bin/ic-bridge", O_WRONLY))	\
	T(write_caches,	tried_caches())						\
	T(write_sys,	tried_writing("/sys/kernel"))				\
	T(core_pattern,	tried_open("/proc/sys/kernel/core_pattern", O_WRONLY))	\
	T(modprobe,	tried_open("/proc/sys/kernel/modprobe", O_WRONLY))	\
	T(sysrq,	tried_open("/proc/sysrq-trigger", O_WRONLY))		\
	T(forwarding,	tried_open("/proc/sys/net/ipv4/ip_forward", O_WRONLY))	\
	T(uid_map,	tried_uid_map())					\
	T(keys,		tried_reading("/proc/keys"))				\
	T(key_users,	tried_reading("/proc/key-users"))			\
	T(kallsyms,	tried_reading("/proc/kallsyms"))			\
	T(kcore,	tried_reading("/proc/kcore"))				\
	T(device,	tried_device())						\
	T(setuid_file,	tried_setuid_file())					\
	T(setgid_dir,	SYSTEM(SYS_fchmod, -1, 02700))				\
	T(signal,	of_supervisor(TRY(kill((pid_t)attempt_asked->pid, 0)), ESRCH)) \
	T(pidfd,	of_supervisor(tried_pidfd(), ESRCH))			\
	T(proc_sup,	of_supervisor(tried_process((pid_t)attempt_asked->pid, "status", O_RDONLY), ENOENT)) \
	T(first_trace,	tried_trace(1))						\
	T(first_mem,	tried_process(1, "mem", O_RDONLY))			\
	T(first_root,	tried_process(1, "root", O_RDONLY))			\
	T(first_fds,	tried_process(1, "fd/0", O_RDONLY))			\
	T(first_environ, tried_process(1, "environ", O_RDONLY))			\
	T(first_net,	tried_process(1, "ns/net", O_RDONLY))			\
	T(bridge_trace,	tried_trace(getppid()))					\
	T(bridge_read,	tried_memory(SYS_process_vm_readv, getppid(), &attempt_asked)) \
	T(bridge_write,	tried_memory(SYS_process_vm_writev, getppid(), &attempt_asked)) \
	T(bridge_mem,	tried_process(getppid(), "mem", O_RDONLY))		\
	T(bridge_fds,	tried_process(getppid(), "fd/0", O_RDONLY))		\
	T(getfd,	SYSTEM(SYS_pidfd_getfd, -1, 0, 0))			\
	T(compare,	SYSTEM(SYS_kcmp, getpid(), getpid(), 99, 0, 0))		\
	T(setuid,	TRY(setuid(attempt_asked->uid + 1)))			\
	T(setgid,	TRY(setgid(attempt_asked->gid + 1)))			\
	T(setgroups,	TRY(setgroups(0, NULL)))				\
	T(capset,	tried_capabilities())					\
	T(ambient,	TRY(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0))) \
	T(limit_up,	tried_limit())						\
	T(core,		tried_core())						\
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
	T(affinity,	tried_affinity())					\
	T(aio,		SYSTEM(SYS_io_setup, 0, NULL))				\
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
	T(tty,		tried_open("/dev/tty", O_RDWR))				\
	T(sti,		TRY(ioctl(-1, TIOCSTI, "x")))				\
	T(tioclinux,	TRY(ioctl(-1, TIOCLINUX, "\2")))			\
	T(interfaces,	counted_lines("/proc/net/dev", 2, false))		\
	T(routes,	counted_lines("/proc/net/route", 1, false))		\
	T(routes6,	counted_lines("/proc/net/ipv6_route", 0, true))		\
	T(processes,	counted_processes())					\
	T(identity,	counted_ids())						\
	T(capabilities,	counted_bits("Cap"))					\
	T(privileges,	prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))			\
	T(filtered,	counted_seccomp())					\
	T(files,	counted_files())					\
	T(terminals,	counted_standard(true))					\
	T(host_files,	counted_standard(false))				\
	T(nosuid,	counted_setuid_mounts())				\
	T(swapped,	counted_swapped_mounts())				\
	T(owned,	counted_owned())

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

int
probe_run(int in, int out)
{
	static struct attempt_record records[ATTEMPT_COUNT];
	static struct attempt_ask ask;

	if (!unix_whole(in, &ask, sizeof(ask), true) || ask.count != ATTEMPT_COUNT)
		return BRIDGE_EXIT_USAGE;
	ask.session[sizeof(ask.session) - 1] = '\0';
	ask.home[sizeof(ask.home) - 1] = '\0';
	attempt_asked = &ask;
	attempt_fds[0] = in;
	attempt_fds[1] = out;
	for (uint32_t i = 0; i < ATTEMPT_COUNT; i++)
		records[i] = (struct attempt_record){i, tries[i]()};
	return unix_whole(out, ask.nonce, sizeof(ask.nonce), false) &&
		       unix_whole(out, records, sizeof(records), false)
		   ? 0
		   : BRIDGE_EXIT_SESSION;
}
