/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy`: selects the tool, and parses the options that all tools
 * share.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/near.h"
#include "icctl/policy/compile/command.h"
#include "icctl/instead.h"
#include "icctl/words.h"

/* clang-format off */
static const struct tool {
	const char *name;
	const char *args;
	int (*fn)(struct icctl *, struct policy_opts *);
	unsigned min, max; /* number of arguments, without options */
	const char *help;
} tools[] = {
#define POLICY_TOOL(name, args, min, max, help)				\
	{#name, args, icctl_policy_##name, min, max, help},
#include "icctl/command_rows.h"
};
/* clang-format on */
#define NTOOLS nitems(tools)

#define OPTIONS_SAY                                                            \
	"--policy FILE --annotations FILE --lists FILE --sandbox DIR\n"        \
	"  --protect PATH --allow-domains SERVER=HOST[,HOST...] --trust "      \
	"SERVER\n"                                                             \
	"  --audit FILE (diff) --into FILE (learn), NAME (propose) --json\n"   \
	"Without --policy: the files that a session would use. See "           \
	"icctl-policy(1).\n"

static void
usage(FILE *to)
{
	fputs("usage: icctl policy TOOL [OPTIONS]\n\n", to);
	for (size_t i = 0; i < NTOOLS; i++)
		fprintf(to, "  %-8s %-26s %s\n", tools[i].name, tools[i].args,
		    tools[i].help);
	fputs("\nfrom English (icctl policy COMMAND --help):\n", to);
	compile_usage(to);
	fputs("\noptions of the first ones: " OPTIONS_SAY, to);
}

static void
usage_tool(const struct tool *t)
{
	printf(
	    "usage: icctl policy %s [OPTIONS]%s%s\n\n%s\n\noptions of all of "
	    "these tools: " OPTIONS_SAY,
	    t->name, t->args[0] != '\0' ? " " : "", t->args, t->help);
}

/* The option's value replaces `*one`, or is appended to `list`. */
struct option_row {
	const char *name;
	const char **one;
	const char **list;
	unsigned *n;
};

static int
take(const struct option_row *o)
{
	const char *values[POLICY_MAX_LIST];
	size_t n = words_list(o->name, values, nitems(values));

	if (n > (o->one != NULL ? 1 : POLICY_MAX_LIST)) {
		warnx("%s is given %s", o->name,
		    o->one != NULL ? "twice" : "too often");
		return -1;
	}
	if (o->one != NULL && n == 1)
		*o->one = values[0];
	for (size_t i = 0; o->list != NULL && i < n; i++)
		o->list[(*o->n)++] = values[i];
	return 0;
}

static int
take_options(struct policy_opts *p, int argc, char **argv)
{
	const struct option_row rows[] = {
#define POLICY_OPTION(name, value, one, list, n) {"--" name, one, list, n},
#include "icctl/command_rows.h"
	};

	for (size_t i = 0; i < nitems(rows); i++)
		if (take(&rows[i]) == -1)
			return -1;
	if (argc > (int)POLICY_MAX_LIST + 1) {
		warnx("too many arguments");
		return -1;
	}
	for (int i = 1; i < argc; i++)
		p->args[p->nargs++] = argv[i];
	return 0;
}

static int
unknown_tool(const char *name)
{
	const char *names[NTOOLS + 1];
	char hint[NEAR_HINT];

	for (size_t i = 0; i < NTOOLS; i++)
		names[i] = tools[i].name;
	names[NTOOLS] = NULL;
	if (instead_say("policy", name))
		return ICCTL_USAGE;
	warnx("no such policy command: %s%s (icctl policy --help lists them)",
	    name, near_hint(name, names, hint));
	return ICCTL_USAGE;
}

/* clang-format off */
static const char tool_options[] = ""
#define POLICY_OPTION(name, value, one, list, n) "[--" name " " value "] "
#include "icctl/command_rows.h"
	;
/* clang-format on */

int
icctl_policy(struct icctl *ctl, int argc, char **argv)
{
	static struct policy_opts opts;
	static char name[64];
	const struct tool *t;
	int status, at;

	if ((at = words_leading(ctl, "policy", tool_options, argc, argv)) == -1)
		return ICCTL_USAGE;
	if (words_help() || (at < argc && strcmp(argv[at], "help") == 0)) {
		usage(stdout);
		return ICCTL_OK;
	}
	if (at == argc) {
		usage(stderr);
		return ICCTL_USAGE;
	}
	argc -= at;
	argv += at;
	if (compile_command(ctl, argc, argv, &status))
		return status;
	for (t = tools; t < tools + NTOOLS; t++) {
		if (strcmp(argv[0], t->name) == 0)
			break;
	}
	if (t == tools + NTOOLS)
		return unknown_tool(argv[0]);
	snprintf(name, sizeof(name), "policy %s", t->name);
	if ((argc = words_read(ctl, name, tool_options, argc, argv)) == -1)
		return ICCTL_USAGE;
	if (words_help()) {
		usage_tool(t);
		return ICCTL_OK;
	}
	if (take_options(&opts, argc, argv) == -1)
		return ICCTL_USAGE;
	if (opts.nargs < t->min || opts.nargs > t->max) {
		warnx("usage: icctl policy %s [OPTIONS]%s%s", t->name,
		    t->args[0] != '\0' ? " " : "", t->args);
		return ICCTL_USAGE;
	}
	return t->fn(ctl, &opts);
}
