/* SPDX-License-Identifier: ISC */
/*
 * Records of runs: one file for each, named by the time at which it began. A
 * record is written when a run begins and again when it ends, so that one which
 * dies is known.
 */
#include "icctl/job/job.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "icctl/newest.h"

#define RECORD_FILES 20000U

const char *
job_time(time_t t, char dst[JOB_TIME])
{
	struct tm tm;

	dst[0] = '\0';
	if (gmtime_r(&t, &tm) != NULL)
		(void)strftime(dst, JOB_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return dst;
}

time_t
job_time_of(const char *text)
{
	struct tm tm = {0};

	/* A fraction of the second, which others write, is left out. */
	if (strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) == NULL)
		return 0;
	return timegm(&tm);
}

static void
record_path(const struct job *j, const char *file, char dst[JOB_PATH + 128])
{
	snprintf(dst, JOB_PATH + 128, "%s/runs%s%s", j->dir,
	    file[0] != '\0' ? "/" : "", file);
}

int
record_put(const struct job *j, const char *file, json_object *o)
{
	char path[JOB_PATH + 128];

	record_path(j, "", path);
	if (mkdir(path, 0700) == -1 && errno != EEXIST)
		return -1;
	record_path(j, file, path);
	return jsonfile_replace(
	    path, span_str(json_object_to_json_string_ext(o, ICCTL_JSON)));
}

static int
record_newer(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

/* List the names of records, the newest first, which the caller frees. */
static size_t
record_names(const struct job *j, char ***names)
{
	char path[JOB_PATH + 128];
	const char *dot;
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	record_path(j, "", path);
	if ((*names = calloc(RECORD_FILES, sizeof(**names))) == NULL ||
	    (d = opendir(path)) == NULL)
		return 0;
	while (n < RECORD_FILES && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9' &&
		    strlen(e->d_name) <
			sizeof(((struct record_row *)0)->file) &&
		    (dot = strrchr(e->d_name, '.')) != NULL &&
		    strcmp(dot, ".json") == 0 &&
		    ((*names)[n] = strdup(e->d_name)) != NULL)
			n++;
	closedir(d);
	qsort(*names, n, sizeof(**names), record_newer);
	return n;
}

/* A record of a run that nobody ended. */
static void
record_died(const struct job *j, json_object *o)
{
	if (strcmp(get_str(o, "status", ""), "running") != 0 || job_runs(j))
		return;
	put_str(o, "status", "died");
	put_str(o, "why",
	    "it was killed, or the machine went down, before it ended");
}

size_t
record_list(const struct job *j, struct record_row *rows, size_t max)
{
	char dir[JOB_PATH + 128], **names = NULL;
	size_t all = record_names(j, &names), n = 0;

	record_path(j, "", dir);
	for (size_t i = 0; i < all; i++) {
		if (n < max &&
		    (rows[n].o = newest_read(dir, names[i])) != NULL) {
			(void)strlcpy(
			    rows[n].file, names[i], sizeof(rows[n].file));
			record_died(j, rows[n++].o);
		}
		free(names[i]);
	}
	free(names);
	return n;
}

void
record_free(struct record_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_put(rows[i].o);
}

void
record_trim(const struct job *j)
{
	char path[JOB_PATH + 128], **names = NULL;
	size_t all = record_names(j, &names), keep = JOB_KEEP;

	if (get_typed(j->root, "keepRuns", json_type_int) != NULL)
		keep = (size_t)icctl_number(j->root, "keepRuns");
	for (size_t i = 0; i < all; i++) {
		if (i >= keep) {
			record_path(j, names[i], path);
			(void)unlink(path);
			/* The run's own log stands beside it. */
			(void)strlcpy(
			    strrchr(path, '.'), ".log", sizeof(".json"));
			(void)unlink(path);
		}
		free(names[i]);
	}
	free(names);
}

time_t
record_since(const struct job *j)
{
	json_object *state = newest_read(j->dir, "state.json");
	struct record_row last;
	time_t since = job_time_of(get_str(state, "waitsSince", "")), began;

	json_object_put(state);
	if (record_list(j, &last, 1) == 1) {
		began = job_time_of(get_str(last.o, "startedAt", ""));
		if (began > since)
			since = began;
		record_free(&last, 1);
	}
	return since;
}

int
record_wait(const struct job *j)
{
	json_object *o = json_object_new_object();
	char path[JOB_PATH + 16], when[JOB_TIME];
	int rv;

	snprintf(path, sizeof(path), "%s/state.json", j->dir);
	put_str(o, "waitsSince", job_time(time(NULL), when));
	rv = jsonfile_replace(
	    path, span_str(json_object_to_json_string_ext(o, ICCTL_JSON)));
	json_object_put(o);
	return rv;
}

time_t
record_overdue(const struct job *j, time_t now)
{
	time_t since, due;

	if (!j->enabled || !j->scheduled || (since = record_since(j)) == 0)
		return 0;
	due = cron_next(&j->cron, since);
	return due != -1 && due + JOB_GRACE < now ? now - due : 0;
}
