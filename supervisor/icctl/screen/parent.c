/* SPDX-License-Identifier: ISC */
/*
 * The process that the shell sees: it waits for the viewer and for
 * icsupervisor, passes signals on, restores the terminal however the viewer
 * ends, and exits with icsupervisor's status. It reads nothing of a session.
 */
#include "icctl/screen/viewer.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/icctl.h"
#include "icctl/strays.h"

static struct {
	pid_t supervisor, viewer; /* 0: gone, or not our child */
	int status;               /* icsupervisor's, or the viewer's if it is
				     alone; -1: not known */
	int life; /* written to when icsupervisor ends; closes when this process
		     ends */
	struct viewer_state *state;
	struct viewer_how how;
	const char *name, *dir;
	bool interrupted; /* by SIGINT */
} parent;

static const int parent_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

void
parent_hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < nitems(parent_signals); i++)
		sigaddset(&set, parent_signals[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static int
parent_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * The viewer was stopped: stop this job as ^Z does. Without a shell that could
 * continue it, the kernel drops the signal, and the viewer goes on.
 */
static void
viewer_stopped(void)
{
	tty_restore(parent.state);
	(void)kill(0, SIGTSTP);
	(void)kill(parent.viewer, SIGCONT);
}

static void __attribute__((noreturn)) parent_detached(const char *before)
{
	fprintf(stderr,
	    "%sicctl: detached; session %s goes on. Come back with: "
	    "icctl attach %s\n",
	    before, parent.name, parent.name);
	exit(0);
}

/* Returns true if the session still takes requests. */
static bool
parent_session_runs(void)
{
	int fd = parent.dir == NULL ? -1 : icctl_dial(parent.dir);

	if (fd != -1)
		close(fd);
	return fd != -1;
}

static void
viewer_ended(int status)
{
	parent.viewer = 0;
	tty_restore(parent.state);
	if (WIFEXITED(status) && WEXITSTATUS(status) == VIEWER_EXIT_DETACHED)
		parent_detached("");
	/* The line begins behind the ^C that a terminal shows. */
	if (parent.how.attached && parent.interrupted && WIFEXITED(status) &&
	    WEXITSTATUS(status) == VIEWER_EXIT_LOST && parent_session_runs())
		parent_detached(isatty(STDERR_FILENO) ? "\n" : "");
	/* Nobody else says so here: the session's messages go elsewhere. */
	if (parent.how.attached && WIFEXITED(status) &&
	    WEXITSTATUS(status) == VIEWER_EXIT_OK)
		fprintf(stderr,
		    "icctl: session %s has ended; log: "
		    "%s/audit.jsonl\n",
		    parent.name, parent.dir);
	if (WIFSIGNALED(status))
		warnx("the viewer was killed by SIG%s%s",
		    sigabbrev_np(WTERMSIG(status)),
		    parent.supervisor != 0 ? "; the session ends" : "");
	if (parent.how.attached || parent.supervisor == 0) {
		if (parent.status == -1)
			parent.status = parent_status(status);
	} else if (!WIFEXITED(status) ||
		   WEXITSTATUS(status) != VIEWER_EXIT_OK) {
		(void)kill(parent.supervisor, SIGHUP);
	}
}

static void
supervisor_ended(int status)
{
	parent.supervisor = 0;
	parent.status = parent_status(status);
	/* All its messages are in the pipe: the viewer reads them and ends. */
	if (write(parent.life, "E", 1) == -1 && errno != EPIPE)
		warn("viewer");
	if (WIFSIGNALED(status))
		warnx("icsupervisor was killed by SIG%s: the log of session %s "
		      "has the reason if there is one",
		    sigabbrev_np(WTERMSIG(status)), parent.name);
	if (WIFSIGNALED(status))
		strays_end();
}

static void
parent_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid == parent.viewer) {
			if (WIFSTOPPED(status))
				viewer_stopped();
			else
				viewer_ended(status);
		} else if (pid == parent.supervisor && !WIFSTOPPED(status)) {
			supervisor_ended(status);
		}
	}
}

