/* SPDX-License-Identifier: ISC */
/*
 * Converts another program's entry of a remote server: its address, its
 * constant headers, and its one secret, which is kept in a file of its own and
 * named in serverCredentials. `npx mcp-remote URL` is such an entry, too.
 */
#include "icctl/mcp/entry_remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/secret.h"
#include "common/span.h"
#include "files/servers.h"

#define OLD_TRANSPORT                                                          \
	"it speaks HTTP+SSE of 2024-11-05 (\"sse\"), which is not supported; " \
	"look for its address for streamable HTTP, and add it: icctl mcp add " \
	"NAME URL"

static void
remote_note(struct mcp_entry *e, const char *text)
{
	json_object_array_add(e->notes, json_object_new_string(text));
}

static void
remote_refuse(struct mcp_entry *e, const char *why)
{
	if (e->refused == NULL)
		e->refused = strdup(why);
}

/* Returns the text of the first of these members that is one, or NULL. */
static const char *
remote_text(struct json_object *o, const char *const *keys, size_t n)
{
	struct json_object *v;

	for (size_t i = 0; i < n; i++)
		if ((v = get_typed(o, keys[i], json_type_string)) != NULL)
			return json_object_get_string(v);
	return NULL;
}

/* Returns the name in ${NAME} or $NAME, if that is the whole text, or NULL. */
static char *
remote_variable(const char *s)
{
	bool braces = strncmp(s, "${", 2) == 0;
	size_t n;

	if (s[0] != '$')
		return NULL;
	s += braces ? 2 : 1;
	n = servers_variable_name(s);
	if (n == 0 || strcmp(s + n, braces ? "}" : "") != 0)
		return NULL;
	return strndup(s, n);
}

/* Say where the server's secret is; a server has one. */
static void
remote_where(struct mcp_entry *e, const char *header, bool bearer,
    const char *kind, const char *value)
{
	struct json_object *at = json_object_new_object(),
			   *headers = json_object_new_object();
	char text[200];

	if (e->where != NULL) {
		json_object_put(at);
		json_object_put(headers);
		remote_refuse(e,
		    "it has several secrets in its headers; only one is "
		    "supported");
		return;
	}
	e->where = json_object_new_object();
	put_str(at, kind, value);
	if (bearer) {
		json_object_put(headers);
		json_object_object_add(e->where, "bearer", at);
	} else {
		json_object_object_add(headers, header, at);
		json_object_object_add(e->where, "headers", headers);
	}
	snprintf(text, sizeof(text),
	    "the header %.60s has its secret, which %s", header,
	    strcmp(kind, "env") == 0
		? "is a variable of your environment"
		: "is kept in a file that only its keyd reads");
	remote_note(e, text);
}

/* Keep the text in a file of the server's own. */
static void
remote_keep(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *header, bool bearer, const char *value)
{
	char *path = NULL;

	if (value[0] == '\0' || strstr(value, "${") != NULL) {
		remote_refuse(e,
		    "a header mixes a secret with other text; name the secret "
		    "in serverCredentials yourself (ironcurtain-config(5))");
		return;
	}
	if (asprintf(&path, "%s/mcp-secrets/%s", how->home, e->name) == -1)
		return;
	remote_where(e, header, bearer, "file", path);
	if (e->keep_in != NULL) {
		free(path);
		return;
	}
	e->keep = strdup(value);
	e->keep_in = path;
}

static void
remote_secret(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *header, const char *value)
{
	bool bearer = strcasecmp(header, "authorization") == 0 &&
		      strncasecmp(value, "bearer ", 7) == 0;
	char *name;

	if (bearer)
		value += 7;
	if ((name = remote_variable(value)) != NULL)
		remote_where(e, header, bearer, "env", name);
	else
		remote_keep(e, how, header, bearer, value);
	free(name);
}

static void
remote_header(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *out, const char *name, const char *value)
{
	char *variable = remote_variable(value);

	if (variable != NULL || strcasecmp(name, "authorization") == 0 ||
	    strcasecmp(name, "cookie") == 0 || secret_like(name, value) ||
	    strstr(value, "${") != NULL)
		remote_secret(e, how, name, value);
	else
		put_str(out, name, value);
	free(variable);
}

