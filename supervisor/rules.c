/* SPDX-License-Identifier: ISC */
/*
 * The policy files: found and read here, understood by policyd alone.  Holds
 * their bytes until they are sent, and their hashes for the first record.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auditsum.h"
#include "jsonfile.h"
#include "policydir.h"
#include "sup.h"

static const struct {
	const char *name;
	bool must;
} rules_names[PROTO_RULES_LAST + 1] = {
    [PROTO_RULES_POLICY] = {"compiled-policy.json", true},
    [PROTO_RULES_ANNOTATIONS] = {"tool-annotations.json", true},
    [PROTO_RULES_LISTS] = {"dynamic-lists.json", false},
};

static int
rules_read(const char *dir, unsigned kind, struct fault *fault)
{
	struct rules_file *r = &sup.rules[kind];
	struct span text;
	struct stat st;

	if ((r->path = paths_join(dir, rules_names[kind].name)) == NULL)
		return fault_errno(fault, "policy");
	r->text = jsonfile_text(r->path, &r->len, &st, fault);
	if (r->text == NULL && errno == ENOENT && !rules_names[kind].must) {
		free(r->path);
		r->path = NULL;
		return 0;
	}
	if (r->text == NULL && errno == ENOENT)
		return fault_set(fault,
		    "%s is missing: a policy is "
		    "compiled-policy.json and tool-annotations.json. Without "
		    "the directory %s the shipped one is used",
		    r->path, dir);
	if (r->text == NULL)
		return -1;
	text = span_of(r->text, r->len);
	auditsum(&text, 1, r->hash);
	return 0;
}

int
rules_load(struct fault *fault)
{
	const char *what = sup.opt.policy;
	char *dir, *shipped;
	int rv = 0;

	if ((shipped = paths_join(sup.paths.datadir, "policies")) == NULL)
		return fault_errno(fault, "policy");
	if (what == NULL)
		what = sup.config.policy;
	dir = policydir_find(sup.paths.home, shipped, what, fault);
	free(shipped);
	if (dir == NULL)
		return -1;
	for (unsigned k = 0; rv == 0 && k <= PROTO_RULES_LAST; k++)
		rv = rules_read(dir, k, fault);
	free(dir);
	return rv;
}
