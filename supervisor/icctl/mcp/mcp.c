/* SPDX-License-Identifier: ISC */
/* Selects the command of `icctl mcp`. */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/near.h"
#include "icctl/icctl.h"
#include "icctl/instead.h"
#include "icctl/words.h"

/* clang-format off */
static const struct {
	const char *name, *args, *usage, *help;
	int (*fn)(struct icctl *, int, char **);
} commands[] = {
#define MCP_COMMAND(name, args, usage, help) {#name, args, usage, help, mcp_##name},
#include "icctl/command_rows.h"
};
/* clang-format on */
#define NCOMMANDS nitems(commands)

static void
usage(FILE *to)
{
	fputs("usage: icctl mcp COMMAND\n\n", to);
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(to, "  %-9s%-26s%s\n", commands[i].name,
		    commands[i].args, commands[i].help);
	fputs("\nicctl mcp COMMAND --help describes one of them.\n", to);
}

int
icctl_mcp(struct icctl *ctl, int argc, char **argv)
{
	const char *names[NCOMMANDS + 1] = {NULL};
	static char name[64];
	char hint[NEAR_HINT];
	int at;

	if ((at = words_leading(ctl, "mcp", "", argc, argv)) == -1)
		return ICCTL_USAGE;
	if (words_help()) {
		usage(stdout);
		return ICCTL_OK;
	}
	if (at == argc) {
		usage(stderr);
		return ICCTL_USAGE;
	}
	argc -= at;
	argv += at;
	for (size_t i = 0; i < NCOMMANDS; i++) {
		if (strcmp(argv[0], commands[i].name) != 0)
			continue;
		snprintf(name, sizeof(name), "mcp %s", commands[i].name);
		argc = words_read(ctl, name, commands[i].usage, argc, argv);
		return argc == -1 ? ICCTL_USAGE
				  : commands[i].fn(ctl, argc, argv);
	}
	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i] = commands[i].name;
	if (instead_say("mcp", argv[0]))
		return ICCTL_USAGE;
	warnx("mcp %s: no such command%s (icctl mcp --help)", argv[0],
	    near_hint(argv[0], names, hint));
	return ICCTL_USAGE;
}
