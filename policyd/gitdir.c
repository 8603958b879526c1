/* SPDX-License-Identifier: ISC */
/*
 * The directory that git works in when a call names none.  It is the agent's
 * word, remembered; what it leads to is looked at with every call.
 */
#include <stdlib.h>

#include "policyd.h"

/*
 * What git will work on from now on. It is told where in every call, so that
 * a change that fails in the server changes no decision.
 */
void
work_note_git_dir(struct policyd_env *env, const struct work *k)
{
	struct span path = span_of(NULL, 0);
	char *copy;

	if (!k->srv->is_git)
		return;
	if (span_is(k->tool, "git_set_working_dir"))
		path = value_str(k->tree, "path");
	else if (span_is(k->tool, "git_clone"))
		path = value_str(k->tree, "localPath");
	if (path.p != NULL && (copy = span_dup(path)) != NULL) {
		free((void *)(uintptr_t)env->git_dir.p);
		env->git_dir = span_of(copy, path.len);
	}
}
