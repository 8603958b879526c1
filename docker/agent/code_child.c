/* SPDX-License-Identifier: ISC */
/*
 * One process of node, for one program, without the rights that the sandbox
 * leaves to the agent: no other files than node's own, no socket, no other
 * process, little memory.  The sandbox is the boundary; this is the second
 * wall, so that a program cannot reach what the tools do not give it: the
 * workspace, the agent itself, the sockets of the session.
 */
#include "docker/agent/code_priv.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/unveil.h"
#include "common/wordlist.h"

#define CHILD_ARGS 24
/* Descriptors are moved above this before they get their numbers. */
#define CHILD_HIGH 32
#define CHILD_FILES 64U

struct child_plan {
	const char *list[CHILD_ARGS];
	char *const *argv;
	char text[4][48]; /* composed arguments */
	struct unveil_path paths[CODE_LIBS_MAX + 2];
	size_t npaths;
	struct code_filter filter;
	struct code_limits limits;
	int in, errors, channel, program;
	pid_t parent;
};

/* Say in which step the child failed; only async-signal-safe calls. */
static _Noreturn void
child_die(const char *step)
{
	const char *error = strerrordesc_np(errno);

	(void)!write(STDERR_FILENO, step, strlen(step));
	if (error != NULL)
		(void)!write(STDERR_FILENO, error, strlen(error));
	_exit(127);
}

static void
child_limit(int what, rlim_t max)
{
	struct rlimit old, new = {max, max};

	/* The sandbox's own limit may be lower. */
	if (getrlimit((__rlimit_resource_t)what, &old) == -1)
		child_die("limits: ");
	if (old.rlim_max < max)
		new.rlim_cur = new.rlim_max = old.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &new) == -1)
		child_die("limits: ");
}

static void
child_limits(const struct code_limits *limits)
{
	/* With 0 the kernel would still start a program of core_pattern. */
	child_limit(RLIMIT_CORE, 1);
	child_limit(RLIMIT_FSIZE, 0);
	child_limit(RLIMIT_NOFILE, CHILD_FILES);
	child_limit(RLIMIT_MEMLOCK, 0);
	/* Threads of node collect garbage meanwhile. */
	child_limit(RLIMIT_CPU, (rlim_t)limits->ms / 1000 * 4 + 4);
	child_limit(RLIMIT_DATA, (rlim_t)limits->data << 20);
}

static void
child_confine(struct child_plan *p)
{
	struct sock_fprog filter = {p->filter.len, p->filter.code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		child_die("no_new_privs: ");
	/* A kernel without Landlock has the filter, and node's own refusals. */
	if (unveil_apply(p->paths, p->npaths) == -1 && errno != ENOSYS &&
	    errno != EOPNOTSUPP)
		child_die("Landlock: ");
	if (syscall(SYS_close_range, CODE_EXEC_FD + 1, ~0U, 0) == -1)
		child_die("descriptors: ");
	p->filter.code[p->filter.self].k = (uint32_t)getpid();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == -1)
		child_die("the system-call filter: ");
}

static _Noreturn void
child_main(struct child_plan *p)
{
	static char *const nothing[] = {NULL};
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t none;

	p->errors = fcntl(p->errors, F_DUPFD_CLOEXEC, CHILD_HIGH);
	p->in = fcntl(p->in, F_DUPFD_CLOEXEC, CHILD_HIGH);
	p->channel = fcntl(p->channel, F_DUPFD_CLOEXEC, CHILD_HIGH);
	p->program = fcntl(p->program, F_DUPFD_CLOEXEC, CHILD_HIGH);
	if (dup2(p->errors, STDERR_FILENO) == -1)
		_exit(127);
	if (setpgid(0, 0) == -1 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1)
		child_die("process group: ");
	if (getppid() != p->parent)
		_exit(127);
	for (int i = 1; i < SIGRTMIN; i++)
		(void)sigaction(i, &sa, NULL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) == -1 || chdir("/") == -1)
		child_die("state: ");
	for (size_t i = 0; i < p->npaths; i++)
		if ((p->paths[i].fd = fcntl(
			 p->paths[i].fd, F_DUPFD_CLOEXEC, CHILD_HIGH)) == -1)
			child_die("descriptors: ");
	if (dup2(p->in, STDIN_FILENO) == -1 ||
	    dup2(p->errors, STDOUT_FILENO) == -1 ||
	    dup2(p->channel, CODE_CHANNEL_FD) == -1 ||
	    dup3(p->program, CODE_EXEC_FD, O_CLOEXEC) == -1)
		child_die("descriptors: ");
	child_limits(&p->limits);
	child_confine(p);
	(void)syscall(
	    SYS_execveat, CODE_EXEC_FD, "", p->argv, nothing, AT_EMPTY_PATH);
	child_die("node: ");
}

