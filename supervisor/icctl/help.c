/* SPDX-License-Identifier: ISC */
/*
 * The help of icctl: all commands in groups on one screen of 24 lines and 80
 * columns, or one by one with their arguments. The groups are a table of their
 * own, and a test compares it with command_rows.h.
 */
#include "icctl/help.h"

#include <stdio.h>
#include <string.h>

#include "common/span.h"

#define HELP_LEFT 30U /* columns of a command and its arguments */

/* clang-format off */
static const struct help_row {
	const char *name, *args, *help;
} help_rows[] = {
#define COMMAND(name, args, help, more, page) {#name, args, help},
#include "icctl/command_rows.h"
};
/* clang-format on */

static const char help_groups[] =
    "usage: icctl [--json] [--session DIR|ID] COMMAND\n"
    "\n"
    "  icctl                      on a terminal: all sessions on one screen\n"
    "  icctl setup                choose an agent and a key, the first time\n"
    "  icctl start claude         run an agent in the current directory\n"
    "  icctl start \"fix the bug\"  give it a task; it ends when that is done\n"
    "  icctl approve ID           approve a pending call, that one, once\n"
    "\n"
    "Begin          start (run), setup, agents, login, doctor\n"
    "Work with it   attach, send, interrupt, stop (kill), resume, diff, pull,\n"
    "               undo, checkpoint, paste\n"
    "Answer         pending, show, approve, deny, answer, always, grants,\n"
    "               revoke, trust, sign\n"
    "Look           ls (list, ps), watch, web, status, logs, history, budget,\n"
    "               metrics, usage, report\n"
    "By itself      job, driver; many machines: hub, relay\n"
    "Settings       config, project, services, keys, unlock, policy, persona,\n"
    "               mcp, image\n"
    "Tidy, check    gc, home, close, audit, diagnostics, version (-v)\n"
    "\n"
    "Words in parentheses are other names. Without --session, a command is "
    "about the\n"
    "only session that runs; if none does, commands that only read take the "
    "newest.\n"
    "icctl COMMAND --help describes a command, icctl help all lists them all "
    "with\n"
    "their arguments, and man ironcurtain is a tour.\n";

void
help_short(FILE *to)
{
	fputs(help_groups, to);
}

void
help_all(FILE *to)
{
	fputs("usage: icctl [--json] [--session DIR|ID] COMMAND\n\n", to);
	for (size_t i = 0; i < nitems(help_rows); i++) {
		const char *args = help_rows[i].args;
		const int n = (int)strcspn(args, "\n");
		char left[96];

		snprintf(left, sizeof(left), "%s %.*s%s", help_rows[i].name, n,
		    args, args[n] == '\0' ? "" : " ...");
		if (strlen(left) > HELP_LEFT)
			fprintf(to, "  %s\n", left);
		fprintf(to, "  %-*s %s\n", (int)HELP_LEFT,
		    strlen(left) > HELP_LEFT ? "" : left, help_rows[i].help);
	}
	fputs("\nicctl COMMAND --help describes a command; icctl(1) has the "
	      "details.\n",
	    to);
}
