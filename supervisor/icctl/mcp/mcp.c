/* SPDX-License-Identifier: ISC */
/*
 * Chooses the command of `icctl mcp`.
 */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "icctl/icctl.h"

/* clang-format off */
static const struct {
	const char *name, *args, *help;
	int (*fn)(struct icctl *, int, char **);
} commands[] = {
	{"import", "[OPTIONS] [FILE...]",
	    "take servers over from another program", mcp_import},
};
/* clang-format on */

static void
usage(FILE *to)
{
	fputs("usage: icctl mcp COMMAND\n\n", to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(to, "  %-9s%-22s%s\n", commands[i].name,
		    commands[i].args, commands[i].help);
	fputs("\nicctl mcp COMMAND --help describes one of them.\n", to);
}

int
icctl_mcp(struct icctl *ctl, int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return ICCTL_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return ICCTL_OK;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].fn(ctl, argc - 1, argv + 1);
	warnx("mcp %s: no such command (icctl mcp --help)", argv[1]);
	return ICCTL_USAGE;
}
