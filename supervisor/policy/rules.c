/* SPDX-License-Identifier: ISC */
/*
 * The policy files: found and read here, but interpreted only by policyd. Holds
 * their bytes until they are sent, and their hashes for the first record.
 */
#include "sup.h"

#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/sha256.h"
#include "config/jsonfile.h"
#include "config/policydir.h"
#include "host/places.h"

static const struct {
	const char *name;
	bool must;
} rules_names[PROTO_RULES_LAST + 1] = {
    [PROTO_RULES_POLICY] = {"compiled-policy.json", true},
    [PROTO_RULES_ANNOTATIONS] = {"tool-annotations.json", true},
    [PROTO_RULES_LISTS] = {"dynamic-lists.json", false},
};

/* Read `file`, or, if it is NULL, the usual file in `dir`. */
static int
rules_read(struct rules_file *r, const char *dir, const char *file,
    unsigned kind, struct fault *fault)
{
	struct span text;
	struct stat st;

	r->path = file != NULL ? strdup(file)
			       : paths_join(dir, rules_names[kind].name);
	if (r->path == NULL)
		return fault_errno(fault, "policy");
	r->text = jsonfile_text(r->path, &r->len, &st, fault);
	if (r->text == NULL && errno == ENOENT && file == NULL &&
	    !rules_names[kind].must) {
		free(r->path);
		r->path = NULL;
		return 0;
	}
	if (r->text == NULL && errno == ENOENT && file == NULL)
		return fault_set(fault,
		    "%s is missing: a policy needs compiled-policy.json and "
		    "tool-annotations.json. Without the directory %s, the "
		    "shipped policy is used",
		    r->path, dir);
	if (r->text == NULL)
		return -1;
	text = span_of(r->text, r->len);
	sha256_span(text, r->hash);
	return 0;
}

void
rules_free(struct rules_file set[])
{
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		free(set[k].path);
		free(set[k].text);
		memset(&set[k], 0, sizeof(set[k]));
	}
}

static bool
is_file(const char *path)
{
	struct stat st;

	return path != NULL && stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

int
rules_find(
    struct rules_file set[], const char *const files[], struct fault *fault)
{
	const char *what = files[PROTO_RULES_POLICY];
	bool one = is_file(what);
	char *dir, *shipped;
	int rv = 0;

	if (what == NULL || one)
		what = sup.opt.policy;

	if ((shipped = paths_join(sup.paths.datadir, "policies")) == NULL)
		return fault_errno(fault, "policy");
	if (what == NULL)
		what = sup.config.policy;
	dir = policydir_find(sup.paths.home, shipped, what, fault);
	free(shipped);
	if (dir == NULL)
		return -1;
	for (unsigned k = 0; rv == 0 && k <= PROTO_RULES_LAST; k++) {
		const char *file =
		    k == PROTO_RULES_POLICY && !one ? NULL : files[k];

		/*
		 * The lists of this directory are not for rules from elsewhere.
		 */
		if (k == PROTO_RULES_LISTS && one && file == NULL)
			continue;
		rv = rules_read(&set[k], dir, file, k, fault);
	}
	if (rv == 0)
		rv = drift_check(set, dir, fault);
	/* At the start host_resolve() asks, when all places are known. */
	if (rv == 0 && sup.started)
		rv = rules_refuse(set, fault);
	free(dir);
	if (rv == -1)
		rules_free(set);
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
rules_load(struct fault *fault)
{
	static const char *const none[PROTO_RULES_LAST + 1];

	return rules_find(sup.rules, none, fault);
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
