/* SPDX-License-Identifier: ISC */
/* Prints the events of a session that ask for no answer. */
#include "icctl/watch/news.h"

#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "common/plural.h"
#include "icctl/icctl.h"
#include "icctl/token.h"

/* Print the state of a server or a provider. */
static void
show_state(json_object *event)
{
	json_object *o = NULL;
	char token[400];
	const char *text;

	if (!json_object_object_get_ex(event, "server", &o)) {
		fputs("-- provider ", stdout);
		icctl_put_str(icctl_text(event, "provider"));
		puts(get_true(event, "locked")
			 ? " is locked (icctl status says why) --"
			 : " is in use --");
		return;
	}
	fputs("-- MCP server ", stdout);
	icctl_put_str(icctl_text(o, "name"));
	fputs(": ", stdout);
	icctl_put_str(icctl_text(o, "state"));
	if (strcmp(icctl_text(o, "state"), "ready") == 0)
		printf(", %lld tool%s", (long long)icctl_number(o, "tools"),
		    plural((uint64_t)icctl_number(o, "tools")));
	text = icctl_text(o, "text");
	for (unsigned i = 0; i < 2; i++) {
		if (*text != '\0') {
			fputs("; ", stdout);
			icctl_put_str(text);
		}
		text = icctl_token(o, token, sizeof(token));
	}
	puts(" --");
}

/* Print before TEXT after MORE, ended by "--". */
static void
show_line(
    const char *before, const char *text, const char *after, const char *more)
{
	fputs(before, stdout);
	icctl_put_str(text);
	fputs(after, stdout);
	icctl_put_str(more);
	puts(" --");
}

/* Print the use or the end of a grant beyond one call. */
static void
show_grant(json_object *event)
{
	bool ended = strcmp(icctl_text(event, "state"), "ended") == 0;

	fputs("-- ", stdout);
	icctl_put_str(icctl_text(event, "description"));
	fputs(": ", stdout);
	icctl_put_str(icctl_text(event, "state"));
	if (ended) {
		fputs(", ", stdout);
		icctl_put_str(icctl_text(event, "why"));
	} else {
		if (json_object_object_get_ex(event, "left", NULL))
			printf(", %lld left",
			    (long long)icctl_number(event, "left"));
		printf("; icctl revoke %s", icctl_text(event, "id"));
	}
	puts(" --");
}

void
watch_news(const char *kind, json_object *event)
{
	if (strcmp(kind, "state") == 0) {
		show_state(event);
	} else if (strcmp(kind, "tool") == 0) {
		show_line("-- tool ", icctl_text(event, "server"), "__",
		    icctl_text(event, "tool"));
		puts("   is in quarantine or changed: icctl trust");
	} else if (strcmp(kind, "grant") == 0) {
		show_grant(event);
	} else if (strcmp(kind, "policy") == 0) {
		if (get_true(event, "inForce"))
			puts("-- new rules are in force --");
		else
			show_line("-- new rules were refused", "", ": ",
			    icctl_text(event, "why"));
	} else if (strcmp(kind, "destination") == 0) {
		show_line("-- ", icctl_text(event, "host"),
		    get_true(event, "added") ? " can be reached now"
					     : " is closed again",
		    "");
	} else if (strcmp(kind, "alarm") == 0) {
		show_line("ALARM of ", icctl_text(event, "who"), ": ",
		    icctl_text(event, "text"));
	} else if (strcmp(kind, "end") == 0) {
		show_line(
		    "-- ", "the session ends", ": ", icctl_text(event, "why"));
	}
}
