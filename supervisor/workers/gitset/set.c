/* SPDX-License-Identifier: ISC */
/* The job of ic-gitset, and how its parts ask about it. */
#include "workers/gitset/gitset.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/paths.h"
#include "base/report.h"
#include "repo/errand.h"

struct set set = {.home = "", .inside = "", .attributes = ""};

void
set_warn(const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_say(ERRAND_WARN, text, ERRAND_MAX_TEXT);
}

bool
set_listed(struct span host)
{
	for (size_t i = 0; i < set.destinations.n; i++)
		if (span_ieq(host, span_str(set.destinations.list[i])))
			return true;
	return false;
}

bool
set_shown(const char *path)
{
	for (size_t i = 0; i < set.shown.n; i++)
		if (paths_under(path, set.shown.list[i]))
			return true;
	return false;
}
