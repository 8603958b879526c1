/* SPDX-License-Identifier: ISC */
/*
 * Says on a terminal what the model is asked for, as long as its reply is
 * awaited: a reply takes a minute, and nothing else is printed meanwhile.
 */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static const char *const progress_steps[][2] = {
    {"annotate", "what the arguments of tools mean"},
    {"prefilter", "which servers are meant"}, {"rules", "rules"},
    {"task-rules", "rules"}, {"values", "the members of a list"},
    {"data-values", "the members of a list, from your data"},
    {"scenarios", "test cases"}, {"judge", "a judgement of the decisions"},
    {"repair", "a repair of rules"}, {"customize", "an answer"}};

static bool
progress_wanted(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term != NULL && *term != '\0' &&
	       strcmp(term, "dumb") != 0;
}

void
progress_show(const struct ask *q)
{
	const char *what = q->prompt;
	char server[100] = "";

	if (!progress_wanted())
		return;
	for (size_t i = 0; i < nitems(progress_steps); i++)
		if (strcmp(progress_steps[i][0], q->prompt) == 0)
			what = progress_steps[i][1];
	for (unsigned i = 0; i < q->nparts; i++)
		if (strcmp(q->parts[i].name, "server") == 0)
			log_vis(q->parts[i].text, server, 60);
	(void)fflush(stdout);
	fprintf(stderr, "... asking the model for %s%s%s", what,
	    server[0] != '\0' ? ": " : "", server);
}

void
progress_end(void)
{
	if (progress_wanted())
		fputs("\r\033[K", stderr);
}
