/* SPDX-License-Identifier: ISC */
/*
 * The agent works at /workspace. With --workspace-path same it works at the
 * path that the user knows, so that editors, caches and stack traces agree; the
 * same directory is then at /workspace, too, which policies and servers name.
 */
#include "box/inside.h"

#include "box/view.h"
#include "core/sup.h"

/* Returns true for characters that files of agents may not hold in strings. */
static bool
inside_odd(const char *path)
{
	for (; *path != '\0'; path++)
		if ((unsigned char)*path < ' ' || *path == 127 ||
		    *path == '"' || *path == '\\')
			return true;
	return false;
}

int
inside_choose(struct fault *fault)
{
	const char *path = sup.workspace_path;

	sup.inside = INSIDE_WORKSPACE;
	if (sup.opt.runtime == RUNTIME_NONE)
		sup.inside = path;
	if (!sup.opt.same_path)
		return 0;
	if (view_taken(path) || paths_under(path, "/home/agent") ||
	    paths_under("/home/agent", path))
		return fault_set(fault,
		    "workspace %s: the sandbox has a place of its own with "
		    "this path. Start it without --workspace-path same",
		    path);
	if (inside_odd(path))
		return fault_set(fault,
		    "workspace %s: a path with quotes, backslashes or control "
		    "characters is only shown as /workspace. Start it without "
		    "--workspace-path same",
		    path);
	sup.inside = path;
	return 0;
}
