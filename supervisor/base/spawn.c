/* SPDX-License-Identifier: ISC */
/*
 * Starts programs as vfork(2) does: until it executes, the child runs in our
 * memory, on a stack of its own, while we wait; so none of our pages is copied.
 * The child allocates nothing and writes only to its stack and to errno, and
 * nothing of ours stays open: the listed descriptors become 0, 1, 2, ..., the
 * status pipe comes after them, and everything above is closed with one call.
 */
#include "spawn.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/kept.h"
#include "common/confine/confine.h"
#include "common/log.h"

/* Sources are moved above every target, so that dup2() overwrites none. */
#define SPAWN_ABOVE (SPAWN_MAX_FDS + 2)

/* The number of descriptors that a child needs while it arranges them. */
#define SPAWN_NOFILE_LEAST (SPAWN_ABOVE + 2 * SPAWN_MAX_FDS)

/* The user's own mask and limit, which programs get. */
static struct {
	bool known;
	mode_t umask;
	struct rlimit nofile;
} spawn_env;

/* Remember the user's own mask and limit, and set the mask 077. */
static int
spawn_know(void)
{
	if (getrlimit(RLIMIT_NOFILE, &spawn_env.nofile) == -1)
		return -1;
	spawn_env.umask = umask(077);
	spawn_env.known = true;
	return 0;
}

int
spawn_init(void)
{
	struct rlimit rl;

	if (spawn_know() == -1)
		return -1;
	rl = spawn_env.nofile;
	if (rl.rlim_max < SPAWN_NOFILE_LEAST) {
		errno = EMFILE;
		return -1;
	}
	/*
	 * The views of all servers are open at the same time, and nobody else's
	 * descriptors in flight may keep us from passing ours.
	 */
	if (rl.rlim_cur < CONFINE_MAX_FILES)
		rl.rlim_cur = rl.rlim_max < CONFINE_MAX_FILES
				  ? rl.rlim_max
				  : CONFINE_MAX_FILES;
	return setrlimit(RLIMIT_NOFILE, &rl);
}

static void
spawn_signals(void)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &sa, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child's progress, which it reports to its parent if it fails. */
enum spawn_at {
	AT_NULL,
	AT_GROUP,
	AT_FDS,
	AT_LIMIT,
	AT_DIR,
	AT_EXEC
};

struct spawn_word {
	int at;
	int error;
};

static const char *const spawn_steps[] = {
    [AT_NULL] = ": cannot open /dev/null",
    [AT_GROUP] = ": cannot enter its control group",
    [AT_FDS] = ": cannot arrange its descriptors",
    [AT_LIMIT] = ": cannot set its limit of open files",
    [AT_DIR] = ": cannot enter the directory to start it in",
    [AT_EXEC] = "",
};

static const char *spawn_last = "";

/*
 * In the child: arrange the descriptors. The status pipe comes after them, then
 * the program, if it is a descriptor. Returns 0, or -1 with errno set;
 * `*status` can be written to in both cases.
 */
static int
spawn_window(const struct spawn *s, int *status, int *exec, int *at)
{
	int high[SPAWN_MAX_FDS], null, above;

	if ((above = fcntl(*status, F_DUPFD_CLOEXEC, SPAWN_ABOVE)) == -1)
		return -1;
	*status = above;
	if ((null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1)
		return -1;
	*at = AT_FDS;
	*exec = s->by_fd ? s->exec : null;
	if ((*exec = fcntl(*exec, F_DUPFD_CLOEXEC, SPAWN_ABOVE)) == -1)
		return -1;
	for (size_t i = 0; i < s->nfds; i++) {
		high[i] = fcntl(s->fds[i] == -1 ? null : s->fds[i],
		    F_DUPFD_CLOEXEC, SPAWN_ABOVE);
		if (high[i] == -1)
			return -1;
	}
	for (size_t i = 0; i < s->nfds; i++)
		if (dup2(high[i], (int)i) == -1)
			return -1;
	if (dup3(*status, (int)s->nfds, O_CLOEXEC) == -1)
		return -1;
	*status = (int)s->nfds;
	if (dup3(*exec, (int)s->nfds + 1, O_CLOEXEC) == -1)
		return -1;
	*exec = (int)s->nfds + 1;
	if (syscall(SYS_close_range, (unsigned)s->nfds + 2, ~0U, 0) == -1)
		return -1;
	return 0;
}

/* In the child: set the limit that the program is to have. */
static int
spawn_limit(uint64_t nofile)
{
	struct rlimit rl = spawn_env.nofile;

	if (nofile != 0 && nofile < rl.rlim_max)
		rl.rlim_max = nofile;
	if (rl.rlim_cur > rl.rlim_max)
		rl.rlim_cur = rl.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &rl);
}

struct spawn_how {
	const struct spawn *s;
	pid_t parent;
	int status;
};

