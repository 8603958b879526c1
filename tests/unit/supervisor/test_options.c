/* SPDX-License-Identifier: ISC */
/* The command line of icsupervisor: what is refused, and how it is said. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/options.h"
#include "tap.h"

static char *argv_of[16];

static int
split(char *line)
{
	int n = 0;

	for (char *p = line; *p != '\0' && n < 15; n++) {
		argv_of[n] = p;
		p += strcspn(p, "|");
		if (*p == '|')
			*p++ = '\0';
	}
	argv_of[n] = NULL;
	return n;
}

static const struct {
	const char *line;
	const char *message; /* NULL: taken */
} cases[] = {
    {"x", "--session-dir DIR is missing"},
    {"x|--session-dir", "--session-dir needs a value"},
    {"x|--session-dir||--runtime|none", "--session-dir must not be empty"},
    {"x|--nope", "unknown option --nope"},
    {"x|-q", "unknown option -q"},
    {"x|--session-dir|d|--runtime|docker",
	"--runtime must be bwrap or none, not \"docker\""},
    {"x|--session-dir|d|--escalations|maybe",
	"--escalations must be ask or deny, not \"maybe\""},
    {"x|--session-dir|d|stray", "unexpected argument \"stray\": a command "
				"stands after --, a task after --task"},
    {"x|--session-dir|d|--task|t|--|c", "--task and a command after -- "
					"exclude each other"},
    {"x|--session-dir|d|--runtime|none|--task|t",
	"--runtime none starts no "
	"agent: no --task and no command"},
    {"x|--session-dir|d|--runtime|none|--|c",
	"--runtime none starts no "
	"agent: no --task and no command"},
    {"x|--session-dir|d|--task|", "--task must not be empty"},
    {"x|--session-dir|d|--workspace|", "--workspace must not be empty"},
    {"x|--session-dir|d|--policy|", "--policy must not be empty"},
    {"x|--session-dir|d|--policy|coding", NULL},
    {"x|--session-dir|d|--runtime|none", NULL},
    {"x|--session-dir|d|--task|t", NULL},
    {"x|--session-dir|d|--|c|--help", NULL},
    {"x|--session-dir=d|--runtime=none|--print-ready|--escalations=deny", NULL},
};

int
main(void)
{
	struct options o;
	struct fault fault;
	char line[256];
	int n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "%s", cases[i].line);
		/* An empty last field is an empty argument. */
		n = split(line);
		if (line[0] != '\0' &&
		    cases[i].line[strlen(cases[i].line) - 1] == '|')
			argv_of[n++] = line + strlen(cases[i].line);
		argv_of[n] = NULL;
		optind = 0;
		fault.text[0] = '\0';
		if (options_parse(&o, n, argv_of, &fault) == OPTIONS_RUN)
			ok(cases[i].message == NULL, "taken: %s",
			    cases[i].line);
		else
			is_str(fault.text, cases[i].message, "refused: %s",
			    cases[i].line);
	}
	ok(!o.ask && o.print_ready && o.runtime == RUNTIME_NONE &&
		strcmp(o.session_dir, "d") == 0,
	    "the last of them, as it is");
	return tap_done();
}
