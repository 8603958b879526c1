/* SPDX-License-Identifier: ISC */
/*
 * The user's files of patterns and attributes for all repositories. They are
 * copied: the agent sees their text and not their place.
 */
#include "workers/repo/git.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "workers/repo/told.h"
#include "repo/user.h"

#define FILES_MAX 131072U

/* Write the path of the file: as configured, or where git looks otherwise. */
static bool
files_path(const char *configured, const char *name, char path[PATH_MAX])
{
	const char *xdg = getenv("XDG_CONFIG_HOME"),
		   *home = errand.home;
	int n;

	if (configured != NULL && strncmp(configured, "~/", 2) == 0)
		n = snprintf(path, PATH_MAX, "%s%s", home, configured + 1);
	else if (configured != NULL)
		n = snprintf(path, PATH_MAX, "%s", configured);
	else if (xdg != NULL && xdg[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/git/%s", xdg, name);
	else
		n = snprintf(path, PATH_MAX, "%s/.config/git/%s", home, name);
	return n > 0 && n < PATH_MAX && path[0] == '/';
}

/* Read the file of the descriptor. Returns its text, or NULL with a reason. */
static char *
files_read(int fd, const char **why)
{
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		*why = "it is no regular file";
	} else if (st.st_size > (off_t)FILES_MAX) {
		*why = "it is longer than 128 KiB";
	} else if ((text = malloc(FILES_MAX + 1)) == NULL ||
		   (n = read(fd, text, FILES_MAX)) == -1) {
		*why = "it cannot be read";
	} else {
		text[n] = '\0';
		if (strlen(text) != (size_t)n)
			*why = "it is no text";
		else if (secretive_text(span_str(text)) != NULL)
			*why = "it has what looks like a key";
	}
	if (*why == NULL)
		return text;
	free(text);
	return NULL;
}

/* Returns the text of one file, or NULL. */
static char *
files_take(const struct git_known *k, const char *key, const char *name)
{
	const struct repo_setting *s = repo_settings_last(&k->user, key);
	const char *why = NULL;
	char path[PATH_MAX], *text = NULL;
	int fd, at;

	if (!files_path(s == NULL ? NULL : s->value, name, path))
		return NULL;
	if (places_of(&errand.places, path, &at) != NULL) {
		why = "the agent can write there";
		if (at == -1)
			return NULL;
		fd = -1;
	} else {
		if (at == -1)
			return NULL;
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	close(at);
	if (fd != -1)
		text = files_read(fd, &why);
	if (why != NULL)
		errand_warn("%s, which your git uses for all repositories, does "
			 "not count in the sandbox: %s",
		    path, why);
	if (fd != -1)
		close(fd);
	return text;
}

char *
git_files(struct git_known *k, struct buf *b)
{
	char *ignore = files_take(k, "core.excludesfile", "ignore");

	k->attributes = files_take(k, "core.attributesfile", "attributes");
	errand_report(ERRAND_IGNORE, ignore);
	errand_report(ERRAND_ATTRIBUTES, k->attributes);
	repo_section_put(b, "core", span_of("", 0));
	if (ignore != NULL)
		repo_value_put(b, "excludesFile",
		    SPAN("/etc/ironcurtain/gitignore"));
	if (k->attributes != NULL)
		repo_value_put(b, "attributesFile",
		    SPAN("/etc/ironcurtain/gitattributes"));
	return ignore;
}
