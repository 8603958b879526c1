/* SPDX-License-Identifier: ISC */
/* Reads, checks and writes jobs. */
#include "icctl/job/job.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/jsonfile.h"
#include "budget/budget.h"

/* clang-format off */
/* The texts of job.json; those of the TypeScript IronCurtain stand first. */
static const char *const job_texts[] = {"id", "name", "schedule",
    "taskDescription", "task", "taskConstitution", "workspace", "gitRepo",
    "agent", "model", "persona", "policy", "profile", "constitutionHash", NULL};
static const char *const job_flags[] = {
    "notifyOnEscalation", "notifyOnCompletion", "enabled", NULL};
static const char *const job_known[] = {"id", "name", "schedule",
    "taskDescription", "task", "taskConstitution", "workspace", "gitRepo",
    "agent", "model", "persona", "policy", "profile", "constitutionHash",
    "notifyOnEscalation", "notifyOnCompletion", "enabled", "budgetOverrides",
    "memory", "keepRuns", NULL};
/* clang-format on */

bool
job_name_ok(const char *s)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

	return s[0] != '\0' && s[0] != '-' && s[0] != '_' &&
	       strlen(s) < JOB_NAME && s[strspn(s, may)] == '\0';
}

const char *
job_task(const struct job *j)
{
	const char *s = get_str(j->root, "taskDescription", "");

	return s[0] != '\0' ? s : get_str(j->root, "task", "");
}

static int
job_check_budget(const struct job *j, const struct jsonfile *f)
{
	json_object *o = NULL;
	char text[160];
	int key;

	if (jsonfile_object(f, j->root, "", "budgetOverrides", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	json_object_object_foreach(o, name, v)
	{
		if ((key = budget_find(name)) == -1)
			return jsonfile_bad(
			    f, "budgetOverrides", name, "no such limit");
		if (v != NULL &&
		    ((!json_object_is_type(v, json_type_int) &&
			 !json_object_is_type(v, json_type_double)) ||
			!budget_value_ok(
			    (enum budget_key)key, json_object_get_double(v))))
			return jsonfile_bad(f, "budgetOverrides", name, "%s",
			    budget_wants(
				(enum budget_key)key, text, sizeof(text)));
	}
	return 0;
}

/* Check all members, and read the schedule. */
static int
job_check(struct job *j, const struct jsonfile *f)
{
	char why[CRON_WHY];
	const char *s;
	int64_t keep;
	bool flag;

	if (jsonfile_known(f, j->root, "", job_known) == -1)
		return -1;
	for (size_t i = 0; job_texts[i] != NULL; i++)
		if (jsonfile_str(f, j->root, "", job_texts[i], &s) == -1)
			return -1;
	for (size_t i = 0; job_flags[i] != NULL; i++)
		if (jsonfile_bool(f, j->root, "", job_flags[i], &flag) == -1)
			return -1;
	if (jsonfile_int(f, j->root, "", "keepRuns", 1, 10000, &keep) == -1 ||
	    job_check_budget(j, f) == -1)
		return -1;
	s = get_str(j->root, "id", j->name);
	if (strcmp(s, j->name) != 0)
		return jsonfile_bad(f, "", "id",
		    "must be %s, as its directory is called", j->name);
	if (job_task(j)[strspn(job_task(j), " \t\r\n")] == '\0')
		return jsonfile_bad(
		    f, "", "taskDescription", "says nothing to do");
	s = get_str(j->root, "schedule", "");
	j->scheduled = s[0] != '\0';
	if (j->scheduled && cron_read(s, &j->cron, why) == -1)
		return jsonfile_bad(f, "", "schedule", "%s", why);
	if (get_str(j->root, "workspace", "")[0] != '\0' &&
	    get_str(j->root, "gitRepo", "")[0] != '\0')
		return jsonfile_bad(f, "", "gitRepo",
		    "a run works on a clone of it, so that \"workspace\" has "
		    "no place beside it");
	j->enabled = get_member(j->root, "enabled") == NULL ||
		     get_true(j->root, "enabled");
	return 0;
}

int
job_load(struct job *j, const char *home, const char *name, struct fault *fault)
{
	char path[JOB_PATH + 16];
	struct jsonfile f = {path, fault};
	struct stat st;
	size_t len = 0;
	char *text;
	int save;

	memset(j, 0, sizeof(*j));
	if (!job_name_ok(name)) {
		errno = EINVAL;
		return fault_set(fault,
		    "a job's name has 1 to 63 lower-case letters, digits, '-' "
		    "and '_', and begins with a letter or digit");
	}
	(void)strlcpy(j->name, name, sizeof(j->name));
	snprintf(j->dir, sizeof(j->dir), "%.4000s/jobs/%s", home, name);
	snprintf(path, sizeof(path), "%s/job.json", j->dir);
	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL) {
		save = errno;
		if (save == ENOENT)
			(void)fault_set(fault,
			    "there is no job %s (icctl job ls lists them)",
			    name);
		errno = save;
		return -1;
	}
	j->root = jsonfile_parse(path, span_of(text, len), fault);
	freezero(text, len);
	errno = EINVAL;
	return j->root == NULL || job_check(j, &f) == -1 ? -1 : 0;
}

void
job_free(struct job *j)
{
	json_object_put(j->root);
	j->root = NULL;
}

/* Make a directory for this user alone. */
static int
job_mkdir(const char *path)
{
	return mkdir(path, 0700) == -1 && errno != EEXIST ? -1 : 0;
}

int
job_save(struct job *j, struct fault *fault)
{
	char path[JOB_PATH + 16];
	struct jsonfile f = {path, fault};

	snprintf(path, sizeof(path), "%s/job.json", j->dir);
	if (job_check(j, &f) == -1)
		return -1;
	/* IRONCURTAIN_HOME, jobs/ and the job's own. */
	for (char *p = j->dir + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (access(j->dir, F_OK) == -1)
			(void)job_mkdir(j->dir);
		*p = '/';
	}
	if (job_mkdir(j->dir) == -1 ||
	    jsonfile_replace(
		path, span_str(json_object_to_json_string_ext(
			  j->root, JSON_C_TO_STRING_PRETTY |
				       JSON_C_TO_STRING_NOSLASHESCAPE))) == -1)
		return fault_errno(fault, "%s", path);
	return 0;
}

static int
job_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t
job_names(const char *home, char *names[JOB_MAX])
{
	char dir[JOB_PATH];
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.4000s/jobs", home);
	if ((d = opendir(dir)) == NULL)
		return 0;
	while (n < JOB_MAX && (e = readdir(d)) != NULL)
		if (job_name_ok(e->d_name) &&
		    (names[n] = strdup(e->d_name)) != NULL)
			n++;
	closedir(d);
	qsort(names, n, sizeof(*names), job_by_name);
	return n;
}

int
job_lock_file(const char *path)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd, save;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1 || fcntl(fd, F_OFD_SETLK, &l) == 0)
		return fd;
	save = errno == EACCES ? EWOULDBLOCK : errno;
	close(fd);
	errno = save;
	return -1;
}

bool
job_lock_held(const char *path)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	bool held;

	if (fd == -1)
		return false;
	held = fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
	close(fd);
	return held;
}

int
job_lock(const struct job *j)
{
	char path[JOB_PATH + 16];

	snprintf(path, sizeof(path), "%s/lock", j->dir);
	return job_lock_file(path);
}

bool
job_runs(const struct job *j)
{
	char path[JOB_PATH + 16];

	snprintf(path, sizeof(path), "%s/lock", j->dir);
	return job_lock_held(path);
}
