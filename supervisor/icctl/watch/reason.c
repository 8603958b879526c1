/* SPDX-License-Identifier: ISC */
#include "icctl/watch/reason.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/json/text.h"

#define KEY_ESC 27
#define KEY_ERASE_LINE 21 /* Ctrl-U */

void
reason_show(const struct watch_reason *r)
{
	if (r->answer)
		printf("-- answer %s, %s (Enter sends, Esc does not): %.*s",
		    r->id, r->form, (int)r->len, r->text);
	else
		printf("-- deny %s; reason (Enter denies, Esc does not): %.*s",
		    r->id, (int)r->len, r->text);
}

void
reason_answer(struct watch_reason *r, const char *id, const char *form)
{
	(void)strlcpy(r->id, id, sizeof(r->id));
	(void)strlcpy(r->form, form, sizeof(r->form));
	r->answer = true;
	r->len = 0;
	reason_show(r);
}

void
reason_begin(struct watch_reason *r, const char *id)
{
	(void)strlcpy(r->id, id, sizeof(r->id));
	r->answer = false;
	r->len = 0;
	reason_show(r);
}

/* Remove the last character. */
static void
reason_back(struct watch_reason *r)
{
	bool ascii = true;

	if (r->len == 0)
		return;
	while (r->len > 1 && ((unsigned char)r->text[r->len - 1] & 0xc0) == 0x80)
		r->len--;
	r->len--;
	ascii = ((unsigned char)r->text[r->len] & 0x80) == 0;
	if (ascii) {
		fputs("\b \b", stdout);
		return;
	}
	/* It may have had two columns. */
	putchar('\n');
	reason_show(r);
}

static bool
reason_valid(const struct watch_reason *r)
{
	const uint8_t *p = (const uint8_t *)r->text, *end = p + r->len;
	size_t n;

	for (; p < end; p += n)
		if ((n = text_utf8_len(p, end)) == 0)
			return false;
	return true;
}

enum watch_reason_end
reason_key(struct watch_reason *r, char key)
{
	unsigned char c = (unsigned char)key;

	if (c == '\n' || c == '\r') {
		putchar('\n');
		r->text[r->len] = '\0';
		if (reason_valid(r))
			return REASON_DONE;
		puts("-- this is not UTF-8: type it again --");
		r->len = 0;
		reason_show(r);
	} else if (c == KEY_ESC || c == 0x03) {
		putchar('\n');
		/* The rest of an arrow key is no command. */
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
		return REASON_NOT;
	} else if (c == 0x7f || c == '\b') {
		reason_back(r);
	} else if (c == KEY_ERASE_LINE) {
		r->len = 0;
		putchar('\n');
		reason_show(r);
	} else if (c >= 0x20 && r->len < REASON_MAX) {
		r->text[r->len++] = key;
		putchar(c);
	}
	return REASON_MORE;
}
