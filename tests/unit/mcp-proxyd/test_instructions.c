/* SPDX-License-Identifier: ISC */
/*
 * The instructions in the answer to initialize: icsupervisor's text,
 * then policyd's about the tools.
 */
#include "unit/mcp-proxyd/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct proxy *const p = &proxy_env;

/* Returns the instructions that a new connection gets, or "". */
static const char *
instructions(void)
{
	static char text[1 << 16];
	const char *got, *start, *end;
	int fd = connect_agent();

	got = ask(fd, INIT);
	text[0] = '\0';
	start = strstr(got, "\"instructions\":\"");
	end = strstr(got, "\",\"protocolVersion\"");
	if (start != NULL && end != NULL)
		snprintf(text, sizeof(text), "%.*s", (int)(end - start - 16),
		    start + 16);
	close(fd);
	turns();
	return text;
}

static void
orient(const char *text)
{
	const struct msg_ORIENTATION m = {.text = span_str(text)};

	(void)chan_send(sup, MSG_ORIENTATION, &m, -1);
	turns();
}

static void
tell(const char *text)
{
	const struct msg_TOOLS_TOLD m = {
	    .complete = 1, .text = span_str(text)};

	(void)chan_send(policy, MSG_TOOLS_TOLD, &m, -1);
	turns();
}

int
main(void)
{
	char *long_text = calloc(1, PROTO_MAX_TOLD + 1);

	set_up();
	is_str(instructions(), "", "without a text there are none");
	tell("Tools.\n");
	is_str(instructions(), "", "nor with the tools alone");
	orient("Text \"quoted\".\n");
	is_str(instructions(), "Text \\\"quoted\\\".\\n\\nTools.\\n",
	    "the text, and the tools");
	tell("Others.\n");
	is_str(instructions(), "Text \\\"quoted\\\".\\n\\nOthers.\\n",
	    "a later connection gets the tools of its time");
	if (long_text != NULL)
		memset(long_text, '"', PROTO_MAX_TOLD);
	tell(long_text);
	ok(strlen(instructions()) == 20 + (size_t)2 * PROTO_MAX_TOLD,
	    "the longest text has room");
	free(long_text);
	is_int(p->nagents, 0, "every connection has ended");
	is_str(closed_why, "", "no channel was broken");
	orient("Again.\n");
	ok(closed_why[0] != '\0', "a second text ends the channel");
	tear_down();
	return tap_done();
}
