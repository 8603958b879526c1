/* SPDX-License-Identifier: ISC */
/*
 * icctl's own warnx(3) and errx(3): on a terminal the text is divided between
 * words. A program that reads it gets one line.
 */
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "icctl/wrap.h"

static void __attribute__((format(printf, 1, 0)))
warn_line(const char *fmt, va_list ap)
{
	char *text = NULL, *line = NULL;
	size_t len = 0;
	int saved = errno;
	FILE *f;

	if (vasprintf(&text, fmt, ap) == -1 ||
	    (f = open_memstream(&line, &len)) == NULL)
		goto out;
	(void)fputs("icctl: ", f);
	wrap_hang(f, text, 7, "  ", wrap_columns(fileno(stderr)));
	(void)fputc('\n', f);
	(void)fflush(stdout);
	/* With --json, stderr is a memory stream (icctl/outcome.c). */
	if (fclose(f) == 0)
		(void)fwrite(line, 1, len, stderr);
out:
	free(line);
	free(text);
	errno = saved;
}

void
warnx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_line(fmt, ap);
	va_end(ap);
}

void
errx(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_line(fmt, ap);
	va_end(ap);
	exit(status);
}
