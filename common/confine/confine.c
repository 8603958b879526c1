/* SPDX-License-Identifier: ISC */
/*
 * Confines a worker, once, in the order that works without root.  This happens
 * after exec, in the initial user namespace: a program that is exec'ed inside a
 * child user namespace is readable by every process of the same uid outside it.
 * Only the kernel is trusted: the flag of a step is set from the state that the
 * kernel then reports, not from the return value of the call.
 */
#include "common/confine/confine.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/capability.h>
#include <linux/securebits.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/confine/limit.h"
#include "common/confine/secret.h"
#include "common/confine/unveil.h"
#include "common/log.h"

#define CAPS_MAX 64
/* uid 0 gets no capabilities, and none of these bits can be cleared again. */
#define CAPS_LOCKED                                                            \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |       \
	    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |          \
	    SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static const struct {
	int ns;
	uint32_t flag;
} namespaces[] = {
    {CLONE_NEWNET, CONFINE_NETNS},
    {CLONE_NEWIPC, CONFINE_IPCNS},
    {CLONE_NEWUTS, CONFINE_UTSNS},
};

#define NNAMESPACES nitems(namespaces)

#ifdef IC_SANITIZED
/*
 * The leak check at exit opens /proc and attaches to its own threads, which no
 * confined process can do.  Unit tests check for leaks instead.
 */
int __lsan_is_turned_off(void);
static bool confined;

int
__lsan_is_turned_off(void)
{
	return confined;
}
#endif

static int
set_private(unsigned keep)
{
	/*
	 * A worker with a last duty must do it even if somebody has stopped it.
	 */
	unsigned long sig =
	    (keep & CONFINE_KEEP_ALIVE) != 0 ? SIGCONT : SIGKILL;

	/*
	 * The worker ends with its parent; a death before this call is noticed
	 * on fd 3.
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0) == -1)
		return -1;
	return 0;
}

void
confine_early(void)
{
	/*
	 * Whoever cancels a session may signal every process of it.  Only
	 * icsupervisor acts on that, and its children end with it.
	 */
	static const int deaf[] = {SIGPIPE, SIGTERM, SIGINT, SIGHUP};
	struct sigaction sa = {.sa_handler = SIG_IGN};
	sigset_t empty;
	bool ignored;

	if (set_private(0) == -1 || confine_no_core() == -1)
		fatal("cannot become private");
	umask(077);
	/*
	 * Ignored signals and the mask survive exec.  SIGKILL and libc's own
	 * signals give EINVAL.
	 */
	for (int sig = 1; sig < NSIG; sig++) {
		ignored = false;
		for (size_t i = 0; i < nitems(deaf); i++)
			ignored = ignored || deaf[i] == sig;
		sa.sa_handler = ignored ? SIG_IGN : SIG_DFL;
		(void)sigaction(sig, &sa, NULL);
	}
	sigemptyset(&empty);
	(void)sigprocmask(SIG_SETMASK, &empty, NULL);
}

/*
 * Leave the namespaces, except those in `keep`.  A namespace that is refused is
 * missing from the returned flags; the others are still left.
 */
static uint32_t
leave_namespaces(unsigned keep)
{
	uint32_t want = 0, got = 0;
	int all = 0;

	for (size_t i = 0; i < NNAMESPACES; i++) {
		if (namespaces[i].ns == CLONE_NEWNET && keep & CONFINE_KEEP_NET)
			continue;
		all |= namespaces[i].ns;
		want |= namespaces[i].flag;
	}
	if (unshare(CLONE_NEWUSER | all) == 0)
		return want | CONFINE_USERNS;
	if (unshare(CLONE_NEWUSER) == 0)
		got = CONFINE_USERNS;
	for (size_t i = 0; i < NNAMESPACES; i++) {
		if (want & namespaces[i].flag && unshare(namespaces[i].ns) == 0)
			got |= namespaces[i].flag;
	}
	return got;
}

/*
 * Runs in the parent's memory while the parent waits; shares its root
 * directory.
 */
static int
enter_own_task_dir(void *unused)
{
	/*
	 * Mode 0555 and owned by the process, even if not dumpable and with
	 * hidepid.
	 */
	if (chroot("/proc/self/task") == -1 || chdir("/") == -1)
		return 1;
	return 0;
}

/* Returns true if nothing can be reached, listed or created. */
static bool
root_is_empty(void)
{
	static const char *const names[] = {"/proc", "/etc", "/usr", "/dev",
	    "/tmp", "/1", "/self", "etc", "../etc", "../../proc"};
	char entries[512];
	long n = 0;
	int fd;

	for (size_t i = 0; i < nitems(names); i++) {
		fd = open(names[i], O_PATH | O_CLOEXEC);
		if (fd != -1) {
			close(fd);
			return false;
		}
	}
	if (mkdir("/x", 0700) == 0)
		return false;
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1) {
		n = syscall(SYS_getdents64, fd, entries, sizeof(entries));
		close(fd);
	}
	return n <= 0;
}

/*
 * Enter an empty root.  The process cannot make a directory and keep it empty,
 * but each process has one in /proc that ends with it: a child that shares our
 * root makes its own task directory the root, and exits.  The directory that
 * remains contains no names, cannot be written and never comes back.
 */
static bool
empty_root(void)
{
	static char stack[16384] __attribute__((aligned(64)));
	int status;
	pid_t pid;

	pid = clone(enter_own_task_dir, stack + sizeof(stack),
	    CLONE_VM | CLONE_VFORK | CLONE_FS | SIGCHLD, NULL);
	if (pid == -1)
		return false;
	while (waitpid(pid, &status, 0) == -1) {
		if (errno != EINTR)
			return false;
	}
	return root_is_empty();
}

