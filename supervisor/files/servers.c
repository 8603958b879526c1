/* SPDX-License-Identifier: ISC */
/* Parses mcp-servers.json, in ic-reader or in icctl. */
#include "files/servers.h"

#include "files/servers_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/secret.h"

#define SERVERS_MAX_ARGS 256U
#define SERVERS_MAX_ENV 128U
#define SERVERS_MAX_PATHS 64U

static bool
servers_name_ok(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= 64 && strstr(s, "__") == NULL && s[0] != '_' &&
	       s[n - 1] != '_' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == n;
}

static bool
servers_env_ok(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= 256 && servers_variable_name(s) == n;
}

/* Add variables; those of the user's file may refer to the environment. */
static int
servers_env_add(struct servers_entry *e, struct json_object *o,
    const char *where, bool refers, size_t *n)
{
	const char *value;
	char *own = NULL;

	json_object_object_foreach(o, name, val)
	{
		if (*n == SERVERS_MAX_ENV)
			return jsonfile_bad(&e->j, where, NULL,
			    "at most %u variables are taken", SERVERS_MAX_ENV);
		if (!servers_env_ok(name))
			return jsonfile_bad(&e->j, where, name,
			    "is not a valid name for a variable: letters, "
			    "digits and _ only");
		if (jsonfile_text_of(&e->j, val, where, name, &value) == -1 ||
		    (refers && servers_variables(
				   e, where, name, NULL, value, &own) == -1))
			return -1;
		if (asprintf(&e->def->env[*n], "%s=%s", name,
			refers ? own : value) == -1)
			e->def->env[*n] = NULL;
		e->def->secret |= secret_like(name, value);
		free(own);
		own = NULL;
		if (e->def->env[*n] == NULL)
			return fault_errno(e->j.fault, "%s", e->j.file);
		(*n)++;
	}
	return 0;
}

/*
 * Read the server's own "env", then the additions in config.json's
 * serverCredentials.
 */
static int
servers_env(struct servers_entry *e, struct json_object *o)
{
	struct json_object *env = NULL, *more = NULL;
	char where[256];
	size_t n = 0;

	e->def->env = calloc(SERVERS_MAX_ENV + 1, sizeof(*e->def->env));
	if (e->def->env == NULL)
		return fault_errno(e->j.fault, "%s", e->j.file);
	if (jsonfile_object(&e->j, o, e->where, "env", &env) == -1)
		return -1;
	snprintf(where, sizeof(where), "%s.env", e->where);
	if (env != NULL && servers_env_add(e, env, where, true, &n) == -1)
		return -1;
	e->def->nplain = n;
	if (e->how->env == NULL ||
	    !json_object_object_get_ex(e->how->env, e->def->name, &more))
		return 0;
	snprintf(where, sizeof(where), "serverCredentials.%s", e->def->name);
	if (!json_object_is_type(more, json_type_object))
		return jsonfile_bad(&e->j, where, NULL,
		    "must be an object, is %s", jsonfile_kind(more));
	e->def->secret |= json_object_object_length(more) != 0;
	return servers_env_add(e, more, where, false, &n);
}

/* Replace references in the arguments, now that the variables are known. */
static int
servers_args(struct servers_entry *e)
{
	const char *before = "", *value;
	char where[256], *text;

	snprintf(where, sizeof(where), "%s.args", e->where);
	for (size_t i = 0; e->def->args[i] != NULL; i++) {
		e->def->secret |=
		    secret_like_argument(before, e->def->args[i], &value);
		before = e->def->args[i];
		if (strstr(e->def->args[i], "${") == NULL)
			continue;
		if (servers_variables(e, where, NULL, e->def->env,
			e->def->args[i], &text) == -1)
			return -1;
		free(e->def->args[i]);
		before = e->def->args[i] = text;
	}
	return 0;
}

