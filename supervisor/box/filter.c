/* SPDX-License-Identifier: ISC */
/*
 * Filters for sandboxes. The denied calls reach parts of the kernel that no
 * server or agent needs, create namespaces in which those parts become
 * reachable, or leave setuid programs in the user's directories.
 */
#include "box/filter.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <linux/netlink.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/span.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static const int filter_denied[] = {
    /* keyrings are per user, not per namespace */
    SCMP_SYS(add_key),
    SCMP_SYS(keyctl),
    SCMP_SYS(request_key),
    /* large and little-tested attack surface */
    SCMP_SYS(bpf),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(vmsplice),
    /* mounts and other namespaces */
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fspick),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(setns),
    SCMP_SYS(unshare),
    SCMP_SYS(chroot),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(name_to_handle_at),
    /* internals of other processes */
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    /* the machine */
    SCMP_SYS(acct),
    SCMP_SYS(delete_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(init_module),
    SCMP_SYS(ioperm),
    SCMP_SYS(iopl),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(kexec_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapoff),
    SCMP_SYS(swapon),
    SCMP_SYS(syslog),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(vhangup),
    SCMP_SYS(nfsservctl),
    SCMP_SYS(mbind),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(move_pages),
    SCMP_SYS(set_mempolicy),
};

/* Calls unknown to libseccomp 2.5.4; their numbers are the same everywhere. */
#define FILTER_CACHESTAT 451    /* Linux 6.5 */
#define FILTER_FCHMODAT2 452    /* 6.6 */
#define FILTER_SHADOW_STACK 453 /* map_shadow_stack, 6.6 */
#define FILTER_FUTEX_WAKE 454   /* 6.7, with futex_wait, futex_requeue */
#define FILTER_FUTEX_REQUEUE 456
#define FILTER_MSEAL 462 /* 6.10 */

/*
 * Calls added to the kernel after futex_waitv (449) and not listed here have
 * not been reviewed: mount calls alone were added twice (statmount, listmount;
 * open_tree_attr). ENOSYS makes programs fall back to older calls.
 */
#define FILTER_NEW_FIRST 450
#define FILTER_NEW_LAST 511

static const int filter_new[] = {FILTER_CACHESTAT, FILTER_FCHMODAT2,
    FILTER_SHADOW_STACK, FILTER_FUTEX_WAKE, FILTER_FUTEX_WAKE + 1,
    FILTER_FUTEX_REQUEUE, FILTER_MSEAL};

/* The bit of O_TMPFILE that O_DIRECTORY does not have. */
#define FILTER_TMPFILE (O_TMPFILE & ~O_DIRECTORY)

/*
 * The position of the mode of a new file, and of the flags: unless a bit of
 * `bits` is set in them, there is no mode.
 */
static const struct {
	int nr;
	unsigned arg;
	unsigned flags; /* 0: the mode is always present */
	unsigned bits;
} filter_modes[] = {
    {SCMP_SYS(chmod), 1, 0, 0},
    {SCMP_SYS(fchmod), 1, 0, 0},
    {SCMP_SYS(fchmodat), 2, 0, 0},
    {FILTER_FCHMODAT2, 2, 0, 0},
    {SCMP_SYS(mknod), 1, 0, 0},
    {SCMP_SYS(mknodat), 2, 0, 0},
    {SCMP_SYS(creat), 1, 0, 0},
    {SCMP_SYS(open), 2, 1, O_CREAT},
    {SCMP_SYS(open), 2, 1, FILTER_TMPFILE},
    {SCMP_SYS(openat), 3, 2, O_CREAT},
    {SCMP_SYS(openat), 3, 2, FILTER_TMPFILE},
};

static const int filter_families[] = {AF_UNIX, AF_INET, AF_INET6};

static int
filter_deny(const struct filter_sink *to, int nr)
{
	return to->rule(to->arg, SCMP_ACT_ERRNO(EPERM), nr, 0, NULL);
}

/*
 * Deny setuid and setgid bits, with which others could run a file as the user.
 */
static int
filter_setuid(const struct filter_sink *to)
{
	const uint64_t bits[] = {S_ISUID, S_ISGID};
	struct scmp_arg_cmp cmp[2];
	unsigned n;

	for (size_t i = 0; i < nitems(filter_modes); i++)
		for (size_t k = 0; k < 2; k++) {
			cmp[0] = SCMP_CMP(filter_modes[i].arg,
			    SCMP_CMP_MASKED_EQ, bits[k], bits[k]);
			cmp[1] =
			    SCMP_CMP(filter_modes[i].flags, SCMP_CMP_MASKED_EQ,
				filter_modes[i].bits, filter_modes[i].bits);
			n = filter_modes[i].flags != 0 ? 2 : 1;
			if (to->rule(to->arg, SCMP_ACT_ERRNO(EPERM),
				filter_modes[i].nr, n, cmp) == -1)
				return -1;
		}
	return 0;
}