static bool
caps_are_gone(void)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	int in_set;

	if (syscall(SYS_capget, &hdr, data) == -1)
		return false;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		if ((data[i].effective | data[i].permitted |
			data[i].inheritable) != 0)
			return false;
	}
	/*
	 * The ambient set needs no check: it is a subset of the permitted set.
	 */
	for (unsigned long cap = 0; cap < CAPS_MAX; cap++) {
		in_set = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
		if (in_set == -1)
			break;
		if (in_set != 0)
			return false;
	}
	return prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == CAPS_LOCKED;
}

/*
 * Drop every capability, so that neither exec nor setuid restores one, even
 * with uid 0.
 */
static bool
drop_caps(void)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	/*
	 * The bounding set and the securebits need CAP_SETPCAP, so they come
	 * first.
	 */
	for (unsigned long cap = 0; cap < CAPS_MAX; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1)
			break;
	}
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)prctl(PR_SET_SECUREBITS, CAPS_LOCKED, 0, 0, 0);
	(void)syscall(SYS_capset, &hdr, data);
	return caps_are_gone();
}

unsigned
confine_files(const struct confine *c)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 &&
	    rl.rlim_max < c->limits.nofile)
		return (unsigned)rl.rlim_max;
	return (unsigned)c->limits.nofile;
}

static int
set_limits(const struct confine *c)
{
	const struct confine_limits *l = &c->limits;
	const uint64_t nofile =
	    c->keep & CONFINE_KEEP_FILES ? CONFINE_MAX_FILES : l->nofile;

#ifndef IC_SANITIZED
	/* The shadow map of a sanitizer counts as data, and takes terabytes. */
	if (confine_lower(RLIMIT_DATA, l->data) == -1)
		return -1;
#endif
	if (confine_no_core() == -1 || confine_lower(RLIMIT_NPROC, 0) == -1 ||
	    confine_lower(RLIMIT_FSIZE, l->fsize) == -1 ||
	    confine_lower(RLIMIT_MEMLOCK, l->memlock) == -1 ||
	    confine_lower(RLIMIT_NOFILE, nofile) == -1)
		return -1;
	/*
	 * A worker without its own limit may have one from the user (ulimit
	 * -f).  Reaching it must be a write error, like a full disk, and not
	 * the end.
	 */
	if (l->fsize == UINT64_MAX && signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		return -1;
	return 0;
}

static int
apply_landlock(const struct confine *c, struct confine_state *st)
{
	/*
	 * dialerd keeps its right to connect and loses only the right to bind.
	 * It screens ports itself; Landlock rules for them would add nothing,
	 * because Landlock cannot restrict addresses.
	 */
	struct unveil_path paths[CONFINE_MAX_UNVEIL + 1];
	size_t n = 0;
	int abi;

	while (n < c->nunveil && n < CONFINE_MAX_UNVEIL) {
		paths[n] = c->unveil[n];
		n++;
	}
	if (c->keep & CONFINE_KEEP_NET)
		paths[n++] = (struct unveil_path){-1, UNVEIL_CONNECT};
	abi = unveil_apply(paths, n);
	if (abi == -1) {
		log_warn("Landlock refused; needs Linux 5.13 or later built "
			 "with CONFIG_SECURITY_LANDLOCK, and \"landlock\" in "
			 "lsm= (see /sys/kernel/security/lsm)");
		return -1;
	}
	st->flags |= CONFINE_LANDLOCK;
	st->landlock_abi = (uint32_t)abi;
	return 0;
}

/*
 * Apply every layer but the filter, after which the state cannot be read any
 * more.
 */
static int
apply_layers(const struct confine *c, struct confine_state *st)
{
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) {
		errno = EINVAL;
		log_warn("confine_early was not called");
		return -1;
	}
	st->flags |= leave_namespaces(c->keep);
	/* A kernel may reset both when credentials change; 6.18 does not. */
	if (set_private(c->keep) == -1) {
		log_warn("cannot become private");
		return -1;
	}
	if (!(c->keep & CONFINE_KEEP_ROOT) && empty_root())
		st->flags |= CONFINE_ROOT;
	if (drop_caps())
		st->flags |= CONFINE_CAPS0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) {
		log_warn("no_new_privs refused");
		return -1;
	}
	if (apply_landlock(c, st) == -1)
		return -1;
	if (set_limits(c) == -1) {
		log_warn("rlimits refused");
		return -1;
	}
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
		st->flags |= CONFINE_DUMPABLE0;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		st->flags |= CONFINE_NNP;
	if (secret_ready() && secret_kind() == SECRET_MEMFD)
		st->flags |= CONFINE_SECRETMEM;
	return 0;
}

int
confine_apply(const struct confine *c, struct confine_state *out)
{
	struct confine_state st = {0, 0};

	if (apply_layers(c, &st) == -1)
		return -1;
	if (pledge_apply(&c->pledge) == -1) {
		log_warn("seccomp refused; needs Linux 5.13 or later built "
			 "with CONFIG_SECCOMP_FILTER, and no outer sandbox "
			 "that forbids seccomp(2)");
		return -1;
	}
#ifdef IC_SANITIZED
	confined = true;
#endif
	if (pledge_enforced())
		st.flags |= CONFINE_SECCOMP;
	*out = st;
	return 0;
}
