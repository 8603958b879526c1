/* SPDX-License-Identifier: ISC */
/*
 * The policy files: found and read here, but interpreted only by policyd. Holds
 * their bytes until they are sent, and their hashes for the first record.
 */
#include "core/sup.h"

#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/sha256.h"
#include "files/policydir.h"
#include "host/places.h"

/* Read a file of the policy in `dir`, or one that was named by itself. */
static int
rules_read(struct rules_file *r, const char *path, const char *dir, bool named,
    struct fault *fault)
{
	struct stat st;

	if ((r->path = strdup(path)) == NULL)
		return fault_errno(fault, "policy");
	r->text = jsonfile_text(r->path, &r->len, &st, fault);
	if (r->text == NULL && errno == ENOENT && !named)
		return fault_set(fault,
		    "%s is missing: a policy needs compiled-policy.json and "
		    "tool-annotations.json. Without the directory %s, the "
		    "shipped policy is used",
		    r->path, dir);
	if (r->text == NULL)
		return -1;
	sha256_span(span_of(r->text, r->len), r->hash);
	return 0;
}

void
policy_rules_free(struct rules_file set[])
{
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		free(set[k].path);
		free(set[k].text);
		memset(&set[k], 0, sizeof(set[k]));
	}
}

int
rules_find(
    struct rules_file set[], const char *const files[], struct fault *fault)
{
	const char *usual =
	    sup.opt.policy != NULL ? sup.opt.policy : sup.config.policy;
	struct policydir found;
	char *shipped;
	int rv;

	if ((shipped = paths_join(sup.paths.datadir, "policies")) == NULL)
		return fault_errno(fault, "policy");
	rv = policydir_files(
	    &found, sup.paths.home, shipped, usual, files, fault);
	free(shipped);
	if (rv == -1)
		return -1;
	for (unsigned k = 0; rv == 0 && k <= PROTO_RULES_LAST; k++)
		if (found.files[k] != NULL)
			rv = rules_read(&set[k], found.files[k], found.dir,
			    files[k] != NULL &&
				strcmp(files[k], found.files[k]) == 0,
			    fault);
	if (rv == 0)
		rv = drift_check(set, found.dir, fault);
	/* At the start host_resolve() asks, when all places are known. */
	if (rv == 0 && sup.started)
		rv = rules_refuse(set, fault);
	policydir_free(&found);
	if (rv == -1)
		policy_rules_free(set);
	return rv;
}

static char *
rules_absolute(const char *path)
{
	char dir[PATH_MAX], *out;

	if (path[0] == '/')
		return strdup(path);
	if (getcwd(dir, sizeof(dir)) == NULL ||
	    asprintf(&out, "%s/%s", dir, path) == -1)
		return NULL;
	return out;
}

/* A policy that the agent could write would be its own to make. */
int
rules_refuse(const struct rules_file set[], struct fault *fault)
{
	const char *place;
	char *path;

	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		if (set[k].path == NULL)
			continue;
		if ((path = rules_absolute(set[k].path)) == NULL)
			return fault_errno(fault, "%s", set[k].path);
		place = places_of(&sup.host.places, path, NULL);
		free(path);
		if (place != NULL)
			return fault_set(fault,
			    "policy %s is refused: the agent can write %s. "
			    "Keep it elsewhere",
			    set[k].path, place);
	}
	return 0;
}

int
policy_rules_load(struct fault *fault)
{
	static const char *const none[PROTO_RULES_LAST + 1];

	return rules_find(sup.rules, none, fault);
}

bool
rules_read_only(const struct rules_file set[])
{
	const struct rules_file *r = &set[PROTO_RULES_POLICY];
	struct json_object *root, *v;
	struct fault fault;
	bool rv;

	if (r->text == NULL ||
	    (root = jsonfile_parse(
		 r->path, span_of(r->text, r->len), &fault)) == NULL)
		return false;
	/* policyd takes no other value. */
	rv = json_object_is_type(root, json_type_object) &&
	     json_object_object_get_ex(root, "workspace", &v);
	json_object_put(root);
	return rv;
}

/* Send the last kind first, because rules refer to lists. */
unsigned
rules_send(struct rules_file set[])
{
	struct msg_RULES rules;
	unsigned n = 0;

	for (unsigned k = PROTO_RULES_LAST + 1; k-- > 0;) {
		if (set[k].text == NULL)
			continue;
		memset(&rules, 0, sizeof(rules));
		rules.kind = (uint8_t)k;
		rules.name = span_str(set[k].path);
		rules.text = span_of(set[k].text, set[k].len);
		child_send(ROLE_POLICY, 0, MSG_RULES, &rules, -1);
		n++;
		/* Keep the policy: instances make views from it later. */
		if (k == PROTO_RULES_POLICY)
			continue;
		free(set[k].text);
		set[k].text = NULL;
	}
	return n;
}
