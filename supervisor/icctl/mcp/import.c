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

#include "common/near.h"
#include "common/plural.h"
#include "config/paths.h"
#include "icctl/mcp/entry.h"
#include "icctl/mcp/foreign.h"
#include "icctl/icctl.h"
#include "icctl/mcp/probe.h"
#include "icctl/mcp/store.h"

#define IMPORT_MAX 32U

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
};

struct import {
	struct paths paths;
	struct mcp_entry_how how;
	char data_home[4200];
	struct mcp_entry entries[IMPORT_MAX];
	unsigned n;
	unsigned refused;
	bool dry, yes, start;
	struct json_object *servers; /* mcp-servers.json */
	struct json_object *config;  /* config.json */
};

static int
usage(FILE *to)
{
	fputs("usage: icctl mcp import [--dry-run] [--yes] [--no-start] "
	      "[FILE...]\n\nImports MCP servers from the configuration of "
	      "Claude Desktop, Claude Code,\nCursor, VS Code, Gemini CLI, "
	      "OpenCode or Codex into mcp-servers.json. Without\nFILE, it "
	      "reads those in your home directory. Every server is shown "
	      "before\nanything is written. Secrets go to serverCredentials in "
	      "config.json; ${NAME}\nstays a reference to your environment. "
	      "Remote servers are left out.\n\n  --dry-run    show what would "
	      "be written, and write nothing\n  --yes        do not ask\n  "
	      "--no-start   do not start each server once to list its tools\n",
	    to);
	return to == stdout ? ICCTL_OK : ICCTL_USAGE;
}

/* Print `key`, then each value of the list, escaped. */
static void
show_list(const char *key, struct json_object *list)
{
	size_t n = list != NULL ? json_object_array_length(list) : 0;

	if (n == 0)
		return;
	printf("  %-9s", key);
	for (size_t i = 0; i < n; i++) {
		if (i != 0)
			putchar(' ');
		icctl_put_str(
		    json_object_get_string(json_object_array_get_idx(list, i)));
	}
	putchar('\n');
}

static struct json_object *
deep(struct json_object *o, const char *a, const char *b, const char *c)
{
	const char *const keys[] = {a, b, c};

	for (size_t i = 0; i < 3; i++)
		if (o == NULL || !json_object_object_get_ex(o, keys[i], &o))
			return NULL;
	return o;
}

static void
show_names(const char *key, struct json_object *object, const char *after)
{
	if (object == NULL || json_object_object_length(object) == 0)
		return;
	printf("  %-9s", key);
	json_object_object_foreach(object, name, val)
	{
		(void)val;
		icctl_put_str(name);
		putchar(' ');
	}
	printf("%s\n", after);
}

static void
show_entry(const struct mcp_entry *e, const char *file)
{
	struct json_object *v = NULL;

	printf("%s   (", e->name);
	icctl_put_str(file);
	puts(")");
	if (e->refused != NULL) {
		printf("  left out: ");
		icctl_put_str(e->refused);
		puts("\n");
		return;
	}
	json_object_object_get_ex(e->entry, "command", &v);
	printf("  %-9s", "runs");
	icctl_put_str(json_object_get_string(v));
	putchar('\n');
	json_object_object_get_ex(e->entry, "args", &v);
	show_list("with", v);
	v = NULL;
	json_object_object_get_ex(e->entry, "env", &v);
	show_names("sets", v, "");
	show_names("secrets", e->secrets,
	    " (kept in serverCredentials of config.json)");
	show_list(
	    "reads", deep(e->entry, "sandbox", "filesystem", "allowRead"));
	show_list(
	    "writes", deep(e->entry, "sandbox", "filesystem", "allowWrite"));
	show_list(
	    "hosts", deep(e->entry, "sandbox", "network", "allowedDomains"));
	show_list("needs", e->variables);
	if (json_object_array_length(e->variables) != 0)
		puts("           from your environment, whenever a session "
		     "starts");
	for (size_t i = 0; i < json_object_array_length(e->notes); i++) {
		printf("  note: ");
		icctl_put_str(json_object_get_string(
		    json_object_array_get_idx(e->notes, i)));
		putchar('\n');
	}
	putchar('\n');
}

/* Refuse a name that an entry of this import or an earlier one has. */
static void
import_collision(struct import *im, struct mcp_entry *e)
{
	bool taken = json_object_object_get_ex(im->servers, e->name, NULL);

	for (unsigned i = 0; i < im->n; i++)
		taken |= im->entries[i].refused == NULL &&
			 strcmp(im->entries[i].name, e->name) == 0;
	if (taken && asprintf(&e->refused,
			 "there is already a server called %s; rename one of "
			 "them",
			 e->name) == -1)
		e->refused = NULL;
}

