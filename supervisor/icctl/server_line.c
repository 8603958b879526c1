/* SPDX-License-Identifier: ISC */
/*
 * One line about an MCP server of a session, for the screen of all sessions and
 * for the page.
 */
#include "icctl/icctl.h"
#include "common/plural.h"

#include <stdio.h>

#include "icctl/token.h"

void
icctl_server_line(json_object *row, char *dst, size_t cap)
{
	const char *revision = icctl_text(row, "revision"),
		   *text = icctl_text(row, "text");
	char token[400];

	(void)icctl_token(row, token, sizeof(token));
	(void)snprintf(dst, cap,
	    "%s: %s, %lld tool%s, %lld resource%s, %lld prompt%s%s%s, on "
	    "%s%s%s%s%s",
	    icctl_text(row, "name"), icctl_text(row, "state"),
	    (long long)icctl_number(row, "tools"),
	    plural((uint64_t)icctl_number(row, "tools")),
	    (long long)icctl_number(row, "resources"),
	    plural((uint64_t)icctl_number(row, "resources")),
	    (long long)icctl_number(row, "prompts"),
	    plural((uint64_t)icctl_number(row, "prompts")),
	    revision[0] != '\0' ? ", MCP " : "", revision,
	    icctl_text(row, "where"), token[0] != '\0' ? ", " : "", token,
	    text[0] != '\0' ? ": " : "", text);
}
