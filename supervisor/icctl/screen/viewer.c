/* SPDX-License-Identifier: ISC */
/*
 * The viewer's process: its loop, its channel to termd, its link to
 * icsupervisor, and its end.
 */
#include "icctl/screen/viewer.h"

#include <sys/signalfd.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "credential/handover.h"
#include "icctl/screen/channel.h"
#include "icctl/screen/message.h"
#include "icctl/screen/offer.h"
#include "icctl/screen/panel.h"
#include "icctl/screen/waiting.h"

#define VIEWER_TIMERS 10

static void __attribute__((noreturn)) viewer_leave(int status)
{
	panel_kill();
	if (viewer.how.screen)
		draw_stop();
	tty_restore(viewer.state);
	says_wait(false);
	says_read();
	says_repeat();
	_exit(status);
}

/* Leave a session that continues. */
static void __attribute__((noreturn)) viewer_detach(void)
{
	/*
	 * Otherwise icsupervisor takes the end of the link for a closed
	 * terminal.
	 */
	if (viewer.link != -1)
		(void)send(viewer.link, "D", 1, MSG_NOSIGNAL);
	viewer_leave(VIEWER_EXIT_DETACHED);
}

/* Stop this process, and with it the shell's job. */
static void
viewer_suspend(void)
{
	if (viewer_put_off(VIEWER_LATER_SUSPEND))
		return;
	if (!viewer.how.screen) {
		(void)raise(SIGSTOP);
		return;
	}
	draw_stop();
	tty_restore(viewer.state);
	(void)raise(SIGSTOP);
}

/* The agent may go on: this viewer is back, or does not stop. */
static void
viewer_agent_goes_on(void)
{
	static const struct msg_CONTINUE m;

	viewer.agent_waits = false;
	viewer_send(MSG_CONTINUE, &m);
}

/*
 * The hook of viewer.h. An agent could otherwise stop this viewer while a
 * person types, and let the shell have the rest of a line that was meant for
 * the agent.
 */
static void
viewer_agent_stopped(void)
{
	if (!viewer.how.screen || viewer.watches || panel_open() ||
	    !input_stops()) {
		viewer_agent_goes_on();
		return;
	}
	viewer.agent_waits = true;
	viewer_suspend();
}

/* The terminal is gone. */
static void __attribute__((noreturn)) viewer_lost(void)
{
	viewer_leave(VIEWER_EXIT_LOST);
}

/* Run a command of icctl in the agent's place. */
static void
viewer_panel(const char *command)
{
	if (panel_could())
		panel_command(command, -1);
	else
		says_brief("this is done in another terminal: icctl undo, "
			   "icctl checkpoint, icctl paste");
}

static void
viewer_command(enum keys_command c)
{
	static const struct msg_TAKE take;

	switch (c) {
	case KEYS_DETACH:
		viewer_detach();
		break;
	case KEYS_SUSPEND:
		viewer_suspend();
		break;
	case KEYS_TAKE:
		viewer_send(MSG_TAKE, &take);
		break;
	case KEYS_ANSWER:
		waiting_answer();
		break;
	case KEYS_SAY:
		message_open();
		break;
	case KEYS_MESSAGES:
		draw_messages();
		break;
	case KEYS_CHECKPOINT:
		viewer_panel("checkpoint");
		break;
	case KEYS_UNDO:
		viewer_panel("undo");
		break;
	case KEYS_IMAGE:
		viewer_panel("paste");
		break;
	case KEYS_OFFER:
		offer_show();
		break;
	}
}

/*
 * Show a message of IronCurtain on its own line, or in the bottom line, which
 * is drawn later: drawing may wait for the terminal, and meanwhile messages
 * must be read, or icsupervisor would wait, too.
 */
static void
viewer_news(void)
{
	if (viewer.how.screen)
		draw_line_later();
	else
		plain_break();
}

/* The job continues, on a terminal that others have used meanwhile. */
static void
viewer_continued(void)
{
	if (viewer_put_off(VIEWER_LATER_CONTINUE))
		return;
	/* In front again: calls that nobody was there to be asked about. */
	if (!viewer.how.screen)
		waiting_ask();
	if (!viewer.how.screen || panel_open())
		return;
	if (tty_raw() == -1)
		viewer_leave(VIEWER_EXIT_LOST);
	viewer.state->raw = true;
	draw_start();
	if (viewer.agent_waits)
		viewer_agent_goes_on();
}

static void
viewer_signals(void)
{
	struct signalfd_siginfo si;

	while (read(viewer.signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGUSR1:
			viewer_leave(VIEWER_EXIT_LOST);
		case SIGWINCH:
			if (viewer.how.screen)
				draw_resize();
			break;
		case SIGTSTP:
			viewer_suspend();
			break;
		case SIGCONT:
			viewer_continued();
			break;
		default:
			break;
		}
	}
}

/* Do everything that was put off. */
static void
viewer_after(void *arg)
{
	unsigned later;

	while ((later = viewer.later) != 0) {
		viewer.later = 0;
		if ((later & VIEWER_LATER_SUSPEND) != 0)
			viewer_suspend();
		if ((later & VIEWER_LATER_CONTINUE) != 0)
			viewer_continued();
		if ((later & VIEWER_LATER_RESIZE) != 0)
			draw_resize();
		if ((later & VIEWER_LATER_DRAW) != 0)
			draw_frame();
	}
}

static void
viewer_signaled(struct loop_io *io, uint32_t events)
{
	viewer_signals();
}

