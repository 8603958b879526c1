/* SPDX-License-Identifier: ISC */
/*
 * Finds out the author and the committer: from the variables of the environment,
 * then from the configuration, then from the user's full name as the system
 * knows it, in git's own order. An address that git would make up from the name
 * of the machine is none.
 */
#include "workers/repo/git.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workers/repo/told.h"
#include "repo/user.h"

#define PERSON_MAX 1000U

/*
 * Returns the value in force: that of the user, or of the repository, if its
 * configuration does not come along into the clone; or NULL.
 */
static const char *
person_in_force(const struct git_known *k, const char *key)
{
	const struct repo_setting *s = NULL;

	if (k->cloned)
		s = repo_settings_last(&k->own, key);
	if (s == NULL)
		s = repo_settings_last(&k->user, key);
	return s == NULL ? NULL : s->value;
}

/* Returns the text if it may stand in a configuration, or NULL. */
static const char *
person_check(const char *what, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return NULL;
	for (const char *p = text; *p != '\0'; p++)
		if (((unsigned char)*p < ' ' && *p != '\t' && *p != '\n') ||
		    *p == 0x7f) {
			errand_warn("%s has a control character and is not used "
				 "in the sandbox",
			    what);
			return NULL;
		}
	if (strlen(text) <= PERSON_MAX)
		return text;
	errand_warn("%s is longer than %u bytes and is not used in the sandbox",
	    what, PERSON_MAX);
	return NULL;
}

static const char *
person_value(const struct git_known *k, const char *key)
{
	const struct repo_setting *s = repo_settings_last(&k->person, key);

	return person_check(key, s != NULL && (!k->cloned ||
		repo_settings_last(&k->own, key) == NULL)
				     ? s->value
				     : person_in_force(k, key));
}

/* Returns the name that the system has for the user, or NULL. */
static const char *
person_full_name(char *dst, size_t cap)
{
	const struct passwd *pw = getpwuid(getuid());

	if (pw == NULL || pw->pw_gecos == NULL ||
	    strlcpy(dst, pw->pw_gecos, cap) >= cap)
		return NULL;
	dst[strcspn(dst, ",")] = '\0';
	return strchr(dst, '&') != NULL ? NULL
					: person_check("your full name", dst);
}

static void
person_put(struct buf *b, const char *section, const char *name,
    const char *email)
{
	if (name == NULL && email == NULL)
		return;
	repo_section_put(b, section, span_of("", 0));
	if (name != NULL)
		repo_value_put(b, "name", span_str(name));
	if (email != NULL)
		repo_value_put(b, "email", span_str(email));
}

/* Returns true if the repository itself has the setting, in the sandbox, too. */
static bool
person_own(const struct git_known *k, const char *key)
{
	return !k->cloned && repo_settings_last(&k->own, key) != NULL;
}

/* Returns true if git would have this part of the author and the committer. */
static bool
person_known(const struct git_known *k, const char *user, const char *part,
    const char *author, const char *committer)
{
	char key[32];

	snprintf(key, sizeof(key), "user.%s", part);
	if (user != NULL || person_own(k, key))
		return true;
	snprintf(key, sizeof(key), "author.%s", part);
	if (author == NULL && !person_own(k, key))
		return false;
	snprintf(key, sizeof(key), "committer.%s", part);
	return committer != NULL || person_own(k, key);
}

void
git_person(const struct git_known *k, struct buf *b)
{
	static const struct {
		const char *section, *variable[2], *key[2];
	} rows[] = {
	    {"author", {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"},
		{"author.name", "author.email"}},
	    {"committer", {"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"},
		{"committer.name", "committer.email"}}};
	const char *user[2], *other[2][2];
	char full[PERSON_MAX];
	bool only;

	only = repo_setting_true(
	    repo_settings_last(&k->user, "user.useconfigonly"));
	user[0] = person_value(k, "user.name");
	user[1] = person_value(k, "user.email");
	if (user[1] == NULL && !only)
		user[1] = person_check("EMAIL", getenv("EMAIL"));
	if (user[0] == NULL && user[1] != NULL && !only)
		user[0] = person_full_name(full, sizeof(full));
	person_put(b, "user", user[0], user[1]);
	for (size_t i = 0; i < nitems(rows); i++) {
		for (size_t part = 0; part < 2; part++) {
			other[i][part] = person_check(rows[i].variable[part],
			    getenv(rows[i].variable[part]));
			if (other[i][part] == NULL)
				other[i][part] =
				    person_value(k, rows[i].key[part]);
		}
		person_put(b, rows[i].section, other[i][0], other[i][1]);
	}
	if ((!k->found && !k->cloned) ||
	    (person_known(k, user[0], "name", other[0][0], other[1][0]) &&
		person_known(k, user[1], "email", other[0][1], other[1][1])))
		return;
	/* The sandbox has a name of its own, which nobody has asked for. */
	repo_section_put(b, "user", span_of("", 0));
	repo_value_put(b, "useConfigOnly", SPAN("true"));
	errand_warn("git knows no name and e-mail address for commits here, so "
		 "that the agent cannot commit. To set them: git config "
		 "--global user.name \"Your Name\"; git config --global "
		 "user.email you@example.com");
}
