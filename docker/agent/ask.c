/* SPDX-License-Identifier: ISC */
/*
 * The terminal is in raw mode as long as there are messages: at the prompt
 * every key is ours, and in a turn only Ctrl-C is the terminal's.  What is
 * typed meanwhile waits for the next prompt.
 */
#include "docker/agent/ask.h"

#include <sys/ioctl.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "docker/agent/agent.h"
#include "docker/agent/edit.h"

#define ASK_READ 4096U

static struct {
	struct termios was;
	bool open;
	struct edit edit;
	/* Bytes that were read and not yet taken. */
	uint8_t bytes[ASK_READ];
	size_t at, len;
} ask_env;

/* Set the terminal for a prompt, or for a turn. */
static int
ask_mode(bool prompt)
{
	struct termios t = ask_env.was;

	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	if (prompt)
		t.c_lflag &= ~(tcflag_t)ISIG;
	t.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
}

bool
ask_open(void)
{
	ask_env.open =
	    tcgetattr(STDIN_FILENO, &ask_env.was) == 0 && ask_mode(false) == 0;
	return ask_env.open;
}

void
ask_close(void)
{
	if (ask_env.open)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &ask_env.was);
	ask_env.open = false;
	edit_free(&ask_env.edit);
}

void
ask_remember(const char *text)
{
	edit_remember(&ask_env.edit, text);
}

static void
ask_write(struct buf *b)
{
	fwrite(buf_span(b).p, 1, b->len, stdout);
	fflush(stdout);
	buf_reset(b, ASK_READ);
}

static unsigned
ask_columns(void)
{
	struct winsize w;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col != 0
		   ? w.ws_col
		   : 80;
}

/* Wait for keys.  Returns false at the end of the terminal. */
static bool
ask_fill(void)
{
	ssize_t n;

	if (ask_env.at < ask_env.len)
		return true;
	n = read(STDIN_FILENO, ask_env.bytes, sizeof(ask_env.bytes));
	if (n == -1 && errno == EINTR)
		return signals_got() != SIGTERM && signals_got() != SIGHUP;
	if (n <= 0)
		return false;
	ask_env.at = 0;
	ask_env.len = (size_t)n;
	return true;
}

/* Take what was typed.  Stops after the key that ends the text. */
static enum edit_got
ask_take(void)
{
	enum edit_got got = EDIT_MORE;

	while (ask_env.at < ask_env.len && got == EDIT_MORE) {
		const uint8_t byte = ask_env.bytes[ask_env.at++];

		got = edit_take(&ask_env.edit, byte, ask_env.at < ask_env.len);
	}
	return got;
}

/* Edit one text.  Returns EDIT_MORE at the end of the terminal. */
static enum edit_got
ask_edit(struct buf *out)
{
	enum edit_got got = EDIT_MORE;

	edit_begin(&ask_env.edit);
	/* Pasted text comes in brackets. */
	buf_adds(out, "\033[?2004h");
	do {
		edit_draw(&ask_env.edit, ask_columns(), out);
		ask_write(out);
		if (!ask_fill())
			break;
		got = ask_take();
	} while (got == EDIT_MORE);
	edit_leave(&ask_env.edit, ask_columns(), out);
	buf_adds(out, "\033[?2004l");
	ask_write(out);
	return got;
}

char *
ask_message(void)
{
	enum edit_got got;
	struct buf out;
	char *text = NULL;

	signals_clear();
	buf_init(&out, 8 * ASK_MAX);
	show_text_end();
	ask_mode(true);
	do
		got = ask_edit(&out);
	while (
	    got == EDIT_CANCEL || (got == EDIT_DONE && ask_env.edit.len == 0));
	ask_mode(false);
	buf_free(&out);
	if (got == EDIT_DONE && (text = strdup(ask_env.edit.text)) != NULL)
		edit_remember(&ask_env.edit, text);
	return text;
}

char *
ask_all(void)
{
	struct buf b;
	uint8_t *room;
	char *text = NULL;
	ssize_t n;

	buf_init(&b, ASK_MAX);
	do {
		if ((room = buf_room(&b, ASK_READ)) == NULL) {
			n = -1;
			break;
		}
		n = read(STDIN_FILENO, room, ASK_READ);
		if (n > 0)
			buf_grow(&b, (size_t)n);
	} while (n > 0 || (n == -1 && errno == EINTR && signals_got() == 0));
	while (b.len != 0 && b.p[b.off + b.len - 1] == '\n')
		b.len--;
	if (n == 0 && b.len != 0)
		text = span_dup(buf_span(&b));
	buf_free(&b);
	return text;
}
