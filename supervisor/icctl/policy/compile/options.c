/* SPDX-License-Identifier: ISC */
/* The command lines of `icctl policy compile` and the commands beside it. */
#include "icctl/policy/compile/command.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icctl/policy/compile/compile.h"
#include "icctl/words.h"

/* clang-format off */
static const struct command {
	const char *name, *args;
	int (*fn)(struct icctl *, const struct compile_opts *);
	const char *help, *more;
} commands[] = {
#define POLICY_COMMAND(name, word, args, help, more)			\
	{name, args, word##_main, help, more},
#include "icctl/command_rows.h"
};
/* clang-format on */

struct row {
	const char *name;
	const char **text;
	bool *flag;
};

void
compile_usage(FILE *to)
{
	for (size_t i = 0; i < nitems(commands); i++)
		fprintf(to, "  %-13s %s\n", commands[i].name, commands[i].help);
}

static void
usage(const struct command *c, FILE *to)
{
	const char *s = c->args, *end;
	size_t n, col;

	col = (size_t)fprintf(to, "usage: icctl policy %s", c->name);
	/* Break lines between options. */
	for (; *s != '\0'; s += n + (s[n] == ' ')) {
		end = s[0] == '[' ? strchr(s, ']') : NULL;
		n = end != NULL ? (size_t)(end + 1 - s) : strcspn(s, " ");
		if (col + n + 1 > 78)
			col = (size_t)fprintf(to, "\n         ") - 1;
		col += (size_t)fprintf(to, " %.*s", (int)n, s);
	}
	fprintf(to, "\n\n%s.\n%s\n", c->help, c->more);
}

/* Parse the options of a command. Returns -1, or an exit status. */
static int
parse(struct icctl *ctl, const struct command *c, struct compile_opts *o,
    int argc, char **argv)
{
	static char name[64];
	const char *repairs;
	const struct row rows[] = {
	    {"--constitution", &o->constitution, NULL},
	    {"--output-dir", &o->dir, NULL}, {"--server", &o->server, NULL},
	    {"--list", &o->list, NULL}, {"--model", &o->model, NULL},
	    {"--accept", &o->accept, NULL}, {"--task", &o->task, NULL},
	    {"--persona", &o->persona, NULL}, {"--into", &o->into, NULL},
	    {"--audit", &o->audit, NULL}, {"--all", NULL, &o->all},
	    {"--no-mcp", NULL, &o->no_mcp},
	    {"--with-mcp", NULL, &o->with_mcp}, {"--yes", NULL, &o->yes},
	    {"--no-cache", NULL, &o->no_cache}};
	uint64_t n;

	snprintf(name, sizeof(name), "policy %s", c->name);
	if ((argc = words_read(ctl, name, c->args, argc, argv)) == -1)
		return ICCTL_USAGE;
	if (words_help()) {
		usage(c, stdout);
		return ICCTL_OK;
	}
	for (size_t i = 0; i < nitems(rows); i++) {
		if (rows[i].flag != NULL)
			*rows[i].flag = words_given(rows[i].name);
		else
			*rows[i].text = words_option(rows[i].name);
	}
	if (argc == 2 && strcmp(argv[1], "clear") == 0 &&
	    strcmp(c->name, "cache") == 0)
		o->all = true;
	else if (argc != 1)
		return words_usage();
	o->repairs = COMPILE_REPAIRS;
	if ((repairs = words_option("--repairs")) != NULL) {
		if (span_u64(span_str(repairs), COMPILE_ROUNDS - 1, &n) == -1) {
			warnx("--repairs must be from 0 to %u",
			    COMPILE_ROUNDS - 1);
			return ICCTL_USAGE;
		}
		o->repairs = (unsigned)n;
	}
	return -1;
}

bool
compile_command(struct icctl *ctl, int argc, char **argv, int *status)
{
	const struct command *c = commands;
	struct compile_opts o = {0};

	while (c < commands + nitems(commands) && strcmp(c->name, argv[0]) != 0)
		c++;
	if (c == commands + nitems(commands))
		return false;
	if ((*status = parse(ctl, c, &o, argc, argv)) == -1)
		*status = c->fn(ctl, &o);
	return true;
}
