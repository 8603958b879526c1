/* SPDX-License-Identifier: ISC */
/* Entries of the configuration: providers by name, and the meaning of paths. */
#include "files/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "files/parse.h"

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
