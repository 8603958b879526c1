/* SPDX-License-Identifier: ISC */
/*
 * The directory that git works in if a call names none. The agent sets it; the
 * directory itself is checked with every call.
 */
#include "policyd.h"

#include <stdlib.h>

/*
 * Returns the directory in the argument as it is sent, or as the agent named it
 * where links lead to it, so that later calls are judged by that name, too.
 */
static struct span
dir_named(const struct work *k, const char *argument)
{
	const struct arg_value *v;

	for (size_t i = 0; i < k->args.n; i++) {
		v = &k->args.values[i];
		if (v->has_path && v->path.npassed != 0 &&
		    span_is(v->arg->name, argument))
			return v->path.named;
	}
	return value_str(k->tree, argument);
}

/*
 * Record the directory for later calls. Every call states it explicitly, so
 * that a change that fails in the server cannot affect a decision.
 */
void
work_note_git_dir(struct policyd_env *env, const struct work *k)
{
	struct span path = span_of(NULL, 0);
	char *copy;

	if (!k->srv->is_git)
		return;
	if (span_is(k->tool, "git_set_working_dir"))
		path = dir_named(k, "path");
	else if (span_is(k->tool, "git_clone"))
		path = dir_named(k, "localPath");
	if (path.p != NULL && (copy = span_dup(path)) != NULL) {
		free((void *)(uintptr_t)env->git_dir.p);
		env->git_dir = span_of(copy, path.len);
	}
}