/*
 * Options that each supported release has, and those that the probe found. An
 * interpreter alone needs no memory that is both written and executed.
 */
static int
child_options(
    struct child_plan *p, const struct code_node *node)
{
	struct wordlist words = WORDLIST_IN(p->list);
	size_t t = 0;

	snprintf(p->text[t], sizeof(p->text[t]), "--max-old-space-size=%u",
	    p->limits.heap);
	wordlist_add(&words, "node");
	wordlist_add(&words, p->text[t++]);
	wordlist_all(&words,
	    (const char *const[]){"--jitless",
		"--disallow-code-generation-from-strings",
		"--no-addons", "--no-global-search-paths", "--no-warnings",
		"--unhandled-rejections=none", "--openssl-config=/dev/null",
		NULL});
	/* A test's script is to meet the kernel's refusals, not node's. */
	if (node->permission[0] != '\0' && p->limits.runner == NULL) {
		snprintf(
		    p->text[t], sizeof(p->text[t]), "%s", node->permission);
		wordlist_add(&words, p->text[t++]);
	}
	if (node->sigusr1)
		wordlist_add(&words, "--disable-sigusr1");
	wordlist_add(&words, "-e");
	wordlist_add(
	    &words, p->limits.runner != NULL ? p->limits.runner : code_runner);
	p->argv = wordlist_end(&words);
	return p->argv == NULL ? -1 : 0;
}

/* Open the files that node maps.  Returns 0, or -1 with errno set. */
static int
child_paths(struct child_plan *p, const struct code_node *node)
{
	static const char *const more[] = {"/etc/ld.so.cache", "/dev/null"};
	const char *name;
	int fd;

	for (size_t i = 0; i < node->nlibs + nitems(more); i++) {
		name = i < node->nlibs ? node->libs[i] : more[i - node->nlibs];
		fd = open(name, O_PATH | O_CLOEXEC);
		if (fd == -1 && i >= node->nlibs)
			continue;
		if (fd == -1)
			return -1;
		p->paths[p->npaths++] = (struct unveil_path){
		    fd, UNVEIL_READ | (i < node->nlibs ? UNVEIL_EXEC : 0)};
	}
	return 0;
}

static int
child_fork(struct child_plan *p, pid_t *pid)
{
	sigset_t all, old;

	/* No handler of the agent may run in the child. */
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
		return -1;
	p->parent = getpid();
	if ((*pid = fork()) == 0)
		child_main(p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (*pid == -1)
		return -1;
	/* Both sides do it, so that neither has to wait. */
	(void)setpgid(*pid, *pid);
	return 0;
}

int
code_child_start(const struct code_node *node,
    const struct code_limits *limits, struct code_child *out)
{
	struct child_plan *p;
	int pair[2] = {-1, -1}, errors[2] = {-1, -1}, r = -1, saved;
	pid_t pid;

	if ((p = calloc(1, sizeof(*p))) == NULL)
		return -1;
	p->limits = *limits;
	p->in = p->program = -1;
	code_filter_make(&p->filter);
	if (child_options(p, node) == -1 || child_paths(p, node) == -1 ||
	    (p->in = open("/dev/null", O_RDONLY | O_CLOEXEC)) == -1 ||
	    (p->program = open(node->path, O_PATH | O_CLOEXEC)) == -1 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1 ||
	    pipe2(errors, O_CLOEXEC) == -1 ||
	    fcntl(pair[0], F_SETFL, O_NONBLOCK) == -1 ||
	    fcntl(errors[0], F_SETFL, O_NONBLOCK) == -1)
		goto out;
	p->channel = pair[1];
	p->errors = errors[1];
	if (child_fork(p, &pid) == -1)
		goto out;
	*out = (struct code_child){pid, pair[0], errors[0]};
	pair[0] = errors[0] = -1;
	r = 0;
out:
	saved = errno;
	for (size_t i = 0; i < p->npaths; i++)
		close(p->paths[i].fd);
	for (size_t i = 0; i < 2; i++) {
		if (pair[i] != -1)
			close(pair[i]);
		if (errors[i] != -1)
			close(errors[i]);
	}
	if (p->in != -1)
		close(p->in);
	if (p->program != -1)
		close(p->program);
	free(p);
	errno = saved;
	return r;
}

int
code_child_end(struct code_child *child)
{
	int status = 0;

	(void)kill(-child->pid, SIGKILL);
	/* Before its setpgid() the child has no group of its own. */
	(void)kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) == -1 && errno == EINTR)
		continue;
	close(child->channel);
	close(child->errors);
	return status;
}
