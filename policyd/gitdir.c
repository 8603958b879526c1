/* SPDX-License-Identifier: ISC */
/*
 * The directory that git works in if a call names none. The agent sets it; the
 * directory itself is checked with every call.
 */
#include "policyd.h"

#include <stdlib.h>

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
		path = value_str(k->tree, "path");
	else if (span_is(k->tool, "git_clone"))
		path = value_str(k->tree, "localPath");
	if (path.p != NULL && (copy = span_dup(path)) != NULL) {
		free((void *)(uintptr_t)env->git_dir.p);
		env->git_dir = span_of(copy, path.len);
	}
}
