/* SPDX-License-Identifier: ISC */
/* Requests the end of the session and records why; end.c then ends it. */
#include "sup.h"

#include <stdarg.h>
#include <stdio.h>

void
end_request(int status, const struct child *c, const char *fmt, ...)
{
	va_list ap;

	if (sup.ending)
		return;
	sup.ending = true;
	sup.end_status = status;
	sup.end_child = c;
	va_start(ap, fmt);
	vsnprintf(sup.end_why, sizeof(sup.end_why), fmt, ap);
	va_end(ap);
	if (c != NULL)
		snprintf(sup.end_evidence, sizeof(sup.end_evidence), "%.255s",
		    sup.end_why);
	sup_note("ending: %s", sup.end_why);
	loop_stop(&sup.loop);
}

void
end_stop(int sig, const char *fmt, ...)
{
	/* An agent that was interrupted has not finished its task. */
	int status = sup.opt.runtime == RUNTIME_NONE ? SUP_EXIT_OK : 128 + sig;
	char who[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(who, sizeof(who), fmt, ap);
	va_end(ap);
	end_request(status, NULL, "asked to stop by %s", who);
}
