/* SPDX-License-Identifier: ISC */
/*
 * Reading mcp-servers.json.  Holds what the user wrote about each server; its
 * environment may hold secrets and is wiped when freed.
 */
#include "servers.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "config.h"
#include "jsonfile.h"

#define SERVERS_MAX_ARGS 256U
#define SERVERS_MAX_ENV 128U
#define SERVERS_MAX_PATHS 64U

struct entry {
	struct jsonfile j;
	const struct servers_how *how;
	struct server_def *def;
	char where[192];
};

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

	return n != 0 && n <= 256 && !(s[0] >= '0' && s[0] <= '9') &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

static int
servers_env_add(
    struct entry *e, struct json_object *o, const char *where, size_t *n)
{
	const char *value;

	json_object_object_foreach(o, name, val)
	{
		if (*n == SERVERS_MAX_ENV)
			return jsonfile_bad(&e->j, where, NULL,
			    "at most %u variables are taken", SERVERS_MAX_ENV);
		if (!servers_env_ok(name))
			return jsonfile_bad(&e->j, where, name,
			    "is no name of "
			    "a variable: letters, digits and _ only");
		if (jsonfile_text_of(&e->j, val, where, name, &value) == -1)
			return -1;
		if (asprintf(&e->def->env[*n], "%s=%s", name, value) == -1) {
			e->def->env[*n] = NULL;
			return fault_errno(e->j.fault, "%s", e->j.file);
		}
		(*n)++;
	}
	return 0;
}

/* Its own "env", then what config.json's serverCredentials adds. */
static int
servers_env(struct entry *e, struct json_object *o)
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
	if (env != NULL && servers_env_add(e, env, where, &n) == -1)
		return -1;
	if (e->how->env == NULL ||
	    !json_object_object_get_ex(e->how->env, e->def->name, &more))
		return 0;
	snprintf(where, sizeof(where), "serverCredentials.%s", e->def->name);
	if (!json_object_is_type(more, json_type_object))
		return jsonfile_bad(&e->j, where, NULL,
		    "must be an object, is %s", jsonfile_kind(more));
	return servers_env_add(e, more, where, &n);
}