/*
 * Pass a signal on. A viewer that still waits for a reader of its output leaves
 * at the first signal after the session has ended.
 */
static void
parent_pass(int sig)
{
	parent.interrupted = parent.interrupted || sig == SIGINT;
	if (parent.supervisor != 0)
		(void)kill(parent.supervisor, sig);
	else if (parent.viewer != 0)
		(void)kill(parent.viewer, SIGUSR1);
}

/*
 * Returns a signalfd. Signals that our parent ignores stay ignored. The child
 * inherits that SIGUSR1 is blocked, so that one which parent_pass() sends
 * before the child has its own signalfd does not kill it.
 */
static int
parent_mask(void)
{
	struct sigaction sa;
	sigset_t set, blocked;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < nitems(parent_signals); i++)
		if (sigaction(parent_signals[i], NULL, &sa) == 0 &&
		    sa.sa_handler != SIG_IGN)
			sigaddset(&set, parent_signals[i]);
	blocked = set;
	sigaddset(&blocked, SIGUSR1);
	if (sigprocmask(SIG_SETMASK, &blocked, NULL) == -1)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int
parent_wait(int signals)
{
	struct signalfd_siginfo si;
	ssize_t n;

	parent_reap();
	while (parent.viewer != 0 || parent.supervisor != 0) {
		n = read(signals, &si, sizeof(si));
		if (n == -1 && errno != EINTR)
			err(1, "signalfd");
		if (n != (ssize_t)sizeof(si))
			continue;
		if (si.ssi_signo == SIGCHLD)
			parent_reap();
		else
			parent_pass((int)si.ssi_signo);
	}
	return parent.status == -1 ? 0 : parent.status;
}

/* The child. */
static void __attribute__((noreturn)) parent_view(int life)
{
	const struct viewer_session session = {.name = parent.name,
	    .dir = parent.dir,
	    /* icsupervisor takes no answer from what it has started. */
	    .may = parent.supervisor != 0 || parent.how.attached,
	    .told = parent.supervisor != 0};

	_exit(viewer_run(&parent.how, parent.state, &session, life));
}

int
viewer_main(int argc, char **argv)
{
	int life[2], signals;

	if ((argc != 4 && argc != 5) ||
	    viewer_how_parse(&parent.how, argv[2]) == -1) {
		warnx("`viewer` is what `icctl start` and `icctl attach` run");
		return ICCTL_USAGE;
	}
	/* The program was executed as /proc/self/exe. */
	(void)prctl(PR_SET_NAME, "icctl", 0, 0, 0);
	parent.supervisor = (pid_t)strtol(argv[1], NULL, 10);
	parent.name = argv[3];
	parent.dir = argc == 5 ? argv[4] : NULL;
	parent.status = -1;
	if (parent.supervisor != 0)
		strays_adopt();
	(void)signal(SIGPIPE, SIG_IGN);
	/* icsupervisor's own viewer ends with it, and not before. */
	if (parent.supervisor == 0 && !parent.how.attached)
		for (size_t i = 0; i < nitems(parent_signals); i++)
			(void)signal(parent_signals[i], SIG_IGN);
	parent.state = mmap(NULL, sizeof(*parent.state), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (parent.state == MAP_FAILED || pipe2(life, O_CLOEXEC) == -1 ||
	    (signals = parent_mask()) == -1 ||
	    (parent.how.screen && tty_save() == -1))
		err(1, "viewer");
	if ((parent.viewer = fork()) == -1)
		err(1, "fork");
	if (parent.viewer == 0) {
		close(life[1]);
		close(signals);
		parent_view(life[0]);
	}
	close(life[0]);
	close(VIEWER_FD_LINK);
	close(VIEWER_FD_SAYS);
	parent.life = life[1];
	return parent_wait(signals);
}
