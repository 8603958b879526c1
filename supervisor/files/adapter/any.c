/* SPDX-License-Identifier: ISC */
/*
 * Agents that can use several providers: chooses those of a session, and the
 * model.
 */
#include "files/adapter/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/config.h"

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
	    "agent %s: there is no key of a provider for it. Run icctl setup, "
	    "which asks for one; or set a provider's variable (export "
	    "ANTHROPIC_API_KEY=...). `icctl login` shows all ways",
	    a->name);
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

static int
model_fits(const struct adapter *a, const char *model, struct fault *fault)
{
	if (model[0] == '\0' && a->needs_model)
		return fault_set(fault,
		    "agent %s: which model? Give --model NAME, or write in "
		    "config.json: {\"agent\":{\"%s\":{\"model\":\"NAME\"}}}",
		    a->name, a->name);
	if (model[0] == '\0' || a->needs_model || a->model != NULL)
		return 0;
	return fault_set(fault,
	    "agent %s: %s has no \"model\", the arguments with which its "
	    "model is chosen, so that none can be chosen here "
	    "(ironcurtain-config(5))",
	    a->name, a->file);
}

static size_t
list_length(char *const *list)
{
	size_t n = 0;

	while (list != NULL && list[n] != NULL)
		n++;
	return n;
}

/* Append copies of `more` to a list of arguments, if there is that list. */
static int
list_extend(const struct adapter *a, char ***list, char *const *more,
    struct fault *fault)
{
	const size_t n = list_length(*list), k = list_length(more);
	char **new;

	if (*list == NULL || k == 0)
		return 0;
	if (n + k > ADAPTER_MAX_ARGS)
		return fault_set(fault,
		    "%s: more than %u arguments, with those of \"model\" and "
		    "\"prompt\"",
		    a->file, ADAPTER_MAX_ARGS);
	if ((new = reallocarray(*list, n + k + 1, sizeof(new[0]))) == NULL)
		return fault_errno(fault, "%s", a->file);
	*list = new;
	for (size_t i = 0; i < k; i++) {
		new[n + i + 1] = NULL;
		if ((new[n + i] = strdup(more[i])) == NULL)
			return fault_errno(fault, "%s", a->file);
	}
	return 0;
}

/*
 * A last {model} in "acp" stands for the arguments of "model". An agent without
 * it has its model from the editor.
 */
static int
model_acp(struct adapter *a, const char *model, struct fault *fault)
{
	const size_t n = list_length(a->acp);

	a->acp_model = n != 0 && strcmp(a->acp[n - 1], "{model}") == 0;
	if (!a->acp_model)
		return 0;
	free(a->acp[n - 1]);
	a->acp[n - 1] = NULL;
	return model[0] == '\0' ? 0 : list_extend(a, &a->acp, a->model, fault);
}

int
adapter_model(struct adapter *a, const struct config *cfg, const char *wish,
    const char **model, struct fault *fault)
{
	const struct config_agent *own = config_agent(cfg, a->name);
	char ***lists[] = {&a->task_args, &a->args, &a->talk.turn,
	    &a->talk.resume, &a->talk.on};

	*model = wish != NULL                        ? wish
		 : own != NULL && own->model != NULL ? own->model
						     : "";
	if (model_fits(a, *model, fault) == -1 ||
	    model_acp(a, *model, fault) == -1)
		return -1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (list_extend(a, lists[i], a->prompt, fault) == -1 ||
		    ((*model)[0] != '\0' &&
			list_extend(a, lists[i], a->model, fault) == -1))
			return -1;
	}
	return 0;
}
