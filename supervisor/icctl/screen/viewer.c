/* SPDX-License-Identifier: ISC */
/*
 * The viewer's process: its loop, its channel to termd and what comes on it,
 * its link to icsupervisor, and its end.
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

#define VIEWER_TIMERS 4
#define VIEWER_BELL_MS 200U
/* A pipe that poll calls writable takes so many bytes at once. */
#define VIEWER_CHUNK 4096U

struct viewer viewer;

static uint64_t viewer_rung;

void
viewer_leave(int status)
{
	if (viewer.how.screen)
		draw_stop();
	tty_restore(viewer.state);
	says_read();
	says_repeat();
	_exit(status);
}

void
viewer_detach(void)
{
	/* icsupervisor takes the end of the link for a closed terminal. */
	if (viewer.link != -1)
		(void)send(viewer.link, "D", 1, MSG_NOSIGNAL);
	viewer_leave(VIEWER_EXIT_DETACHED);
}

void
viewer_suspend(void)
{
	if (!viewer.how.screen) {
		(void)raise(SIGSTOP);
		return;
	}
	draw_stop();
	tty_restore(viewer.state);
	(void)raise(SIGSTOP);
}

/* It is our job again, on a terminal that others have used meanwhile. */
static void
viewer_continued(void)
{
	if (!viewer.how.screen)
		return;
	if (tty_raw() == -1)
		viewer_leave(VIEWER_EXIT_LOST);
	viewer.state->raw = true;
	draw_start();
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

static void
viewer_signaled(struct loop_io *io, uint32_t events)
{
	(void)io;
	(void)events;
	viewer_signals();
}

/* Waits until fd takes bytes, and serves what cannot wait for that. */
static void
viewer_writable(int fd)
{
	struct pollfd p[3];

	for (;;) {
		p[0] = (struct pollfd){.fd = fd, .events = POLLOUT};
		p[1] = (struct pollfd){.fd = viewer.signals, .events = POLLIN};
		p[2] =
		    (struct pollfd){.fd = fd == STDERR_FILENO ? -1 : says_fd(),
			.events = POLLIN};
		if (poll(p, 3, -1) == -1 && errno != EINTR)
			return;
		if (p[1].revents != 0)
			viewer_signals();
		if (p[2].revents != 0)
			says_read();
		if (p[0].revents != 0)
			return;
	}
}

int
viewer_write(int fd, const void *src, size_t len)
{
	const uint8_t *p = src;
	ssize_t n;

	while (len != 0) {
		viewer_writable(fd);
		n = write(fd, p, len < VIEWER_CHUNK ? len : VIEWER_CHUNK);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n == -1)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

void
viewer_send(enum msg_type type, const void *msg)
{
	if (viewer.chan != NULL)
		(void)chan_send(viewer.chan, type, msg, -1);
}

/* Nothing more will come once both the channel and the link are closed. */
static void
viewer_check(void)
{
	if (viewer.chan == NULL && viewer.over)
		viewer_leave(viewer.ended || !viewer.how.attached
				 ? VIEWER_EXIT_OK
				 : VIEWER_EXIT_LOST);
}

static int
on_screen(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (!viewer.how.screen)
		return chan_violation(c, "SCREEN of lines");
	return draw_screen(&msg->SCREEN);
}

static int
on_row(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (!viewer.how.screen)
		return chan_violation(c, "ROW of lines");
	return draw_row(&msg->ROW);
}

static int
on_line(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	return viewer.how.screen ? draw_scrolled(&msg->LINE)
				 : plain_line(&msg->LINE);
}

static int
on_raw(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	/* The agent's own bytes never reach a terminal. */
	if (viewer.how.screen || !viewer.how.raw[msg->RAW.stream])
		return chan_violation(c, "RAW of what is not redirected");
	return plain_raw(&msg->RAW);
}

static int
on_bell(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)msg;
	(void)fd;
	if (loop_now(&viewer.loop) - viewer_rung < VIEWER_BELL_MS ||
	    (!viewer.how.screen && viewer.how.raw[0]))
		return 0;
	viewer_rung = loop_now(&viewer.loop);
	(void)viewer_write(STDOUT_FILENO, "\a", 1);
	return 0;
}

static int
on_title(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	if (viewer.how.screen)
		draw_title(msg->TITLE.text);
	return 0;
}

static int
on_frame(struct chan *c, const union proto_any *msg, int fd)
{
	struct msg_FRAME_ACK ack = {.seq = msg->FRAME.seq};

	(void)c;
	(void)fd;
	if (viewer.how.screen)
		draw_frame();
	viewer_send(MSG_FRAME_ACK, &ack);
	return 0;
}

static int
on_box_end(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)msg;
	(void)fd;
	viewer.ended = true;
	return 0;
}

