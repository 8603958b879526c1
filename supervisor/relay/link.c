/* SPDX-License-Identifier: ISC */
/*
 * The link to the first viewer. It holds a socket and, if icsupervisor was
 * started directly, the viewer's process. Only single bytes are ever
 * read from the socket: the person detached, or the editor has ended.
 */
#include "relay/link.h"

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/wordlist.h"
#include "credential/handover.h"
#include "relay/viewer_how.h"
#include "box/runtime.h"
#include "core/sup.h"

#define LINK_DETACHED 'D'
#define LINK_EDITOR_ENDED 'E'
#define LINK_CHANNEL "V"
#define LINK_READY "R"

static struct {
	struct viewer_how how;
	bool own; /* the viewer is icsupervisor's child */
	int fd, theirs;
	struct loop_io io;
	struct spawned viewer;
	int stderr_saved; /* saved while the viewer shows messages */
} link_env = {.fd = -1,
    .theirs = -1,
    .io = LOOP_IO_INIT,
    .viewer = SPAWNED_INIT,
    .stderr_saved = -1};

/* Parse --viewer "10:lines,raw-out": the descriptor was inherited. */
static int
link_given(const char *text, struct fault *fault)
{
	struct stat st;
	char *end;
	long fd = strtol(text, &end, 10);

	if (end == text || *end != ':' || fd < 3 || fd > 1024 ||
	    viewer_how_parse(&link_env.how, end + 1) == -1 ||
	    fstat((int)fd, &st) == -1 || !S_ISSOCK(st.st_mode))
		return fault_set(fault,
		    "--viewer is used only by `icctl start`, which starts "
		    "icsupervisor");
	link_env.fd = (int)fd;
	if (fcntl(link_env.fd, F_SETFD, FD_CLOEXEC) == -1 ||
	    fcntl(link_env.fd, F_SETFL, O_NONBLOCK) == -1)
		return fault_errno(fault, "--viewer");
	return 0;
}

int
link_prepare(struct fault *fault)
{
	int pair[2];

	if (sup.opt.viewer != NULL) {
		if (link_given(sup.opt.viewer, fault) == -1)
			return -1;
	} else if (sup.opt.conversation) {
		/* People talk to it through the control socket. */
		sup.terminal.turns = sup.adapter.talk.format;
		if (sup.opt.command != NULL ||
		    sup.terminal.turns == PROTO_TURNS_NONE)
			sup.terminal.turns = PROTO_TURNS_LINES;
		/* One pipe keeps the order of what is printed. */
		link_env.how.merge = sup.terminal.turns == PROTO_TURNS_LINES;
		return 0;
	} else if (sup.opt.runtime != RUNTIME_NONE) {
		if (sup.opt.acp)
			viewer_how_editor(&link_env.how);
		else
			viewer_how_find(&link_env.how, sup.opt.task != NULL);
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			pair) == -1 ||
		    fcntl(pair[0], F_SETFL, O_NONBLOCK) == -1)
			return fault_errno(fault, "viewer");
		link_env.fd = pair[0];
		link_env.theirs = pair[1];
		link_env.own = true;
	}
	sup.terminal.screen = link_env.how.screen;
	sup.terminal.raw_out = link_env.how.raw[0];
	sup.terminal.raw_err = link_env.how.raw[1];
	sup.terminal.wait = true;
	if (link_env.how.screen) {
		sup.terminal.rows =
		    (uint16_t)(link_env.how.rows < PROTO_MAX_ROWS
				   ? link_env.how.rows
				   : PROTO_MAX_ROWS);
		sup.terminal.cols =
		    (uint16_t)(link_env.how.cols < PROTO_MAX_COLS
				   ? link_env.how.cols
				   : PROTO_MAX_COLS);
	}
	return 0;
}

void
link_bridge_options(struct wordlist *options)
{
	if (link_env.how.screen) {
		wordlist_add(options, "--pty");
	} else {
		wordlist_add(options, "--pipes");
		if (link_env.how.input)
			wordlist_add(options, "--input");
		if (link_env.how.merge)
			wordlist_add(options, "--merge");
	}
}

bool
link_has_screen(void)
{
	return link_env.how.screen;
}

/* Connect the viewer to termd, which was started or restarted. */
static void
link_offer(void)
{
	struct fault fault;
	int fd;

	if (link_env.fd == -1)
		return;
	if ((fd = terminal_viewer(true, true, &fault)) == -1) {
		sup_warn("the viewer: %s", fault.text);
		return;
	}
	if (handover_send(link_env.fd, LINK_CHANNEL, 1, fd) == -1)
		sup_note("the viewer did not accept its channel: "
			 "%s", strerror(errno));
	close(fd);
}

static void
link_close(void)
{
	loop_del(&sup.loop, &link_env.io);
	if (link_env.fd != -1)
		close(link_env.fd);
	link_env.fd = -1;
}

