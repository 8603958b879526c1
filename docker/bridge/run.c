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

#include "common/bridge_frames.h"

#define POLL_SIGNALS 0
#define POLL_LISTENER 1
#define POLL_SESSION 2
#define POLL_TERMINAL 3
#define POLL_PAIRS (POLL_TERMINAL + TERMINAL_POLLS)

static struct {
	struct pollfd polls[POLL_PAIRS + PAIRS_POLLS + PUBLISH_POLLS +
			    SERVICES_POLLS];
	int listener, signals, session;
	sigset_t old; /* the command's signal mask */
	pid_t command;
	int status; /* the command's; -1 while it runs */
	struct turn turn;
	bool swept;         /* leftovers of the turn were killed */
	unsigned leftovers; /* the number of those processes */
} run_env;

/* Reap children, and see whether the command has stopped. */
static void
reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != run_env.command) {
			health_reaped(pid, status);
			run_env.leftovers += run_env.swept;
			continue;
		}
		if (WIFSTOPPED(status)) {
			stopped_begin(pid, terminal_stopped());
			continue;
		}
		stopped_gone();
		run_env.status = WIFEXITED(status) ? WEXITSTATUS(status)
						   : 128 + WTERMSIG(status);
	}
}

static void
command_start(const struct run *r, char **argv)
{
	pid_t pid;

	terminal_lead();
	if ((pid = fork()) == -1)
		bridge_die("fork");
	if (pid == 0) {
		/*
		 * Start it as a shell does: ignored signals would survive exec.
		 */
		signal(SIGPIPE, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		sigprocmask(SIG_SETMASK, &run_env.old, NULL);
		if (terminal_child() == -1)
			bridge_die("terminal");
		limits_apply(&r->limits);
		execvp(argv[0], argv);
		fprintf(
		    stderr, "ic-bridge: %s: %s\n", argv[0], strerror(errno));
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
	stopped_end();
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

/* Kill everything in the sandbox but this process, which is process 1. */
static void
sweep(void)
{
	(void)kill(getpid() == 1 ? -1 : -run_env.command, SIGKILL);
	run_env.swept = true;
}

/* Go on with a turn whose command has ended. Returns false as turns_ended(). */
static bool
turn_go(void)
{
	struct turn *t = &run_env.turn;
	bool keep = (t->flags & BRIDGE_TURN_KEEP) != 0;
	siginfo_t si;

	if (t->number == 0 || run_env.status == -1)
		return true;
	if (!keep && !run_env.swept) {
		sweep();
		reap();
	}
	/* Each that was killed becomes a child of process 1, and is reaped. */
	if (!keep && waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0)
		return true;
	if (terminal_pending())
		return true;
	terminal_turn_end(t->number);
	return turns_ended(
	    run_env.session, t, run_env.status, run_env.leftovers);
}

/* Read what icsupervisor says. Returns false when the session has ended. */
static bool
turn_read(const struct run *r)
{
	uint32_t before = run_env.turn.number;
	int sig;

	if (!turns_read(run_env.session, &run_env.turn, &sig))
		return false;
	if (run_env.turn.number != before) {
		run_env.swept = false;
		run_env.leftovers = 0;
		if (terminal_turn(run_env.turn.input) == -1)
			bridge_die("terminal");
		command_start(r, run_env.turn.argv);
	}
	if (sig == SIGKILL && run_env.status == -1)
		sweep();
	else if (sig != 0 && run_env.status == -1) {
		(void)kill(-run_env.command, sig);
		stopped_end();
	}
	return true;
}

/* Returns false when the session has ended. */
static bool
session_read(const struct run *r, short revents)
{
	if (run_env.session == -1)
		return true;
	if (r->turns)
		return (revents == 0 || turn_read(r)) && turn_go();
	return revents == 0 || !session_over();
}

/* Returns how long poll() may wait, in ms, or -1 for no limit. */
static int
run_timeout(void)
{
	int all[] = {terminal_timeout(), publish_timeout(), stopped_timeout()};
	int least = -1;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] != -1 && (least == -1 || all[i] < least))
			least = all[i];
	return least;
}

static int
run_loop(const struct run *r)
{
	struct pollfd *p = run_env.polls;
	nfds_t n, services;

	while (r->turns || run_env.status == -1 || terminal_pending()) {
		p[POLL_SIGNALS] =
		    (struct pollfd){.fd = run_env.signals, .events = POLLIN};
		p[POLL_LISTENER] =
		    (struct pollfd){.fd = run_env.listener, .events = POLLIN};
		p[POLL_SESSION] =
		    (struct pollfd){.fd = run_env.session, .events = POLLIN};
		n = POLL_TERMINAL + terminal_poll(p + POLL_TERMINAL);
		n += pairs_poll(p, n);
		n += publish_poll(p, n);
		services = n;
		n += services_poll(p + services);
		if (poll(p, n, run_timeout()) == -1) {
			if (errno != EINTR)
				bridge_die("poll");
			continue;
		}
		if (p[POLL_SIGNALS].revents != 0)
			take_signals();
		if (!session_read(r, p[POLL_SESSION].revents)) {
			if (run_env.status != -1 && !r->turns)
				return run_env.status;
			if (run_env.turn.number == 0)
				return BRIDGE_EXIT_SESSION;
			(void)kill(run_env.command, SIGTERM);
			stopped_end();
			return BRIDGE_EXIT_SESSION;
		}
		stopped_move();
		terminal_move(p + POLL_TERMINAL);
		pairs_move(p);
		publish_move(p);
		if (r->service && publish_lost())
			return BRIDGE_EXIT_SESSION;
		services_move(p + services, n - services);
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

	run_env.session = run_env.listener = -1;
	if (r->service) {
		/* Its connections end with the session. */
		publish_await();
		return publish_target(r->where);
	}
	if (r->supervised)
		run_env.session = bridge_session_open(
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
	if (r->publish &&
	    publish_target(socket_path(r, "publish.sock", path)) == -1)
		bridge_die(path);
	if (r->services)
		services_open(socket_path(r, "services.sock", path));
	if (r->agent && bridge_terminal_open(&r->terminal,
			    socket_path(r, "terminal.sock", path)) == -1)
		bridge_die(path);
	return 0;
}

int
run_command(const struct run *r)
{
	struct rlimit rl;
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	if (r->own_network)
		own_network();
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
	if (sigprocmask(SIG_BLOCK, &set, &run_env.old) == -1 ||
	    (run_env.signals =
		    signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1)
		bridge_die("signalfd");
	if (!r->turns)
		command_start(r, r->argv);
	/*
	 * Each connection needs two descriptors.  The command keeps its own
	 * limit.
	 */
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	return run_loop(r);
}