/*
 * Returns true for a file of a project, which an agent may have written: each
 * of its entries must be confirmed.
 */
static bool
import_project(const struct import *im, const char *file)
{
	size_t n = strlen(im->paths.user_home);

	for (size_t i = 0; i < nitems(places); i++)
		if (strncmp(file, im->paths.user_home, n) == 0 &&
		    file[n] == '/' && strcmp(file + n + 1, places[i].path) == 0)
			return false;
	return true;
}

static int
import_file(struct import *im, const char *file, bool must)
{
	bool project = import_project(im, file);
	struct json_object *root, *servers;
	struct mcp_entry e;
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
		mcp_entry_convert(&e, &im->how, name, theirs);
		if (e.refused == NULL)
			import_collision(im, &e);
		show_entry(&e, file);
		if (e.refused == NULL && im->n < IMPORT_MAX && project &&
		    !im->yes && !im->dry &&
		    !icctl_confirm("Import this server?")) {
			mcp_entry_free(&e);
			continue;
		}
		if (e.refused != NULL || im->n == IMPORT_MAX) {
			im->refused++;
			mcp_entry_free(&e);
			continue;
		}
		im->entries[im->n++] = e;
	}
	json_object_put(root);
	return 0;
}

static int
import_files(struct import *im, int argc, char **argv)
{
	char path[4400];

	for (int i = 0; i < argc; i++)
		if (import_file(im, argv[i], true) == -1)
			return -1;
	for (size_t i = 0; argc == 0 && i < nitems(places); i++) {
		snprintf(path, sizeof(path), "%.4000s/%s", im->paths.user_home,
		    places[i].path);
		if (import_file(im, path, false) == -1)
			return -1;
	}
	return 0;
}

static int
import_directory(const char *path)
{
	char part[4400];

	for (const char *s = strchr(path + 1, '/');; s = strchr(s + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s",
		    s != NULL ? (int)(s - path) : (int)strlen(path), path);
		if (mkdir(part, 0700) == -1 && errno != EEXIST) {
			warn("%s", part);
			return -1;
		}
		if (s == NULL)
			return 0;
	}
}

