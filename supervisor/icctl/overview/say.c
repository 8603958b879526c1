/* SPDX-License-Identifier: ISC */
/* The message line. */
#include "icctl/overview/priv.h"

#include <stdarg.h>
#include <stdio.h>

void
overview_say(struct overview *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(o->say, sizeof(o->say), fmt, ap);
	va_end(ap);
	o->dirty = true;
}
