/* SPDX-License-Identifier: ISC */
/*
 * The user's own words for git. Those that are git's words run in the sandbox.
 * Those that are commands of a shell lead to programs and files that the
 * sandbox need not have, and a text that looks like a key stays outside: such a
 * word says there what it is.
 */
#include "workers/gitset/gitset.h"

#include <stdio.h>
#include <string.h>

#include "base/secretive.h"
#include "repo/user.h"

#define ALIAS_NAME 64U
#define ALIAS_SHOWN 6U

/* Returns true if git in the sandbox can have the alias. */
static bool
alias_plain(const char *value)
{
	return value[0] != '!' && secretive_text(span_str(value)) == NULL &&
	       secretive_setting(span_str(value)) == NULL;
}

static void
alias_put_none(struct buf *b, const char *key, const char *name)
{
	char text[ALIAS_NAME + 200];

	snprintf(text, sizeof(text),
	    "!echo 'The alias %s of the user'\\''s git runs a command that is "
	    "not in this sandbox. Do not retry: run the commands that you need "
	    "yourself.' >&2; exit 1; :",
	    name);
	repo_pair_put(b, key, text);
}

void
set_aliases(struct buf *b)
{
	const struct repo_setting *s;
	const char *name;
	char names[ALIAS_SHOWN * (ALIAS_NAME + 2) + 1] = "";
	unsigned lost = 0;
	size_t len;

	for (unsigned i = 0; i < set.user.n; i++) {
		s = &set.user.list[i];
		if (strncmp(s->key, "alias.", 6) != 0 || s->value == NULL ||
		    repo_settings_last(&set.user, s->key) != s)
			continue;
		name = s->key + 6;
		if (alias_plain(s->value)) {
			repo_pair_put(b, s->key, s->value);
			continue;
		}
		if (strlen(name) >= ALIAS_NAME)
			continue;
		alias_put_none(b, s->key, name);
		len = strlen(names);
		if (lost++ < ALIAS_SHOWN)
			snprintf(names + len, sizeof(names) - len, "%s%s",
			    len == 0 ? "" : ", ", name);
	}
	if (lost != 0 && set.found)
		set_warn("aliases of your git that run other commands are "
			 "not in the sandbox: %s%s",
		    names, lost > ALIAS_SHOWN ? ", and more" : "");
}
