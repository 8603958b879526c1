/* SPDX-License-Identifier: ISC */
/*
 * Compares the state that confine_apply() reports with the state that the
 * kernel shows from outside, and with the attempts that still succeed.
 */
#include "common/confine/confine.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <linux/capability.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/confine/unveil.h"
#include "common/span.h"
#include "tap.h"
#include "unit/confine/attempts.h"

#define E attempt_env
#define DEADLINE_MS 10000

static const enum pledge_promise names_too[] = {PLEDGE_STDIO, PLEDGE_PATH};
static const struct pledge_rule calls_of_root[] = {
    {SCMP_SYS(chroot), 0, {{0}}, "test", 0},
    {SCMP_SYS(capset), 0, {{0}}, "test", 0},
    {SCMP_SYS(mount), 0, {{0}}, "test", 0},
    {SCMP_SYS(prctl), 0, {{0}}, "test", 0},
    {SCMP_SYS(unshare), 0, {{0}}, "test", 0},
};

static struct confine
table(unsigned keep)
{
	return (struct confine){
	    keep, {64, 1 << 20, 1 << 28, 0}, {names_too, 2, calls_of_root, 5}};
}

/* Returns true if this user can have namespaces on this machine. */
static bool
have_userns(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		attempt_become();
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC |
			      CLONE_NEWUTS) == 0
			  ? 0
			  : 1);
	}
	return attempt_outcome(pid) == 0;
}

struct locked {
	pid_t pid;
	int in, out; /* the parent's ends */
	struct confine_state st;
};

/* Start a confined child that waits until its pipe closes. */
static struct locked
lock_child(unsigned keep)
{
	struct locked l = {0};
	struct confine c = table(keep);
	sigset_t set;
	int up[2], down[2];
	char byte;

	attempt_must(pipe(up) == 0 && pipe(down) == 0 && (l.pid = fork()) != -1,
	    "locked child");
	if (l.pid == 0) {
		attempt_become();
		close(up[0]);
		close(down[1]);
		umask(0);
		signal(SIGUSR1, SIG_IGN);
		sigfillset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		confine_early();
		if (confine_apply(&c, &l.st) == -1)
			_exit(202);
		(void)!write(up[1], &l.st, sizeof(l.st));
		(void)!read(down[0], &byte, 1);
		_exit(0);
	}
	close(up[1]);
	close(down[0]);
	l.in = up[0];
	l.out = down[1];
	attempt_must(read(l.in, &l.st, sizeof(l.st)) == (ssize_t)sizeof(l.st),
	    "locked child's state");
	return l;
}

static void
unlock_child(struct locked *l)
{
	close(l->in);
	close(l->out);
	is_int(attempt_outcome(l->pid), 0, "the locked child ends in peace");
}

/* Returns the value of a line of /proc/PID/FILE, as text. */
static const char *
proc_value(pid_t pid, const char *file, const char *key)
{
	static char text[8192];
	char path[64], *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	attempt_must(fd != -1, path);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	attempt_must(n > 0, path);
	text[n] = '\0';
	if ((p = strstr(text, key)) == NULL)
		return "(none)";
	p += strlen(key);
	p += strspn(p, " \t");
	p[strcspn(p, " \t\n")] = '\0';
	return p;
}

/* The limit becomes 1, unless the user's own hard limit is 0 already. */
static rlim_t
hard_core(void)
{
	struct rlimit rl;

	return getrlimit(RLIMIT_CORE, &rl) == 0 ? rl.rlim_max : 0;
}

