/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp import`: takes over MCP servers from the configuration of another
 * program. An imported server is a foreign program, so it is shown in full
 * before it is written, and is started for the first time without a workspace,
 * files, hosts or secrets.
 */
#include "icctl/mcp/mcp.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/icctl.h"
#include "icctl/mcp/copy.h"
#include "icctl/mcp/foreign.h"
#include "icctl/mcp/forms.h"
#include "icctl/mcp/take.h"
#include "icctl/words.h"

/* The user's own files, as the programs document them. */
static const struct {
	const char *program, *path;
} places[] = {
    {"Claude Desktop", ".config/Claude/claude_desktop_config.json"},
    {"Claude Code", ".claude.json"},
    {"Cursor", ".cursor/mcp.json"},
    {"VS Code", ".config/Code/User/mcp.json"},
    {"VS Code", ".config/Code/User/settings.json"},
    {"Gemini CLI", ".gemini/settings.json"},
    {"OpenCode", ".config/opencode/opencode.json"},
    {"OpenCode", ".config/opencode/opencode.jsonc"},
    {"Codex", ".codex/config.toml"},
    {"Goose", ".config/goose/config.yaml"},
};

static int
usage(FILE *to)
{
	fputs(
	    "usage: icctl mcp import [--dry-run] [--yes] [--no-start] "
	    "[FILE...]\n       icctl mcp import --copy NAME [--workspace DIR] "
	    "[--dry-run] [--yes]\n\nImports MCP servers from the configuration "
	    "of "
	    "Claude Desktop, Claude Code,\nCursor, VS Code, Gemini CLI, "
	    "OpenCode, Codex or Goose into mcp-servers.json.\nWithout FILE, "
	    "it reads those in your home directory. Every server is shown "
	    "before\nanything is written. Secrets go to serverCredentials in "
	    "config.json; ${NAME}\nstays a reference to your environment. "
	    "Remote servers are left out.\n\n  --dry-run    show what would "
	    "be written, and write nothing\n  --yes        do not ask\n  "
	    "--no-start   do not start each server once to list its tools\n"
	    "  --copy NAME  copy the program of this server out of the reach "
	    "of agents, and\n               have its entry lead to the copy\n"
	    "  --workspace DIR  the directory that is /workspace in its "
	    "entry; here\n",
	    to);
	return ICCTL_OK;
}

/*
 * Returns true for a file of a project, which an agent may have written: each
 * of its entries must be confirmed.
 */
static bool
import_project(const struct mcp_take *im, const char *file)
{
	size_t n = strlen(im->paths.user_home);

	for (size_t i = 0; i < nitems(places); i++)
		if (strncmp(file, im->paths.user_home, n) == 0 &&
		    file[n] == '/' && strcmp(file + n + 1, places[i].path) == 0)
			return false;
	return true;
}

static int
import_file(struct mcp_take *im, const char *file, bool must)
{
	bool project = import_project(im, file);
	struct json_object *root, *servers;
	struct fault fault;

	if ((root = foreign_read(file, project, &fault)) == NULL) {
		if (!must && errno == ENOENT)
			return 0;
		warnx("%s", fault.text);
		return -1;
	}
	if ((servers = mcp_servers_of(root)) == NULL) {
		json_object_put(root);
		if (!must)
			return 0;
		warnx("%s: it has no MCP servers (looked for mcpServers, "
		      "servers, mcp_servers and mcp)",
		    file);
		return -1;
	}
	json_object_object_foreach(servers, name, theirs)
	{
		take_one(im, name, theirs, file, project);
	}
	json_object_put(servers);
	json_object_put(root);
	return 0;
}

static int
import_files(struct mcp_take *im, int argc, char **argv)
{
	char path[4400];

	for (int i = 0; i < argc; i++) {
		/* The name of a program, which somebody may expect here. */
		if (strpbrk(argv[i], "/.") == NULL &&
		    access(argv[i], F_OK) == -1) {
			warnx("%s: there is no such file. Without FILE, icctl "
			      "mcp import takes the servers of Claude, Cursor "
			      "and other programs from their own files",
			    argv[i]);
			return -1;
		}
		if (import_file(im, argv[i], true) == -1)
			return -1;
	}
	for (size_t i = 0; argc == 0 && i < nitems(places); i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", im->paths.user_home,
		    places[i].path);
		if (import_file(im, path, false) == -1)
			return -1;
	}
	return 0;
}

int
mcp_import(struct icctl *ctl, int argc, char **argv)
{
	const char *name = words_option("--copy");
	struct copy copy = {.workspace = "."};
	static struct mcp_take im;
	struct fault fault;
	int r = ICCTL_FAILED;

	if (words_help())
		return usage(stdout);
	if (name != NULL && argc > 1)
		return words_usage();
	im.dry = words_given("--dry-run");
	im.yes = words_given("--yes");
	im.start = !words_given("--no-start");
	if (words_given("--workspace"))
		copy.workspace = words_option("--workspace");
	copy.paths = &im.paths;
	copy.data_home = im.data_home;
	copy.yes = im.yes;
	copy.dry = im.dry;
	if (take_open(&im, &fault) == -1)
		warnx("%s", fault.text);
	else if (name != NULL)
		r = mcp_copy(&copy, name);
	else if (take_ask(&im, &fault) == -1)
		warnx("%s", fault.text);
	else if (import_files(&im, argc - 1, argv + 1) == 0)
		r = take_finish(&im, "import");
	take_close(&im);
	return r;
}