/* Write everything: secrets first, so that no entry lacks its own. */
static int
import_write(struct import *im)
{
	struct json_object *secrets = NULL;
	struct mcp_entry *e;
	struct fault fault;
	bool changed = false;

	if (!json_object_object_get_ex(
		im->config, "serverCredentials", &secrets)) {
		secrets = json_object_new_object();
		json_object_object_add(
		    im->config, "serverCredentials", secrets);
	}
	for (unsigned i = 0; i < im->n; i++) {
		e = &im->entries[i];
		for (size_t k = 0; k < json_object_array_length(e->make); k++)
			if (import_directory(json_object_get_string(
				json_object_array_get_idx(e->make, k))) == -1)
				return -1;
		json_object_object_add(
		    im->servers, e->name, json_object_get(e->entry));
		if (json_object_object_length(e->secrets) == 0)
			continue;
		json_object_object_add(
		    secrets, e->name, json_object_get(e->secrets));
		changed = true;
	}
	if ((changed && store_write(im->paths.home, "config.json", im->config,
			    &fault) == -1) ||
	    store_write(im->paths.home, "mcp-servers.json", im->servers,
		&fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	return 0;
}

static bool
installed(const struct import *im, const char *package)
{
	const char *version = strrchr(package + 1, '@');
	char path[4600];

	snprintf(path, sizeof(path), "%s/ironcurtain/node_modules/%.*s",
	    im->data_home,
	    (int)(version != NULL ? (size_t)(version - package)
				  : strlen(package)),
	    package);
	return access(path, F_OK) == 0;
}

/* Print one command that installs all missing packages. */
static void
import_install(const struct import *im)
{
	bool any = false;

	for (unsigned i = 0; i < im->n; i++) {
		if (im->entries[i].package == NULL ||
		    installed(im, im->entries[i].package))
			continue;
		if (!any)
			printf("Install what is missing, once, with:\n  npm "
			       "install --prefix ~/.local/share/ironcurtain");
		any = true;
		putchar(' ');
		icctl_put_str(im->entries[i].package);
	}
	if (any)
		puts("");
}

static void
import_tools(const struct mcp_entry *e)
{
	struct json_object *tools, *name;
	struct fault fault = {.text = ""};
	const char *s;

	printf("%s: ", e->name);
	fflush(stdout);
	if ((tools = mcp_probe(e->name, e->entry, true, &fault)) == NULL) {
		icctl_put_str(fault.text);
		putchar('\n');
		return;
	}
	printf("%zu tool%s:", json_object_array_length(tools),
	    plural(json_object_array_length(tools)));
	for (size_t i = 0; i < json_object_array_length(tools); i++) {
		name = NULL;
		json_object_object_get_ex(
		    json_object_array_get_idx(tools, i), "name", &name);
		s = json_object_get_string(name);
		s = s != NULL && strlen(s) > strlen(e->name) + 2
			? s + strlen(e->name) + 2
			: "";
		putchar(' ');
		icctl_put_str(s);
	}
	putchar('\n');
	json_object_put(tools);
}

static int
import_finish(struct import *im)
{
	char question[80], home[ICCTL_PATH];

	if (im->n == 0) {
		puts(im->refused != 0 ? "No server can be imported."
				      : "No MCP servers were found.");
		return ICCTL_FAILED;
	}
	if (im->dry) {
		import_install(im);
		puts("Nothing was written (--dry-run).");
		return ICCTL_OK;
	}
	snprintf(question, sizeof(question), "Write %s to mcp-servers.json?",
	    im->n == 1 ? "this server" : "these servers");
	if (!im->yes && !icctl_confirm(question)) {
		puts(feof(stdin) && !isatty(STDIN_FILENO)
			 ? "Nothing was written: there is no terminal to ask "
			   "on. With --yes, it is written without asking."
			 : "Nothing was written.");
		return ICCTL_FAILED;
	}
	if (import_write(im) == -1)
		return ICCTL_FAILED;
	printf("%u server%s imported into %s/mcp-servers.json.\n", im->n,
	    plural_were(im->n), icctl_path(im->paths.home, home));
	import_install(im);
	for (unsigned i = 0; im->start && i < im->n; i++)
		if (im->entries[i].package == NULL ||
		    installed(im, im->entries[i].package))
			import_tools(&im->entries[i]);
	puts("A session offers their tools to the agent, and each call waits "
	     "for your approval\nuntil a policy covers the tool: icctl mcp "
	     "annotate SERVER proposes one. To hide or\ndeny such tools "
	     "instead, set policy.unknownTools (ironcurtain-config(5)).");
	return ICCTL_OK;
}

static int
import_open(struct import *im, struct fault *fault)
{
	const char *data = getenv("XDG_DATA_HOME");
	char path[4400];

	if (paths_init(&im->paths, NULL, fault) == -1)
		return -1;
	if (data != NULL && data[0] == '/')
		snprintf(im->data_home, sizeof(im->data_home), "%.4000s", data);
	else
		snprintf(im->data_home, sizeof(im->data_home),
		    "%.4000s/.local/share", im->paths.user_home);
	im->how.user_home = im->paths.user_home;
	im->how.data_home = im->data_home;
	snprintf(path, sizeof(path), "%.4000s", im->paths.datadir);
	im->how.recipes = store_read(path, "mcp-recipes.json", fault);
	if (im->how.recipes == NULL)
		return -1;
	im->servers = store_read(im->paths.home, "mcp-servers.json", fault);
	im->config = store_read(im->paths.home, "config.json", fault);
	return im->servers == NULL || im->config == NULL ? -1 : 0;
}

static void
import_close(struct import *im)
{
	for (unsigned i = 0; i < im->n; i++)
		mcp_entry_free(&im->entries[i]);
	json_object_put(im->servers);
	json_object_put(im->config);
	json_object_put(im->how.recipes);
	paths_free(&im->paths);
}

int
mcp_import(struct icctl *ctl, int argc, char **argv)
{
	static const char *const options[] = {
	    "--dry-run", "--yes", "--no-start", "--help", NULL};
	static struct import im;
	char hint[NEAR_HINT];
	struct fault fault;
	int i, r = ICCTL_FAILED;

	im.start = true;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--dry-run") == 0)
			im.dry = true;
		else if (strcmp(argv[i], "--yes") == 0)
			im.yes = true;
		else if (strcmp(argv[i], "--no-start") == 0)
			im.start = false;
		else if (strcmp(argv[i], "--help") == 0 ||
			 strcmp(argv[i], "-h") == 0)
			return usage(stdout);
		else {
			warnx("no such option: %s%s", argv[i],
			    near_hint(argv[i], options, hint));
			return usage(stderr);
		}
	}
	if (import_open(&im, &fault) == -1)
		warnx("%s", fault.text);
	else if (import_files(&im, argc - i, argv + i) == 0)
		r = import_finish(&im);
	import_close(&im);
	return r;
}
