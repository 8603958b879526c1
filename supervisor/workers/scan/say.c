/* SPDX-License-Identifier: ISC */
#include "workers/scan/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "box/system/scan.h"
#include "common/visible.h"

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

const char *
scan_vis(struct span in, bool quoted, char *dst, size_t cap)
{
	struct span s;
	struct buf b;
	size_t n;

	buf_init(&b, 16 * cap);
	(void)visible_add(&b, span_of(in.p, in.len < cap ? in.len : cap),
	    quoted ? VISIBLE_QUOTED : 0);
	s = buf_span(&b);
	n = visible_cut(s, cap - 4);
	if (n != 0)
		memcpy(dst, s.p, n);
	(void)strlcpy(dst + n, n < s.len || in.len > cap ? "..." : "", 4);
	buf_free(&b);
	return dst;
}
