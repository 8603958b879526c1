/* SPDX-License-Identifier: ISC */
#include "icctl/talk/call_text.h"

#include <stdio.h>
#include <string.h>

#include "icctl/icctl.h"

const char *
call_text(json_object *o, char *dst)
{
	const char *decision = icctl_text(o, "decision"),
		   *server = icctl_text(o, "server"),
		   *reason = icctl_text(o, "reason");
	bool own = strcmp(decision, "own") == 0;

	snprintf(dst, CALL_TEXT, "%.64s%s%.256s%s%s%s%.512s", server,
	    server[0] != '\0' ? " " : "", icctl_text(o, "tool"),
	    own ? "" : ": ", own ? "" : decision,
	    reason[0] != '\0' ? ", " : "", reason);
	return dst;
}