static int
servers_paths(struct servers_entry *e, struct json_object *fs,
    const char *where, const char *key, char ***out)
{
	char *path;
	int rv;

	rv = jsonfile_strings(&e->j, fs, where, key, SERVERS_MAX_PATHS, out);
	if (rv == -1)
		return -1;
	for (size_t i = 0; rv == 1 && (*out)[i] != NULL; i++) {
		if (strpbrk((*out)[i], "*?[") != NULL)
			return jsonfile_bad(&e->j, where, key,
			    "\"%s\": patterns are not allowed; name a "
			    "directory or a file",
			    (*out)[i]);
		path = config_path(e->j.file, e->how->user_home, (*out)[i]);
		if (path == NULL)
			return fault_errno(e->j.fault, "%s", e->j.file);
		if (path[0] != '/') {
			free(path);
			return jsonfile_bad(&e->j, where, key,
			    "\"%s\": must "
			    "be absolute, or begin with ~/",
			    (*out)[i]);
		}
		free((*out)[i]);
		(*out)[i] = path;
	}
	return 0;
}

static int
servers_sandbox(struct servers_entry *e, struct json_object *o)
{
	static const char *const keys[] = {"filesystem", "network", NULL};
	static const char *const fs_keys[] = {
	    "allowRead", "allowWrite", "denyRead", "denyWrite", NULL};
	struct json_object *v, *fs = NULL;
	char where[256];

	if (!json_object_object_get_ex(o, "sandbox", &v))
		return 0;
	if (json_object_is_type(v, json_type_boolean) &&
	    !json_object_get_boolean(v)) {
		e->def->sandboxed = !e->how->checking;
		if (e->how->checking)
			return 0;
		for (size_t i = 0; i < e->how->nunsandboxed; i++) {
			if (strcmp(e->how->unsandboxed[i], e->def->name) != 0)
				continue;
			e->def->sandboxed = false;
			return 0;
		}
		return jsonfile_bad(&e->j, e->where, "sandbox",
		    "false would give this server everything that you can "
		    "reach. Remove it to run the server in its sandbox, or "
		    "confirm it on the command line: --allow-unsandboxed %s",
		    e->def->name);
	}
	snprintf(where, sizeof(where), "%s.sandbox", e->where);
	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(&e->j, where, NULL,
		    "must be false or an object, is %s", jsonfile_kind(v));
	if (jsonfile_known(&e->j, v, where, keys) == -1 ||
	    servers_network(e, v) == -1 ||
	    jsonfile_object(&e->j, v, where, "filesystem", &fs) == -1)
		return -1;
	if (fs == NULL)
		return 0;
	snprintf(where, sizeof(where), "%s.sandbox.filesystem", e->where);
	if (jsonfile_known(&e->j, fs, where, fs_keys) == -1 ||
	    servers_paths(e, fs, where, "allowRead", &e->def->allow_read) ==
		-1 ||
	    servers_paths(e, fs, where, "allowWrite", &e->def->allow_write) ==
		-1 ||
	    servers_paths(e, fs, where, "denyRead", &e->def->deny_read) == -1 ||
	    servers_paths(e, fs, where, "denyWrite", &e->def->deny_write) == -1)
		return -1;
	return 0;
}

