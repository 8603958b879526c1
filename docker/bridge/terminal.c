/* SPDX-License-Identifier: ISC */
/*
 * The command's standard input and output.  They are a pseudo-terminal or pipes
 * made in this sandbox, so that no descriptor of the host enters it; their
 * bytes travel over one connection to termd, in the frames of
 * common/box_stream.h.  If termd is restarted, ic-bridge connects again; output
 * that the command writes meanwhile waits here, up to one buffer.
 */
#include "bridge.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/box_stream.h"
#include "common/bridge_frames.h"

#define OUT_CAP (2 * BRIDGE_BUF)
#define OUT_READ 32768U
/* Room for a worthwhile read and for the frames that end both streams. */
#define OUT_ROOM (BOX_HEADER + 4096U + 2 * BOX_HEADER)
#define PENDING_ROUNDS 4U /* each fills the buffer; a pipe holds half as much */
#define AGAIN_MS 100 /* between attempts to reconnect */
#define REDRAW_MS 100

static struct {
	struct terminal_how how;
	char path[BRIDGE_PATH];
	int sock;
	int in;       /* the command's input; -1: closed */
	int out[2];   /* the command's output; -1: ended */
	int child[3]; /* its ends, until it runs; a terminal's stays open */
	/* To the host: whole frames, the first of which may be partly sent. */
	uint8_t host[OUT_CAP];
	size_t host_len, host_begun;
	/* From the host: one frame, whose data is then written to `in`. */
	uint8_t frame[BOX_HEADER + BOX_MAX_DATA];
	size_t frame_len;
	size_t data_off, data_len;
	bool eof; /* close `in` once the data is written */
	struct winsize size;
	bool sized, again;
	bool leads; /* this process leads the command's session */
	uint64_t again_at, redraw_at; /* ms; 0: not waiting */
} term_env = {.sock = -1, .in = -1, .out = {-1, -1}, .child = {-1, -1, -1}};

