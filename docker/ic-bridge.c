/* SPDX-License-Identifier: ISC */
/*
 * ic-bridge runs inside the agent's sandbox and is not trusted with anything:
 * it carries bytes between what agents can speak (a TCP proxy on 127.0.0.1,
 * an MCP server's stdio) and the two sockets of the session.
 *
 *   ic-bridge run [--listen ADDRESS:PORT] DIR -- COMMAND...
 *   ic-bridge egress [--listen ADDRESS:PORT] SOCKET -- COMMAND...
 *   ic-bridge stdio PATH
 *
 * `run` starts the command, reaps whatever the sandbox leaves it (it is
 * process 1 there), and ends with the command's status, or when the session
 * does: it holds one connection to DIR/proxy.sock for that.  `egress` does the
 * same around an MCP server that may reach named hosts: SOCKET is its egressd.
 * Static, libc only, so that any container can run it.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAIRS_MAX 1280U /* as many as mitmd takes */
#define PIPE_SIZE 65536U
#define EXIT_USAGE 2
#define EXIT_SESSION 125 /* the session ended before the command */

/* One direction: bytes read from `from` that `to` has not taken yet. */
struct flow {
	int from, to;
	size_t off, len;
	bool eof;  /* from has no more */
	bool done; /* and to was told so */
	uint8_t bytes[PIPE_SIZE];
};

struct pair {
	size_t at; /* of its two in polls; 0: not there yet */
	struct flow a, b;
};

static struct {
	struct pair *pairs[PAIRS_MAX];
	struct pollfd polls[2 * PAIRS_MAX + 4];
	char mitm[sizeof(((struct sockaddr_un *)0)->sun_path)];
} bridge_env;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "ic-bridge: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
usage(FILE *to)
{
	fputs("usage: ic-bridge run [--listen ADDRESS:PORT] DIR -- COMMAND...\n"
	      "       ic-bridge egress [--listen ADDRESS:PORT] SOCKET -- "
	      "COMMAND...\n"
	      "       ic-bridge stdio PATH\n\n"
	      "run    forward 127.0.0.1:18080 to DIR/mitm-proxy.sock while "
	      "COMMAND runs\n"
	      "egress forward 127.0.0.1:18080 to SOCKET while COMMAND runs\n"
	      "stdio  connect stdin and stdout to the socket PATH (for MCP "
	      "configurations)\n",
	    to);
}

static int
misused(const char *what)
{
	fprintf(stderr, "ic-bridge: %s\n", what);
	usage(stderr);
	return EXIT_USAGE;
}

