/* SPDX-License-Identifier: ISC */
/* Runs the cases of tests/policy/cases/servers.txt: mcp-servers.json. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/files/servers.h"
#include "tap.h"
#include "unit/policyd/case_table.h"

static void
on_row(void *arg, const struct case_row *r)
{
	const struct servers_how how = {
	    .file = "mcp-servers.json", .user_home = "/h"};
	struct servers s = {.n = 0};
	struct fault fault = {.text = ""};
	struct json_object *o;
	bool good;
	int got;

	if ((o = json_tokener_parse(r->args)) == NULL)
		errx(1, "%s:%u: no JSON", r->file, r->line);
	got = servers_parse(&s, &how, o, &fault);
	good = strcmp(r->verdict, got == 0 ? "good" : "bad") == 0 &&
	       strstr(fault.text, r->text) != NULL;
	ok(good, "%s %c %s", r->statement, r->applies ? '+' : '-', r->title);
	if (!good)
		printf("# %s\n# got \"%s\"\n", r->args, fault.text);
	if (got == 0)
		servers_free(&s);
	json_object_put(o);
}

int
main(int argc, char **argv)
{
	const struct case_reader rows = {.row = on_row};

	case_read(argc > 1 ? argv[1] : "tests/policy", "cases/servers.txt",
	    &rows);
	return tap_done();
}
