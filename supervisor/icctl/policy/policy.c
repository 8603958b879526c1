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

static void
usage(FILE *to)
{
	fputs("usage: icctl policy TOOL [OPTIONS]\n\n", to);
	for (size_t i = 0; i < NTOOLS; i++)
		fprintf(to, "  %-8s %-26s %s\n", tools[i].name, tools[i].args,
		    tools[i].help);
	fputs("\nfrom English (icctl policy COMMAND --help):\n", to);
	compile_usage(to);
	fputs("\noptions of the first ones: --policy FILE --annotations FILE --lists FILE "
	      "--sandbox DIR\n  --protect PATH --allow-domains "
	      "SERVER=HOST[,HOST...] --trust SERVER\n  --audit FILE (diff) "
	      "--into FILE (learn), NAME (propose) "
	      "--json\nWithout --policy: the files that a session would "
	      "use. See icctl(1).\n",
	    to);
}

/* The option's value replaces `*one`, or is appended to `list`. */
struct option_row {
	const char *name;
	const char **one;
	const char **list;
	unsigned *n;
};

static int
take(const struct option_row *o, const char *value)
{
	if (value == NULL) {
		warnx("%s needs a value", o->name);
		return -1;
	}
	if (o->one != NULL) {
		if (*o->one != NULL) {
			warnx("%s is given twice", o->name);
			return -1;
		}
		*o->one = value;
		return 0;
	}
	if (*o->n == POLICY_MAX_LIST) {
		warnx("%s is given too often", o->name);
		return -1;
	}
	o->list[(*o->n)++] = value;
	return 0;
}

static int
take_options(struct policy_opts *p, int argc, char **argv)
{
	const struct option_row rows[] = {
#define POLICY_OPTION(name, value, one, list, n) {"--" name, one, list, n},
#include "icctl/command_rows.h"
	};
	const size_t n = nitems(rows);
	const char *names[nitems(rows) + 1];
	char hint[NEAR_HINT];
	bool options = true;
	size_t k;

	for (int i = 0; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
			continue;
		}
		if (!options || strncmp(argv[i], "--", 2) != 0) {
			if (p->nargs == POLICY_MAX_LIST) {
				warnx("too many arguments");
				return -1;
			}
			p->args[p->nargs++] = argv[i];
			continue;
		}
		for (k = 0; k < n && strcmp(argv[i], rows[k].name) != 0; k++)
			continue;
		if (k == n) {
			for (k = 0; k < n; k++)
				names[k] = rows[k].name;
			names[n] = NULL;
			warnx("no such option: %s%s", argv[i],
			    near_hint(argv[i], names, hint));
			return -1;
		}
		/* `argv` ends with NULL. */
		if (take(&rows[k], argv[++i]) == -1)
			return -1;
	}
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
	warnx("no such policy command: %s%s (icctl policy --help lists them)",
	    name, near_hint(name, names, hint));
	return ICCTL_USAGE;
}

int
icctl_policy(struct icctl *ctl, int argc, char **argv)
{
	static struct policy_opts opts;
	const struct tool *t;
	int status;

	if (argc < 2) {
		usage(stderr);
		return ICCTL_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return ICCTL_OK;
	}
	if (compile_command(ctl, argc - 1, argv + 1, &status))
		return status;
	for (t = tools; t < tools + NTOOLS; t++) {
		if (strcmp(argv[1], t->name) == 0)
			break;
	}
	if (t == tools + NTOOLS)
		return unknown_tool(argv[1]);
	if (take_options(&opts, argc - 2, argv + 2) == -1)
		return ICCTL_USAGE;
	if (opts.nargs < t->min || opts.nargs > t->max) {
		warnx("usage: icctl policy %s [OPTIONS] %s", t->name, t->args);
		return ICCTL_USAGE;
	}
	return t->fn(ctl, &opts);
}
