/* SPDX-License-Identifier: ISC */
/*
 * Finds the session in which a project's file was changed: the newest one in
 * this workspace that ran at the time of the change. An agent can set when a
 * file was modified, but not when its entry last changed (st_ctime).
 */
#include "icctl/project/project.h"

#include <sys/stat.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "icctl/newest.h"

/* Returns a number of the session's file, or -1. */
static int64_t
changed_number(json_object *o, const char *key)
{
	json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v)
						     : -1;
}

static bool
changed_text_is(json_object *o, const char *key, const char *text)
{
	json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) &&
	       json_object_is_type(v, json_type_string) &&
	       strcmp(json_object_get_string(v), text) == 0;
}

/* Returns true if `a` is before `b`: many sessions fit into a second. */
static bool
changed_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
				      : a->tv_nsec < b->tv_nsec;
}

/*
 * Returns when the session of `dir` began, if it ran in this workspace at the
 * time; otherwise -1. Its file is written for the last time when it ends.
 */
static int64_t
changed_in(
    const char *dir, const struct project *p, const struct timespec *at)
{
	json_object *o = newest_read(dir, "session.json");
	char path[4400];
	struct stat st;
	int64_t began = -1;

	snprintf(path, sizeof(path), "%.4300s/session.json", dir);
	if (json_object_is_type(o, json_type_object) &&
	    changed_text_is(o, "workspace", p->workspace) &&
	    stat(path, &st) == 0 &&
	    (changed_text_is(o, "state", "running") ||
		!changed_before(&st.st_mtim, at)))
		began = changed_number(o, "started");
	json_object_put(o);
	return began <= (int64_t)at->tv_sec ? began : -1;
}

bool
project_changed(
    const struct icctl *ctl, const struct project *p, char id[PROJECT_SESSION])
{
	char dir[4100], path[4400];
	int64_t began, newest = -1;
	struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.4000s/sessions", ctl->home);
	if (stat(p->path, &st) == -1 || (d = opendir(dir)) == NULL)
		return false;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= PROJECT_SESSION)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		began = changed_in(path, p, &st.st_ctim);
		if (began <= newest)
			continue;
		newest = began;
		memcpy(id, e->d_name, strlen(e->d_name) + 1);
	}
	closedir(d);
	return newest != -1;
}
