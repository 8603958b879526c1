/* SPDX-License-Identifier: ISC */
/*
 * Converts, checks and writes entries of MCP servers. An imported server is a
 * foreign program, so it is shown in full before it is written, and is started
 * for the first time without a workspace, files, hosts or secrets.
 */
#include "icctl/mcp/take.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/plural.h"
#include "icctl/icctl.h"
#include "icctl/mcp/import_move.h"
#include "icctl/mcp/probe.h"
#include "icctl/mcp/store.h"
#include "icctl/mcp/suspect.h"

/* Refuse a name that an entry of this import or an earlier one has. */
static void
take_collision(struct mcp_take *im, struct mcp_entry *e)
{
	bool taken = json_object_object_get_ex(
	    store_servers(im->servers), e->name, NULL);

	for (unsigned i = 0; i < im->n; i++)
		taken |= im->entries[i].refused == NULL &&
			 strcmp(im->entries[i].name, e->name) == 0;
	if (taken && asprintf(&e->refused,
			 "there is already a server called %s; rename one of "
			 "them, or remove it: icctl mcp rm %s",
			 e->name, e->name) == -1)
		e->refused = NULL;
}

void
take_one(struct mcp_take *im, const char *name, struct json_object *theirs,
    const char *from, bool each)
{
	struct mcp_entry e;

	mcp_entry_convert(&e, &im->how, name, theirs);
	if (e.refused == NULL)
		take_collision(im, &e);
	if (e.refused == NULL)
		import_check(&im->check, &e);
	take_show(&e, from);
	if (e.refused == NULL && im->n < TAKE_MAX && each && !im->yes &&
	    !im->dry && !icctl_confirm("Import this server?")) {
		im->declined++;
		import_check_without(&im->check, &e);
		mcp_entry_free(&e);
		return;
	}
	if (e.refused != NULL || im->n == TAKE_MAX) {
		im->refused++;
		mcp_entry_free(&e);
		return;
	}
	im->entries[im->n++] = e;
}

/* Write a remote server's secret to the file that its keyd will read. */
static int
take_keep(const struct mcp_take *im, const struct mcp_entry *e)
{
	char dir[4300];

	snprintf(dir, sizeof(dir), "%.4200s/mcp-secrets", im->paths.home);
	if ((mkdir(dir, 0700) == -1 && errno != EEXIST) ||
	    jsonfile_replace(e->keep_in, span_str(e->keep)) == -1) {
		warn("%s", e->keep_in);
		return -1;
	}
	return 0;
}

/* Write everything: secrets first, so that no entry lacks its own. */
static int
take_write(struct mcp_take *im)
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
		if (import_make(e, &fault) == -1) {
			warnx("%s", fault.text);
			return -1;
		}
		json_object_object_add(store_servers(im->servers), e->name,
		    json_object_get(e->entry));
		if (e->keep != NULL && take_keep(im, e) == -1)
			return -1;
		if (e->where == NULL &&
		    json_object_object_length(e->secrets) == 0)
			continue;
		json_object_object_add(secrets, e->name,
		    json_object_get(e->where != NULL ? e->where : e->secrets));
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
installed(const struct mcp_take *im, const char *package)
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
take_install(const struct mcp_take *im)
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
take_tools(const struct mcp_entry *e)
{
	struct json_object *tools, *tool, *found, *noted = NULL;
	struct fault fault = {.text = ""};
	size_t n;

	printf("%s: ", e->name);
	fflush(stdout);
	if ((tools = mcp_probe(e->name, e->entry, true, &noted, &fault)) ==
	    NULL) {
		icctl_put_str(fault.text);
		putchar('\n');
		mcp_put_noted(noted);
		json_object_put(noted);
		return;
	}
	n = json_object_array_length(tools);
	printf("%zu tool%s:", n, plural(n));
	for (size_t i = 0; i < n; i++) {
		putchar(' ');
		icctl_put_str(
		    suspect_name(json_object_array_get_idx(tools, i), e->name));
	}
	putchar('\n');
	mcp_put_noted(noted);
	for (size_t i = 0; i < n; i++) {
		tool = json_object_array_get_idx(tools, i);
		if ((found = suspect_find(tool, e->name)) == NULL)
			continue;
		fputs("  ", stdout);
		icctl_put_str(suspect_name(tool, e->name));
		putchar(' ');
		suspect_put(found, suspect_name(tool, e->name), e->name);
		json_object_put(found);
	}
	json_object_put(noted);
	json_object_put(tools);
}

