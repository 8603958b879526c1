/* SPDX-License-Identifier: ISC */
/*
 * An entry of mcp-servers.json with "url": a server on another machine. It
 * becomes a provider of the session, with a keyd that is sent what policyd
 * composes (mitmd/provider/dest_mcp.h). The entry has no secret: where that is
 * stands in serverCredentials of config.json.
 */
#include "files/servers_priv.h"

#include <arpa/inet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_put.h"
#include "base/secret.h"
#include "files/parse.h"
#include "files/servers.h"
#include "mitmd/provider/dest_mcp.h"

#define REMOTE_NAME "mcp-" /* before the server's name */

static int
remote_out_of_memory(struct servers_entry *e)
{
	return fault_errno(e->j.fault, "%s", e->j.file);
}

/* Copy `s` in lower case, with - for _. Returns false if it does not fit. */
static bool
remote_lower(const char *s, char *dst, size_t cap, bool underscores)
{
	size_t n = strlen(s);

	if (n >= cap)
		return false;
	for (size_t i = 0; i <= n; i++) {
		dst[i] = s[i];
		if (s[i] >= 'A' && s[i] <= 'Z')
			dst[i] = (char)(s[i] - 'A' + 'a');
		else if (s[i] == '_' && !underscores)
			dst[i] = '-';
	}
	return true;
}

/* Returns true if a value in the query, NAME=VALUE&..., looks like a secret. */
static bool
remote_query_secret(const char *query)
{
	char *copy = strdup(query), *rest = copy, *one, *value;
	bool secret = copy == NULL;

	while (!secret && (one = strsep(&rest, "&")) != NULL) {
		value = one;
		strsep(&value, "=");
		secret = secret_like(one, value != NULL ? value : one);
	}
	free(copy);
	return secret;
}

/* Take the address apart. A name may not lead to this machine or its network.
 */
static int
remote_url(struct servers_entry *e, const char *url, bool private_ok)
{
	struct server_remote *r = e->def->remote;
	struct config_upstream *up = &r->as.upstreams[0].at;
	const char *why = NULL, *query = strchr(url, '?');
	size_t n = query != NULL ? (size_t)(query - url) : strlen(url);
	uint8_t address[16];
	char *plain;
	int rv;

	if (query != NULL && remote_query_secret(query + 1))
		return jsonfile_bad(&e->j, e->where, "url",
		    "its query has what looks like a key or a password. Remove "
		    "it there, and name it in serverCredentials of config.json "
		    "if the server takes it in a header, too");
	if ((plain = strndup(url, n)) == NULL)
		return remote_out_of_memory(e);
	rv = config_url(plain, up, &why);
	free(plain);
	if (rv == -1)
		return jsonfile_bad(&e->j, e->where, "url", "\"%.*s\": %s",
		    (int)n, strchr(url, '@') != NULL ? "..." : url, why);
	r->as.nupstreams = 1;
	r->public = !private_ok && strcmp(up->host, "localhost") != 0 &&
		    inet_pton(AF_INET, up->host, address) != 1 &&
		    inet_pton(AF_INET6, up->host, address) != 1;
	put_str(r->file, "path", n != 0 && url[n - 1] == '/' ? "/" : "");
	put_str(r->file, "query", query != NULL ? query + 1 : "");
	e->def->command = strdup(url);
	return e->def->command != NULL ? 0 : remote_out_of_memory(e);
}

