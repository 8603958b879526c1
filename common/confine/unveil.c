/* SPDX-License-Identifier: ISC */
/*
 * Landlock, with direct system calls and our own constants.  A right that a
 * ruleset does not handle stays allowed, so every right of the running ABI is
 * handled.  Rights of ABIs newer than the table below stay allowed, and only
 * seccomp restricts them.  No ABI up to 7 covers stat, readlink, O_PATH, UDP,
 * MSG_FASTOPEN, MPTCP or pathname Unix sockets.
 */
#include "common/confine/unveil.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#define LL_CREATE_VERSION 1U
#define LL_RULE_PATH 1

#define LL_FS_EXECUTE (1ULL << 0)
#define LL_FS_WRITE_FILE (1ULL << 1)
#define LL_FS_READ_FILE (1ULL << 2)
#define LL_FS_READ_DIR (1ULL << 3)
#define LL_FS_REMOVE_DIR (1ULL << 4)
#define LL_FS_REMOVE_FILE (1ULL << 5)
#define LL_FS_MAKE_DIR (1ULL << 7)
#define LL_FS_MAKE_REG (1ULL << 8)
#define LL_FS_MAKE_SYM (1ULL << 12) /* also needed to move one */
#define LL_FS_REFER (1ULL << 13)
#define LL_FS_TRUNCATE (1ULL << 14)

/* clang-format off */
#define LL_FS_ABI1 ((1ULL << 13) - 1)	/* EXECUTE to MAKE_SYM */
#define LL_FS_ABI2 ((1ULL << 14) - 1)	/* REFER */
#define LL_FS_ABI3 ((1ULL << 15) - 1)	/* TRUNCATE */
#define LL_FS_ABI5 ((1ULL << 16) - 1)	/* IOCTL_DEV */
#define LL_NET_BIND (1ULL << 0)		/* ABI 4 */
#define LL_NET_CONNECT (1ULL << 1)	/* ABI 4 */
#define LL_SCOPE_ABSTRACT (1ULL << 0)	/* ABI 6 */
#define LL_SCOPE_SIGNAL (1ULL << 1)	/* ABI 6 */
/* clang-format on */

#define LL_FS_WRITE (LL_FS_WRITE_FILE | LL_FS_TRUNCATE)
#define LL_FS_WRITE_DIR                                                        \
	(LL_FS_REMOVE_DIR | LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR |               \
	    LL_FS_MAKE_REG | LL_FS_MAKE_SYM | LL_FS_REFER)

/* The kernel's struct landlock_ruleset_attr, as of ABI 6. */
struct ll_ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

/* The kernel's struct landlock_path_beneath_attr. */
struct ll_path {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

/* clang-format off */
#define FS(m) {(m), 0, 0}
#define NET (LL_NET_BIND | LL_NET_CONNECT)
#define SCOPES (LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL)

static const struct unveil_masks masks[UNVEIL_ABI_MAX + 1] = {
    [1] = FS(LL_FS_ABI1),
    [2] = FS(LL_FS_ABI2),
    [3] = FS(LL_FS_ABI3),
    [4] = {LL_FS_ABI3, NET, 0},
    [5] = {LL_FS_ABI5, NET, 0},
    [6] = {LL_FS_ABI5, NET, SCOPES},
    [7] = {LL_FS_ABI5, NET, SCOPES},	/* ABI 7 adds audit flags only */
};
/* clang-format on */

struct unveil_masks
unveil_masks(int abi)
{
	if (abi < 0)
		abi = 0;
	return masks[abi > UNVEIL_ABI_MAX ? UNVEIL_ABI_MAX : abi];
}

static long
kernel_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LL_CREATE_VERSION);
}

int
unveil_abi(void)
{
	long abi = kernel_abi();

	return abi < 0 ? 0 : (int)abi;
}

/* Grant the access of `path`.  Rights outside `handled` cannot be granted. */
static int
grant(int ruleset, uint64_t handled, const struct unveil_path *path)
{
	struct ll_path rule = {.fd = path->fd};
	struct stat st;

	if (fstat(path->fd, &st) == -1)
		return -1;
	if (path->access & UNVEIL_READ)
		rule.access |= LL_FS_READ_FILE;
	if (path->access & UNVEIL_READ && S_ISDIR(st.st_mode))
		rule.access |= LL_FS_READ_DIR;
	if (path->access & UNVEIL_EXEC)
		rule.access |= LL_FS_EXECUTE;
	if (path->access & UNVEIL_WRITE)
		rule.access |= LL_FS_WRITE;
	if (path->access & UNVEIL_WRITE && S_ISDIR(st.st_mode))
		rule.access |= LL_FS_WRITE_DIR;
	rule.access &= handled;
	return (int)syscall(
	    SYS_landlock_add_rule, ruleset, LL_RULE_PATH, &rule, 0);
}

int
unveil_apply(const struct unveil_path *paths, size_t n)
{
	struct unveil_masks m;
	struct ll_ruleset attr;
	long abi;
	int fd, error, r = -1;

	if ((abi = kernel_abi()) < 0)
		return -1;
	m = unveil_masks((int)abi);
	attr = (struct ll_ruleset){m.fs, m.net, m.scoped};
	for (size_t i = 0; i < n; i++) {
		if (paths[i].access & UNVEIL_CONNECT)
			attr.net &= ~LL_NET_CONNECT;
	}
	/*
	 * Older kernels accept the longer struct as long as its tail is zero.
	 */
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd == -1)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (paths[i].access & UNVEIL_CONNECT)
			continue;
		if (grant(fd, m.fs, &paths[i]) == -1)
			goto out;
	}
	if (syscall(SYS_landlock_restrict_self, fd, 0) == -1)
		goto out;
	r = abi > UNVEIL_ABI_MAX ? UNVEIL_ABI_MAX : (int)abi;
out:
	error = errno;
	close(fd);
	errno = error;
	return r;
}

/*
 * Allow only `fds` to be executed.  A ruleset of ABI 2 or later refuses
 * renaming between directories unless it is granted, so `refer` grants it
 * everywhere.
 */
static int
exec_only(int ruleset, const int *fds, size_t n, bool refer)
{
	struct ll_path rule = {.access = LL_FS_EXECUTE};
	int root, r;

	for (size_t i = 0; i < n; i++) {
		rule.fd = fds[i];
		if (syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH, &rule,
			0) == -1)
			return -1;
	}
	if (!refer)
		return 0;
	if ((root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return -1;
	rule = (struct ll_path){.access = LL_FS_REFER, .fd = root};
	r = (int)syscall(
	    SYS_landlock_add_rule, ruleset, LL_RULE_PATH, &rule, 0);
	close(root);
	return r;
}

int
unveil_exec(const int *fds, size_t n)
{
	struct ll_ruleset attr = {LL_FS_EXECUTE, 0, 0};
	int abi = unveil_abi(), fd, error, r = -1;

	if (abi >= 2)
		attr.fs |= LL_FS_REFER;
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd == -1)
		return -1;
	if (exec_only(fd, fds, n, abi >= 2) == 0)
		r = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	error = errno;
	close(fd);
	errno = error;
	return r;
}
