/* SPDX-License-Identifier: ISC */
/*
 * Asks an MCP server of the user's for the members of a list. The model calls
 * its tools from the sandbox, in a session whose policy allows the tools of
 * this server that read, and nothing else. ic-compile makes five calls at most.
 */
#include "icctl/policy/compile/data.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"
#include "icctl/mcp/store.h"
#include "policyd/engine/roles.h"

#define DATA_DIR "read-data" /* in the cache */
/* Roles of arguments that a call which only reads may have. */
#define DATA_ROLES                                                             \
	(ARG_BIT(ARG_READ_PATH) | ARG_BIT(ARG_FETCH_URL) |                     \
	    ARG_BIT(ARG_GITHUB_OWNER) | ARG_BIT(ARG_GITHUB_REPO) |             \
	    ARG_BIT(ARG_BRANCH_NAME) | ARG_BIT(ARG_NONE))

/* Returns true if the first word of the name says that the tool reads. */
static bool
name_reads(struct span name)
{
	static const char *const verbs[] = {"count", "describe", "find", "get",
	    "list", "lookup", "query", "read", "search", "show", "view"};
	size_t n;

	for (size_t i = 0; i < nitems(verbs); i++) {
		n = strlen(verbs[i]);
		if (name.len >= n && memcmp(name.p, verbs[i], n) == 0 &&
		    (name.len == n || name.p[n] < 'a' || name.p[n] > 'z'))
			return true;
	}
	return false;
}

static uint32_t
roles_in(const struct value *v)
{
	uint32_t mask = 0;

	for (; v != NULL; v = v->next) {
		if (v->type == VALUE_STRING) {
			enum arg_role r = arg_role_find(v->text);

			/* An unknown role may mean anything. */
			mask |= r == ARG_COUNT ? ~DATA_ROLES : ARG_BIT(r);
		} else if (v->type == VALUE_ARRAY) {
			mask |= roles_in(v->child);
		} else if (value_get(v, "default") != NULL) {
			mask |= roles_in(value_get(v, "default")->child);
		}
	}
	return mask;
}

static bool
tool_reads(const struct value *tool)
{
	const struct value *args = value_get(tool, "args");

	return name_reads(value_str(tool, "toolName")) && args != NULL &&
	       (roles_in(args->child) & ~DATA_ROLES) == 0;
}

/* Returns the server that the definition names, or NULL. */
static const struct compile_server *
hinted(const struct compile *c, const struct value *def)
{
	struct span name = value_str(def, "mcpServerHint");

	for (unsigned i = 0; name.p != NULL && i < c->nannotated; i++)
		if (span_eq(c->annotated[i].name, name))
			return &c->annotated[i];
	return NULL;
}

bool
data_has_server(const struct compile *c, const struct value *def)
{
	const struct compile_server *s = hinted(c, def);
	const struct value *t =
	    s == NULL || s->tools == NULL ? NULL : s->tools->child;
	struct json_object *root, *servers;
	struct fault ignored;
	bool found = false;
	char name[100];

	while (t != NULL && !tool_reads(t))
		t = t->next;
	if (t == NULL || span_copy(s->name, name, sizeof(name)) == -1)
		return false;
	root = store_read(c->ctl->home, "mcp-servers.json", &ignored);
	if (root == NULL)
		return false;
	if (!json_object_object_get_ex(root, "mcpServers", &servers))
		servers = root;
	found = json_object_object_get_ex(servers, name, NULL);
	json_object_put(root);
	return found;
}

/* Write the policy of the session: the tools that read, by name. */
static int
put_policy(
    struct compile *c, const struct compile_server *s, struct fault *fault)
{
	const struct value *t = s->tools->child;
	bool more = false;
	struct buf b;
	int rv;

	buf_init(&b, (size_t)16 << 20);
	buf_printf(&b, "{\"generatedAt\":\"%s\",\"constitutionHash\":\"\","
		       "\"inputHash\":\"\",\"rules\":[{\"name\":\"read-data\","
		       "\"description\":\"Reading any of the owner's data for a "
		       "list is allowed.\",\"principle\":\"The constitution "
		       "names a group that only this data has.\",\"if\":{"
		       "\"server\":[", c->now);
	(void)json_write_string(&b, s->name);
	buf_adds(&b, "],\"tool\":[");
	for (; t != NULL; t = t->next) {
		if (!tool_reads(t))
			continue;
		buf_adds(&b, more ? "," : "");
		(void)json_write_string(&b, value_str(t, "toolName"));
		more = true;
	}
	buf_adds(&b, "]},\"then\":\"allow\",\"reason\":\"It is read for a "
		     "list\"}]}");
	rv = artefact_write(
	    c, c->cache, DATA_DIR "/compiled-policy.json", &b, fault);
	buf_reset(&b, (size_t)16 << 20);
	buf_addspan(&b, span_of(c->annotations.text, c->annotations.len));
	if (rv == 0)
		rv = artefact_write(c, c->cache,
		    DATA_DIR "/tool-annotations.json", &b, fault);
	buf_free(&b);
	return rv;
}

const struct value *
data_ask(struct compile *c, const struct value *def, char hash[SHA256_HEX],
    struct fault *fault)
{
	const struct compile_server *s = hinted(c, def);
	struct ask_part parts[4] = {{"list", value_str(def, "name")},
	    {"type", value_str(def, "type")},
	    {"principle", value_str(def, "principle")},
	    {"what belongs into it", value_str(def, "generationPrompt")}};
	char dir[PATH_MAX], vis[100], server[100];
	const struct ask q = {"data-values", parts, nitems(parts), NULL, NULL,
	    s->name, dir};
	const struct value *reply = NULL;

	snprintf(dir, sizeof(dir), "%.3900s/" DATA_DIR, c->cache);
	printf("list %s: read through the server %s\n",
	    log_vis(value_str(def, "name"), vis, sizeof(vis)),
	    log_vis(s->name, server, sizeof(server)));
	if (put_policy(c, s, fault) == 0)
		reply = compile_ask(c, &q, hash, fault);
	return reply == NULL ? NULL : value_get(reply, "values");
}