/* "headers" are no secrets. They count as the arguments of the server. */
static int
remote_headers(struct servers_entry *e, struct json_object *o)
{
	struct json_object *all = NULL, *out = json_object_new_object();
	const char *text;
	char name[128], where[256];
	size_t n = 0;

	json_object_object_add(e->def->remote->file, "headers", out);
	e->def->args = calloc(DEST_MCP_HEADERS + 1, sizeof(char *));
	if (e->def->args == NULL)
		return remote_out_of_memory(e);
	if (jsonfile_object(&e->j, o, e->where, "headers", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	snprintf(where, sizeof(where), "%s.headers", e->where);
	json_object_object_foreach(all, key, val)
	{
		if (jsonfile_text_of(&e->j, val, where, key, &text) == -1)
			return -1;
		if (n == DEST_MCP_HEADERS ||
		    !remote_lower(key, name, sizeof(name), true))
			return jsonfile_bad(&e->j, where, key,
			    "at most %u headers with names of at most %zu "
			    "letters are taken",
			    DEST_MCP_HEADERS, sizeof(name) - 1);
		if (secret_like(key, text) ||
		    strcmp(name, "authorization") == 0 ||
		    strcmp(name, "cookie") == 0)
			return jsonfile_bad(&e->j, where, key,
			    "its value looks like a key or a password. Remove "
			    "it, and say in config.json where it is: "
			    "{\"serverCredentials\":{\"%s\":{\"headers\":{"
			    "\"%s\":{\"file\":\"PATH\"}}}}}",
			    e->def->name, name);
		if (strstr(text, "${") != NULL)
			return jsonfile_bad(&e->j, where, key,
			    "variables are not replaced here: write the value "
			    "itself, or name the variable in serverCredentials "
			    "of config.json");
		put_str(out, name, text);
		if (asprintf(&e->def->args[n++], "%s: %s", name, text) == -1) {
			e->def->args[n - 1] = NULL;
			return remote_out_of_memory(e);
		}
	}
	return 0;
}

/* It has no key: a login goes into Authorization, as soon as there is one. */
static int
remote_login(struct servers_entry *e)
{
	struct server_remote *r = e->def->remote;
	struct json_object *cred;

	if (!r->as.upstreams[0].at.tls)
		return 0;
	cred = json_object_new_object();
	put_str(cred, "env", "MCP_CREDENTIAL");
	put_str(cred, "name", "authorization");
	put_str(cred, "prefix", "Bearer ");
	json_object_object_add(r->file, "credential", cred);
	put_bool(r->file, "login", true);
	r->login = true;
	return 0;
}

/* The one credential: {"bearer": WHERE} or {"headers": {NAME: WHERE}}. */
static int
remote_credential(struct servers_entry *e)
{
	static const char *const keys[] = {
	    "bearer", "clientSecret", "headers", NULL};
	struct json_object *o, *cred, *val = NULL, *headers = NULL;
	struct server_remote *r = e->def->remote;
	char where[160], name[128] = "authorization";

	if (e->how->env == NULL ||
	    !json_object_object_get_ex(e->how->env, e->def->name, &o))
		return remote_login(e);
	snprintf(where, sizeof(where), "serverCredentials.%s", e->def->name);
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(&e->j, where, NULL,
		    "must be an object, is %s", jsonfile_kind(o));
	if (json_object_object_length(o) == 1 &&
	    json_object_object_get_ex(o, "clientSecret", NULL))
		return remote_login(e);
	if (jsonfile_known(&e->j, o, where, keys) == -1 ||
	    jsonfile_object(&e->j, o, where, "headers", &headers) == -1)
		return -1;
	(void)json_object_object_get_ex(o, "bearer", &val);
	if (headers != NULL && json_object_object_length(headers) == 1 &&
	    val == NULL) {
		json_object_object_foreach(headers, key, one)
		{
			val = one;
			if (!remote_lower(key, name, sizeof(name), true))
				val = NULL;
		}
	} else if (headers != NULL) {
		val = NULL;
	}
	if (val == NULL)
		return jsonfile_bad(&e->j, where, NULL,
		    "must say where one key of a remote server is: {\"bearer\":"
		    "{\"env\":\"NAME\"}}, or {\"headers\":{\"x-api-key\":"
		    "{\"file\":\"PATH\"}}}");
	if (config_credential_of(
		&r->as, &e->j, val, where, e->how->user_home, false) == -1)
		return -1;
	cred = json_object_new_object();
	put_str(cred, "env", "MCP_CREDENTIAL");
	put_str(cred, "name", name);
	put_str(cred, "prefix", headers == NULL ? "Bearer " : "");
	json_object_object_add(r->file, "credential", cred);
	e->def->secret = true;
	return 0;
}

static int
remote_type(struct servers_entry *e, struct json_object *o)
{
	const char *type = NULL;

	if (jsonfile_str(&e->j, o, e->where, "type", &type) == -1)
		return -1;
	if (type == NULL || strcmp(type, "http") == 0 ||
	    strcmp(type, "streamable-http") == 0)
		return 0;
	return jsonfile_bad(&e->j, e->where, "type",
	    "must be \"http\", is \"%s\". A server that speaks only HTTP+SSE "
	    "of 2024-11-05 (\"sse\") is not supported",
	    type);
}

int
servers_remote(struct servers_entry *e, struct json_object *o)
{
	static const char *const keys[] = {"allowPrivate", "ca", "description",
	    "elicitation", "headers", "oauth", "tools", "type", "url", NULL};
	struct server_remote *r = calloc(1, sizeof(*r));
	const char *url = NULL, *text = NULL;
	bool private_ok = false;
	char name[65];

	if ((e->def->remote = r) == NULL)
		return remote_out_of_memory(e);
	r->file = json_object_new_object();
	e->def->workspace = e->def->git = false;
	e->def->env = calloc(1, sizeof(char *));
	/* Policies know these names as those of servers here. */
	if (strcmp(e->def->name, SERVERS_FILES) == 0 ||
	    strcmp(e->def->name, "git") == 0)
		return jsonfile_bad(&e->j, "", e->def->name,
		    "a remote server must have another name");
	if (!remote_lower(e->def->name, name + 4, sizeof(name) - 4, false))
		return jsonfile_bad(&e->j, "", e->def->name,
		    "a remote server's name may have at most 60 letters");
	memcpy(name, REMOTE_NAME, 4);
	if (e->def->env == NULL || (r->as.name = strdup(name)) == NULL)
		return remote_out_of_memory(e);
	if (jsonfile_known(&e->j, o, e->where, keys) == -1 ||
	    jsonfile_str(&e->j, o, e->where, "url", &url) == -1 ||
	    jsonfile_str(&e->j, o, e->where, "description", &text) == -1 ||
	    jsonfile_bool(&e->j, o, e->where, "allowPrivate", &private_ok) ==
		-1 ||
	    servers_shown(e, o) == -1 || remote_type(e, o) == -1 || remote_url(e, url, private_ok) == -1 ||
	    config_reach(&r->as, &e->j, o, e->where, e->how->user_home) == -1 ||
	    remote_headers(e, o) == -1 || remote_credential(e) == -1)
		return -1;
	e->def->entry = servers_identity(e->def);
	return e->def->entry != NULL ? 0 : remote_out_of_memory(e);
}