static void
close_fd(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* Returns the size of the first frame in host[]. */
static size_t
head_frame(void)
{
	enum box_kind kind;
	uint32_t len;

	if (box_header_get(term_env.host, &kind, &len) == -1)
		abort();
	return BOX_HEADER + len;
}

static void
host_drop(size_t n)
{
	term_env.host_len -= n;
	memmove(term_env.host, term_env.host + n, term_env.host_len);
}

/* The connection is lost, and with it a frame that was partly sent. */
static void
sock_lost(void)
{
	close_fd(&term_env.sock);
	if (term_env.host_begun != 0)
		host_drop(head_frame());
	term_env.host_begun = 0;
	term_env.frame_len = 0;
	term_env.again = true;
	term_env.again_at = bridge_now_ms();
}

static void
sock_connect(void)
{
	term_env.sock = unix_connect(term_env.path, SOCK_NONBLOCK);
	term_env.again_at = term_env.sock == -1 ? bridge_now_ms() + AGAIN_MS : 0;
}

static void
host_frame(enum box_kind kind, size_t len)
{
	box_header_put(term_env.host + term_env.host_len, kind, (uint32_t)len);
	term_env.host_len += BOX_HEADER + len;
}

static void
out_end(int i)
{
	if (term_env.out[i] == -1)
		return;
	if (term_env.how.kind == TERMINAL_PIPES)
		close(term_env.out[i]);
	term_env.out[i] = -1;
	host_frame(i == 0 ? BOX_OUT_END : BOX_ERR_END, 0);
}

static bool
host_room(void)
{
	return OUT_CAP - term_env.host_len >= OUT_ROOM;
}

/* Read output of the command.  Returns false if there is none now. */
static bool
out_read(int i)
{
	size_t room = OUT_CAP - term_env.host_len - 3 * BOX_HEADER;
	ssize_t n;

	n = read(term_env.out[i],
	    term_env.host + term_env.host_len + BOX_HEADER,
	    room < OUT_READ ? room : OUT_READ);
	if (n > 0) {
		host_frame(i == 0 ? BOX_OUT : BOX_ERR, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		out_end(i);
	return false;
}

static void
host_send(void)
{
	size_t frame;
	ssize_t n;

	if (term_env.sock == -1 || term_env.host_len == 0)
		return;
	n = send(term_env.sock, term_env.host + term_env.host_begun,
	    term_env.host_len - term_env.host_begun,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1) {
		if (errno != EAGAIN && errno != EINTR)
			sock_lost();
		return;
	}
	term_env.host_begun += (size_t)n;
	while (term_env.host_len != 0 &&
	       term_env.host_begun >= (frame = head_frame())) {
		term_env.host_begun -= frame;
		host_drop(frame);
	}
}

static void
in_end(void)
{
	if (term_env.how.kind == TERMINAL_PIPES)
		close_fd(&term_env.in);
	term_env.in = -1;
	term_env.data_len = 0;
}

static void
in_write(void)
{
	ssize_t n;

	if (term_env.in == -1)
		term_env.data_len = 0;
	if (term_env.data_len != 0) {
		n = write(term_env.in,
		    term_env.frame + BOX_HEADER + term_env.data_off,
		    term_env.data_len);
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			in_end();
		if (n > 0) {
			term_env.data_off += (size_t)n;
			term_env.data_len -= (size_t)n;
		}
	}
	if (term_env.data_len == 0 && term_env.eof)
		in_end();
	/* BOX_CONTINUE may wait behind data that a stopped command leaves. */
	if (term_env.data_len != 0 && stopped_is())
		stopped_continue();
}

static void
size_set(struct winsize ws)
{
	bool same = ws.ws_row == term_env.size.ws_row &&
		    ws.ws_col == term_env.size.ws_col;

	term_env.size = ws;
	term_env.sized = true;
	if (term_env.how.kind != TERMINAL_PTY)
		return;
	/*
	 * A new termd does not know what is on the screen, and an agent redraws
	 * all of it only when the size changes.
	 */
	if (term_env.again && same && ws.ws_row > 1) {
		ws.ws_row--;
		term_env.redraw_at = bridge_now_ms() + REDRAW_MS;
	}
	/* Nor does it know that the command was stopped. */
	if (term_env.again)
		stopped_continue();
	term_env.again = false;
	(void)ioctl(term_env.in, TIOCSWINSZ, &ws);
}

static void
redraw(void)
{
	term_env.redraw_at = 0;
	if (term_env.in != -1)
		(void)ioctl(term_env.in, TIOCSWINSZ, &term_env.size);
}

/*
 * Process one complete frame from the host.  Returns -1 if it is not allowed.
 */
static int
frame_take(enum box_kind kind, const uint8_t *data, uint32_t len)
{
	struct winsize ws = {0};

	switch (kind) {
	case BOX_DATA:
		term_env.data_off = 0;
		term_env.data_len = len;
		in_write();
		return 0;
	case BOX_EOF:
		if (term_env.how.kind == TERMINAL_PIPES)
			term_env.eof = true;
		in_write();
		return 0;
	case BOX_SIZE:
		ws.ws_row = (unsigned short)(data[0] | data[1] << 8);
		ws.ws_col = (unsigned short)(data[2] | data[3] << 8);
		size_set(ws);
		return 0;
	case BOX_SHUT:
		/* The reader is gone: the command gets SIGPIPE. */
		if (data[0] > 1)
			return -1;
		if (term_env.how.kind == TERMINAL_PIPES)
			out_end(data[0]);
		return 0;
	case BOX_CONTINUE:
		stopped_continue();
		return 0;
	case BOX_OUT:
	case BOX_ERR:
	case BOX_OUT_END:
	case BOX_ERR_END:
	case BOX_TURN_END:
	case BOX_STOPPED:
		break;
	}
	return -1;
}

/* Read until no complete frame is left or its data cannot be written yet. */
static void
sock_read(void)
{
	enum box_kind kind = BOX_EOF;
	uint32_t len = 0;
	size_t want;
	ssize_t n;

	while (term_env.sock != -1 && term_env.data_len == 0) {
		want = BOX_HEADER;
		if (term_env.frame_len >= BOX_HEADER) {
			if (box_header_get(term_env.frame, &kind, &len) == -1) {
				sock_lost();
				return;
			}
			want = BOX_HEADER + len;
		}
		if (term_env.frame_len >= BOX_HEADER &&
		    term_env.frame_len == want) {
			term_env.frame_len = 0;
			if (frame_take(
				kind, term_env.frame + BOX_HEADER, len) == -1)
				sock_lost();
			continue;
		}
		n = recv(term_env.sock, term_env.frame + term_env.frame_len,
		    want - term_env.frame_len, MSG_DONTWAIT);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			sock_lost();
		else
			term_env.frame_len += (size_t)n;
	}
}

static int
open_pty(void)
{
	int master, slave, on = 1;
	struct termios t;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master == -1 || unlockpt(master) == -1)
		return -1;
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave == -1 || tcgetattr(slave, &t) == -1)
		return -1;
	t.c_iflag |= IUTF8;
	if (tcsetattr(slave, TCSANOW, &t) == -1 ||
	    ioctl(master, FIONBIO, &on) == -1)
		return -1;
	term_env.in = term_env.out[0] = master;
	for (int i = 0; i < 3; i++)
		term_env.child[i] = slave;
	return 0;
}

static int
open_pipe(int *ours, int *theirs, bool we_read)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) == -1)
		return -1;
	*ours = p[we_read ? 0 : 1];
	*theirs = p[we_read ? 1 : 0];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

