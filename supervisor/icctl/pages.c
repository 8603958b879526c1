/* SPDX-License-Identifier: ISC */
/*
 * Shows a text of any length on a terminal, a page at a time. The text was made
 * visible before: none of its bytes can act on the terminal.
 */
#include "icctl/icctl.h"

#include <sys/ioctl.h>

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Ask for the next page. Returns false if the person wants no more. */
static bool
next_page(size_t left)
{
	char line[64];

	/* Input typed before is not meant for this page. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	printf("--- %zu bytes more: Enter shows them, q leaves it --- ", left);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL && line[0] != 'q';
}

/* Returns the bytes that fill `rows` rows of a terminal. */
static size_t
page_of(struct span s, unsigned rows, unsigned cols)
{
	size_t col = 0, i = 0;

	for (; i < s.len && rows != 0; i++) {
		if (s.p[i] == '\n' || ++col > cols) {
			rows--;
			col = s.p[i] == '\n' ? 0 : 1;
			if (rows == 0 && s.p[i] != '\n')
				break;
		}
	}
	/* Do not end within a character. */
	while (i != 0 && i < s.len && (s.p[i] & 0xc0) == 0x80)
		i--;
	return i != 0 ? i : s.len;
}

bool
icctl_put_pages(struct span text)
{
	struct winsize ws;
	unsigned rows = 0;
	size_t n;

	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 4 &&
	    ws.ws_col != 0)
		rows = ws.ws_row - 2U;
	while (text.len != 0) {
		n = rows == 0 ? text.len : page_of(text, rows, ws.ws_col);
		(void)fwrite(text.p, 1, n, stdout);
		if (text.p[n - 1] != '\n')
			putchar('\n');
		text.p += n;
		text.len -= n;
		if (text.len != 0 && !next_page(text.len))
			return false;
	}
	return true;
}