/* Runs in the child; its return is the child's exit. */
static int
spawn_child(void *arg)
{
	const struct spawn_how *how = arg;
	const struct spawn *s = how->s;
	char *const *env = s->envp != NULL ? s->envp : environ;
	struct spawn_word word = {AT_NULL, 0};
	int exec, status = how->status;

	spawn_signals();
	/* If the parent died before this request, getppid() has changed. */
	if (s->tie != SPAWN_APART &&
	    (prctl(PR_SET_PDEATHSIG, s->tie == SPAWN_ENDED ? SIGTERM : SIGKILL,
		 0, 0, 0) == -1 ||
		getppid() != how->parent))
		return 127;
	if (s->worker) {
		(void)signal(SIGTERM, SIG_IGN);
		(void)signal(SIGINT, SIG_IGN);
		(void)signal(SIGHUP, SIG_IGN);
	}
	if (s->session)
		(void)setsid();
	(void)umask(spawn_env.umask);
	/* Before anything else: all that it starts is in there. */
	if (s->grouped && write(s->group, "0", 1) != 1) {
		word = (struct spawn_word){AT_GROUP, errno};
		if (write(status, &word, sizeof(word)) == -1)
			_exit(126);
		_exit(127);
	}
	/* Set the limit last: a small one would prevent the steps above. */
	if (spawn_window(s, &status, &exec, &word.at) == 0 &&
	    (word.at = AT_LIMIT, spawn_limit(s->nofile) == 0) &&
	    (word.at = AT_DIR, s->cwd == NULL || chdir(s->cwd) == 0)) {
		word.at = AT_EXEC;
		if (s->by_fd)
			(void)syscall(SYS_execveat, exec, "", s->argv, env,
			    AT_EMPTY_PATH);
		else if (strchr(s->path, '/') == NULL)
			(void)execvpe(s->path, s->argv, env);
		else
			(void)execve(s->path, s->argv, env);
	}
	word.error = errno;
	return write(status, &word, sizeof(word)) == -1 ? 126 : 127;
}

/*
 * Returns the child's id once it has executed or failed, or -1. No handler of
 * ours may run in the child, because it has our memory: it gets every signal
 * blocked, and unblocks them when it has no handler any more.
 */
static pid_t
spawn_clone(struct spawn_how *how)
{
	static char stack[65536] __attribute__((aligned(64)));
	sigset_t all, before;
	pid_t pid;
	int save;

	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &before) == -1)
		return -1;
	pid = clone(spawn_child, stack + sizeof(stack),
	    CLONE_VM | CLONE_VFORK | SIGCHLD, how);
	save = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	errno = save;
	return pid;
}

int
spawn_start(const struct spawn *s, struct spawned *out)
{
	struct spawn now = *s;
	struct spawn_how how = {.s = &now, .parent = getpid()};
	int pipefd[2], save, kept;
	pid_t pid;

	if (s->nfds > SPAWN_MAX_FDS) {
		errno = EINVAL;
		return -1;
	}
	if (!spawn_env.known) {
		if (spawn_know() == -1)
			return -1;
		(void)umask(spawn_env.umask);
	}
	if (!s->by_fd && (kept = kept_find(s->path)) != -1) {
		now.by_fd = true;
		now.exec = kept;
	}
	if (pipe2(pipefd, O_CLOEXEC) == -1)
		return -1;
	how.status = pipefd[1];
	pid = spawn_clone(&how);
	save = errno;
	close(pipefd[1]);
	if (pid == -1) {
		close(pipefd[0]);
		errno = save;
		return -1;
	}
	out->pid = pid;
	out->status = pipefd[0];
	/* The child is not reaped yet, so the id is still its own. */
	out->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (out->pidfd == -1)
		fatal("pidfd_open: needs Linux 5.13 or later");
	return 0;
}

int
spawn_check(struct spawned *sp)
{
	struct spawn_word word = {AT_EXEC, 0};
	ssize_t n;

	do {
		n = read(sp->status, &word, sizeof(word));
	} while (n == -1 && errno == EINTR);
	close(sp->status);
	sp->status = -1;
	if (n == 0)
		return 0;
	spawn_last = n == (ssize_t)sizeof(word) ? spawn_steps[word.at] : "";
	errno = n == (ssize_t)sizeof(word) ? word.error : EIO;
	return -1;
}

const char *
spawn_step(void)
{
	return spawn_last;
}

int
spawn_reap(int pidfd, bool wait, int *code, int *status)
{
	siginfo_t si;
	int rv;

	memset(&si, 0, sizeof(si));
	do {
		rv = waitid(
		    P_PIDFD, (id_t)pidfd, &si, WEXITED | (wait ? 0 : WNOHANG));
	} while (rv == -1 && errno == EINTR);
	if (rv == -1)
		return -1;
	if (si.si_pid == 0)
		return 0;
	*code = si.si_code;
	*status = si.si_status;
	return 1;
}

void
spawn_stop(struct spawned *sp, int ms)
{
	struct pollfd p = {.fd = sp->pidfd, .events = POLLIN};
	int code, status;

	if (sp->pidfd != -1) {
		if (ms != 0)
			(void)syscall(
			    SYS_pidfd_send_signal, sp->pidfd, SIGTERM, NULL, 0);
		if (ms == 0 || poll(&p, 1, ms) != 1)
			(void)syscall(
			    SYS_pidfd_send_signal, sp->pidfd, SIGKILL, NULL, 0);
		(void)spawn_reap(sp->pidfd, true, &code, &status);
		close(sp->pidfd);
	}
	if (sp->status != -1)
		close(sp->status);
	*sp = (struct spawned)SPAWNED_INIT;
}

const char *
spawn_describe(int code, int status, char *dst, size_t cap)
{
	const char *name;

	if (code == CLD_EXITED) {
		snprintf(dst, cap, "exited with status %d", status);
	} else {
		name = sigabbrev_np(status);
		if (name == NULL)
			snprintf(dst, cap, "was killed by signal %d", status);
		else
			snprintf(dst, cap, "was killed by SIG%s%s", name,
			    status != SIGSYS ? ""
					     : " (a system call outside "
					       "its promises)");
	}
	return dst;
}

int
spawn_status(int code, int status)
{
	return code == CLD_EXITED ? status : 128 + status;
}
