/* SPDX-License-Identifier: ISC */
/*
 * Agents that can use several providers: chooses those of a session, and the
 * model.
 */
#include "config/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

/* Returns true if the provider's usual variable is set. */
static bool
any_is_set(
    const struct paths *paths, const struct config *cfg, const char *name)
{
	struct fault ignored;
	struct provider p;
	const char *value;
	bool set;

	if (provider_load(&p, paths, cfg, name, &ignored) == -1)
		return false;
	value = p.env == NULL ? NULL : getenv(p.env);
	set = value != NULL && value[0] != '\0';
	provider_clear(&p);
	return set;
}

static int
any_none(const struct adapter *a, struct fault *fault)
{
	return fault_set(fault,
	    "agent %s: it has no provider. Set the variable of one (export "
	    "ANTHROPIC_API_KEY=...), or write in config.json: "
	    "{\"credentials\":{\"%s\":{\"file\":\"~/keys/%s\"}}}. `icctl "
	    "login` "
	    "shows what there is",
	    a->name, a->any[0], a->any[0]);
}

int
adapter_take_any(struct adapter *a, const struct paths *paths,
    const struct config *cfg, struct fault *fault)
{
	const struct config_provider *p;
	size_t n = 0;
	char **list;

	if (a->providers != NULL || a->any == NULL || a->any[0] == NULL)
		return 0;
	list = calloc(PROTO_MAX_PROVIDERS + 1, sizeof(list[0]));
	if (list == NULL)
		return fault_errno(fault, "%s", a->file);
	a->providers = list;
	for (size_t i = 0; i < cfg->nproviders && n < PROTO_MAX_PROVIDERS; i++)
		if (cfg->providers[i].listed &&
		    (list[n] = strdup(cfg->providers[i].name)) != NULL)
			n++;
	for (size_t i = 0; a->any[i] != NULL && n < PROTO_MAX_PROVIDERS; i++) {
		p = config_provider(cfg, a->any[i]);
		if ((p == NULL || !p->listed) &&
		    any_is_set(paths, cfg, a->any[i]) &&
		    (list[n] = strdup(a->any[i])) != NULL)
			n++;
	}
	return n != 0 ? 0 : any_none(a, fault);
}

int
adapter_model(const struct adapter *a, const struct config *cfg,
    const char **model, struct fault *fault)
{
	const struct config_agent *own = config_agent(cfg, a->name);

	*model = own != NULL && own->model != NULL ? own->model : "";
	if ((*model)[0] != '\0' || a->root == NULL ||
	    strstr(json_object_to_json_string(a->root), "{model}") == NULL)
		return 0;
	return fault_set(fault,
	    "agent %s: which model? Write in config.json: "
	    "{\"agent\":{\"%s\":{\"model\":\"NAME\"}}}",
	    a->name, a->name);
}