static void
remote_headers(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *theirs)
{
	static const char *const keys[] = {"headers", "http_headers"};
	struct json_object *out = json_object_new_object(), *all;

	for (size_t i = 0; i < nitems(keys); i++) {
		if ((all = get_typed(theirs, keys[i], json_type_object)) ==
		    NULL)
			continue;
		json_object_object_foreach(all, name, val)
		{
			if (json_object_is_type(val, json_type_string))
				remote_header(e, how, out, name,
				    json_object_get_string(val));
			else
				remote_refuse(e, "a header is not a string");
		}
	}
	all = get_typed(theirs, "env_http_headers", json_type_object);
	if (all != NULL) {
		json_object_object_foreach(all, name, val)
		{
			remote_where(
			    e, name, false, "env", json_object_get_string(val));
		}
	}
	all = get_typed(theirs, "bearer_token_env_var", json_type_string);
	if (all != NULL)
		remote_where(e, "authorization", true, "env",
		    json_object_get_string(all));
	if (json_object_object_length(out) != 0)
		json_object_object_add(e->entry, "headers", out);
	else
		json_object_put(out);
}

/* Add scopes that are a list, or words in one text. */
static void
remote_scopes(struct json_object *oauth, struct json_object *v)
{
	struct json_object *list = json_object_new_array(), *one;
	const char *s;
	size_t n;

	if (json_object_is_type(v, json_type_string)) {
		for (s = json_object_get_string(v); *s != '\0'; s += n) {
			s += strspn(s, " ,");
			if ((n = strcspn(s, " ,")) != 0)
				json_object_array_add(list,
				    json_object_new_string_len(s, (int)n));
		}
	} else if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			one = json_object_array_get_idx(v, i);
			if (json_object_is_type(one, json_type_string))
				json_object_array_add(
				    list, json_object_get(one));
		}
	}
	if (json_object_array_length(list) != 0)
		json_object_object_add(oauth, "scopes", list);
	else
		json_object_put(list);
}

/* Keep the secret of the client that a person has registered. */
static void
remote_client_secret(
    struct mcp_entry *e, const struct mcp_entry_how *how, const char *value)
{
	char *variable = remote_variable(value), *path = NULL;
	struct json_object *at;

	if (e->where != NULL ||
	    (variable == NULL && (value[0] == '\0' || strstr(value, "${")))) {
		remote_note(e, "the secret of its client is left out; say in "
			       "serverCredentials where it is "
			       "(ironcurtain-config(5))");
		free(variable);
		return;
	}
	at = json_object_new_object();
	if (variable != NULL) {
		put_str(at, "env", variable);
	} else if (asprintf(&path, "%s/mcp-secrets/%s", how->home, e->name) !=
		   -1) {
		put_str(at, "file", path);
		e->keep = strdup(value);
		e->keep_in = path;
	}
	e->where = json_object_new_object();
	json_object_object_add(e->where, "clientSecret", at);
	free(variable);
}

/* Take what other programs say of its login. Where it leads is discovered. */
static void
remote_login(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *theirs)
{
	static const char *const clients[] = {"clientId", "client_id"},
				 *const theirs_id[] = {"oauth_client_id"},
				 *const scopes[] = {"scopes", "scope"};
	struct json_object *o = get_typed(theirs, "oauth", json_type_object),
			   *oauth = json_object_new_object(), *v;
	const char *client = remote_text(o, clients, nitems(clients));
	char text[128];

	if (client == NULL)
		client = remote_text(theirs, theirs_id, 1);
	/* Some programs use false, or {"enabled": false}, for "no login". */
	if ((v = get_typed(o, "enabled", json_type_boolean)) != NULL &&
	    !json_object_get_boolean(v))
		client = NULL;
	if (v != NULL && !json_object_get_boolean(v))
		o = NULL;
	if (client != NULL && client[0] != '\0')
		put_str(oauth, "clientId", client);
	for (size_t i = 0; i < nitems(scopes); i++)
		if ((v = get_member(o, scopes[i])) != NULL ||
		    (v = get_member(theirs, scopes[i])) != NULL)
			remote_scopes(oauth, v);
	v = get_typed(o, "callbackPort", json_type_int);
	if (v != NULL && json_object_get_int64(v) > 0 &&
	    json_object_get_int64(v) <= 65535)
		json_object_object_add(
		    oauth, "callbackPort", json_object_get(v));
	if ((v = get_typed(o, "clientSecret", json_type_string)) != NULL)
		remote_client_secret(e, how, json_object_get_string(v));
	if (o != NULL || client != NULL ||
	    json_object_object_get_ex(theirs, "authProviderType", NULL)) {
		snprintf(text, sizeof(text), "%s: icctl mcp login %.64s",
		    how->added ? "log in afterwards"
			       : "its login is not taken over",
		    e->name);
		remote_note(e, text);
	}
	if (json_object_object_length(oauth) != 0)
		json_object_object_add(e->entry, "oauth", oauth);
	else
		json_object_put(oauth);
}