/* `input` is the command's standard input; -1: as terminal_how says. */
static int
open_pipes(int input)
{
	if (input != -1) {
		term_env.child[0] = input;
	} else if (term_env.how.input) {
		if (open_pipe(&term_env.in, &term_env.child[0], false) == -1)
			return -1;
	} else if ((term_env.child[0] =
			   open("/dev/null", O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	if (open_pipe(&term_env.out[0], &term_env.child[1], true) == -1)
		return -1;
	if (!term_env.how.merge)
		return open_pipe(&term_env.out[1], &term_env.child[2], true);
	term_env.child[2] = term_env.child[1];
	return 0;
}

int
bridge_terminal_open(const struct terminal_how *how, const char *socket)
{
	struct pollfd p;

	term_env.how = *how;
	if (how->kind == TERMINAL_NONE)
		return 0;
	snprintf(term_env.path, sizeof(term_env.path), "%s", socket);
	if ((term_env.sock = unix_connect(socket, SOCK_NONBLOCK)) == -1)
		return -1;
	if (how->turns)
		return 0;
	if (how->kind == TERMINAL_PIPES)
		return open_pipes(-1);
	if (open_pty() == -1) {
		/* One number for all sandboxes, whichever took them. */
		if (errno == ENOSPC)
			bridge_die("a terminal for the agent "
				   "(/proc/sys/kernel/pty/max)");
		return -1;
	}
	while (!term_env.sized) {
		p = (struct pollfd){.fd = term_env.sock, .events = POLLIN};
		if (poll(&p, 1, terminal_timeout()) == -1 && errno != EINTR)
			return -1;
		if (term_env.sock == -1)
			sock_connect();
		sock_read();
	}
	term_env.again = false;
	return 0;
}

int
terminal_turn(int input)
{
	return open_pipes(input);
}

void
terminal_turn_end(uint32_t turn)
{
	uint8_t *data;

	/*
	 * terminal_pending() has returned false: the buffer is empty. A pipe
	 * is still open if a process in the background never stops writing.
	 */
	out_end(0);
	out_end(1);
	data = term_env.host + term_env.host_len + BOX_HEADER;
	bridge_put32(data, turn);
	host_frame(BOX_TURN_END, BOX_TURN_DATA);
	host_send();
}

void
terminal_lead(void)
{
	if (term_env.how.kind == TERMINAL_NONE)
		return;
	/* The leader of a group cannot; its command then leads a session. */
	(void)setsid();
	term_env.leads = getsid(0) == getpid() &&
			 (term_env.how.kind != TERMINAL_PTY ||
			     ioctl(term_env.child[0], TIOCSCTTY, 0) == 0);
}

/*
 * A group of its own in our session is not orphaned: SIGTSTP, SIGTTIN and
 * SIGTTOU stop it.
 */
static int
child_group(void)
{
	int rv = -1;

	if (setpgid(0, 0) == -1)
		return -1;
	if (term_env.how.kind != TERMINAL_PTY)
		return 0;
	/* It is still in the background, whence the change would stop it. */
	if (signal(SIGTTOU, SIG_IGN) != SIG_ERR)
		rv = tcsetpgrp(term_env.child[0], getpid());
	(void)signal(SIGTTOU, SIG_DFL);
	return rv;
}

int
terminal_child(void)
{
	if (term_env.how.kind == TERMINAL_NONE)
		return 0;
	if (term_env.leads) {
		if (child_group() == -1)
			return -1;
	} else if (setsid() == -1 ||
		   (term_env.how.kind == TERMINAL_PTY &&
		       ioctl(term_env.child[0], TIOCSCTTY, 0) == -1))
		return -1;
	for (int i = 0; i < 3; i++)
		if (dup2(term_env.child[i], i) == -1)
			return -1;
	return 0;
}

void
terminal_started(pid_t command)
{
	if (term_env.how.kind != TERMINAL_PIPES)
		return;
	if (term_env.child[2] != term_env.child[1])
		close(term_env.child[2]);
	close(term_env.child[1]);
	close(term_env.child[0]);
	for (int i = 0; i < 3; i++)
		term_env.child[i] = -1;
}

bool
terminal_stopped(void)
{
	if (term_env.how.kind != TERMINAL_PTY || term_env.sock == -1 ||
	    term_env.data_len != 0 || !host_room())
		return false;
	host_frame(BOX_STOPPED, 0);
	host_send();
	return term_env.sock != -1;
}

nfds_t
terminal_poll(struct pollfd *p)
{
	bool room = host_room();
	short events = 0;

	if (term_env.data_len == 0)
		events |= POLLIN;
	if (term_env.host_len != 0)
		events |= POLLOUT;
	/* If termd closes while data waits for the command, notice it later. */
	p[0] = (struct pollfd){
	    .fd = events != 0 ? term_env.sock : -1, .events = events};
	for (int i = 0; i < 2; i++)
		p[1 + i] = (struct pollfd){
		    .fd = room ? term_env.out[i] : -1, .events = POLLIN};
	p[3] = (struct pollfd){
	    .fd = term_env.data_len != 0 ? term_env.in : -1, .events = POLLOUT};
	return TERMINAL_POLLS;
}

int
terminal_timeout(void)
{
	uint64_t at = term_env.again_at, now;

	if (term_env.redraw_at != 0 && (at == 0 || term_env.redraw_at < at))
		at = term_env.redraw_at;
	if (at == 0)
		return -1;
	now = bridge_now_ms();
	return at <= now ? 0 : (int)(at - now);
}

void
terminal_move(const struct pollfd *p)
{
	uint64_t now;

	if (term_env.how.kind == TERMINAL_NONE)
		return;
	now = bridge_now_ms();
	if (term_env.sock == -1 && now >= term_env.again_at)
		sock_connect();
	if (term_env.redraw_at != 0 && now >= term_env.redraw_at)
		redraw();
	if (p[3].revents != 0)
		in_write();
	if ((p[0].revents & ~POLLOUT) != 0 || p[3].revents != 0)
		sock_read();
	for (int i = 0; i < 2; i++)
		if (p[1 + i].revents != 0 && term_env.out[i] != -1 &&
		    host_room())
			(void)out_read(i);
	host_send();
}

bool
terminal_pending(void)
{
	if (term_env.how.kind == TERMINAL_NONE)
		return false;
	/* Once this end is closed, the terminal ends like a pipe. */
	if (term_env.child[0] != -1)
		close_fd(&term_env.child[0]);
	/*
	 * The pipes may hold more than the buffer. A process in the background
	 * that goes on writing is not waited for.
	 */
	for (unsigned round = 0; round < PENDING_ROUNDS; round++) {
		for (int i = 0; i < 2; i++) {
			while (term_env.out[i] != -1 && host_room())
				if (!out_read(i))
					out_end(i);
		}
		host_send();
		if (term_env.host_len != 0)
			return true;
	}
	return false;
}
