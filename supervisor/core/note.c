/* SPDX-License-Identifier: ISC */
/*
 * The session's state, and messages of icsupervisor: to session.log, and to the
 * terminal if they matter.
 */
#include "sup.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"

struct sup sup;

static void __attribute__((format(printf, 1, 0)))
note_line(const char *fmt, va_list ap, char *text, size_t cap)
{
	int n = vsnprintf(text, cap, fmt, ap);

	session_log(&sup.session, "icsupervisor",
	    span_of(text, n < 0             ? 0
			  : (size_t)n < cap ? (size_t)n
					    : cap - 1));
}

void
sup_note(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	note_line(fmt, ap, text, sizeof(text));
	va_end(ap);
}

void
sup_warn(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	note_line(fmt, ap, text, sizeof(text));
	va_end(ap);
	log_warnx("%s", text);
}
