/* SPDX-License-Identifier: ISC */
/* Names at the start what the user's git does outside and not in the sandbox.
 */
#include "workers/gitset/gitset.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"

/* Returns the setting that git obeys outside: the repository's comes first. */
static const struct repo_setting *
say_outside(const char *key)
{
	const struct repo_setting *s = repo_settings_last(&set.own, key);

	return s != NULL ? s : repo_settings_last(&set.user, key);
}

static void
say_signing(void)
{
	const bool commits = repo_setting_true(say_outside("commit.gpgsign")),
		   tags = repo_setting_true(say_outside("tag.gpgsign"));

	if (!commits && !tags)
		return;
	if (commits && set.cloned)
		set_warn("commits of this session are not signed, because the "
			 "sandbox has no key: icctl pull --sign shows them "
			 "and signs them with yours");
	else if (commits)
		set_warn("commits of this session are not signed, because the "
			 "sandbox has no key. To sign the last one afterwards: "
			 "git commit --amend --no-edit -S; several: git rebase "
			 "--force-rebase --gpg-sign COMMIT");
	else
		set_warn("tags of this session are not signed, because the "
			 "sandbox has no key");
}

/* Hooks in a directory that the sandbox does not see do not run. */
static void
say_hooks(void)
{
	const struct repo_setting *own = repo_settings_last(
				      &set.own, "core.hookspath"),
				  *s = say_outside("core.hookspath");
	char path[PATH_MAX], shown[PATH_MAX];

	if (s == NULL || s->value == NULL || s->value[0] == '\0' ||
	    strcmp(s->value, "/dev/null") == 0)
		return;
	if (strncmp(s->value, "~/", 2) == 0)
		snprintf(path, sizeof(path), "%.3000s%.1000s", set.home,
		    s->value + 1);
	else
		snprintf(path, sizeof(path), "%.4000s", s->value);
	/* The repository's own setting is read in the sandbox, too. */
	if (s == own && !set.cloned &&
	    (path[0] != '/' || set_shown(path) || paths_under(path, "/usr") ||
		paths_under(path, set.inside)))
		return;
	/* One that is relative is looked up in the working tree. */
	if (s != own && path[0] != '/')
		return;
	set_warn("the hooks in %s (core.hooksPath) do not run on commits of "
		 "this session: the sandbox does not have them",
	    paths_tilde(set.home, path, shown, sizeof(shown)));
}

void
set_say(void)
{
	if (!set.found)
		return;
	say_signing();
	say_hooks();
}
