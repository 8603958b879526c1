/* SPDX-License-Identifier: ISC */
/*
 * Finds mcp-servers.json, has it read by the one parser or the other, and holds
 * the user's settings for each server. Their environment may contain secrets.
 */
#include "files/servers_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "files/parse.h"

/* A missing file means that there are no servers, unless it must be there. */
static int
servers_load(struct servers *s, const struct servers_how *how,
    servers_parse_fn *parse, bool must, struct fault *fault)
{
	struct stat st;
	size_t len = 0;
	char *text;
	int rv;

	memset(s, 0, sizeof(*s));
	if ((text = jsonfile_text(how->file, &len, &st, fault)) == NULL) {
		if (must || errno != ENOENT)
			return -1;
		return how->nunsandboxed == 0
			   ? 0
			   : parse(s, how, span_str("{}"), fault);
	}
	rv = parse(s, how, span_of(text, len), fault);
	freezero(text, len);
	return rv;
}

/* Those of config.json are of a text that has been read once already. */
static int
servers_inline(struct servers *s, const struct servers_how *how,
    servers_parse_fn *parse, struct json_object *o, struct fault *fault)
{
	const char *text =
	    json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

	return text == NULL ? fault_errno(fault, "%s", how->file)
			    : parse(s, how, span_str(text), fault);
}

int
servers_find(struct servers *s, struct servers_how *how,
    servers_parse_fn *parse, const struct config *cfg,
    const struct paths *paths, struct fault *fault)
{
	char *path = NULL;
	int rv;

	how->user_home = paths->user_home;
	how->env = cfg->server_env;
	if (cfg->servers != NULL) {
		how->file = cfg->file;
		rv = servers_inline(s, how, parse, cfg->servers, fault);
	} else if (cfg->servers_file != NULL) {
		how->file = cfg->servers_file;
		if (access(how->file, F_OK) == -1)
			return fault_errno(
			    fault, "%s: mcpServers: %s", cfg->file, how->file);
		rv = servers_load(s, how, parse, true, fault);
	} else if ((path = paths_join(paths->home, "mcp-servers.json")) ==
		   NULL) {
		return fault_errno(fault, "mcp-servers.json");
	} else {
		how->file = path;
		rv = servers_load(s, how, parse, false, fault);
	}
	if (rv == 0)
		rv = servers_builtin(s, fault);
	if (path != NULL)
		how->file = NULL;
	free(path);
	return rv;
}

int
servers_builtin(struct servers *s, struct fault *fault)
{
	struct server_def *d = &s->defs[s->n];

	for (unsigned i = 0; i < s->n; i++)
		if (strcmp(s->defs[i].name, SERVERS_FILES) == 0)
			return 0;
	if (s->no_files)
		return 0;
	if (s->n == PROTO_FIRST_INSTANCE) {
		fault_set(fault,
		    "%s: with %u servers there is no room for the built-in "
		    "file server: add \"" SERVERS_FILES "\": false",
		    s->file, s->n);
		goto bad;
	}
	s->n++;
	d->workspace = d->sandboxed = true;
	d->name = strdup(SERVERS_FILES);
	d->command = strdup("icfs");
	d->env = calloc(1, sizeof(*d->env));
	d->args = calloc(2, sizeof(*d->args));
	if (d->args != NULL)
		d->args[0] = strdup("/workspace");
	if (d->name != NULL && d->command != NULL && d->env != NULL &&
	    d->args != NULL && d->args[0] != NULL)
		return 0;
	fault_errno(fault, "built-in server");
bad:
	servers_free(s);
	return -1;
}

void
servers_free(struct servers *s)
{
	struct server_def *d;

	for (unsigned i = 0; i < s->n; i++) {
		d = &s->defs[i];
		free(d->name);
		free(d->command);
		free(d->entry);
		free(d->egress);
		free(d->domains);
		free(d->copy);
		servers_remote_free(d->remote);
		jsonfile_strings_free(d->args);
		jsonfile_strings_free(d->env);
		jsonfile_strings_free(d->allow_read);
		jsonfile_strings_free(d->allow_write);
		jsonfile_strings_free(d->tools);
		jsonfile_strings_free(d->deny_read);
		jsonfile_strings_free(d->deny_write);
	}
	free(s->file);
	memset(s, 0, sizeof(*s));
}

void
servers_remote_free(struct server_remote *r)
{
	if (r == NULL)
		return;
	config_provider_free(&r->as);
	json_object_put(r->file);
	free(r);
}
