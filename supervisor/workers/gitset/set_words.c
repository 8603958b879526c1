/* SPDX-License-Identifier: ISC */
/* Settings that are words: how the user's git does things by default. */
#include "workers/gitset/gitset.h"

#include <string.h>

#include "repo/names.h"
#include "repo/user.h"

/* Returns true for a keyword, a name or a mark: never for what may be a key. */
static bool
word_ok(const char *value)
{
	const size_t n = strlen(value);

	if (repo_name_wrong(span_str(value)) == NULL)
		return true;
	for (size_t i = 0; i < n; i++)
		if (value[i] <= ' ' || value[i] >= 0x7f)
			return false;
	return n != 0 && n <= 4;
}

/*
 * Returns the value in force: that of the user, or of the repository, if its
 * configuration does not come along into the clone.
 */
static const char *
word_value(const char *key)
{
	const struct repo_setting *s =
	    set.cloned ? repo_settings_last(&set.own, key) : NULL;

	if (s == NULL)
		s = repo_settings_last(&set.user, key);
	return s == NULL ? NULL : s->value;
}

/* Keywords and names: what they change is the same for everybody. */
void
set_words(struct buf *b)
{
	static const char *const keys[] = {"init.defaultbranch",
	    "core.quotepath", "core.autocrlf", "core.eol", "core.safecrlf",
	    "commit.cleanup", "i18n.commitencoding"};
	/* An image may have a git that refuses a newer keyword. */
	static const char *const host[] = {"core.commentchar",
	    "core.commentstring", "pull.rebase", "pull.ff", "merge.ff",
	    "merge.conflictstyle", "rebase.autosquash", "rebase.autostash",
	    "push.default", "push.autosetupremote", "branch.autosetuprebase",
	    "branch.autosetupmerge", "diff.algorithm", "diff.renames",
	    "merge.log", "merge.branchdesc", "merge.suppressdest",
	    "merge.renames", "merge.directoryrenames", "apply.whitespace",
	    "rebase.updaterefs", "rebase.rebasemerges", "rerere.enabled",
	    "rerere.autoupdate"};
	const char *key, *value;

	for (size_t i = 0; i < nitems(keys) + nitems(host); i++) {
		key = i < nitems(keys) ? keys[i] : host[i - nitems(keys)];
		if ((i < nitems(keys) || set.bwrap) &&
		    (value = word_value(key)) != NULL && word_ok(value))
			repo_pair_put(b, key, value);
	}
}
