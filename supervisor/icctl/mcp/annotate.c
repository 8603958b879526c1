/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp annotate`: proposes annotations for the tools of a server of the
 * user's own, shows them, and writes them into a policy of the user's.  The
 * rule that goes with them asks a person about each call, so that accepting a
 * proposal lets nothing through by itself.
 */
#include "icctl/mcp/mcp.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "files/policy_install.h"
#include "files/policydir.h"
#include "common/plural.h"
#include "icctl/icctl.h"
#include "icctl/mcp/probe.h"
#include "icctl/mcp/roles.h"
#include "icctl/mcp/store.h"
#include "base/json_put.h"
#include "icctl/words.h"

struct annotate {
	struct paths paths;
	const char *server, *into;
	char dir[4300];
	bool yes;
	bool fresh;                /* the directory holds no policy yet */
	struct json_object *tools; /* proposals */
	struct json_object *files[PROTO_RULES_LAST + 1];
};

static int
usage(FILE *to)
{
	fputs("usage: icctl mcp annotate SERVER [--into DIR] [--yes]\n\nStarts "
	      "this server of mcp-servers.json once, proposes what the "
	      "arguments of its\ntools mean, shows the proposal, and writes it "
	      "into the policy in DIR (default:\n~/.ironcurtain/policy). If "
	      "DIR has no policy, the shipped one is copied there first.\nRead "
	      "the proposal: it is derived from names and schemas alone.\n\n  "
	      "--into DIR   a policy directory of your own\n  --yes        do "
	      "not ask\n",
	    to);
	return ICCTL_OK;
}

/* The server's entry in mcp-servers.json, or NULL with the fault set. */
static struct json_object *
entry_of(struct annotate *a, struct json_object *root, struct fault *fault)
{
	struct json_object *entry = NULL;
	char home[ICCTL_PATH];

	if (json_object_object_get_ex(store_servers(root), a->server, &entry) &&
	    json_object_is_type(entry, json_type_object))
		return entry;
	fault_set(fault,
	    "%s is not in %s/mcp-servers.json. See the names there, or import "
	    "servers with: icctl mcp import",
	    a->server, icctl_path(a->paths.home, home));
	return NULL;
}

/* Prints "NAME: ROLE, ROLE" for each argument that has a meaning. */
static void
show_args(struct json_object *args)
{
	const char *s;

	json_object_object_foreach(args, key, list)
	{
		printf("    ");
		icctl_put_str(key);
		printf(": ");
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			s = json_object_get_string(
			    json_object_array_get_idx(list, i));
			printf("%s%s", i == 0 ? "" : ", ",
			    strcmp(s, "none") == 0 ? "no resource" : s);
		}
		putchar('\n');
	}
}

static void
show_tool(struct json_object *tool, struct json_object *proposal)
{
	struct json_object *v = NULL, *hints = NULL;

	printf("  ");
	json_object_object_get_ex(proposal, "toolName", &v);
	icctl_put_str(json_object_get_string(v));
	if (json_object_object_get_ex(tool, "annotations", &hints)) {
		json_object_object_foreach(hints, key, val)
		{
			if (!json_object_is_type(val, json_type_boolean))
				continue;
			printf("  ");
			icctl_put_str(key);
			printf("=%s",
			    json_object_get_boolean(val) ? "true" : "false");
		}
	}
	putchar('\n');
	v = NULL;
	json_object_object_get_ex(proposal, "args", &v);
	show_args(v);
}

static int
propose(struct annotate *a, struct fault *fault)
{
	struct json_object *root, *entry, *tools = NULL, *tool, *v;
	struct json_object *noted = NULL;
	size_t skip = strlen(a->server) + 2;
	const char *s;

	root = store_read(a->paths.home, "mcp-servers.json", fault);
	if (root != NULL && (entry = entry_of(a, root, fault)) != NULL)
		tools = mcp_probe(a->server, entry, true, &noted, fault);
	json_object_put(root);
	mcp_put_noted(noted);
	json_object_put(noted);
	if (tools == NULL)
		return -1;
	a->tools = json_object_new_array();
	printf("%s has %zu tool%s. Proposed meaning of their arguments:\n",
	    a->server, json_object_array_length(tools),
	    plural(json_object_array_length(tools)));
	for (size_t i = 0; i < json_object_array_length(tools); i++) {
		tool = json_object_array_get_idx(tools, i);
		if (!json_object_object_get_ex(tool, "name", &v) ||
		    strlen(s = json_object_get_string(v)) <= skip)
			continue;
		json_object_array_add(
		    a->tools, roles_propose(a->server, s + skip, tool));
		show_tool(tool, json_object_array_get_idx(a->tools,
				    json_object_array_length(a->tools) - 1));
	}
	json_object_put(tools);
	return 0;
}

/*
 * Read the policy in --into, or the user's policy that sessions use.  Where
 * there is none yet, begin with the shipped one.
 */
static int
load(struct annotate *a, struct fault *fault)
{
	char shipped[4300], path[4400];
	char *used = NULL;

	snprintf(
	    shipped, sizeof(shipped), "%.4000s/policies", a->paths.datadir);
	if (a->into == NULL && (used = policydir_find(a->paths.home, shipped,
				    NULL, fault)) == NULL)
		return -1;
	if (a->into != NULL)
		snprintf(a->dir, sizeof(a->dir), "%.4200s", a->into);
	else if (strcmp(used, shipped) == 0)
		snprintf(
		    a->dir, sizeof(a->dir), "%.4000s/policy", a->paths.home);
	else
		snprintf(a->dir, sizeof(a->dir), "%.4200s", used);
	free(used);
	if (policy_install_recover(a->dir, fault) == -1)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", a->dir,
	    policydir_names[PROTO_RULES_POLICY]);
	a->fresh = access(path, F_OK) == -1;
	for (unsigned i = 0; i <= PROTO_RULES_LAST; i++) {
		a->files[i] = store_read(
		    a->fresh ? shipped : a->dir, policydir_names[i], fault);
		if (a->files[i] == NULL)
			return -1;
	}
	return 0;
}

static struct json_object *
child(struct json_object *o, const char *key, struct json_object *(*make)(void))
{
	struct json_object *v = NULL;

	if (json_object_object_get_ex(o, key, &v))
		return v;
	v = make();
	json_object_object_add(o, key, v);
	return v;
}

static const char *
tool_name(struct json_object *tool)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(tool, "toolName", &v);
	return v != NULL ? json_object_get_string(v) : "";
}

/*
 * Add arguments that a tool has now and its annotation does not know, and the
 * schema that goes with them. What is annotated stays: a person may have
 * corrected it. Returns the number of arguments.
 */
static size_t
merge_args(struct json_object *old, struct json_object *tool)
{
	struct json_object *have = NULL, *args = NULL, *schema;
	size_t added = 0;

	if (!json_object_object_get_ex(tool, "args", &args))
		return 0;
	if (!json_object_object_get_ex(old, "args", &have)) {
		have = json_object_new_object();
		json_object_object_add(old, "args", have);
	}
	if (!json_object_is_type(have, json_type_object))
		return 0;
	json_object_object_foreach(args, key, roles)
	{
		if (json_object_object_get_ex(have, key, NULL))
			continue;
		json_object_object_add(have, key, json_object_get(roles));
		if (added == 0) {
			printf("New arguments of ");
			icctl_put_str(tool_name(tool));
		}
		fputs(added == 0 ? ": " : ", ", stdout);
		icctl_put_str(key);
		added++;
	}
	if (added == 0)
		return 0;
	puts("");
	if (json_object_object_get_ex(tool, "inputSchema", &schema))
		json_object_object_add(
		    old, "inputSchema", json_object_get(schema));
	return added;
}

/*
 * Add what is not annotated yet: tools, and arguments of tools. Returns their
 * number.
 */
static size_t
merge(struct annotate *a)
{
	struct json_object *servers, *server, *list, *tool, *old;
	size_t added = 0, have;

	servers = child(a->files[PROTO_RULES_ANNOTATIONS], "servers",
	    json_object_new_object);
	server = child(servers, a->server, json_object_new_object);
	list = child(server, "tools", json_object_new_array);
	have = json_object_array_length(list);
	for (size_t i = 0; i < json_object_array_length(a->tools); i++) {
		tool = json_object_array_get_idx(a->tools, i);
		old = NULL;
		for (size_t k = 0; k < have && old == NULL; k++) {
			old = json_object_array_get_idx(list, k);
			if (strcmp(tool_name(old), tool_name(tool)) != 0)
				old = NULL;
		}
		if (old != NULL) {
			added += merge_args(old, tool);
			continue;
		}
		json_object_array_add(list, json_object_get(tool));
		added++;
	}
	return added;
}

/* Returns true if a rule names the server. */
static bool
has_rule(struct annotate *a, struct json_object *rules)
{
	struct json_object *cond, *list, *v;

	for (size_t i = 0; i < json_object_array_length(rules); i++) {
		cond = list = NULL;
		json_object_object_get_ex(
		    json_object_array_get_idx(rules, i), "if", &cond);
		json_object_object_get_ex(cond, "server", &list);
		for (size_t k = 0; json_object_is_type(list, json_type_array) &&
				   k < json_object_array_length(list);
		     k++) {
			v = json_object_array_get_idx(list, k);
			if (strcmp(json_object_get_string(v), a->server) == 0)
				return true;
		}
	}
	return false;
}

/* Without a rule every call of a tool that is annotated would be denied. */
static bool
add_rule(struct annotate *a)
{
	struct json_object *rules, *rule, *cond, *list;
	char name[128];

	rules =
	    child(a->files[PROTO_RULES_POLICY], "rules", json_object_new_array);
	if (has_rule(a, rules))
		return false;
	rule = json_object_new_object();
	cond = json_object_new_object();
	list = json_object_new_array();
	json_object_array_add(list, json_object_new_string(a->server));
	json_object_object_add(cond, "server", list);
	snprintf(name, sizeof(name), "ask-%.100s", a->server);
	put_str(rule, "name", name);
	put_str(rule, "description", "Calls of this server ask the user.");
	put_str(rule, "principle", "Written by icctl mcp annotate.");
	json_object_object_add(rule, "if", cond);
	put_str(rule, "then", "escalate");
	put_str(rule, "reason", "You are asked about this server");
	json_object_array_add(rules, rule);
	return true;
}

static int
save(struct annotate *a, size_t added, bool rule, struct fault *fault)
{
	char dir[ICCTL_PATH];

	(void)icctl_path(a->dir, dir);
	if (mkdir(a->dir, 0700) == -1 && errno != EEXIST)
		return fault_errno(fault, "%s", a->dir);
	for (unsigned i = 0; i <= PROTO_RULES_LAST; i++)
		if ((a->fresh || i == PROTO_RULES_ANNOTATIONS ||
			(i == PROTO_RULES_POLICY && rule)) &&
		    store_write(
			a->dir, policydir_names[i], a->files[i], fault) == -1)
			return -1;
	printf("%zu annotation%s written to %s/%s%s.\n", added,
	    plural_were(added), dir, policydir_names[PROTO_RULES_ANNOTATIONS],
	    rule ? ", and a rule that asks about each call" : "");
	if (a->fresh)
		puts("The other rules there are a copy of the shipped ones.");
	printf("Check it:        icctl policy check --policy %s\n", dir);
	if (a->into == NULL)
		puts("It applies to sessions that start from now on.");
	else
		printf("Use it:          icctl start --policy %s ...\n", dir);
	puts("In a running session: icctl policy reload");
	return 0;
}

static int
annotate(struct annotate *a, struct fault *fault)
{
	char dir[ICCTL_PATH];
	size_t added;
	bool rule;

	if (propose(a, fault) == -1 || load(a, fault) == -1)
		return -1;
	if ((added = merge(a)) == 0) {
		printf("All of its tools and their arguments are annotated in "
		       "%s already; nothing was written.\n",
		    icctl_path(a->dir, dir));
		return 0;
	}
	rule = add_rule(a);
	printf("Existing annotations and those of other servers stay as they "
	       "are.\n");
	if (!a->yes && !icctl_confirm("Write this?")) {
		puts("Nothing was written.");
		return 1;
	}
	return save(a, added, rule, fault);
}

int
mcp_annotate(struct icctl *ctl, int argc, char **argv)
{
	struct annotate a = {.server = NULL};
	struct fault fault;
	int r = -1;

	if (words_help())
		return usage(stdout);
	if (argc != 2)
		return words_usage();
	a.server = argv[1];
	a.into = words_option("--into");
	a.yes = words_given("--yes");
	if (paths_init(&a.paths, NULL, &fault) == 0 &&
	    (r = annotate(&a, &fault)) != -1) {
		/* Said already. */
	} else {
		warnx("%s", fault.text);
	}
	json_object_put(a.tools);
	for (unsigned i = 0; i <= PROTO_RULES_LAST; i++)
		json_object_put(a.files[i]);
	paths_free(&a.paths);
	return r == 0 ? ICCTL_OK : ICCTL_FAILED;
}
