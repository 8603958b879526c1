/* SPDX-License-Identifier: ISC */
/*
 * Standard input: keys for a full screen, or bytes that are passed on
 * unchanged. Never reads more than termd has room for.
 */
#include "icctl/screen/viewer.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "icctl/screen/message.h"
#include "relay/inbox.h"

#define INPUT_CHUNK 32768U
#define INPUT_ESC_MS 50U
#define INPUT_BACK_MS 500U
#define INPUT_STOP_MS 10000U /* for an agent to stop itself at ^Z */
#define INPUT_ACP_MS 2000U   /* for an agent to end after its editor */
/*
 * The most bytes of keys to read at once: each may become an escape sequence.
 */
#define INPUT_KEYS 4096U

static struct {
	struct loop_io io;
	struct loop_timer timer;
	bool on, eof, paused;
	bool answer;   /* input after that command is dropped */
	uint64_t stop; /* loop_now() of a ^Z that was the last key; 0: none */
	void (*command)(enum keys_command);
	bool always; /* a file, which epoll cannot watch: always readable */
} input_env = {.io = LOOP_IO_INIT};

static void
spend(size_t n)
{
	viewer.room -= (uint32_t)n;
}

/* Returns true if the last key is Ctrl-Z, in the old form or in Kitty's. */
static bool
is_suspend(struct span s)
{
	static const char kitty[] = "\033[122;5u";
	const size_t n = sizeof(kitty) - 1;

	return s.p[s.len - 1] == ('z' & 0x1f) ||
	       (s.len >= n && memcmp(s.p + s.len - n, kitty, n) == 0);
}

static void
on_keys(struct span s)
{
	struct msg_KEYS m = {.bytes = s};

	input_env.stop = 0;
	if (draw_messages_end())
		return;
	if (input_env.answer || message_keys(s))
		return;
	if (viewer.chan == NULL || s.len > viewer.room)
		return;
	spend(s.len);
	viewer_send(MSG_KEYS, &m);
	if (is_suspend(s))
		input_env.stop = loop_now(&viewer.loop);
}

static void
on_paste(struct span s, bool last)
{
	struct msg_PASTE m = {.last = last, .bytes = s};

	input_env.stop = 0;
	if (draw_messages_end())
		return;
	if (input_env.answer || message_paste(s))
		return;
	if (viewer.chan == NULL || s.len > viewer.room)
		return;
	spend(s.len);
	viewer_send(MSG_PASTE, &m);
}

void
input_image(const char *name)
{
	char path[INBOX_DIR_SIZE + INBOX_NAME_MAX + 2];

	if (name[0] == '\0' || strlen(name) > INBOX_NAME_MAX ||
	    name[strspn(name, INBOX_NAME)] != '\0')
		return;
	snprintf(path, sizeof(path), INBOX_DIR "%s ", name);
	if (viewer.how.screen && !viewer.watches)
		on_paste(span_str(path), true);
	else if (!viewer.how.screen)
		says(
		    "an image was pasted: name it in your message as %s", path);
}

static void
on_mouse(const struct msg_MOUSE *m)
{
	if (!input_env.answer &&
	    (draw_modes() &
		(PROTO_TERM_CLICKS | PROTO_TERM_DRAGS | PROTO_TERM_MOVES)) != 0)
		viewer_send(MSG_MOUSE, m);
}

static void
on_focus(bool in)
{
	struct msg_FOCUS m = {.in = in};

	if (!input_env.answer && (draw_modes() & PROTO_TERM_FOCUS) != 0)
		viewer_send(MSG_FOCUS, &m);
}

static void
on_command(enum keys_command c)
{
	if (c == KEYS_ANSWER)
		input_env.answer = true;
	else if (!input_env.answer)
		input_env.command(c);
}

static bool
on_own(void)
{
	return input_env.answer || message_is_open();
}

static const struct keys_ops input_ops = {
    .keys = on_keys,
    .own = on_own,
    .paste = on_paste,
    .mouse = on_mouse,
    .focus = on_focus,
    .command = on_command,
    .prefix = draw_prefix,
};

