/* SPDX-License-Identifier: ISC */
/*
 * "check" of a provider file: a request that costs nothing and shows whether
 * the provider accepts the credential. `icctl doctor --check-api` sends it, in
 * a session of its own whose providers can be asked nothing else.
 */
#include "files/providers/providers.h"

#include <string.h>

#include "base/jsonfile.h"

/* Check that a member is an object of short texts, or absent. */
static int
trial_texts(
    const struct jsonfile *j, struct json_object *check, const char *name)
{
	struct json_object *o = NULL;
	const char *text;

	if (jsonfile_object(j, check, "check", name, &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	json_object_object_foreach(o, key, val)
	{
		if (jsonfile_text_of(j, val, "check", name, &text) == -1)
			return -1;
		if (strlen(key) > 128 || strlen(text) > 256 ||
		    strpbrk(key, "\r\n") != NULL ||
		    strpbrk(text, "\r\n") != NULL)
			return jsonfile_bad(
			    j, "check", name, "%s does not fit here", key);
	}
	return 0;
}

/* Check that a member is an array of statuses, or absent. */
static int
trial_statuses(
    const struct jsonfile *j, struct json_object *check, const char *name)
{
	struct json_object *list, *o;

	if (!json_object_object_get_ex(check, name, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(j, "check", name, "must be an array");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (!json_object_is_type(o, json_type_int) ||
		    json_object_get_int(o) < 300 ||
		    json_object_get_int(o) > 499)
			return jsonfile_bad(j, "check", name,
			    "must be statuses from 300 to 499");
	}
	return 0;
}

int
provider_trial(struct provider *p, const char *path, struct json_object *root,
    struct fault *fault)
{
	static const char *const known[] = {"method", "path", "host", "query",
	    "headers", "body", "accepted", "refused", NULL};
	const struct jsonfile j = {path, fault};
	const char *method = NULL, *target = NULL, *text = NULL;
	struct json_object *check = NULL;

	if (jsonfile_object(&j, root, "", "check", &check) == -1)
		return -1;
	if (check == NULL)
		return 0;
	if (jsonfile_known(&j, check, "check", known) == -1 ||
	    jsonfile_str(&j, check, "check", "method", &method) == -1 ||
	    jsonfile_str(&j, check, "check", "path", &target) == -1 ||
	    jsonfile_str(&j, check, "check", "host", &text) == -1 ||
	    jsonfile_str(&j, check, "check", "body", &text) == -1 ||
	    trial_texts(&j, check, "query") == -1 ||
	    trial_texts(&j, check, "headers") == -1 ||
	    trial_statuses(&j, check, "accepted") == -1 ||
	    trial_statuses(&j, check, "refused") == -1)
		return -1;
	if (method == NULL || target == NULL)
		return jsonfile_bad(
		    &j, "check", method == NULL ? "method" : "path", "missing");
	if (strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0)
		return jsonfile_bad(
		    &j, "check", "method", "must be GET or POST");
	p->trial = json_object_get(check);
	return 0;
}

/* Make the one route of the trial. */
static struct json_object *
trial_route(struct json_object *check)
{
	static const char *const same[] = {"method", "path", "host"};
	struct json_object *route = json_object_new_object(), *o, *all, *one;

	for (size_t i = 0; i < nitems(same); i++)
		if (json_object_object_get_ex(check, same[i], &o))
			json_object_object_add(
			    route, same[i], json_object_get(o));
	if (json_object_object_get_ex(check, "body", NULL))
		json_object_object_add(route, "body",
		    json_tokener_parse("{\"types\": [\"application/json\"],"
				       " \"max\": 65536}"));
	if (json_object_object_get_ex(check, "query", &o)) {
		all = json_object_new_object();
		json_object_object_foreach(o, key, val)
		{
			/* A route's word for any number, or the one value. */
			one = json_object_get(val);
			if (strcmp(json_object_get_string(val), "number") !=
			    0) {
				one = json_object_new_array();
				json_object_array_add(one, val);
			}
			json_object_object_add(all, key, one);
		}
		json_object_object_add(route, "query", all);
	}
	return route;
}

int
provider_trial_only(struct provider *p, struct fault *fault)
{
	struct json_object *root, *routes;
	int rv;

	if (p->trial == NULL)
		return fault_set(
		    fault, "%s: there is no \"check\" in it", p->file);
	if ((root = json_tokener_parse(p->json)) == NULL)
		return fault_errno(fault, "%s", p->file);
	routes = json_object_new_array();
	json_object_array_add(routes, trial_route(p->trial));
	json_object_object_add(root, "routes", routes);
	rv = provider_rewrite(p, root);
	json_object_put(root);
	return rv == 0 ? 0 : fault_errno(fault, "%s", p->file);
}