static int
on_typist(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	if (!msg->TYPIST.types)
		says("another viewer has the keyboard now; Ctrl-] t takes it "
		     "back");
	return 0;
}

static int
on_room(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (msg->ROOM.bytes > PROTO_TYPED_ROOM - viewer.room)
		return chan_violation(c, "more ROOM than there is");
	viewer.room += msg->ROOM.bytes;
	input_update();
	return 0;
}

static const struct chan_handler viewer_handlers[] = {
    {MSG_SCREEN, on_screen},
    {MSG_ROW, on_row},
    {MSG_LINE, on_line},
    {MSG_RAW, on_raw},
    {MSG_BELL, on_bell},
    {MSG_TITLE, on_title},
    {MSG_FRAME, on_frame},
    {MSG_BOX_END, on_box_end},
    {MSG_TYPIST, on_typist},
    {MSG_ROOM, on_room},
};

static void
viewer_closed(struct chan *c, const char *why)
{
	chan_free(c);
	viewer.chan = NULL;
	if (why != NULL)
		says("the agent's terminal sent what it may not: %s", why);
	else if (!viewer.ended && viewer.how.attached)
		says("session %s closed its terminal; if it goes on: icctl "
		     "attach %s",
		    viewer.name, viewer.name);
	viewer_check();
}

static const struct chan_ops viewer_ops = {
    .handlers = viewer_handlers,
    .nhandlers = sizeof(viewer_handlers) / sizeof(viewer_handlers[0]),
    .closed = viewer_closed,
};

static void
viewer_channel(int fd)
{
	chan_free(viewer.chan);
	viewer.chan = chan_new(
	    &viewer.loop, fd, ROLE_VIEWER, ROLE_TERM, 0, &viewer_ops, NULL);
	if (viewer.chan == NULL)
		fatal("viewer");
	chan_phase(viewer.chan, PHASE_RUN);
	if (chan_open(viewer.chan) == -1)
		fatal("viewer");
	viewer.room = PROTO_TYPED_ROOM;
	if (viewer.how.screen)
		draw_again();
	input_update();
}

/* icsupervisor sends a channel to a new termd, or closes the link. */
static void
viewer_linked(struct loop_io *io, uint32_t events)
{
	char byte;
	int fd;
	ssize_t n;

	(void)events;
	n = handover_receive(viewer.link, &byte, 1, &fd);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && fd != -1) {
		(void)fcntl(fd, F_SETFL, O_NONBLOCK);
		viewer_channel(fd);
		return;
	}
	if (n > 0)
		return;
	loop_del(&viewer.loop, io);
	viewer.over = true;
	viewer_check();
}

/* Our parent tells us that icsupervisor has ended; or it has died. */
static void
viewer_orphaned(struct loop_io *io, uint32_t events)
{
	char byte;

	(void)events;
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
	(void)events;
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
	 * Whoever sends these means the session, whose end is ours; only our
	 * parent sends the next one.
	 */
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGCONT);
	/* As lines the kernel's own way of stopping a job is the right one. */
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
}

int
viewer_run(const struct viewer_how *how, struct viewer_state *state,
    const char *name, int life)
{
	log_init("icctl", false);
	viewer.how = *how;
	viewer.state = state;
	viewer.name = name;
	says_open(how->attached ? -1 : VIEWER_FD_SAYS);
	viewer_open(life);
	if (how->screen) {
		if (tty_raw() == -1)
			fatal("terminal");
		state->raw = true;
		draw_start();
	}
	input_start();
	if (how->attached)
		viewer_channel(VIEWER_FD_LINK);
	if (loop_run(&viewer.loop) == -1)
		fatal("epoll_wait");
	viewer_leave(VIEWER_EXIT_OK);
}
