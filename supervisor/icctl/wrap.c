/* SPDX-License-Identifier: ISC */
#include "icctl/wrap.h"

#include <sys/ioctl.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define WRAP_LEAST 20U /* columns, in which dividing is of use */

/* Returns the bytes of the character there; `*cols` are its columns. */
static size_t
wrap_char(const char *p, size_t len, unsigned *cols)
{
	mbstate_t st;
	wchar_t c;
	size_t n;
	int w;

	memset(&st, 0, sizeof(st));
	n = mbrtowc(&c, p, len, &st);
	*cols = 1;
	if (n == 0 || n == (size_t)-1 || n == (size_t)-2)
		return 1;
	if ((w = wcwidth(c)) >= 0)
		*cols = (unsigned)w;
	return n;
}

unsigned
wrap_width(const char *p, size_t len)
{
	unsigned used = 0, w;

	for (size_t at = 0; at < len; used += w)
		at += wrap_char(p + at, len - at, &w);
	return used;
}

/* Returns the columns of the word that begins there, or more than `cols`. */
static unsigned
wrap_word(const char *p, size_t len, unsigned cols)
{
	unsigned used = 0, w;

	for (size_t at = 0; at < len && p[at] != ' ' && used <= cols;) {
		at += wrap_char(p + at, len - at, &w);
		used += w;
	}
	return used;
}

/*
 * Returns true if a line may end at the space: at most half of it stays empty,
 * or the word behind the space fits into one line.
 */
static bool
wrap_good(const char *p, size_t len, size_t space, size_t at, unsigned cols)
{
	return space > at / 2 ||
	       (space != 0 && wrap_word(p + space, len - space, cols) <= cols);
}

size_t
wrap_fit(const char *p, size_t len, unsigned cols)
{
	unsigned used = 0, w;
	size_t at = 0, space = 0, n;

	while (at < len) {
		n = wrap_char(p + at, len - at, &w);
		if (at != 0 && used + w > cols)
			return wrap_good(p, len, space, at, cols) ? space : at;
		used += w;
		at += n;
		if (p[at - 1] == ' ')
			space = at;
	}
	return at;
}

unsigned
wrap_indent(const char *p, size_t len, unsigned cols)
{
	unsigned n = 0;

	while (n < len && p[n] == ' ')
		n++;
	return n + 2 < cols / 2 ? n + 2 : 0;
}

/* Returns the length without the spaces at its end; at least one byte. */
static size_t
wrap_trim(const char *p, size_t len)
{
	while (len > 1 && p[len - 1] == ' ')
		len--;
	return len;
}

char *
wrap_text(const char *p, size_t len, unsigned cols, size_t *n)
{
	unsigned deep = 0, indent = 0;
	size_t line, used;
	const char *nl;
	char *out = NULL;
	FILE *f;

	if ((f = open_memstream(&out, n)) == NULL)
		return NULL;
	for (size_t at = 0; at < len; at += used) {
		nl = memchr(p + at, '\n', len - at);
		line = nl == NULL ? len - at : (size_t)(nl - p) - at;
		if (indent == 0)
			deep = wrap_indent(p + at, line, cols);
		used = wrap_fit(p + at, line, cols - indent);
		(void)fprintf(f, "%*s", (int)indent, "");
		(void)fwrite(p + at, 1,
		    used == line ? used : wrap_trim(p + at, used), f);
		indent = used == line ? 0 : deep;
		if (used != line || nl != NULL)
			(void)fputc('\n', f);
		used += used == line && nl != NULL;
	}
	if (fclose(f) != 0) {
		free(out);
		return NULL;
	}
	return out;
}

unsigned
wrap_columns(int fd)
{
	struct winsize ws;

	if (isatty(fd) != 1)
		return 0;
	return ioctl(fd, TIOCGWINSZ, &ws) == -1 ? 0 : ws.ws_col;
}

void
wrap_hang(
    FILE *f, const char *text, unsigned used, const char *hang, unsigned cols)
{
	unsigned deep = (unsigned)strlen(hang);
	size_t len = strlen(text), n;

	if (cols < used + WRAP_LEAST || cols < deep + WRAP_LEAST) {
		(void)fputs(text, f);
		return;
	}
	while ((n = wrap_fit(text, len, cols - used)) < len) {
		(void)fprintf(
		    f, "%.*s\n%s", (int)wrap_trim(text, n), text, hang);
		text += n;
		len -= n;
		used = deep;
	}
	(void)fwrite(text, 1, len, f);
}