/* Parse "copy", which `icctl mcp import --copy` writes. */
static int
servers_copy(struct servers_entry *e, struct json_object *o)
{
	static const char *const keys[] = {"from", "sha256", "to", NULL};
	struct json_object *c = NULL;
	const char *from = NULL, *to = NULL, *sum = NULL;
	char where[256];

	if (jsonfile_object(&e->j, o, e->where, "copy", &c) == -1)
		return -1;
	if (c == NULL)
		return 0;
	snprintf(where, sizeof(where), "%s.copy", e->where);
	if (jsonfile_known(&e->j, c, where, keys) == -1 ||
	    jsonfile_str(&e->j, c, where, "from", &from) == -1 ||
	    jsonfile_str(&e->j, c, where, "to", &to) == -1 ||
	    jsonfile_str(&e->j, c, where, "sha256", &sum) == -1)
		return -1;
	if (to == NULL || to[0] != '/' || sum == NULL || strlen(sum) != 64 ||
	    strspn(sum, "0123456789abcdef") != 64)
		return jsonfile_bad(&e->j, where, NULL,
		    "must have the absolute path of the copy under \"to\", and "
		    "its digest under \"sha256\". Make it with: icctl mcp "
		    "import --copy %s",
		    e->def->name);
	(void)strlcpy(e->def->copy_sum, sum, sizeof(e->def->copy_sum));
	if ((e->def->copy = strdup(to)) == NULL)
		return fault_errno(e->j.fault, "%s", e->j.file);
	return 0;
}

static int
servers_policy(struct servers_entry *e, struct json_object *o)
{
	const char *s = NULL;

	if (jsonfile_str(&e->j, o, e->where, "sandboxPolicy", &s) == -1)
		return -1;
	if (s != NULL && strcmp(s, "enforce") != 0)
		return jsonfile_bad(&e->j, e->where, "sandboxPolicy",
		    "\"%s\" "
		    "is refused: a server without a sandbox is named with "
		    "\"sandbox\": false and --allow-unsandboxed %s. Remove "
		    "this key",
		    s, e->def->name);
	return 0;
}

/* Refuse the names that other programs have for a remote server's address. */
static int
servers_local(struct servers_entry *e, struct json_object *o)
{
	static const char *const names[] = {"httpUrl", "serverUrl"};

	for (size_t i = 0; i < nitems(names); i++)
		if (json_object_object_get_ex(o, names[i], NULL))
			return jsonfile_bad(&e->j, e->where, names[i],
			    "the address of a remote server is called \"url\" "
			    "here");
	return 0;
}

static int
servers_entry(struct servers_entry *e, struct json_object *o)
{
	static const char *const keys[] = {"args", "command", "copy",
	    "description", "elicitation", "env", "git", "sandbox",
	    "sandboxPolicy", "shell", "tools", "workspace", NULL};
	const char *command = NULL, *text = NULL;

	e->def->workspace = e->def->sandboxed = true;
	e->def->git = strcmp(e->def->name, "git") == 0;
	if (json_object_object_get_ex(o, "url", NULL))
		return servers_remote(e, o);
	if (servers_local(e, o) == -1 ||
	    jsonfile_known(&e->j, o, e->where, keys) == -1 ||
	    jsonfile_str(&e->j, o, e->where, "command", &command) == -1 ||
	    jsonfile_str(&e->j, o, e->where, "description", &text) == -1 ||
	    jsonfile_bool(
		&e->j, o, e->where, "workspace", &e->def->workspace) == -1 ||
	    jsonfile_bool(&e->j, o, e->where, "git", &e->def->git) == -1 ||
	    jsonfile_bool(&e->j, o, e->where, "shell", &e->def->shell) == -1 ||
	    jsonfile_strings(&e->j, o, e->where, "args", SERVERS_MAX_ARGS,
		&e->def->args) == -1 ||
	    servers_shown(e, o) == -1 || servers_policy(e, o) == -1 ||
	    servers_env(e, o) == -1 ||
	    servers_copy(e, o) == -1 || servers_sandbox(e, o) == -1)
		return -1;
	if (command == NULL)
		return jsonfile_bad(&e->j, e->where, "command",
		    "missing: name the program that speaks MCP on its stdin "
		    "and stdout");
	e->def->command = strdup(command);
	if (e->def->args == NULL)
		e->def->args = calloc(1, sizeof(*e->def->args));
	if (e->def->command == NULL || e->def->args == NULL)
		return fault_errno(e->j.fault, "%s", e->j.file);
	if ((e->def->entry = servers_identity(e->def)) == NULL)
		return fault_errno(e->j.fault, "%s", e->j.file);
	return servers_args(e);
}

