/* SPDX-License-Identifier: ISC */
/*
 * The terminal edits its line itself.  Lines that are pasted at once belong to
 * one message, and so does a line after one that ends with a backslash.
 */
#include "docker/agent/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "docker/agent/agent.h"

#define ASK_PASTE_MS 30 /* between lines that are pasted */

/* Read what there is.  Returns the bytes, 0 at the end, -1 if interrupted. */
static ssize_t
ask_read(struct buf *b)
{
	uint8_t *room;
	ssize_t n;

	if ((room = buf_room(b, 4096)) == NULL)
		return 0;
	n = read(STDIN_FILENO, room, 4096);
	if (n > 0)
		buf_grow(b, (size_t)n);
	return n;
}

static bool
ask_more(const struct buf *b)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct span s = buf_span(b);

	if (s.len == 0 || s.p[s.len - 1] != '\n')
		return true;
	if (s.len > 1 && s.p[s.len - 2] == '\\')
		return true;
	return poll(&p, 1, ASK_PASTE_MS) == 1;
}

/* Returns the text without the newlines at its end. */
static char *
ask_text(struct buf *b)
{
	struct span s = buf_span(b);
	char *text;

	while (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	text = buf_check(b) == 0 ? span_dup(s) : NULL;
	return text;
}

char *
ask_message(void)
{
	struct buf b;
	char *text;
	ssize_t n = 1;

	signals_clear();
	show_prompt();
	buf_init(&b, ASK_MAX);
	do
		n = ask_read(&b);
	while (n > 0 && ask_more(&b));
	if (n == -1 && errno == EINTR && signals_got() == SIGINT) {
		show_text(SPAN("\n"));
		text = strdup("");
	} else if (n <= 0 && b.len == 0) {
		show_text(SPAN("\n"));
		text = NULL;
	} else {
		text = ask_text(&b);
	}
	buf_free(&b);
	return text;
}

char *
ask_all(void)
{
	struct buf b;
	char *text = NULL;
	ssize_t n;

	buf_init(&b, ASK_MAX);
	do
		n = ask_read(&b);
	while (n > 0 || (n == -1 && errno == EINTR && signals_got() == 0));
	if (n == 0 && buf_check(&b) == 0)
		text = ask_text(&b);
	if (text != NULL && *text == '\0') {
		free(text);
		text = NULL;
	}
	buf_free(&b);
	return text;
}
