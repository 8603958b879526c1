/* SPDX-License-Identifier: ISC */
/*
 * Puts icgit over every git of a sandbox; the real one is bound at a path that
 * only icgit uses.
 */
#include "box/git/gitbind.h"

#include <sys/stat.h>

#include <stdlib.h>

#include "base/paths.h"
#include "mcp-proxyd/icgit/place.h"

void
gitbind(struct box *b, const char *libexecdir, const char *identity)
{
	/* The first existing one is the one that PATH would find. */
	static const char *const places[] = {"/usr/local/bin/git",
	    "/usr/bin/git", "/usr/lib/git-core/git",
	    "/usr/libexec/git-core/git", "/usr/local/libexec/git-core/git"};
	bool found = false;
	struct stat st;
	char *ours;

	if ((ours = paths_join(libexecdir, "icgit")) == NULL) {
		b->failed = true;
		return;
	}
	box_bind_path(b, ours, GITBIND_PROGRAM, false);
	for (size_t i = 0; i < nitems(places); i++) {
		/*
		 * A link leads to another of these places or out of the view.
		 */
		if (lstat(places[i], &st) == -1 || !S_ISREG(st.st_mode))
			continue;
		if (!found)
			box_bind_path(b, places[i], ICGIT_REAL, false);
		found = true;
		box_bind_path(b, ours, places[i], false);
	}
	if (identity[0] != '\0')
		box_data(b, ICGIT_CONFIG, span_str(identity));
	free(ours);
}
