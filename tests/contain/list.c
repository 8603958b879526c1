/* SPDX-License-Identifier: ISC */
/* Prints the table for run.py: rows, exceptions, roles, three messages. */
#include <stdio.h>
#include <string.h>

#include "attempts.h"

static void
outcome(const char *name, uint32_t set)
{
	static const struct {
		uint32_t code;
		const char *name;
	} codes[] = {{WORKS, "WORKS"}, {KILLED, "KILLED"}, {PORT, "PORT"},
	    {SCOPE, "SCOPE"}, {TRUNC, "TRUNC"}, {HARMLESS, "HARMLESS"},
	    {SENT, "SENT"}, {CLOSED, "CLOSED"}, {FAULT, "FAULT"}};
	const char *text, *comma = "";

	printf(", \"%s\": [", name);
	for (; set != 0; set >>= 8) {
		text = strerrorname_np((int)(set & 0xff));
		for (size_t i = 0; i < nitems(codes); i++)
			if (codes[i].code == (set & 0xff))
				text = codes[i].name;
		printf("%s\"%s\"", comma, text);
		comma = ", ";
	}
	printf("]");
}

static void
row(size_t n, const struct attempt *a)
{
	printf("%s{\"n\": %zu, \"name\": \"%s\", \"call\": \"%s\", "
	       "\"given\": %u, \"why\": \"%s\", \"roles\": [",
	    n == 0 ? "" : ",\n", n, a->name, a->call, a->given,
	    a->why == NULL ? "" : a->why);
	for (unsigned r = ROLE_SUP + 1; r < ROLE_COUNT; r++)
		if (a->roles == 0 || a->roles & 1U << r)
			printf("\"%s\", ", role_name((enum role)r));
	printf("%s", a->roles == 0 ? "\"resolver\"" : "null");
	printf("]");
	outcome("bare", a->bare);
	outcome("landlock", a->landlock);
	outcome("seccomp", a->seccomp);
	outcome("private", a->private);
	outcome("all", a->all == 0 ? KILLED : a->all);
	outcome("lacks", a->lacks);
	printf(", \"missing\": \"%s\"}",
	    a->missing == NULL ? "" : a->missing);
}

int
main(void)
{
	const struct attempt *a;

	printf("{\"PEER\": %d, \"START\": %d, \"LOG\": %d, "
	       "\"WEB_SITE\": %d, \"roles\": {",
	    MSG_PEER, MSG_START, MSG_LOG, MSG_WEB_SITE);
	for (int r = 0; r < ROLE_COUNT; r++)
		printf("%s\"%s\": %d", r == 0 ? "" : ", ",
		    role_name((enum role)r), r);
	printf("},\n\"attempts\": [");
	for (size_t n = 0; (a = attempt_row(n)) != NULL; n++)
		row(n, a);
	printf("],\n\"exceptions\": [");
	for (size_t i = 0; i < nexceptions; i++) {
		const struct exception *e = &exceptions[i];

		printf("%s{\"name\": \"%s\", \"role\": \"%s\", \"why\": \"%s\"",
		    i == 0 ? "" : ",\n", e->name,
		    (int)e->role == ATTEMPT_RESOLVER ? "resolver"
						     : role_name(e->role),
		    e->why);
		outcome("seccomp", e->seccomp);
		outcome("all", e->all);
		printf("}");
	}
	printf("]}\n");
	return 0;
}
