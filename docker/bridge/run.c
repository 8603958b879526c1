/* SPDX-License-Identifier: ISC */
/*
 * The command: its start, its signals, its end, and the loop that serves the
 * TCP listener and the command's terminal meanwhile.
 */
#include "bridge.h"

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POLL_SIGNALS 0
#define POLL_LISTENER 1
#define POLL_SESSION 2
#define POLL_TERMINAL 3
#define POLL_PAIRS (POLL_TERMINAL + TERMINAL_POLLS)

static struct {
	struct pollfd polls[POLL_PAIRS + PAIRS_POLLS];
	int listener, signals, session;
	pid_t command;
	int status; /* the command's; -1 while it runs */
} run_env;

/* Reap children.  A stopped command is continued, because nobody else would. */
static void
reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != run_env.command)
			continue;
		if (WIFSTOPPED(status))
			(void)kill(-pid, SIGCONT);
		else
			run_env.status = WIFEXITED(status)
					     ? WEXITSTATUS(status)
					     : 128 + WTERMSIG(status);
	}
}

static void
command_start(const struct run *r, const sigset_t *old)
{
	pid_t pid = fork();

	if (pid == -1)
		bridge_die("fork");
	if (pid == 0) {
		/*
		 * Start it as a shell does: ignored signals would survive exec.
		 */
		signal(SIGPIPE, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		sigprocmask(SIG_SETMASK, old, NULL);
		if (terminal_child() == -1)
			bridge_die("terminal");
		limits_apply(&r->limits);
		execvp(r->argv[0], r->argv);
		fprintf(
		    stderr, "ic-bridge: %s: %s\n", r->argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	run_env.command = pid;
	run_env.status = -1;
	terminal_started(pid);
}

/*
 * Pass a signal on to the command.  Process 1 of a sandbox passes SIGTERM on to
 * every process in it.
 */
static void
pass_signal(int sig)
{
	(void)kill(sig == SIGTERM && getpid() == 1 ? -1 : run_env.command, sig);
}

static void
take_signals(void)
{
	struct signalfd_siginfo si;

	while (read(run_env.signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			reap();
		else if (si.ssi_code != SI_KERNEL && run_env.status == -1)
			/*
			 * The terminal's own signals have reached the command
			 * already.
			 */
			pass_signal((int)si.ssi_signo);
	}
}

/*
 * Returns true if the session has ended.  Nothing more is sent on this
 * connection; it only has to end when the session does.
 */
static bool
session_over(void)
{
	char c;
	ssize_t n = recv(run_env.session, &c, 1, MSG_DONTWAIT);

	return n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR);
}

static int
run_loop(void)
{
	struct pollfd *p = run_env.polls;
	nfds_t n;

	while (run_env.status == -1 || terminal_pending()) {
		p[POLL_SIGNALS] =
		    (struct pollfd){.fd = run_env.signals, .events = POLLIN};
		p[POLL_LISTENER] =
		    (struct pollfd){.fd = run_env.listener, .events = POLLIN};
		p[POLL_SESSION] =
		    (struct pollfd){.fd = run_env.session, .events = POLLIN};
		n = POLL_TERMINAL + terminal_poll(p + POLL_TERMINAL);
		n += pairs_poll(p, n);
		if (poll(p, n, terminal_timeout()) == -1) {
			if (errno != EINTR)
				bridge_die("poll");
			continue;
		}
		if (p[POLL_SIGNALS].revents != 0)
			take_signals();
		if (run_env.session != -1 && p[POLL_SESSION].revents != 0 &&
		    session_over()) {
			if (run_env.status != -1)
				return run_env.status;
			(void)kill(run_env.command, SIGTERM);
			return BRIDGE_EXIT_SESSION;
		}
		terminal_move(p + POLL_TERMINAL);
		pairs_move(p);
		if (p[POLL_LISTENER].revents != 0)
			pairs_accept(run_env.listener);
	}
	return run_env.status;
}

/* Compose DIR/NAME, or `where` itself; exits if the path is too long. */
static const char *
socket_path(const struct run *r, const char *name, char path[BRIDGE_PATH])
{
	int n = snprintf(path, BRIDGE_PATH, "%s%s%s", r->where,
	    r->agent ? "/" : "", r->agent ? name : "");

	if (n < 0 || (size_t)n >= BRIDGE_PATH) {
		errno = ENAMETOOLONG;
		bridge_die(r->where);
	}
	return path;
}

/*
 * Open the listener, the connection that ends with the session, and the
 * terminal.
 */
static int
run_open(const struct run *r)
{
	char path[BRIDGE_PATH];

	run_env.session = -1;
	if (r->supervised)
		run_env.session = session_open(
		    socket_path(r, "bridge.sock", path), &r->limits);
	if (pairs_target(socket_path(r, "mitm-proxy.sock", path)) == -1)
		bridge_die(r->where);
	if ((run_env.listener = pairs_listen(r->listen)) == -1) {
		if (errno == EINVAL)
			return -1;
		bridge_die(r->listen);
	}
	/*
	 * A server ends with its stdin; an agent needs a connection that ends.
	 */
	if (r->agent && !r->supervised &&
	    (run_env.session = unix_connect(
		 socket_path(r, "proxy.sock", path), SOCK_NONBLOCK)) == -1)
		bridge_die(path);
	if (r->agent && terminal_open(&r->terminal,
			    socket_path(r, "terminal.sock", path)) == -1)
		bridge_die(path);
	return 0;
}

int
run_command(const struct run *r)
{
	struct rlimit rl;
	sigset_t set, old;

	signal(SIGPIPE, SIG_IGN);
	if (r->filter != NULL)
		setup_filter(r->filter);
	if (r->environment != NULL)
		setup_environment(r->environment);
	if (run_open(r) == -1)
		return -1;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &set, &old) == -1 ||
	    (run_env.signals =
		    signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1)
		bridge_die("signalfd");
	command_start(r, &old);
	/*
	 * Each connection needs two descriptors.  The command keeps its own
	 * limit.
	 */
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	return run_loop();
}