static void
test_status(const char *who, bool userns)
{
	static const char *const zero[] = {
	    "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
	struct locked l = lock_child(0);
	uint32_t want = CONFINE_DUMPABLE0 | CONFINE_NNP | CONFINE_SECCOMP |
			CONFINE_LANDLOCK;

	if (userns)
		want |= CONFINE_USERNS | CONFINE_NETNS | CONFINE_IPCNS |
			CONFINE_UTSNS | CONFINE_ROOT | CONFINE_CAPS0;
	is_int(l.st.flags & ~(uint32_t)CONFINE_SECRETMEM, want,
	    "%s: all that can be in force is", who);
	is_int(l.st.landlock_abi,
	    unveil_abi() > UNVEIL_ABI_MAX ? UNVEIL_ABI_MAX : unveil_abi(),
	    "%s: the Landlock ABI", who);
	for (size_t i = 0; userns && i < nitems(zero); i++)
		is_str(proc_value(l.pid, "status", zero[i]), "0000000000000000",
		    "%s: %s no capability", who, zero[i]);
	is_str(proc_value(l.pid, "status", "NoNewPrivs:"), "1", "%s: nnp", who);
	is_str(proc_value(l.pid, "status", "Seccomp:"), "2", "%s: filter", who);
	is_str(proc_value(l.pid, "status", "Umask:"), "0077", "%s: umask", who);
	is_str(proc_value(l.pid, "status", "SigBlk:"), "0000000000000000",
	    "%s: no signal blocked", who);
	is_str(proc_value(l.pid, "status", "SigIgn:"), "0000000000005003",
	    "%s: PIPE, TERM, INT and HUP ignored", who);
	is_str(proc_value(l.pid, "limits", "Max open files"), "64",
	    "%s: descriptors", who);
	is_str(proc_value(l.pid, "limits", "Max file size"), "1048576",
	    "%s: file size", who);
	is_str(proc_value(l.pid, "limits", "Max core file size"),
	    hard_core() != 0 ? "1" : "0", "%s: core", who);
	is_str(proc_value(l.pid, "limits", "Max processes"), "0",
	    "%s: processes", who);
	unlock_child(&l);
}

/* Returns the attempt with that name. */
static const struct attempt *
attempt_find(const char *name)
{
	size_t i = 0;

	while (i < nattempts && strcmp(attempts[i].name, name) != 0)
		i++;
	attempt_must(i < nattempts, name);
	return &attempts[i];
}

/* Attack a confined process from outside, with the same uid. */
static void
test_outsider(const char *who)
{
	static const char *const names[] = {"attach to another",
	    "read another's memory", "open another's memory",
	    "descriptor of another"};
	struct locked l = lock_child(0);
	struct confine c = table(0);
	const struct attempt *a;
	pid_t victim = E.victim;
	int got;

	E.victim = l.pid;
	for (size_t i = 0; i < nitems(names); i++) {
		a = attempt_find(names[i]);
		got = attempt_run(BARE, &c, a->fn);
		ok(got == EPERM || got == EACCES,
		    "%s: %s, locked: refused (%d)", who, a->name, got);
	}
	E.victim = victim;
	unlock_child(&l);
}

/* Confine the process, report that, then wait for a byte that never comes. */
static void
wait_locked(int said, int never)
{
	struct confine c = table(0);
	struct confine_state st;
	char byte = 'l';

	confine_early();
	if (confine_apply(&c, &st) == -1)
		_exit(202);
	(void)!write(said, &byte, 1);
	(void)!read(never, &byte, 1);
	_exit(0);
}

/* A confined process dies with its parent: its end of a pipe closes. */
static void
test_death(const char *who)
{
	struct pollfd pfd = {.events = POLLIN};
	int held[2], said[2], gone;
	pid_t pid = -1, *child;
	char byte;

	child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	attempt_must(child != MAP_FAILED, "shared page");
	attempt_must(pipe(held) == 0 && pipe(said) == 0 && (pid = fork()) != -1,
	    "parent");
	if (pid == 0) {
		attempt_become();
		if ((pid = fork()) == 0)
			wait_locked(said[1], held[0]);
		*child = pid;
		_exit(pid > 0 && read(said[0], &byte, 1) == 1 ? 0 : 1);
	}
	close(held[1]);
	is_int(attempt_outcome(pid), 0, "%s: a parent leaves", who);
	pfd.fd = held[0];
	gone = poll(&pfd, 1, DEADLINE_MS);
	is_int(gone, 1, "%s: its child goes too", who);
	if (gone == 0 && *child > 0)
		(void)kill(*child, SIGKILL);
	munmap(child, sizeof(*child));
	close(held[0]);
	close(said[0]);
	close(said[1]);
}

static int
try_chroot(void)
{
	return attempt_result(syscall(SYS_chroot, "/"));
}

static int
try_capset(void)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = {
	    {1U << CAP_SYS_CHROOT, 1U << CAP_SYS_CHROOT, 0}};

	return attempt_result(syscall(SYS_capset, &hdr, d));
}