static int
servers_paths(struct entry *e, struct json_object *fs, const char *where,
    const char *key, char ***out)
{
	char *path;
	int rv;

	rv = jsonfile_strings(&e->j, fs, where, key, SERVERS_MAX_PATHS, out);
	if (rv == -1)
		return -1;
	for (size_t i = 0; rv == 1 && (*out)[i] != NULL; i++) {
		if (strpbrk((*out)[i], "*?[") != NULL)
			return jsonfile_bad(&e->j, where, key,
			    "\"%s\": "
			    "patterns are not taken, name a directory or file",
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

/* "host" or "host:port"; 443 is the port of those that name none. */
static int
servers_door(struct entry *e, const char *where, const char *text,
    const char *key, bool denied)
{
	struct egress_list *l = e->def->egress;
	char host[EGRESS_MAX_HOST + 1];
	struct span s = span_str(text);
	const char *colon = strrchr(text, ':');
	uint16_t port = 443;
	struct span name = s;

	if (colon != NULL && (text[0] == '[' || strchr(text, ':') == colon)) {
		if (span_starts(s, SPAN("*")))
			port = (uint16_t)strtonum(colon + 1, 1, 65535, NULL);
		else if (egress_target(s, host, &port) == -1)
			port = 0;
		name = span_of(text, (size_t)(colon - text));
		if (text[0] == '[' && port != 0)
			name = span_of(text + 1, (size_t)(colon - text) - 2);
	}
	if (port == 0 ||
	    (egress_add(l, name, port, denied) == -1 && errno == EINVAL))
		return jsonfile_bad(&e->j, where, key,
		    "\"%s\": must be a name, *.name, * or an address, with "
		    ":PORT where it is not 443",
		    text);
	return 0;
}

static int
servers_doors(struct entry *e, struct json_object *net, const char *where,
    const char *key, bool denied)
{
	char **list = NULL;
	int rv;

	rv = jsonfile_strings(
	    &e->j, net, where, key, EGRESS_MAX_ROWS / 2, &list);
	for (size_t i = 0; rv == 1 && list[i] != NULL; i++)
		if (servers_door(e, where, list[i], key, denied) == -1)
			rv = -1;
	jsonfile_strings_free(list);
	return rv == -1 ? -1 : 0;
}

/* What policyd's domain gate goes by: the same names, a line each. */
static int
servers_domains(struct entry *e)
{
	const struct egress_list *l = e->def->egress;
	struct buf b;

	buf_init(&b, 16384);
	for (unsigned i = 0; i < l->n; i++) {
		if (l->rows[i].denied)
			continue;
		if (b.len != 0)
			buf_addc(&b, '\n');
		buf_adds(&b, l->rows[i].host);
	}
	buf_addc(&b, '\0');
	if (!b.failed)
		e->def->domains = strdup((const char *)buf_span(&b).p);
	buf_free(&b);
	return e->def->domains == NULL
		   ? fault_errno(e->j.fault, "%s", e->j.file)
		   : 0;
}

static int
servers_network(struct entry *e, struct json_object *sandbox)
{
	static const char *const keys[] = {
	    "allowedDomains", "allowPrivate", "deniedDomains", NULL};
	struct json_object *v;
	char where[256];

	if (!json_object_object_get_ex(sandbox, "network", &v))
		return 0;
	if (json_object_is_type(v, json_type_boolean) &&
	    !json_object_get_boolean(v))
		return 0;
	if (!json_object_is_type(v, json_type_object))
		return jsonfile_bad(&e->j, e->where, "sandbox.network",
		    "must be false or an object with allowedDomains, is %s: no "
		    "server shares the host's network",
		    json_object_is_type(v, json_type_boolean)
			? "true"
			: jsonfile_kind(v));
	snprintf(where, sizeof(where), "%s.sandbox.network", e->where);
	if (jsonfile_known(&e->j, v, where, keys) == -1 ||
	    (e->def->egress = calloc(1, sizeof(*e->def->egress))) == NULL)
		return e->def->egress == NULL && errno == ENOMEM
			   ? fault_errno(e->j.fault, "%s", e->j.file)
			   : -1;
	if (jsonfile_bool(&e->j, v, where, "allowPrivate",
		&e->def->egress->private_ok) == -1 ||
	    servers_doors(e, v, where, "allowedDomains", false) == -1)
		return -1;
	if (e->def->egress->n == 0) {
		free(e->def->egress);
		e->def->egress = NULL;
		return 0;
	}
	if (servers_doors(e, v, where, "deniedDomains", true) == -1)
		return -1;
	return servers_domains(e);
}

static int
servers_sandbox(struct entry *e, struct json_object *o)
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
		for (size_t i = 0; i < e->how->nunsandboxed; i++) {
			if (strcmp(e->how->unsandboxed[i], e->def->name) != 0)
				continue;
			e->def->sandboxed = false;
			return 0;
		}
		return jsonfile_bad(&e->j, e->where, "sandbox",
		    "false would give this server all that you can reach. "
		    "Remove it to run the server in its sandbox, or say it "
		    "again on the command line: --allow-unsandboxed %s",
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

static int
servers_policy(struct entry *e, struct json_object *o)
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

static int
servers_entry(struct entry *e, struct json_object *o)
{
	static const char *const keys[] = {"args", "command", "description",
	    "env", "sandbox", "sandboxPolicy", "workspace", NULL};
	const char *command = NULL, *text = NULL;

	e->def->workspace = e->def->sandboxed = true;
	if (jsonfile_known(&e->j, o, e->where, keys) == -1 ||
	    jsonfile_str(&e->j, o, e->where, "command", &command) == -1 ||
	    jsonfile_str(&e->j, o, e->where, "description", &text) == -1 ||
	    jsonfile_bool(
		&e->j, o, e->where, "workspace", &e->def->workspace) == -1 ||
	    jsonfile_strings(&e->j, o, e->where, "args", SERVERS_MAX_ARGS,
		&e->def->args) == -1 ||
	    servers_policy(e, o) == -1 || servers_env(e, o) == -1 ||
	    servers_sandbox(e, o) == -1)
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
	return 0;
}

int
servers_parse(struct servers *s, const struct servers_how *how,
    struct json_object *root, struct fault *fault)
{
	struct entry e = {.j = {how->file, fault}, .how = how};

	memset(s, 0, sizeof(*s));
	if ((s->file = strdup(how->file)) == NULL)
		return fault_errno(fault, "%s", how->file);
	json_object_object_foreach(root, name, val)
	{
		if (s->n == PROTO_FIRST_INSTANCE) {
			fault_set(fault, "%s: at most %u servers are taken",
			    how->file, PROTO_FIRST_INSTANCE);
			goto bad;
		}
		if (!servers_name_ok(name)) {
			jsonfile_bad(&e.j, "", name,
			    "is no server's name: at "
			    "most 64 letters, digits, - and single _, which "
			    "do not begin or end it");
			goto bad;
		}
		if (strcmp(name, "proxy") == 0) {
			jsonfile_bad(&e.j, "", name,
			    "this name is reserved; "
			    "choose another");
			goto bad;
		}
		if (strcmp(name, "mcpServers") == 0 &&
		    !json_object_object_get_ex(val, "command", NULL)) {
			jsonfile_bad(&e.j, "", name,
			    "no such wrapper is taken "
			    "here: what it holds stands in the file itself, "
			    "{\"NAME\":{\"command\":...}}");
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
	return 0;
bad:
	servers_free(s);
	return -1;
}

int
servers_load(struct servers *s, const struct servers_how *how, bool must,
    struct fault *fault)
{
	struct json_object *root;
	struct stat st;
	size_t len = 0;
	char *text;
	int rv = -1;

	memset(s, 0, sizeof(*s));
	if ((text = jsonfile_text(how->file, &len, &st, fault)) == NULL)
		return !must && errno == ENOENT ? 0 : -1;
	root = jsonfile_parse(how->file, span_of(text, len), fault);
	if (root != NULL)
		rv = servers_parse(s, how, root, fault);
	json_object_put(root);
	freezero(text, len);
	return rv;
}

int
servers_builtin(struct servers *s, struct fault *fault)
{
	struct server_def *d = &s->defs[0];

	memset(s, 0, sizeof(*s));
	s->n = 1;
	d->workspace = d->sandboxed = true;
	d->name = strdup("filesystem");
	d->command = strdup("icfs");
	d->env = calloc(1, sizeof(*d->env));
	d->args = calloc(2, sizeof(*d->args));
	if (d->args != NULL)
		d->args[0] = strdup("/workspace");
	if (d->name == NULL || d->command == NULL || d->env == NULL ||
	    d->args == NULL || d->args[0] == NULL) {
		servers_free(s);
		return fault_errno(fault, "built-in server");
	}
	return 0;
}

void
servers_free(struct servers *s)
{
	struct server_def *d;

	for (unsigned i = 0; i < s->n; i++) {
		d = &s->defs[i];
		free(d->name);
		free(d->command);
		free(d->egress);
		free(d->domains);
		jsonfile_strings_free(d->args);
		jsonfile_strings_free(d->env);
		jsonfile_strings_free(d->allow_read);
		jsonfile_strings_free(d->allow_write);
		jsonfile_strings_free(d->deny_read);
		jsonfile_strings_free(d->deny_write);
	}
	free(s->file);
	memset(s, 0, sizeof(*s));
}