static void
link_ready(struct loop_io *io, uint32_t events)
{
	char byte = '\0';
	ssize_t n;

	n = recv(link_env.fd, &byte, 1, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && byte == LINK_EDITOR_ENDED) {
		end_request(SUP_EXIT_OK, NULL, "the editor has ended");
		return;
	}
	link_close();
	if (n == 1 && byte == LINK_DETACHED) {
		sup_note("the viewer detached");
		return;
	}
	if (link_env.own)
		end_request(SUP_EXIT_FAILED, NULL, "the viewer ended");
	else
		end_request(
		    128 + SIGHUP, NULL, "the terminal of icctl start is gone");
}

/*
 * Redirect icsupervisor's messages to the viewer, as they would garble the
 * agent's screen. Returns the end that the viewer reads, or -1 if there is no
 * redirection.
 */
static int
link_says(struct fault *fault)
{
	int p[2];

	if (!link_env.how.screen || !isatty(STDERR_FILENO))
		return -1;
	if (pipe2(p, O_CLOEXEC) == -1) {
		fault_errno(fault, "viewer");
		return -1;
	}
	link_env.stderr_saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	(void)dup2(p[1], STDERR_FILENO);
	close(p[1]);
	return p[0];
}

static int
link_spawn(struct fault *fault)
{
	char how[VIEWER_HOW_TEXT], *envp[VIEWER_HOW_ENV + 1];
	char program[] = "icctl", command[] = VIEWER_HOW_COMMAND, none[] = "0";
	char *argv[] = {
	    program, command, none, how, sup.session.id, sup.session.dir, NULL};
	struct spawn s = {.argv = argv,
	    .envp = envp,
	    .fds = {0, 1, 2},
	    .nfds = 5,
	    .worker = true};
	char *path;
	int rv = 0;

	if ((path = paths_join(sup.paths.bindir, "icctl")) == NULL)
		return fault_errno(fault, "viewer");
	link_env.how.key = sup.config.answer_key;
	viewer_how_text(&link_env.how, how);
	viewer_how_environment(envp);
	s.path = path;
	s.fds[2] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	s.fds[3] = link_env.theirs;
	s.fds[4] = link_says(fault);
	if (spawn_start(&s, &link_env.viewer) == -1 ||
	    spawn_check(&link_env.viewer) == -1)
		rv = fault_errno(fault, "%s", path);
	close(s.fds[2]);
	if (s.fds[4] != -1)
		close(s.fds[4]);
	close(link_env.theirs);
	link_env.theirs = -1;
	free(path);
	return rv;
}

int
link_start(struct fault *fault)
{
	if (link_env.fd == -1)
		return 0;
	if (link_env.own && link_spawn(fault) == -1)
		return -1;
	if (loop_add(&sup.loop, &link_env.io, link_env.fd, EPOLLIN, link_ready,
		NULL) == -1)
		return fault_errno(fault, "viewer");
	/*
	 * Without an agent there is no terminal, but the viewer still shows
	 * pending calls.
	 */
	if (sup.opt.runtime == RUNTIME_NONE) {
		(void)send(link_env.fd, LINK_READY, 1, MSG_NOSIGNAL);
		return 0;
	}
	sup.terminal.again = link_offer;
	link_offer();
	return 0;
}

bool
link_has_pid(pid_t pid)
{
	return link_env.viewer.pid == pid;
}

/* Returns true if a signal other than SIGCHLD arrived. */
static bool
link_signaled(void)
{
	struct signalfd_siginfo si;

	while (read(sup.signal_io.fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo != SIGCHLD)
			return true;
	return false;
}

/* Wait for the viewer to end. Returns early on a signal. */
static bool
link_wait(int ms)
{
	struct pollfd p[2] = {{.fd = link_env.viewer.pidfd, .events = POLLIN},
	    {.fd = sup.signal_io.fd, .events = POLLIN}};
	uint64_t until = clock_mono_us() / 1000 + (uint64_t)(ms < 0 ? 0 : ms);
	uint64_t now;

	for (;;) {
		now = clock_mono_us() / 1000;
		if (ms >= 0 && now >= until)
			return false;
		if (poll(p, 2, ms < 0 ? -1 : (int)(until - now)) == -1 &&
		    errno != EINTR)
			return false;
		if (p[0].revents != 0)
			return true;
		if (p[1].revents != 0 && link_signaled())
			return false;
	}
}

void
link_end(int ms)
{
	link_close();
	if (link_env.stderr_saved != -1) {
		(void)dup2(link_env.stderr_saved, STDERR_FILENO);
		close(link_env.stderr_saved);
		link_env.stderr_saved = -1;
	}
	if (link_env.viewer.pidfd == -1)
		return;
	(void)link_wait(ms);
	spawn_stop(&link_env.viewer, 0);
}