/* Check that at most one server's git is run by icgit, which uses its view. */
static int
servers_one_git(const struct servers *s, const struct servers_entry *e)
{
	const char *first = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		if (!s->defs[i].git)
			continue;
		if (first != NULL)
			return jsonfile_bad(&e->j, s->defs[i].name, "git",
			    "%s is a git server already, and a session has "
			    "only one. Write \"git\": false here; its git "
			    "stays neutralised, but its remotes are not "
			    "resolved",
			    first);
		first = s->defs[i].name;
	}
	return 0;
}

/* Check that each --allow-unsandboxed names a server. */
static int
servers_allowed(const struct servers *s, const struct servers_entry *e)
{
	const char *name;
	unsigned k;

	for (size_t i = 0; i < e->how->nunsandboxed; i++) {
		name = e->how->unsandboxed[i];
		for (k = 0; k < s->n && strcmp(s->defs[k].name, name) != 0;)
			k++;
		if (k == s->n)
			return fault_set(e->j.fault,
			    "--allow-unsandboxed %s: there is no server of "
			    "this name",
			    name);
	}
	return 0;
}

/* Other clients write their servers below "mcpServers": unwrap them. */
static struct json_object *
servers_unwrap(struct json_object *root)
{
	struct json_object *inner;

	if (json_object_object_length(root) == 1 &&
	    json_object_object_get_ex(root, "mcpServers", &inner) &&
	    json_object_is_type(inner, json_type_object) &&
	    !json_object_object_get_ex(inner, "command", NULL))
		return inner;
	return root;
}

int
servers_parse(struct servers *s, const struct servers_how *how,
    struct json_object *root, struct fault *fault)
{
	struct servers_entry e = {.j = {how->file, fault}, .how = how};

	memset(s, 0, sizeof(*s));
	if ((s->file = strdup(how->file)) == NULL)
		return fault_errno(fault, "%s", how->file);
	root = servers_unwrap(root);
	json_object_object_foreach(root, name, val)
	{
		if (strcmp(name, SERVERS_FILES) == 0 &&
		    json_object_is_type(val, json_type_boolean) &&
		    !json_object_get_boolean(val)) {
			s->no_files = true;
			continue;
		}
		if (s->n == PROTO_FIRST_INSTANCE) {
			fault_set(fault, "%s: at most %u servers are allowed",
			    how->file, PROTO_FIRST_INSTANCE);
			goto bad;
		}
		if (!servers_name_ok(name)) {
			jsonfile_bad(&e.j, "", name,
			    "is not a valid name for a server: at most 64 "
			    "letters, digits, - and single _, which do not "
			    "begin or end it");
			goto bad;
		}
		if (strcmp(name, "proxy") == 0) {
			jsonfile_bad(&e.j, "", name,
			    "this name is reserved; "
			    "choose another");
			goto bad;
		}
		if (!json_object_is_type(val, json_type_object)) {
			jsonfile_bad(&e.j, "", name,
			    "must be an object, is "
			    "%s",
			    jsonfile_kind(val));
			goto bad;
		}
		e.def = &s->defs[s->n++];
		snprintf(e.where, sizeof(e.where), "%s", name);
		if ((e.def->name = strdup(name)) == NULL) {
			fault_errno(fault, "%s", how->file);
			goto bad;
		}
		if (servers_entry(&e, val) == -1)
			goto bad;
	}
	if (servers_one_git(s, &e) == -1 || servers_allowed(s, &e) == -1)
		goto bad;
	return 0;
bad:
	servers_free(s);
	return -1;
}

int
servers_text(struct servers *s, const struct servers_how *how, struct span text,
    struct fault *fault)
{
	struct json_object *root = jsonfile_parse(how->file, text, fault);
	int rv = root == NULL ? -1 : servers_parse(s, how, root, fault);

	json_object_put(root);
	return rv;
}
