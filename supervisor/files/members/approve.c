/* SPDX-License-Identifier: ISC */
/*
 * "autoApprove": whether a model may answer a pending call that the person's
 * own message asks for, and which model. The TypeScript IronCurtain wrote both
 * as "modelId": "anthropic:claude-haiku-4-5".
 */
#include "files/parse.h"

#include <stdlib.h>
#include <string.h>

#include "files/config.h"

#define APPROVE_PROVIDER "anthropic"
#define APPROVE_MODEL "claude-haiku-4-5"

/* Split PROVIDER:MODEL. */
static int
approve_id(const struct jsonfile *j, const char *id, char **provider,
    char **model)
{
	const char *colon = strchr(id, ':');

	if (colon == NULL || colon == id)
		return jsonfile_bad(j, "autoApprove", "modelId",
		    "must be PROVIDER:MODEL; write \"provider\" and \"model\" "
		    "instead");
	*provider = strndup(id, (size_t)(colon - id));
	*model = strdup(colon + 1);
	return 0;
}

static bool
approve_is_model(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= 120 && s[0] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789._:/@+-") == n;
}

int
config_approve(struct config *cfg, const struct jsonfile *j,
    struct json_object *root)
{
	static const char *const keys[] = {
	    "enabled", "provider", "model", "modelId", NULL};
	const char *provider = APPROVE_PROVIDER, *model = APPROVE_MODEL;
	const char *id = NULL;
	struct config_approve *a = &cfg->approve;
	struct json_object *o = NULL;

	if (jsonfile_object(j, root, "", "autoApprove", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "autoApprove", keys) == -1 ||
	    jsonfile_bool(j, o, "autoApprove", "enabled", &a->on) == -1 ||
	    jsonfile_str(j, o, "autoApprove", "provider", &provider) == -1 ||
	    jsonfile_str(j, o, "autoApprove", "model", &model) == -1 ||
	    jsonfile_str(j, o, "autoApprove", "modelId", &id) == -1)
		return -1;
	if (id != NULL) {
		if (approve_id(j, id, &a->provider, &a->model) == -1)
			return -1;
	} else {
		a->provider = strdup(provider);
		a->model = strdup(model);
	}
	if (a->provider == NULL || a->model == NULL)
		return fault_errno(j->fault, "%s", j->file);
	if (a->provider[0] == '\0' || !approve_is_model(a->model))
		return jsonfile_bad(j, "autoApprove", "model",
		    "must be a model's name: letters, digits and ._:/@+-");
	return 0;
}
