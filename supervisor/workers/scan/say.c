/* SPDX-License-Identifier: ISC */
#include "workers/scan/scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/report.h"
#include "box/system/scan.h"

#define SCAN_TEXT 8192U

void
scan_warn(const char *fmt, ...)
{
	char text[SCAN_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_say(SCAN_WARN, text, SCAN_TEXT + 2);
}
