/* SPDX-License-Identifier: ISC */
/* Names at the start what the user's git does outside and not in the sandbox. */
#include "workers/repo/git.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "box/view.h"
#include "workers/repo/told.h"

/* Returns the setting that git obeys outside: the repository's comes first. */
static const struct repo_setting *
say_outside(const struct git_known *k, const char *key)
{
	const struct repo_setting *s = repo_settings_last(&k->own, key);

	return s != NULL ? s : repo_settings_last(&k->user, key);
}

static void
say_signing(const struct git_known *k)
{
	const bool commits =
		       repo_setting_true(say_outside(k, "commit.gpgsign")),
		   tags = repo_setting_true(say_outside(k, "tag.gpgsign"));

	if (!commits && !tags)
		return;
	if (commits && k->cloned)
		errand_warn("commits of this session are not signed, because the "
			 "sandbox has no key: icctl pull --sign shows them "
			 "and signs them with yours");
	else if (commits)
		errand_warn("commits of this session are not signed, because the "
			 "sandbox has no key. To sign the last one afterwards: "
			 "git commit --amend --no-edit -S; several: git rebase "
			 "--force-rebase --gpg-sign COMMIT");
	else
		errand_warn("tags of this session are not signed, because the "
			 "sandbox has no key");
}

/* Hooks in a directory that the sandbox does not see do not run. */
static void
say_hooks(const struct git_known *k)
{
	const struct repo_setting *own =
				      repo_settings_last(
					  &k->own, "core.hookspath"),
				  *s = say_outside(k, "core.hookspath");
	char path[PATH_MAX];

	if (s == NULL || s->value == NULL || s->value[0] == '\0' ||
	    strcmp(s->value, "/dev/null") == 0)
		return;
	if (strncmp(s->value, "~/", 2) == 0)
		snprintf(path, sizeof(path), "%.3000s%.1000s",
		    errand.home, s->value + 1);
	else
		snprintf(path, sizeof(path), "%.4000s", s->value);
	/* The repository's own setting is read in the sandbox, too. */
	if (s == own && !k->cloned &&
	    (path[0] != '/' || errand_shown(path) || paths_under(path, "/usr") ||
		paths_under(path, errand.inside)))
		return;
	/* One that is relative is looked up in the working tree. */
	if (s != own && path[0] != '/')
		return;
	errand_warn("the hooks in %s (core.hooksPath) do not run on commits of "
		 "this session: the sandbox does not have them",
	    path);
}

void
git_say(const struct git_known *k)
{
	if (!k->found)
		return;
	say_signing(k);
	say_hooks(k);
}