/* Take "--header NAME: VALUE" of mcp-remote. */
static void
remote_option(struct json_object *headers, const char *text)
{
	const char *colon = strchr(text, ':'), *value;
	char name[128];

	if (colon == NULL)
		return;
	snprintf(name, sizeof(name), "%.*s",
	    (int)(colon - text < 127 ? colon - text : 127), text);
	value = colon + 1;
	put_str(headers, name, value + strspn(value, " "));
}

/* Returns the word of the command that is mcp-remote's address, or 0. */
static size_t
remote_bridge(struct json_object *argv)
{
	static const char name[] = "mcp-remote";
	size_t n = json_object_array_length(argv);
	const char *s;

	for (size_t i = 0; i + 1 < n && i < 4; i++) {
		s = json_object_get_string(json_object_array_get_idx(argv, i));
		if (s == NULL || strncmp(s, name, sizeof(name) - 1) != 0 ||
		    (s[sizeof(name) - 1] != '\0' && s[sizeof(name) - 1] != '@'))
			continue;
		s = json_object_get_string(
		    json_object_array_get_idx(argv, i + 1));
		return s != NULL && strncmp(s, "http", 4) == 0 ? i + 1 : 0;
	}
	return 0;
}

/*
 * Returns the entry that a line of mcp-remote stands for, which the caller
 * frees, or NULL if it is none.
 */
static struct json_object *
remote_unwrap(struct json_object *theirs)
{
	struct json_object *argv =
			       get_typed(theirs, "command", json_type_array),
			   *o, *headers;
	size_t at = argv != NULL ? remote_bridge(argv) : 0;
	const char *s, *value;

	if (at == 0)
		return NULL;
	o = json_object_new_object();
	headers = json_object_new_object();
	json_object_object_add(o, "headers", headers);
	put_str(o, "url",
	    json_object_get_string(json_object_array_get_idx(argv, at)));
	for (size_t i = at + 1; i < json_object_array_length(argv); i++) {
		s = json_object_get_string(json_object_array_get_idx(argv, i));
		value = json_object_get_string(
		    json_object_array_get_idx(argv, i + 1));
		if (s == NULL || value == NULL)
			continue;
		if (strcmp(s, "--header") == 0)
			remote_option(headers, value);
		else if (strcmp(s, "--transport") == 0 &&
			 strcmp(value, "sse-only") == 0)
			put_str(o, "type", "sse");
	}
	return o;
}

bool
mcp_entry_is_remote(struct json_object *theirs)
{
	static const char *const keys[] = {
	    "url", "httpUrl", "serverUrl", "uri", "endpoint"};
	static const char *const types[] = {"type", "transport"};
	const char *type = remote_text(theirs, types, nitems(types));
	struct json_object *argv =
	    get_typed(theirs, "command", json_type_array);

	for (size_t i = 0; i < nitems(keys); i++)
		if (json_object_object_get_ex(theirs, keys[i], NULL))
			return true;
	if (argv != NULL && remote_bridge(argv) != 0)
		return true;
	return type != NULL && strcmp(type, "stdio") != 0 &&
	       strcmp(type, "local") != 0;
}

void
mcp_entry_remote(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *theirs)
{
	static const char *const urls[] = {
	    "url", "httpUrl", "serverUrl", "uri", "endpoint"};
	static const char *const types[] = {"type", "transport"};
	struct json_object *line = remote_unwrap(theirs), *v;
	const char *url, *type;

	if (line != NULL)
		theirs = line;
	url = remote_text(theirs, urls, nitems(urls));
	type = remote_text(theirs, types, nitems(types));
	if (url == NULL)
		remote_refuse(e, "it is a remote server without an address");
	else if (type != NULL && strcmp(type, "sse") == 0)
		remote_refuse(e, OLD_TRANSPORT);
	else if (strstr(url, "${") != NULL)
		remote_refuse(e,
		    "its address has a variable; write it in full: icctl mcp "
		    "add NAME URL");
	else
		put_str(e->entry, "url", url);
	if (e->refused == NULL) {
		remote_headers(e, how, theirs);
		remote_login(e, how, theirs);
	}
	if ((v = get_typed(theirs, "description", json_type_string)) != NULL)
		json_object_object_add(
		    e->entry, "description", json_object_get(v));
	json_object_put(line);
}
