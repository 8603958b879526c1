/* SPDX-License-Identifier: ISC */
/*
 * `allowed_tools`: a copy of the session's policy that knows only these tools,
 * and a copy of config.json that hides all others. A tool that no annotation
 * describes is then refused whatever the rules say, so that the copy can allow
 * nothing that the policy does not.
 */
#include "icctl/driver/priv.h"

#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "files/persona.h"
#include "files/policydir.h"
#include "icctl/driver/config_copy.h"
#include "icctl/policy/policy.h"
#include "icctl/start_persona.h"

/* Find the policy that the session would have. Returns 0, or -1. */
static int
narrow_find(const struct driver *d, struct policydir *dir, struct fault *fault)
{
	const char *policy = driver_option(d, "--policy"),
		   *name = driver_option(d, "--persona");
	const char *files[PROTO_RULES_LAST + 1] = {NULL};
	struct persona p = {0};
	char shipped[PATH_MAX];
	int rv;

	if (policy_own_path(
		"share/ironcurtain/policies", shipped, sizeof(shipped)) == -1)
		return fault_errno(fault, "policies");
	if (policy == NULL && name != NULL) {
		if (persona_load(&p, d->ctl->home, name, fault) == -1)
			return -1;
		policy = start_persona_policy(&p, name);
	}
	files[PROTO_RULES_POLICY] = policy;
	rv = policydir_files(dir, d->ctl->home, shipped, NULL, files, fault);
	persona_free(&p);
	return rv;
}

/* Returns true if the request names this tool, in one of the usual ways. */
static bool
narrow_named(const struct ask *a, const char *server, const char *tool)
{
	static const char *const forms[] = {
	    "%s__%s", "mcp__ironcurtain__%s__%s", "%s/%s", "%s.%s"};
	char name[1024];

	for (size_t i = 0; i < a->ntools; i++) {
		if (strcmp(a->tools[i], tool) == 0)
			return true;
		for (size_t k = 0; k < nitems(forms); k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			(void)snprintf(
			    name, sizeof(name), forms[k], server, tool);
#pragma GCC diagnostic pop
			if (strcmp(a->tools[i], name) == 0)
				return true;
		}
	}
	return false;
}

/* Drop the annotations of all other tools. */
static void
narrow_annotations(const struct ask *a, json_object *root)
{
	json_object *servers = get_typed(root, "servers", json_type_object);
	json_object *tools, *kept, *t;

	if (servers == NULL)
		return;
	json_object_object_foreach(servers, server, entry)
	{
		tools = get_typed(entry, "tools", json_type_array);
		kept = json_object_new_array();
		for (size_t i = 0;
		     tools != NULL && i < json_object_array_length(tools);
		     i++) {
			t = json_object_array_get_idx(tools, i);
			if (narrow_named(a, server, get_str(t, "toolName", "")))
				json_object_array_add(kept, json_object_get(t));
		}
		json_object_object_add(entry, "tools", kept);
	}
}

/* Copy one file of the policy, without the other tools. */
static int
narrow_copy(const struct request *r, unsigned kind, const char *from,
    struct fault *fault)
{
	char to[PATH_MAX + 300];
	struct stat st;
	json_object *o = NULL;
	size_t len = 0;
	char *text;
	int rv = -1;

	snprintf(to, sizeof(to), "%s/%s", r->policy, policydir_names[kind]);
	if ((text = jsonfile_text(from, &len, &st, fault)) == NULL)
		return -1;
	if ((o = jsonfile_parse(from, span_of(text, len), fault)) != NULL) {
		if (kind == PROTO_RULES_ANNOTATIONS)
			narrow_annotations(&r->ask, o);
		rv = jsonfile_replace(to,
		    span_str(json_object_to_json_string_ext(o, ICCTL_JSON)));
		if (rv == -1)
			(void)fault_errno(fault, "%s", to);
	}
	json_object_put(o);
	freezero(text, len);
	return rv;
}

/* Copy config.json, so that what the policy does not know is refused. */
static int
narrow_config(const struct driver *d, struct request *r, struct fault *fault)
{
	json_object *o, *policy;
	int rv;

	o = config_copy_read(d->ctl->home, driver_option(d, "--config"), fault);
	if (o == NULL)
		return -1;
	policy = put_child(o, "policy");
	put_str(policy, "unknownTools", "hide");
	/* Their calls are allowed whatever the annotations are. */
	json_object_object_del(policy, "trustedServers");
	snprintf(r->config, sizeof(r->config), "%s/config.json", r->policy);
	rv = config_copy_write(r->config, o, fault);
	json_object_put(o);
	return rv;
}

int
narrow_policy(const struct driver *d, struct request *r, struct fault *fault)
{
	struct policydir dir;
	int rv = 0;

	if (narrow_find(d, &dir, fault) == -1)
		return -1;
	snprintf(r->policy, sizeof(r->policy), "%.4000s/driver", d->ctl->home);
	(void)mkdir(r->policy, 0700);
	snprintf(r->policy, sizeof(r->policy), "%.4000s/driver/policy-XXXXXX",
	    d->ctl->home);
	if (mkdtemp(r->policy) == NULL) {
		rv = fault_errno(fault, "%s", r->policy);
		r->policy[0] = '\0';
	}
	for (unsigned k = 0; rv == 0 && k <= PROTO_RULES_LAST; k++)
		if (dir.files[k] != NULL)
			rv = narrow_copy(r, k, dir.files[k], fault);
	policydir_free(&dir);
	if (rv == 0)
		rv = narrow_config(d, r, fault);
	if (rv == -1)
		narrow_remove(r);
	return rv;
}

void
narrow_remove(struct request *r)
{
	char path[PATH_MAX + 300];

	if (r->policy[0] == '\0')
		return;
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		snprintf(
		    path, sizeof(path), "%s/%s", r->policy, policydir_names[k]);
		(void)unlink(path);
	}
	if (r->config[0] != '\0')
		(void)unlink(r->config);
	(void)rmdir(r->policy);
	r->policy[0] = '\0';
}
