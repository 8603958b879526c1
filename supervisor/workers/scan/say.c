/* SPDX-License-Identifier: ISC */
#include "workers/scan/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/report.h"
#include "box/system/scan.h"

#define SCAN_TEXT 8192U

void
scan_warn(const char *fmt, ...)
{
	char text[SCAN_TEXT];
	struct buf b;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_init(&b, SCAN_TEXT + 2);
	report_add(&b, SCAN_WARN, text);
	if (buf_check(&b) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&b)) == -1)
		exit(1);
	buf_free(&b);
}
