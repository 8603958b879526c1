/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor: the trusted parent of one session. It reads the configuration,
 * creates the session directory, starts every worker, MCP server and agent,
 * gives each what it may have, shows pending calls to the user, and ends
 * everything together.
 *
 * It holds handles of its children, the control socket and the list of pending
 * calls. It receives messages from workers and requests from icctl; bytes of an
 * agent, a server or a provider reach it only through workers, limited and
 * checked. It must never see a credential that is not in its environment, a
 * tool call before it was decided, or a body. It is not dumpable. It uses
 * neither Landlock nor seccomp, because its children would inherit them.
 */
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/runtime.h"
#include "clone.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "core/sup.h"
#include "hub/notify.h"
#include "relay/link.h"
#include "unit/unit.h"

/* Reap orphans of our processes; those that we know have a pidfd. */
static void
reap_orphans(void)
{
	siginfo_t si;

	for (;;) {
		memset(&si, 0, sizeof(si));
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == -1 ||
		    si.si_pid == 0)
			return;
		for (unsigned i = 0; i < sup.nchildren; i++)
			if (sup.children[i].sp.pid == si.si_pid)
				return;
		for (unsigned i = 0; i < sup.nservers; i++)
			if (sup.servers[i].sp.pid == si.si_pid)
				return;
		for (unsigned i = 0; i < sup.providers.n; i++)
			if (sup.keys[i].cred.command.pid == si.si_pid)
				return;
		if (sup.agent.pid == si.si_pid || notify_pid() == si.si_pid ||
		    link_has_pid(si.si_pid) ||
		    sup.proxy.cred.command.pid == si.si_pid ||
		    instance_has_pid(si.si_pid) || clone_has_pid(si.si_pid))
			return;
		(void)waitpid(si.si_pid, NULL, WNOHANG);
	}
}

static void
on_signal(struct loop_io *io, uint32_t events)
{
	struct signalfd_siginfo si;

	while (read(io->fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			reap_orphans();
			stopped_look();
		} else
			end_stop((int)si.ssi_signo, "SIG%s",
			    sigabbrev_np((int)si.ssi_signo));
	}
}

static int
signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	/* Ctrl-\ must not end a session without its closing record. */
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	/* A file size limit should be an error of write(2), not kill us. */
	if (sigprocmask(SIG_SETMASK, &set, NULL) == -1 ||
	    signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    (fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1)
		return -1;
	return loop_add(
	    &sup.loop, &sup.signal_io, fd, EPOLLIN, on_signal, NULL);
}

/* Called first: no process may inspect us, and there is no core dump. */
static int
harden(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
		return -1;
	/* Sandboxes inherit it; their filters keep it as it is. */
	return confine_no_core();
}

/* Make sure that descriptors 0, 1 and 2 are open. */
static void
stdio_open(void)
{
	struct stat st;

	for (int fd = 0; fd < 3; fd++)
		/* open() returns the lowest free descriptor, which is `fd`. */
		if (fstat(fd, &st) == -1 &&
		    open("/dev/null", O_RDWR | O_NOCTTY) != fd)
			fatal("stdio");
}

int
main(int argc, char **argv)
{
	struct fault fault = {""};
	int status;

	log_init("icsupervisor", false);
	if (spawn_init() == -1) {
		log_warn("the limit on open files is too small for a session; "
			 "raise it (ulimit -Hn) to 1024 or more");
		return SUP_EXIT_OS;
	}
	if (harden() == -1)
		fatal("cannot become private");
	stdio_open();
	session_init(&sup.session);
	sup.listen_mcp = sup.listen_mitm = sup.workspace = -1;
	sup.agent = (struct spawned)SPAWNED_INIT;
	instances_init();
	terminal_init();
	sup.agent_io.fd = sup.signal_io.fd = -1;
	switch (options_parse(&sup.opt, argc, argv, &fault)) {
	case OPTIONS_RUN:
		break;
	case OPTIONS_DONE:
		return SUP_EXIT_OK;
	case OPTIONS_BAD:
		log_warnx("%s (icsupervisor --help)", fault.text);
		ready_notify_why(fault.text);
		if (sup.opt.session_dir != NULL)
			session_abandon(sup.opt.session_dir);
		return SUP_EXIT_USAGE;
	}
	if (sup.opt.unit != NULL &&
	    (status = unit_begin(&sup.opt, &fault)) != 0) {
		log_warnx("%s", fault.text);
		ready_notify_why(fault.text);
		if (sup.opt.session_dir != NULL)
			session_abandon(sup.opt.session_dir);
		return status;
	}
	if (geteuid() == 0)
		log_warnx("running as root: nothing here needs it. Use an "
			  "ordinary user");
	if (loop_init(&sup.loop, 128) == -1 || signals() == -1)
		fatal("start");
	if (start_session(&status, &fault) == -1) {
		log_warnx("%s", fault.text);
		if (sup.session.fd == -1)
			session_abandon(sup.opt.session_dir);
		/* No file is wrong: the system ran out of something. */
		if (status == SUP_EXIT_CONFIG && fault.kind == FAULT_SCARCE)
			status = SUP_EXIT_OS;
		if (sup.end_child != NULL)
			child_log_tell(sup.end_child);
		/* The same signal may have ended one of our processes first. */
		on_signal(&sup.signal_io, EPOLLIN);
		end_request(status, NULL, "not started: %s", fault.text);
		return end_run();
	}
	if (!sup.ending && loop_run(&sup.loop) == -1)
		end_request(
		    SUP_EXIT_OS, NULL, "epoll_wait: %s", strerror(errno));
	return end_run();
}