/* Say that nothing was written, because nobody has said yes. */
static int
take_declined(void)
{
	puts(feof(stdin) && !isatty(STDIN_FILENO)
		 ? "Nothing was written: there is no terminal to ask on. With "
		   "--yes, it is written without asking."
		 : "Nothing was written.");
	return ICCTL_FAILED;
}

int
take_finish(struct mcp_take *im, const char *verb)
{
	char question[80], home[ICCTL_PATH];

	if (im->n == 0 && im->declined != 0)
		return take_declined();
	if (im->n == 0) {
		if (im->refused == 0)
			puts("No MCP servers were found.");
		else
			printf("%s %s.\n",
			    strcmp(verb, "add") == 0 ? "The server cannot be"
						     : "No server can be",
			    strcmp(verb, "add") == 0 ? "added" : "imported");
		return ICCTL_FAILED;
	}
	if (im->dry) {
		take_install(im);
		puts("Nothing was written (--dry-run).");
		return ICCTL_OK;
	}
	snprintf(question, sizeof(question), "Write %s to mcp-servers.json?",
	    im->n == 1 ? "this server" : "these servers");
	if (!im->yes && !icctl_confirm(question))
		return take_declined();
	if (take_write(im) == -1)
		return ICCTL_FAILED;
	printf("%u server%s %s %s/mcp-servers.json.\n", im->n,
	    plural_were(im->n),
	    strcmp(verb, "add") == 0 ? "added to" : "imported into",
	    icctl_path(im->paths.home, home));
	take_install(im);
	for (unsigned i = 0; im->start && i < im->n; i++)
		if (!json_object_object_get_ex(
			im->entries[i].entry, "url", NULL) &&
		    (im->entries[i].package == NULL ||
			installed(im, im->entries[i].package)))
			take_tools(&im->entries[i]);
	puts("A session offers their tools to the agent, and each call waits "
	     "for your approval\nuntil a policy covers the tool: icctl mcp "
	     "annotate SERVER proposes one. To hide or\ndeny such tools "
	     "instead, set policy.unknownTools (ironcurtain-config(5)).");
	return ICCTL_OK;
}

int
take_open(struct mcp_take *im, struct fault *fault)
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
	im->how.home = im->paths.home;
	im->how.data_home = im->data_home;
	snprintf(path, sizeof(path), "%.4000s", im->paths.datadir);
	im->how.recipes = store_read(path, "mcp-recipes.json", fault);
	if (im->how.recipes == NULL)
		return -1;
	im->servers = store_read(im->paths.home, "mcp-servers.json", fault);
	im->config = store_read(im->paths.home, "config.json", fault);
	if (im->servers == NULL || im->config == NULL ||
	    guards_init(&im->guards, &im->paths, fault) == -1)
		return -1;
	im->how.guards = &im->guards;
	im->how.keys = guarded_names(&im->paths, im->config);
	return 0;
}

int
take_ask(struct mcp_take *im, struct fault *fault)
{
	if (json_object_object_get_ex(im->config, "mcpServers", NULL))
		return fault_set(fault,
		    "config.json has mcpServers, so that sessions read no "
		    "mcp-servers.json. Move its servers to mcp-servers.json, "
		    "and import again");
	return import_check_open(&im->check, &im->paths,
	    store_servers(im->servers), im->config, fault);
}

void
take_close(struct mcp_take *im)
{
	for (unsigned i = 0; i < im->n; i++)
		mcp_entry_free(&im->entries[i]);
	json_object_put(im->servers);
	json_object_put(im->config);
	json_object_put(im->how.recipes);
	json_object_put(im->how.keys);
	json_object_put(im->how.cwd);
	import_check_close(&im->check);
	paths_free(&im->paths);
}
