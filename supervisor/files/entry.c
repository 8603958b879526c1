/* SPDX-License-Identifier: ISC */
/*
 * The configuration once it has been read: its entries by name, the meaning of
 * paths, and its end.
 */
#include "files/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "files/parse.h"

#define IMAGE_MAX 255U

char *
config_path(const char *file, const char *user_home, const char *path)
{
	const char *slash = strrchr(file, '/');
	char *out = NULL;

	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0')) {
		if (asprintf(&out, "%s%s", user_home, path + 1) == -1)
			return NULL;
	} else if (path[0] == '/' || slash == NULL) {
		out = strdup(path);
	} else if (asprintf(&out, "%.*s/%s", (int)(slash - file), file, path) ==
		   -1) {
		return NULL;
	}
	return out;
}

void
config_provider_free(struct config_provider *p)
{
	free(p->name);
	free(p->value);
	free(p->login_file);
	config_command_free(&p->command);
	config_command_free(&p->revoke);
	free(p->ca);
	for (unsigned k = 0; k < PROVIDERS_PARAMS; k++)
		free(p->params[k]);
	for (unsigned k = 0; k < p->nupstreams; k++)
		free(p->upstreams[k].host);
	json_object_put(p->filter);
}

const struct config_provider *
config_provider(const struct config *cfg, const char *name)
{
	for (size_t i = 0; i < cfg->nproviders; i++)
		if (strcmp(cfg->providers[i].name, name) == 0)
			return &cfg->providers[i];
	return NULL;
}

bool
config_is_image(const char *s)
{
	return s[0] != '\0' && s[0] != '-' && strlen(s) <= IMAGE_MAX &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._:/@-")] == '\0';
}

bool
config_is_model(const char *s)
{
	return s[0] != '\0' && s[0] != '-' && strlen(s) <= 100 &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._:/@+-")] == '\0';
}

const struct config_upstream *
config_upstream_of(
    const struct config_provider *p, unsigned n, const char *host)
{
	for (unsigned i = 0; p != NULL && i < p->nupstreams; i++)
		if (p->upstreams[i].host == NULL
			? n == 0
			: strcmp(p->upstreams[i].host, host) == 0)
			return &p->upstreams[i].at;
	return NULL;
}

void
config_command_free(struct config_command *c)
{
	jsonfile_strings_free(c->argv);
	jsonfile_strings_free(c->variables);
	memset(c, 0, sizeof(*c));
}

void
config_destinations_free(struct config *cfg)
{
	for (size_t i = 0; i < cfg->ndestinations; i++) {
		config_provider_free(&cfg->destinations[i].as);
		jsonfile_strings_free(cfg->destinations[i].hosts);
		json_object_put(cfg->destinations[i].file);
	}
	for (size_t i = 0; i < cfg->nmirrors; i++)
		config_provider_free(&cfg->mirrors[i]);
	json_object_put(cfg->package_allow);
	json_object_put(cfg->package_deny);
}

void
config_free(struct config *cfg)
{
	for (size_t i = 0; i < cfg->nproviders; i++)
		config_provider_free(&cfg->providers[i]);
	config_destinations_free(cfg);
	free(cfg->image);
	for (size_t i = 0; i < CONFIG_CACHES; i++)
		free(cfg->caches[i]);
	free(cfg->proxy.direct);
	free(cfg->proxy.auth.value);
	config_command_free(&cfg->proxy.auth.command);
	free(cfg->proxy.ca);
	for (size_t i = 0; i < cfg->nagents; i++) {
		free(cfg->agents[i].name);
		free(cfg->agents[i].path);
		free(cfg->agents[i].image);
		free(cfg->agents[i].model);
	}
	free(cfg->approvers.file);
	free(cfg->approve.provider);
	free(cfg->approve.model);
	free(cfg->anchor);
	free(cfg->file);
	free(cfg->servers_file);
	free(cfg->policy);
	jsonfile_strings_free(cfg->shown);
	jsonfile_strings_free(cfg->undo.leave);
	jsonfile_strings_free(cfg->undo.include);
	jsonfile_strings_free(cfg->trusted);
	jsonfile_strings_free(cfg->narrow);
	free(cfg->told);
	json_object_put(cfg->servers);
	json_object_put(cfg->server_env);
	json_object_put(cfg->env);
	for (unsigned i = 0; i < cfg->nservices; i++)
		json_object_put(cfg->services[i].own);
	config_command_free(&cfg->notify);
	config_clear(cfg);
}

bool
config_trusts(const struct config *cfg, const char *server)
{
	for (size_t i = 0; cfg->trusted != NULL && cfg->trusted[i] != NULL; i++)
		if (strcmp(cfg->trusted[i], server) == 0)
			return true;
	return false;
}

const struct config_agent *
config_agent(const struct config *cfg, const char *name)
{
	for (size_t i = 0; i < cfg->nagents; i++)
		if (strcmp(cfg->agents[i].name, name) == 0)
			return &cfg->agents[i];
	return NULL;
}