/* Allow only NETLINK_ROUTE, with which programs list interfaces and routes. */
static int
filter_netlink(const struct filter_sink *to)
{
	const struct scmp_arg_cmp cmp[] = {SCMP_CMP(0, SCMP_CMP_EQ, AF_NETLINK),
	    SCMP_CMP(2, SCMP_CMP_NE, NETLINK_ROUTE)};

	return to->rule(
	    to->arg, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2, cmp);
}

static int
filter_sockets(const struct filter_sink *to, enum filter_kind kind)
{
	struct scmp_arg_cmp cmp;
	int allowed = 0;

	/* Families have small numbers: deny every other one by its number. */
	for (int family = 0; family < 64; family++) {
		allowed = kind == FILTER_AGENT && family == AF_NETLINK;
		for (size_t i = 0; i < nitems(filter_families); i++)
			if (family == filter_families[i])
				allowed = 1;
		if (allowed)
			continue;
		cmp = SCMP_CMP(0, SCMP_CMP_EQ, (scmp_datum_t)family);
		if (to->rule(to->arg, SCMP_ACT_ERRNO(EAFNOSUPPORT),
			SCMP_SYS(socket), 1, &cmp) == -1)
			return -1;
	}
	cmp = SCMP_CMP(0, SCMP_CMP_GE, 64);
	if (to->rule(to->arg, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
		&cmp) == -1)
		return -1;
	return kind == FILTER_AGENT ? filter_netlink(to) : 0;
}

static int
filter_new_calls(const struct filter_sink *to)
{
	bool known;

	for (int nr = FILTER_NEW_FIRST; nr <= FILTER_NEW_LAST; nr++) {
		known = false;
		for (size_t i = 0; i < nitems(filter_new); i++)
			if (filter_new[i] == nr)
				known = true;
		if (!known && to->rule(to->arg, SCMP_ACT_ERRNO(ENOSYS), nr, 0,
				  NULL) == -1)
			return -1;
	}
	return 0;
}

/* Deny typing into the terminal, and unusual execution domains. */
static int
filter_arguments(const struct filter_sink *to)
{
	const uint64_t flags[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID,
	    CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
	const uint64_t ioctls[] = {TIOCSTI, TIOCLINUX};
	struct scmp_arg_cmp cmp;

	for (size_t i = 0; i < nitems(flags); i++) {
		cmp = SCMP_CMP(0, SCMP_CMP_MASKED_EQ, flags[i], flags[i]);
		if (to->rule(to->arg, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			&cmp) == -1)
			return -1;
	}
	for (size_t i = 0; i < 2; i++) {
		/* The kernel uses the low half only. */
		cmp = SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffffffffU, ioctls[i]);
		if (to->rule(to->arg, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
			&cmp) == -1)
			return -1;
	}
	for (uint64_t bit = 1; bit <= 0x80000000U; bit <<= 1) {
		cmp = SCMP_CMP(0, SCMP_CMP_MASKED_EQ, bit, bit);
		if (bit != ADDR_NO_RANDOMIZE &&
		    to->rule(to->arg, SCMP_ACT_ERRNO(EPERM),
			SCMP_SYS(personality), 1, &cmp) == -1)
			return -1;
	}
	return 0;
}

/*
 * Process 1 of a sandbox is bubblewrap, which reports the agent's end. If a
 * debugger stopped it, there would be no report and the session would not end.
 */
static int
filter_first(const struct filter_sink *to)
{
	static const struct {
		int nr;
		unsigned arg;
	} calls[] = {{SCMP_SYS(ptrace), 1}, {SCMP_SYS(process_vm_readv), 0},
	    {SCMP_SYS(process_vm_writev), 0}};
	struct scmp_arg_cmp cmp;

	for (size_t i = 0; i < nitems(calls); i++) {
		/* The kernel uses the low half only. */
		cmp =
		    SCMP_CMP(calls[i].arg, SCMP_CMP_MASKED_EQ, 0xffffffffU, 1);
		if (to->rule(to->arg, SCMP_ACT_ERRNO(EPERM), calls[i].nr, 1,
			&cmp) == -1)
			return -1;
	}
	return 0;
}

/*
 * The limit on core dumps stays 1 (confine_no_core): with a soft limit of 0,
 * which everybody may set, the kernel would run the host's handler, as root, on
 * the memory of a process that crashes. Programs that forbid themselves core
 * dumps have what they want, and some end if the call fails. So setting the
 * limit succeeds and changes nothing, unless the old one is asked for as well,
 * which only the kernel could tell.
 */
