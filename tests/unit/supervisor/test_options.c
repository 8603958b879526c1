/* SPDX-License-Identifier: ISC */
/* Tests icsupervisor's command line: what is refused, with its messages. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/files/options.h"
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
	const char *message; /* NULL: accepted */
} cases[] = {
    {"x", "--session-dir DIR is missing"},
    {"x|--session-dir", "--session-dir needs a value"},
    {"x|--session-dir||--runtime|none", "--session-dir must not be empty"},
    {"x|--nope", "unknown option --nope"},
    {"x|--unit|a", NULL},
    {"x|--unit=a", NULL},
    {"x|--unit|", "--unit must not be empty"},
    {"x|--unit|a|--quiet",
	"--unit takes no other option with it: they come from the start.json "
	"of the session"},
    {"x|--quiet|--unit=a",
	"--unit takes no other option with it: they come from the start.json "
	"of the session"},
    {"x|-q", "unknown option -q"},
    {"x|--session-dir|d|--runtime|vm",
	"--runtime must be bwrap, docker, podman or none, not \"vm\""},
    {"x|--session-dir|d|--image|", "--image must not be empty"},
    {"x|--session-dir|d|--escalations|maybe",
	"--escalations must be ask or deny, not \"maybe\""},
    {"x|--session-dir|d|stray", "unexpected argument \"stray\": a command "
				"stands after --, a task after --task"},
    {"x|--session-dir|d|--task|t|--|c", "--task and a command after -- "
					"cannot be used together"},
    {"x|--session-dir|d|--runtime|none|--task|t",
	"--runtime none starts no "
	"agent: no --task and no command"},
    {"x|--session-dir|d|--runtime|none|--|c",
	"--runtime none starts no "
	"agent: no --task and no command"},
    {"x|--session-dir|d|--task|", "--task must not be empty"},
    {"x|--session-dir|d|--workspace|", "--workspace must not be empty"},
    {"x|--session-dir|d|--workspace|:ro", "--workspace must not be empty"},
    {"x|--session-dir|d|--policy|", "--policy must not be empty"},
    {"x|--session-dir|d|--require|landlock:0",
	"--require: there is no layer \"landlock:0\". Write all, or some of "
	"dumpable=0, nnp, seccomp, landlock, landlock:ABI, userns, netns, "
	"ipcns, utsns, root, caps0, secretmem"},
    {"x|--session-dir|d|--require|all,secretmem,landlock:4", NULL},
    {"x|--session-dir|d|--policy|coding", NULL},
    {"x|--session-dir|d|--runtime|none", NULL},
    {"x|--session-dir|d|--task|t", NULL},
    {"x|--session-dir|d|--|c|--help", NULL},
    {"x|--session-dir=d|--runtime=none|--print-ready|--escalations=deny", NULL},
};

static void
test_require(void)
{
	static const struct {
		const char *list;
		uint32_t layers, have, abi, missing;
	} rows[] = {
	    {"all", CONFINE_USERNS | CONFINE_NETNS, CONFINE_USERNS, 7,
		CONFINE_NETNS},
	    {"all", CONFINE_USERNS, CONFINE_USERNS, 7, 0},
	    /*
	     * A feature that this worker leaves out by design is not required.
	     */
	    {"all", CONFINE_USERNS, CONFINE_USERNS, 1, 0},
	    {"all", CONFINE_SECRETMEM, 0, 7, 0},
	    {"all,secretmem", CONFINE_SECRETMEM, 0, 7, CONFINE_SECRETMEM},
	    {"netns", CONFINE_NETNS | CONFINE_ROOT, 0, 7, CONFINE_NETNS},
	    {"landlock:4", CONFINE_LANDLOCK, CONFINE_LANDLOCK, 3,
		CONFINE_LANDLOCK},
	    {"landlock:2,landlock:4", CONFINE_LANDLOCK, CONFINE_LANDLOCK, 4, 0},
	};
	struct confine_state have;
	struct require r;
	struct fault fault;

	for (size_t i = 0; i < nitems(rows); i++) {
		memset(&r, 0, sizeof(r));
		have = (struct confine_state){rows[i].have, rows[i].abi};
		ok(require_parse(&r, "x", rows[i].list, &fault) == 0, "%s",
		    rows[i].list);
		is_int(require_missing(&r, rows[i].layers, &have),
		    rows[i].missing, "... and what is missing of it (%zu)", i);
	}
}

int
main(void)
{
	struct options o;
	struct fault fault;
	char line[256];
	int n;

	for (size_t i = 0; i < nitems(cases); i++) {
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
	test_require();
	return tap_done();
}