static int
unix_connect(const char *path, int flags)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(sun.sun_path, path, strlen(path) + 1);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)) == -1)
		return -1;
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Moves what can be moved now. false: the flow broke. */
static bool
flow_move(struct flow *f)
{
	ssize_t n;

	if (f->len == 0 && !f->eof) {
		f->off = 0;
		n = read(f->from, f->bytes, sizeof(f->bytes));
		if (n == 0)
			f->eof = true;
		else if (n > 0)
			f->len = (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return false;
	}
	if (f->len != 0) {
		n = write(f->to, f->bytes + f->off, f->len);
		if (n > 0) {
			f->off += (size_t)n;
			f->len -= (size_t)n;
		} else if (n == -1 && errno != EAGAIN && errno != EINTR)
			return false;
	}
	if (f->len == 0 && f->eof && !f->done) {
		/* Half-closed: the other direction goes on. */
		f->done = true;
		if (shutdown(f->to, SHUT_WR) == -1 && errno == ENOTSOCK)
			close(f->to);
	}
	return true;
}

static void
pair_close(size_t i)
{
	struct pair *p = bridge_env.pairs[i];

	close(p->a.from);
	close(p->a.to);
	free(p);
	bridge_env.pairs[i] = NULL;
}

/* An agent's connection to the proxy: one of ours to mitmd. */
static void
pair_accept(int listener)
{
	int in, out, one = 1;
	struct pair *p;
	size_t i;

	if ((in = accept4(
		 listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) == -1)
		return;
	for (i = 0; i < PAIRS_MAX && bridge_env.pairs[i] != NULL; i++)
		continue;
	if (i == PAIRS_MAX ||
	    (out = unix_connect(bridge_env.mitm, SOCK_NONBLOCK)) == -1) {
		close(in);
		return;
	}
	if ((p = calloc(1, sizeof(*p))) == NULL) {
		close(in);
		close(out);
		return;
	}
	setsockopt(in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	p->a.from = p->b.to = in;
	p->a.to = p->b.from = out;
	bridge_env.pairs[i] = p;
}

static short
flow_wants(const struct flow *f, int fd)
{
	short events = 0;

	if (fd == f->from && f->len == 0 && !f->eof)
		events |= POLLIN;
	if (fd == f->to && f->len != 0)
		events |= POLLOUT;
	return events;
}

static int
listen_on(const char *where)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	const char *colon = strrchr(where, ':');
	char host[64];
	int fd, one = 1;
	long port;

	if (colon == NULL || (size_t)(colon - where) >= sizeof(host) ||
	    (port = strtol(colon + 1, NULL, 10)) <= 0 || port > 65535) {
		errno = EINVAL;
		return -1;
	}
	memcpy(host, where, (size_t)(colon - where));
	host[colon - where] = '\0';
	sin.sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1) {
		errno = EINVAL;
		return -1;
	}
	if ((fd = socket(
		 AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 64) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Reaps; returns the command's exit status once it ended, else -1. */
static int
reap(pid_t command)
{
	int status, result = -1;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		result = WIFEXITED(status) ? WEXITSTATUS(status)
					   : 128 + WTERMSIG(status);
	}
	return result;
}

static pid_t
command_start(char **argv, const sigset_t *old)
{
	pid_t pid = fork();

	if (pid == -1)
		die("fork");
	if (pid == 0) {
		/* As a shell starts it: ignored signals outlive exec. */
		signal(SIGPIPE, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		sigprocmask(SIG_SETMASK, old, NULL);
		execvp(argv[0], argv);
		fprintf(
		    stderr, "ic-bridge: %s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	return pid;
}

/* Returns the command's status when signals say that it ended, else -1. */
static int
take_signals(int fd, pid_t command)
{
	struct signalfd_siginfo si;
	int status = -1;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			status = reap(command);
		else if (si.ssi_code != SI_KERNEL)
			/* A terminal's own have reached the command already. */
			kill(command, (int)si.ssi_signo);
		if (status != -1)
			break;
	}
	return status;
}

/* We never ask anything on this connection: it only has to end with us. */
static bool
session_over(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT);

	return n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR);
}

/* Can the flow go on, by what poll saw at its ends? */
static bool
flow_ready(short from, short to)
{
	return (from & ~POLLOUT) != 0 || (to & ~POLLIN) != 0;
}

static void
move_pairs(void)
{
	for (size_t i = 0; i < PAIRS_MAX; i++) {
		struct pair *p = bridge_env.pairs[i];
		short in, out;

		if (p == NULL || p->at == 0)
			continue;
		in = bridge_env.polls[p->at].revents;
		out = bridge_env.polls[p->at + 1].revents;
		if ((flow_ready(in, out) && !flow_move(&p->a)) ||
		    (flow_ready(out, in) && !flow_move(&p->b)) ||
		    (p->a.done && p->b.done))
			pair_close(i);
	}
}

static int
run_loop(int listener, int signals, int session, pid_t command)
{
	struct pollfd *p = bridge_env.polls;
	nfds_t n;
	int status;

	for (;;) {
		n = 0;
		p[n++] = (struct pollfd){.fd = signals, .events = POLLIN};
		p[n++] = (struct pollfd){.fd = listener, .events = POLLIN};
		p[n++] = (struct pollfd){.fd = session, .events = POLLIN};
		for (size_t i = 0; i < PAIRS_MAX; i++) {
			struct pair *c = bridge_env.pairs[i];

			if (c == NULL)
				continue;
			c->at = n;
			for (int side = 0; side < 2; side++) {
				int fd = side == 0 ? c->a.from : c->a.to;
				short want = (short)(flow_wants(&c->a, fd) |
						     flow_wants(&c->b, fd));

				/* A closed side would report itself for ever.
				 */
				p[n++] = (struct pollfd){
				    .fd = want == 0 ? -1 : fd, .events = want};
			}
		}
		if (poll(p, n, -1) == -1 && errno != EINTR)
			die("poll");
		if (p[0].revents != 0 &&
		    (status = take_signals(signals, command)) != -1)
			return status;
		if (session != -1 && p[2].revents != 0 &&
		    session_over(session)) {
			kill(command, SIGTERM);
			return EXIT_SESSION;
		}
		move_pairs();
		if (p[1].revents != 0)
			pair_accept(listener);
	}
}

static int
cmd_run(int argc, char **argv, bool agent)
{
	const char *where = "127.0.0.1:18080";
	char path[sizeof(bridge_env.mitm)];
	int i = 0, listener, signals, session = -1, n;
	struct rlimit rl;
	sigset_t set, old;
	pid_t command;

	if (i + 1 < argc && strcmp(argv[i], "--listen") == 0) {
		where = argv[i + 1];
		i += 2;
	}
	if (argc - i < 3 || strcmp(argv[i + 1], "--") != 0)
		return misused(
		    agent ? "run needs a directory, --, and a command"
			  : "egress needs a socket, --, and a command");
	n = snprintf(bridge_env.mitm, sizeof(bridge_env.mitm), "%s%s", argv[i],
	    agent ? "/mitm-proxy.sock" : "");
	if (n < 0 || (size_t)n >= sizeof(bridge_env.mitm)) {
		errno = ENAMETOOLONG;
		die(argv[i]);
	}
	snprintf(path, sizeof(path), "%s/proxy.sock", argv[i]);
	signal(SIGPIPE, SIG_IGN);
	if ((listener = listen_on(where)) == -1 && errno == EINVAL)
		return misused("--listen takes ADDRESS:PORT, as "
			       "127.0.0.1:18080");
	if (listener == -1)
		die(where);
	/* A server ends with its stdin; an agent needs to be told. */
	if (agent && (session = unix_connect(path, SOCK_NONBLOCK)) == -1)
		die(path);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &set, &old) == -1 ||
	    (signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1)
		die("signalfd");
	command = command_start(argv + i + 2, &old);
	/* Two a connection. The command keeps what it was given. */
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	return run_loop(listener, signals, session, command);
}

static int
cmd_stdio(const char *path)
{
	static struct flow in, out;
	struct pollfd p[2];
	int fd;

	if ((fd = unix_connect(path, 0)) == -1)
		die(path);
	signal(SIGPIPE, SIG_IGN);
	/* Blocking on purpose: poll says who has bytes, a write may wait. */
	in.from = STDIN_FILENO;
	in.to = out.from = fd;
	out.to = STDOUT_FILENO;
	while (!out.done) {
		p[0] = (struct pollfd){
		    .fd = in.eof ? -1 : STDIN_FILENO, .events = POLLIN};
		p[1] = (struct pollfd){.fd = fd, .events = POLLIN};
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			die("poll");
		if ((p[0].revents != 0 && !flow_move(&in)) ||
		    (p[1].revents != 0 && !flow_move(&out)))
			return 1;
		/* What a short write left. */
		while (in.len != 0 || out.len != 0) {
			if ((in.len != 0 && !flow_move(&in)) ||
			    (out.len != 0 && !flow_move(&out)))
				return 1;
		}
	}
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
		usage(stdout);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "stdio") == 0)
		return cmd_stdio(argv[2]);
	if (argc >= 3 && strcmp(argv[1], "run") == 0)
		return cmd_run(argc - 2, argv + 2, true);
	if (argc >= 3 && strcmp(argv[1], "egress") == 0)
		return cmd_run(argc - 2, argv + 2, false);
	return misused(argc < 2 ? "what shall it do?"
				: "it knows `run`, `egress` and `stdio PATH`");
}