static int
try_keepcaps(void)
{
	return attempt_result(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
}

static int
try_unshare(void)
{
	return attempt_result(unshare(CLONE_NEWNS));
}

static int
try_mount(void)
{
	return attempt_result(
	    syscall(SYS_mount, NULL, "/", NULL, 1UL << 18, NULL));
}

/*
 * With the filter opened for calls of root on purpose, the other layers hold.
 */
static void
test_without_filter(const char *who, bool root, bool userns)
{
	static const struct {
		const char *name;
		int (*fn)(void);
		int bare_root;
	} tries[] = {
	    {"chroot", try_chroot, 0},
	    {"capset", try_capset, 0},
	    {"securebits", try_keepcaps, 0},
	    {"unshare", try_unshare, 0},
	    {"mount", try_mount, ALIVE},
	};
	struct confine c = table(CONFINE_KEEP_ROOT);
	struct confine empty = table(0);
	int got;

	for (size_t i = 0; i < nitems(tries); i++) {
		if (root && tries[i].bare_root == 0)
			is_int(attempt_run(BARE, &c, tries[i].fn), 0,
			    "%s: %s, bare", who, tries[i].name);
		is_int(attempt_run(ALL, &c, tries[i].fn), EPERM,
		    "%s: %s without the filter", who, tries[i].name);
	}
	is_int(attempt_run(ALL, &c, attempt_open_path), 0,
	    "%s: names, with the host's root", who);
	if (!userns)
		return;
	is_int(attempt_run(ALL, &c, attempt_namespaces), 0,
	    "%s: four new namespaces", who);
	got = attempt_run(ALL, &empty, attempt_open_path);
	ok(got == ESRCH || got == ENOENT, "%s: no name in an empty root (%d)",
	    who, got);
}

/* Landlock with grants, as a program with files uses it. */
static void
test_unveil(const char *who)
{
	struct unveil_path paths[2] = {{-1, UNVEIL_READ}, {-1, UNVEIL_EXEC}};
	const struct attempt *a;
	int want[] = {0, EACCES, 0};
	static const char *const names[] = {"open through a held directory",
	    "open a file to write", "open a file to read"};

	paths[0].fd = E.dir;
	paths[1].fd = open("/etc/passwd", O_PATH | O_CLOEXEC);
	paths[1].access = UNVEIL_READ;
	for (size_t i = 0; i < nitems(names); i++) {
		pid_t pid = fork();

		a = attempt_find(names[i]);
		if (pid == 0) {
			attempt_become();
			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
			    unveil_apply(paths, 2) == -1)
				_exit(200);
			_exit(a->fn());
		}
		is_int(attempt_outcome(pid), want[i], "%s: unveiled, %s", who,
		    a->name);
	}
	close(paths[1].fd);
}

static void
test_tables(void)
{
	static const struct confine_state st = {
	    CONFINE_NNP | CONFINE_LANDLOCK | CONFINE_ROOT, 7};
	static const struct confine_state nothing = {0, 0};
	struct confine c = table(0);
	struct confine_state out = {123, 45};
	char text[200], brief[8];
	pid_t pid;

	is_str(confine_describe(&st, text, sizeof(text)), "nnp landlock:7 root",
	    "described");
	is_str(confine_describe(&nothing, text, sizeof(text)), "", "nothing");
	ok(strlen(confine_describe(&st, brief, sizeof(brief))) < sizeof(brief),
	    "described in little room");
	is_int(unveil_masks(1).fs, 0x1fff, "ABI 1");
	is_int(unveil_masks(2).fs, 0x3fff, "ABI 2");
	is_int(unveil_masks(3).net, 0, "ABI 3 knows no ports");
	is_int(unveil_masks(4).net, 3, "ABI 4");
	is_int(unveil_masks(5).fs, 0xffff, "ABI 5");
	is_int(unveil_masks(5).scoped, 0, "ABI 5 has no scopes");
	is_int(unveil_masks(6).scoped, 3, "ABI 6");
	is_int(unveil_masks(99).fs, unveil_masks(UNVEIL_ABI_MAX).fs,
	    "a newer ABI is taken for the last we know");
	pid = fork();
	if (pid == 0) {
		close(2);
		_exit(
		    confine_apply(&c, &out) == -1 && out.flags == 123 ? 0 : 1);
	}
	is_int(attempt_outcome(pid), 0, "not without confine_early");
}

void
state_tests(const char *who, bool root)
{
	bool userns = have_userns();

	if (!userns)
		printf(
		    "# no user namespaces here: their layer is not tested\n");
	test_status(who, userns);
	if (!root)
		test_outsider(who);
	test_death(who);
	test_without_filter(who, root, userns);
	test_unveil(who);
	test_tables();
}
