/* SPDX-License-Identifier: ISC */
/*
 * Looks through the sessions of a person for the newest one. Their files are
 * the user's own, but texts in them may come from an agent, and are only
 * compared.
 */
#include "icctl/newest.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/session_age.h"

#define NEWEST_FILE (1U << 20)

/* The place that a session must be about. */
struct newest_place {
	enum newest_kind kind;
	char dir[PATH_MAX];
};

json_object *
newest_read(const char *dir, const char *name)
{
	char path[4400], *text = NULL;
	json_object *o = NULL;
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.4096s/%s", dir, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size < (off_t)NEWEST_FILE &&
	    (text = malloc((size_t)st.st_size + 1)) != NULL &&
	    (n = read(fd, text, (size_t)st.st_size)) >= 0) {
		text[n] = '\0';
		o = json_tokener_parse(text);
	}
	free(text);
	close(fd);
	return o;
}

/* Returns a text of a session's file, or "". */
static const char *
newest_text(json_object *o, const char *key)
{
	json_object *v = NULL;

	return json_object_is_type(o, json_type_object) &&
		       json_object_object_get_ex(o, key, &v) &&
		       json_object_is_type(v, json_type_string)
		   ? json_object_get_string(v)
		   : "";
}

bool
newest_is_own(const char *agent)
{
	return strcmp(agent, "policy-compiler") == 0;
}

bool
newest_own(const char *dir)
{
	json_object *o = newest_read(dir, "session.json");
	bool own = newest_is_own(newest_text(o, "agent"));

	json_object_put(o);
	return own;
}

/* Find the directory around the current one that has a .git. */
static bool
newest_repository(char dir[PATH_MAX])
{
	char git[PATH_MAX + 8], *slash;

	for (;;) {
		snprintf(git, sizeof(git), "%s/.git", dir);
		if (access(git, F_OK) == 0)
			return true;
		if ((slash = strrchr(dir, '/')) == NULL || slash == dir)
			return false;
		*slash = '\0';
	}
}

static bool
newest_same(const char *path, const char *dir)
{
	char *real = path[0] == '/' ? realpath(path, NULL) : NULL;
	bool same = real != NULL && strcmp(real, dir) == 0;

	free(real);
	return same;
}

/* Returns true if the session in `dir` is of the kind. */
static bool
newest_is(const struct newest_place *p, const char *dir)
{
	json_object *o, *clone;
	bool is;

	if (p->kind == NEWEST_ANY)
		return true;
	clone = newest_read(dir, "clone.json");
	is = p->kind == NEWEST_CLONE
		 ? json_object_is_type(clone, json_type_object)
		 : newest_same(newest_text(clone, "dir"), p->dir);
	json_object_put(clone);
	if (is || p->kind != NEWEST_HERE)
		return is;
	o = newest_read(dir, "session.json");
	is = newest_same(newest_text(o, "workspace"), p->dir);
	json_object_put(o);
	return is;
}

bool
newest_find(const struct icctl *ctl, enum newest_kind kind, char id[NEWEST_ID])
{
	struct session_age at, last = {.started = 0};
	struct newest_place place = {.kind = kind};
	char dir[4200], path[4200 + NAME_MAX + 2];
	struct dirent *e;
	DIR *d;

	id[0] = '\0';
	if ((kind == NEWEST_HERE || kind == NEWEST_CLONE_HERE) &&
	    (getcwd(place.dir, sizeof(place.dir)) == NULL ||
		place.dir[0] != '/'))
		return false;
	if (kind == NEWEST_CLONE_HERE && !newest_repository(place.dir))
		return false;
	snprintf(dir, sizeof(dir), "%.4000s/sessions", ctl->home);
	if ((d = opendir(dir)) == NULL)
		return false;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		session_age_read(&at, path, e->d_name);
		if (id[0] != '\0' &&
		    session_age_cmp(&at, e->d_name, &last, id) < 0)
			continue;
		if (newest_own(path) || !newest_is(&place, path))
			continue;
		(void)strlcpy(id, e->d_name, NEWEST_ID);
		last = at;
	}
	closedir(d);
	return id[0] != '\0';
}

int
icctl_newest(struct icctl *ctl)
{
	char dir[4200], path[4500];
	struct timespec best = {0, 0};
	struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/sessions", ctl->home);
	if ((d = opendir(dir)) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		snprintf(
		    path, sizeof(path), "%s/%s/audit.jsonl", dir, e->d_name);
		if (e->d_name[0] == '.' || stat(path, &st) == -1 ||
		    st.st_mtim.tv_sec < best.tv_sec)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (newest_own(path))
			continue;
		best = st.st_mtim;
		snprintf(
		    ctl->dir, sizeof(ctl->dir), "%.3800s/%s", dir, e->d_name);
	}
	closedir(d);
	return best.tv_sec == 0 ? -1 : 0;
}