static int
filter_cores(const struct filter_sink *to)
{
	/* The kernel uses the low half only. */
	const struct scmp_arg_cmp set = SCMP_CMP(0, SCMP_CMP_MASKED_EQ,
				      0xffffffffU, RLIMIT_CORE),
				  other[] = {SCMP_CMP(1, SCMP_CMP_MASKED_EQ,
						 0xffffffffU, RLIMIT_CORE),
				      SCMP_CMP(2, SCMP_CMP_NE, 0),
				      SCMP_CMP(3, SCMP_CMP_EQ, 0)},
				  both[] = {other[0], other[1],
				      SCMP_CMP(3, SCMP_CMP_NE, 0)};

	return to->rule(to->arg, SCMP_ACT_ERRNO(0), SCMP_SYS(setrlimit), 1,
		   &set) == -1 ||
		       to->rule(to->arg, SCMP_ACT_ERRNO(0), SCMP_SYS(prlimit64),
			   3, other) == -1 ||
		       to->rule(to->arg, SCMP_ACT_ERRNO(EPERM),
			   SCMP_SYS(prlimit64), 3, both) == -1
		   ? -1
		   : 0;
}

int
filter_rules(const struct filter_sink *to, enum filter_kind kind)
{
	static const int debug[] = {SCMP_SYS(ptrace),
	    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
	    SCMP_SYS(process_madvise)};

	for (size_t i = 0; i < nitems(filter_denied); i++)
		if (filter_deny(to, filter_denied[i]) == -1)
			return -1;
	for (size_t i = 0; kind != FILTER_AGENT && i < nitems(debug); i++)
		if (filter_deny(to, debug[i]) == -1)
			return -1;
	/*
	 * Flags and modes behind a pointer cannot be checked: force the older
	 * calls.
	 */
	if (to->rule(to->arg, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0,
		NULL) == -1 ||
	    /* The whole machine has fs.aio-max-nr of these, 65,536. */
	    to->rule(to->arg, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_setup), 0,
		NULL) == -1 ||
	    (kind != FILTER_OURS && to->rule(to->arg, SCMP_ACT_ERRNO(ENOSYS),
					SCMP_SYS(openat2), 0, NULL) == -1))
		return -1;
	if (filter_setuid(to) == -1 || filter_sockets(to, kind) == -1 ||
	    filter_new_calls(to) == -1 || filter_arguments(to) == -1 ||
	    filter_cores(to) == -1 ||
	    (kind == FILTER_AGENT && filter_first(to) == -1))
		return -1;
	return 0;
}

/* libseccomp has numbers for calls that a machine lacks; they add nothing. */
static int
filter_add(void *ctx, uint32_t action, int nr, unsigned n,
    const struct scmp_arg_cmp *cmp)
{
	int rv = seccomp_rule_add_array(ctx, action, nr, n, cmp);

	if (rv == -EDOM || rv == -ENOSYS || rv == -EEXIST)
		return 0;
	if (rv < 0) {
		errno = -rv;
		return -1;
	}
	return 0;
}

static int
filter_file(void)
{
	int fd = memfd_create("seccomp", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd == -1 && errno == EINVAL
		   ? memfd_create("seccomp", MFD_CLOEXEC)
		   : fd;
}

/*
 * Build each filter once, since it takes a millisecond. Returns a descriptor,
 * or -1 with errno.
 */
static int
filter_master(enum filter_kind kind)
{
	static int masters[FILTER_AGENT + 1] = {-1, -1, -1};
	struct filter_sink to = {.rule = filter_add};
	scmp_filter_ctx ctx;
	int rv = 0;

	if (masters[kind] != -1)
		return masters[kind];
	if ((ctx = seccomp_init(SCMP_ACT_ALLOW)) == NULL) {
		errno = ENOMEM;
		return -1;
	}
	/*
	 * Use a binary tree instead of a list: the filter runs at every call.
	 */
	(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	to.arg = ctx;
	if (filter_rules(&to, kind) == 0 &&
	    (masters[kind] = filter_file()) != -1 &&
	    (rv = seccomp_export_bpf(ctx, masters[kind])) < 0) {
		close(masters[kind]);
		masters[kind] = -1;
		errno = -rv;
	}
	seccomp_release(ctx);
	return masters[kind];
}

int
filter_memfd(enum filter_kind kind)
{
	int fd, master = filter_master(kind);
	off_t from = 0;
	ssize_t n;

	/* Copy it: a duplicated descriptor would share the file offset. */
	if (master == -1 || (fd = filter_file()) == -1)
		return -1;
	do {
		n = sendfile(fd, master, &from, 1U << 20);
	} while (n > 0);
	if (n == -1 || lseek(fd, 0, SEEK_SET) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}
