/* SPDX-License-Identifier: ISC */
/*
 * Destinations of the kind git in config.json: a server, the repositories on
 * it, and what may be done with them. mitmd/provider/dest_git.c says what that
 * means.
 */
#include <string.h>

#include "base/json_put.h"
#include "files/providers/destinations.h"

#define GIT_MAX_PUSH (64 << 20)
#define GIT_MAX_GLOBS 64U

/* Copy a member that is one of `words`, or absent, to `file`. */
static int
git_word(const struct jsonfile *j, const char *where, struct json_object *o,
    const char *name, const char *const *words, const char *text,
    struct json_object *file)
{
	const char *s = NULL;

	if (jsonfile_str(j, o, where, name, &s) == -1)
		return -1;
	if (s == NULL)
		return 0;
	for (; *words != NULL; words++) {
		if (strcmp(*words, s) != 0)
			continue;
		put_str(file, name, s);
		return 0;
	}
	return jsonfile_bad(j, where, name, "must be %s, is \"%s\"", text, s);
}

/*
 * Returns true if mitmd and keyd will accept the pattern: a mistake is best
 * reported here.
 */
static bool
git_glob_ok(const char *s)
{
	unsigned segments = 1;

	for (const char *p = s; *p != '\0'; p++) {
		if (*p == '/') {
			if (p == s || p[1] == '/' || p[1] == '\0' ||
			    ++segments > 6)
				return false;
		} else if (strchr("abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._~-*",
			       *p) == NULL) {
			return false;
		}
	}
	return *s != '\0' && strlen(s) <= 256 && strcmp(s, ".") != 0 &&
	       strncmp(s, "./", 2) != 0 && strncmp(s, "../", 3) != 0 &&
	       strstr(s, "/./") == NULL && strstr(s, "/../") == NULL;
}

static int
git_repositories(const struct jsonfile *j, const char *where,
    struct json_object *o, struct json_object *file)
{
	struct json_object *list;
	char **globs = NULL;
	int rv = 0;

	if (jsonfile_strings(
		j, o, where, "repositories", GIT_MAX_GLOBS, &globs) == -1)
		return -1;
	if (globs == NULL || globs[0] == NULL) {
		jsonfile_strings_free(globs);
		return jsonfile_bad(j, where, "repositories",
		    "must name at least one: [\"owner/repository\"], or "
		    "[\"owner/*\"]");
	}
	list = json_object_new_array();
	for (size_t i = 0; rv == 0 && globs[i] != NULL; i++) {
		if (git_glob_ok(globs[i]))
			json_object_array_add(
			    list, json_object_new_string(globs[i]));
		else
			rv = jsonfile_bad(j, where, "repositories",
			    "\"%s\" is not a repository: write names of "
			    "letters, digits and ._~-, with / between them and "
			    "* for any",
			    globs[i]);
	}
	json_object_object_add(file, "repositories", list);
	jsonfile_strings_free(globs);
	return rv;
}

static bool
git_user_ok(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= 64 && s[0] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == n;
}

/* Send the token as a password (RFC 7617), which every git server accepts. */
static int
git_credential(const struct jsonfile *j, const char *where,
    struct json_object *o, struct json_object *file)
{
	struct json_object *cred, *out;
	const char *user = NULL, *env = NULL;

	if (jsonfile_str(j, o, where, "user", &user) == -1)
		return -1;
	if (user != NULL && !git_user_ok(user))
		return jsonfile_bad(j, where, "user",
		    "\"%s\" is not a valid user name: letters, digits, _ and "
		    "-",
		    user);
	if (!json_object_object_get_ex(o, "credential", &cred))
		return 0;
	if (jsonfile_str(j, cred, where, "env", &env) == -1)
		return -1;
	out = json_object_new_object();
	put_str(out, "env", env != NULL ? env : "GIT_TOKEN");
	put_str(out, "basic", user != NULL ? user : "x-access-token");
	json_object_object_add(file, "credential", out);
	return 0;
}

int
destination_git_read(const struct jsonfile *j, const char *where,
    struct json_object *o, const struct config *cfg, struct json_object *file)
{
	static const char *const fetches[] = {"allow", "ask", "deny", NULL};
	static const char *const pushes[] = {"ask", "deny", NULL};
	int64_t max;
	int rv;

	if (git_repositories(j, where, o, file) == -1 ||
	    git_word(j, where, o, "fetch", fetches,
		"\"allow\", \"ask\" or \"deny\"", file) == -1 ||
	    git_word(j, where, o, "push", pushes,
		"\"ask\" or \"deny\": a push is never sent unasked",
		file) == -1 ||
	    git_credential(j, where, o, file) == -1)
		return -1;
	rv = jsonfile_int(j, o, where, "maxPush", 1, GIT_MAX_PUSH, &max);
	if (rv == 1)
		put_int(file, "maxPush", max);
	return rv == -1 ? -1 : 0;
}
