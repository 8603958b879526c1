/* SPDX-License-Identifier: ISC */
/* The policy that was in force, and the one that may be next. */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/policydir.h"

int
compile_old_set(struct compile *c, struct policy_set *old, struct fault *fault)
{
	struct policy_opts o = {0};
	char path[PATH_MAX];

	memset(old, 0, sizeof(*old));
	snprintf(path, sizeof(path), "%.4000s/%s", c->dir,
	    policydir_names[PROTO_RULES_POLICY]);
	/* A policy elsewhere begins with nothing, and all of it is new. */
	if (access(path, F_OK) == -1 && c->o.dir != NULL)
		return 0;
	if (access(path, F_OK) == 0 || c->o.dir != NULL)
		o.files[PROTO_RULES_POLICY] = c->dir;
	return policy_set_load(c->ctl, &o, old, fault);
}

int
compile_new_set(const struct compile *c, struct policy_opts *o,
    struct policy_set *new, struct fault *fault)
{
	static char paths[PROTO_RULES_LAST + 1][PATH_MAX];

	memset(new, 0, sizeof(*new));
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		snprintf(paths[k], PATH_MAX, "%.4000s/%s", c->pending,
		    policydir_names[k]);
		if (access(paths[k], F_OK) == -1)
			snprintf(paths[k], PATH_MAX, "%.4000s/%s", c->dir,
			    policydir_names[k]);
		o->files[k] = paths[k];
	}
	return policy_set_load(c->ctl, o, new, fault);
}