/* The agent goes on without its editor: end the session. */
static void
input_late(struct loop_timer *t)
{
	if (viewer.link != -1)
		(void)send(viewer.link, "E", 1, MSG_NOSIGNAL);
}

static void
input_end(void)
{
	static const struct msg_INPUT_END end;

	loop_del(&viewer.loop, &input_env.io);
	input_env.eof = true;
	if (viewer.how.screen)
		viewer.lost();
	viewer_send(MSG_INPUT_END, &end);
	/* Not every agent ends with its standard input. */
	if (viewer.how.acp)
		loop_timer_set(&viewer.loop, &input_env.timer, INPUT_ACP_MS,
		    input_late, NULL);
}

/* Returns true if another job has the terminal: its input is not for us. */
static bool
in_background(void)
{
	pid_t front;

	if (!isatty(STDIN_FILENO) || (front = tcgetpgrp(STDIN_FILENO)) == -1)
		return false;
	return front != getpgrp();
}

static void
input_back(struct loop_timer *t)
{
	input_update();
}

/* Returns false if there is nothing more to read now. */
static bool
input_read(void)
{
	static uint8_t bytes[INPUT_CHUNK];
	size_t max = viewer.how.screen ? INPUT_KEYS : sizeof(bytes);
	struct msg_INPUT m;
	ssize_t n;

	if (in_background()) {
		loop_del(&viewer.loop, &input_env.io);
		loop_timer_set(&viewer.loop, &input_env.timer, INPUT_BACK_MS,
		    input_back, NULL);
		return false;
	}
	if (max > viewer.room)
		max = viewer.room;
	n = read(STDIN_FILENO, bytes, max);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0 && viewer.how.talk)
		input_env.command(KEYS_DETACH);
	if (n <= 0) {
		input_end();
		return false;
	}
	if (viewer.how.talk) {
		message_whole(span_of(bytes, (size_t)n));
		return true;
	}
	if (viewer.how.screen) {
		keys_feed(&input_ops, span_of(bytes, (size_t)n));
		if (input_env.answer) {
			input_env.answer = false;
			input_env.command(KEYS_ANSWER);
		}
		return true;
	}
	m.bytes = span_of(bytes, (size_t)n);
	spend((size_t)n);
	viewer_send(MSG_INPUT, &m);
	return true;
}

static void
input_idle(struct loop_timer *t)
{
	keys_idle(&input_ops);
}

static void
input_ready(struct loop_io *io, uint32_t events)
{
	(void)input_read();
	if (viewer.how.screen && keys_waiting())
		loop_timer_set(&viewer.loop, &input_env.timer, INPUT_ESC_MS,
		    input_idle, NULL);
	input_update();
}

void
input_update(void)
{
	static const struct msg_INPUT_END end;
	/* The start of a paste's end bracket may delay the bytes before it. */
	bool want = input_env.on && viewer.chan != NULL &&
		    viewer.room >= (viewer.how.screen ? 2 * INPUT_KEYS : 1);

	if (input_env.on && input_env.eof)
		viewer_send(MSG_INPUT_END, &end);
	if (!input_env.on || input_env.eof)
		return;
	if (!want || input_env.paused) {
		loop_del(&viewer.loop, &input_env.io);
		return;
	}
	if (input_env.io.fd == -1 && !input_env.always &&
	    loop_add(&viewer.loop, &input_env.io, STDIN_FILENO, EPOLLIN,
		input_ready, NULL) == -1)
		input_env.always = true;
	while (input_env.always && !input_env.eof && viewer.room != 0 &&
	       viewer.chan != NULL)
		if (!input_read())
			break;
}

bool
input_stops(void)
{
	return input_env.stop != 0 &&
	       loop_now(&viewer.loop) - input_env.stop < INPUT_STOP_MS;
}

void
input_pause(bool on)
{
	input_env.paused = on;
	input_update();
}

void
input_start(void (*command)(enum keys_command))
{
	input_env.command = command;
	input_env.on = viewer.how.screen || viewer.how.input || viewer.how.talk;
	input_update();
}
