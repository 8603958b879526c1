/* SPDX-License-Identifier: ISC */
/*
 * Texts for refusals.  Holds nothing; trusts its format strings.  Values in
 * them come from the user's own files and command line.
 */
#include "fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
fault_cut(struct fault *f, int n)
{
	if (n < 0)
		f->text[0] = '\0';
	else if ((size_t)n >= sizeof(f->text))
		memcpy(f->text + sizeof(f->text) - 4, "...", 4);
}

int
fault_set(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fault_cut(f, vsnprintf(f->text, sizeof(f->text), fmt, ap));
	va_end(ap);
	return -1;
}

int
fault_errno(struct fault *f, const char *fmt, ...)
{
	const char *why = strerror(errno);
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	fault_cut(f, vsnprintf(f->text, sizeof(f->text), fmt, ap));
	va_end(ap);
	len = strlen(f->text);
	fault_cut(f, (int)len + snprintf(f->text + len, sizeof(f->text) - len,
				    ": %s", why));
	return -1;
}
