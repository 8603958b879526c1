/* SPDX-License-Identifier: ISC */
/*
 * Which provider to speak to: the one that is named, or that fits the name of
 * the model, or the first one for which the session has a key.  The keys are
 * the session's placeholders.
 */
#include "docker/agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choice_row {
	const char *provider, *env, *base;
	enum model_dialect dialect;
	unsigned max_output;
	const char *model; /* the default */
	const char *names; /* beginnings of its models' names */
};

/* clang-format off */
static const struct choice_row choices[] = {
	{"anthropic", "ANTHROPIC_API_KEY", NULL, MODEL_ANTHROPIC, 16384,
	    "claude-sonnet-4-5", "claude"},
	{"openai", "OPENAI_API_KEY", NULL, MODEL_RESPONSES, 16384,
	    "gpt-5.1", "gpt- o1 o3 o4 codex chatgpt"},
	{"google", "GEMINI_API_KEY", NULL, MODEL_GEMINI, 16384,
	    "gemini-2.5-pro", "gemini gemma"},
	{"openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api", MODEL_CHAT, 8192,
	    "anthropic/claude-sonnet-4.5", ""},
	/* The same key, with OpenAI's older interface. */
	{"openai-chat", "OPENAI_API_KEY", NULL, MODEL_CHAT, 16384, "gpt-5.1", ""},
};
/* clang-format on */

static const char *
choice_key(const struct choice_row *c)
{
	const char *key = getenv(c->env);

	return key != NULL && *key != '\0' ? key : NULL;
}

static bool
choice_fits(const struct choice_row *c, const char *model)
{
	const char *p = c->names;
	size_t n;

	/* Names with a maker are the router's. */
	if (strchr(model, '/') != NULL)
		return strcmp(c->provider, "openrouter") == 0;
	for (; *p != '\0'; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (strncmp(model, p, n) == 0)
			return true;
	}
	return false;
}

static const struct choice_row *
choice_find(const struct agent_options *o)
{
	const struct choice_row *first = NULL;

	for (size_t i = 0; i < nitems(choices); i++) {
		if (o->provider != NULL &&
		    strcmp(o->provider, choices[i].provider) == 0)
			return &choices[i];
		if (o->provider != NULL || choice_key(&choices[i]) == NULL)
			continue;
		if (o->model != NULL && choice_fits(&choices[i], o->model))
			return &choices[i];
		if (first == NULL)
			first = &choices[i];
	}
	return first;
}

int
choose_provider(const struct agent_options *o, struct agent_choice *out,
    char why[MODEL_WHY_MAX])
{
	const struct choice_row *c = choice_find(o);
	const char *model;

	if (c == NULL && o->provider != NULL) {
		snprintf(why, MODEL_WHY_MAX,
		    "--provider %.64s: there are anthropic, openai, "
		    "openai-chat, google and openrouter.",
		    o->provider);
		return -1;
	}
	if (c == NULL || choice_key(c) == NULL) {
		snprintf(why, MODEL_WHY_MAX,
		    "There is no key for %s in this session (%s). Outside, "
		    "export it, or see `icctl login`; then "
		    "start a new session.",
		    c == NULL ? "any provider" : c->provider,
		    c == NULL ? "ANTHROPIC_API_KEY, OPENAI_API_KEY, "
				"GEMINI_API_KEY or OPENROUTER_API_KEY"
			      : c->env);
		return -1;
	}
	model = o->model != NULL ? o->model : c->model;
	if (strlen(model) >= sizeof(out->model)) {
		snprintf(why, MODEL_WHY_MAX, "The model's name is too long.");
		return -1;
	}
	*out = (struct agent_choice){.dialect = c->dialect,
	    .provider = c->provider,
	    .key = choice_key(c),
	    .max_output = o->max_output != 0 ? o->max_output : c->max_output,
	    .base = o->base != NULL ? o->base : c->base};
	snprintf(out->model, sizeof(out->model), "%s", model);
	return 0;
}
