/* SPDX-License-Identifier: ISC */
#include "icctl/screen/answers.h"

#include <string.h>

#include "icctl/icctl.h"
#include "icctl/screen/viewer.h"
#include "icctl/talk/call_text.h"

void
answers_open(int fd)
{
	json_object *req;

	if (!viewer.how.answers)
		return;
	req = icctl_request("events", NULL);
	/* A broken connection shows when it is read. */
	(void)icctl_tell(fd, req);
	json_object_put(req);
}

/* A line of its own. */
static void
answers_line(const char *mark, const char *text)
{
	plain_break();
	plain_text(mark, span_str(text));
	plain_break();
}

void
answers_event(const char *event, json_object *o)
{
	char text[CALL_TEXT];

	if (!viewer.how.answers)
		return;
	if (strcmp(event, "agent_text") == 0)
		plain_text("", span_str(icctl_text(o, "text")));
	else if (strcmp(event, "tool_call") == 0)
		answers_line(CALL_MARK, call_text(o, text));
	else if (strcmp(event, "error") == 0)
		answers_line("! ", icctl_text(o, "text"));
	else if (strcmp(event, "turn_end") == 0)
		plain_break();
}
