/* SPDX-License-Identifier: ISC */
/* Selects the command of `icctl mcp`. */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/near.h"
#include "icctl/icctl.h"

/* clang-format off */
static const struct {
	const char *name, *args, *help;
	int (*fn)(struct icctl *, int, char **);
} commands[] = {
#define MCP_COMMAND(name, args, usage, help) {#name, args, help, mcp_##name},
#include "icctl/command_rows.h"
};
/* clang-format on */
#define NCOMMANDS nitems(commands)

static void
usage(FILE *to)
{
	fputs("usage: icctl mcp COMMAND\n\n", to);
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(to, "  %-9s%-22s%s\n", commands[i].name,
		    commands[i].args, commands[i].help);
	fputs("\nicctl mcp COMMAND --help describes one of them.\n", to);
}

int
icctl_mcp(struct icctl *ctl, int argc, char **argv)
{
	const char *names[NCOMMANDS + 1] = {NULL};
	char hint[NEAR_HINT];

	if (argc < 2) {
		usage(stderr);
		return ICCTL_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		usage(stdout);
		return ICCTL_OK;
	}
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].fn(ctl, argc - 1, argv + 1);
	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i] = commands[i].name;
	warnx("mcp %s: no such command%s (icctl mcp --help)", argv[1],
	    near_hint(argv[1], names, hint));
	return ICCTL_USAGE;
}