/* The hook of viewer.h. Our parent's death ends the panel as well. */
static void
viewer_wait(int fd, short events)
{
	struct pollfd p[4];

	for (;;) {
		p[0] = (struct pollfd){.fd = fd, .events = events};
		p[1] = (struct pollfd){.fd = viewer.signals, .events = POLLIN};
		p[2] = (struct pollfd){
		    .fd =
			fd == STDERR_FILENO || says_reading() ? -1 : says_fd(),
		    .events = POLLIN};
		p[3] = (struct pollfd){.fd = panel_open() ? viewer.life : -1};
		if (poll(p, 4, -1) == -1 && errno != EINTR)
			return;
		if (p[1].revents != 0)
			viewer_signals();
		if (p[2].revents != 0)
			says_read();
		if (p[3].revents != 0)
			viewer_lost();
		if (p[0].revents != 0)
			return;
	}
}

/* Leave once both the channel and the link are closed. */
static void
viewer_check(void)
{
	if (viewer.chan == NULL && viewer.over)
		viewer_leave(viewer.ended || !viewer.how.attached
				 ? VIEWER_EXIT_OK
				 : VIEWER_EXIT_LOST);
}

static void
viewer_closed(const char *why)
{
	if (why != NULL)
		says("the agent's terminal sent something that is not allowed: "
		     "%s",
		    why);
	else if (!viewer.ended && viewer.how.attached)
		says("session %s closed its terminal. If the session is still "
		     "running: icctl attach %s",
		    viewer.name, viewer.name);
	viewer_check();
}

/* icsupervisor sends a channel to a new termd, or closes the link. */
static void
viewer_linked(struct loop_io *io, uint32_t events)
{
	char byte;
	int fd;
	ssize_t n;

	n = handover_receive(viewer.link, &byte, 1, &fd);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && fd != -1) {
		(void)fcntl(fd, F_SETFL, O_NONBLOCK);
		channel_open(fd, viewer_closed);
	}
	/* With a channel or without: the session is ready. */
	if (n > 0) {
		waiting_open();
		return;
	}
	loop_del(&viewer.loop, io);
	/* icsupervisor may have more messages before it ends. */
	viewer.over = !viewer.told;
	viewer_check();
}

/* The parent reports that icsupervisor has ended, or has died itself. */
static void
viewer_orphaned(struct loop_io *io, uint32_t events)
{
	char byte;

	loop_del(&viewer.loop, io);
	if (read(viewer.life, &byte, 1) != 1)
		viewer_leave(VIEWER_EXIT_LOST);
	says_read();
	viewer.over = true;
	viewer_check();
}

static void
viewer_said(struct loop_io *io, uint32_t events)
{
	says_read();
	if (says_fd() == -1)
		loop_del(&viewer.loop, io);
}

static int
viewer_mask(void)
{
	sigset_t set;

	sigemptyset(&set);
	/*
	 * A person who sends these means the session, whose end ends the
	 * viewer. Only the parent sends SIGUSR1.
	 */
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGCONT);
	/* Without a screen, the kernel's way of stopping a job works. */
	if (viewer.how.screen)
		sigaddset(&set, SIGTSTP);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    sigprocmask(SIG_SETMASK, &set, NULL) == -1)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void
viewer_open(int life)
{
	viewer.link_io.fd = viewer.life_io.fd = viewer.signal_io.fd = -1;
	viewer.says_io.fd = -1;
	viewer.link = viewer.how.attached ? -1 : VIEWER_FD_LINK;
	viewer.over = viewer.how.attached;
	viewer.life = life;
	if (loop_init(&viewer.loop, VIEWER_TIMERS) == -1 ||
	    (viewer.signals = viewer_mask()) == -1 ||
	    loop_add(&viewer.loop, &viewer.signal_io, viewer.signals, EPOLLIN,
		viewer_signaled, NULL) == -1 ||
	    loop_add(&viewer.loop, &viewer.life_io, life, EPOLLIN,
		viewer_orphaned, NULL) == -1 ||
	    (viewer.link != -1 &&
		loop_add(&viewer.loop, &viewer.link_io, viewer.link, EPOLLIN,
		    viewer_linked, NULL) == -1) ||
	    (says_fd() != -1 &&
		loop_add(&viewer.loop, &viewer.says_io, says_fd(), EPOLLIN,
		    viewer_said, NULL) == -1))
		fatal("viewer");
	viewer.loop.after = viewer_after;
}

int
viewer_run(const struct viewer_how *how, struct viewer_state *state,
    const struct viewer_session *session, int life)
{
	log_init("icctl", false);
	viewer.told = session->told;
	viewer.how = *how;
	(void)answer_key_name(how->key, viewer.key);
	viewer.state = state;
	viewer.name = session->name;
	viewer.dir = session->dir;
	viewer.may = session->may;
	viewer.wait = viewer_wait;
	viewer.agent_stopped = viewer_agent_stopped;
	viewer.lost = viewer_lost;
	says_open(how->attached ? -1 : VIEWER_FD_SAYS, viewer_news);
	viewer_open(life);
	if (how->screen) {
		if (tty_raw() == -1)
			fatal("terminal");
		state->raw = true;
		draw_start();
	}
	input_start(viewer_command);
	if (how->attached) {
		channel_open(VIEWER_FD_LINK, viewer_closed);
		waiting_open();
	}
	viewer_after(NULL);
	if (loop_run(&viewer.loop) == -1)
		fatal("epoll_wait");
	viewer_leave(VIEWER_EXIT_OK);
}
