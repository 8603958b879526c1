/* SPDX-License-Identifier: ISC */
/*
 * Runs ic-survey and takes its report. The report is of a program of ours that
 * read only what root and the user wrote, but it is checked all the same: a
 * name in it never leads out of the store or of a directory.
 */
#include "box/system/system.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/box.h"
#include "base/read_until.h"
#include "core/sup.h"
#include "box/system/shown.h"
#include "box/system/survey.h"
#include "box/system/var.h"

#define SYSTEM_MS 120000U /* seconds alone, a minute on a busy machine */
#define SYSTEM_TRIES 3U
#define SYSTEM_STORE "system"

static struct {
	struct spawned sp;
	int report; /* our end of its standard output; -1: it is not there */
	int store;
	unsigned trees[SURVEY_MAX_TREES]; /* indices of shown_nth() */
	unsigned ntrees;
	size_t known; /* shown_nth() up to there has been looked at */
	bool links;   /* the links of /usr are being looked for */
	struct var_list var;
} survey = {.sp = SPAWNED_INIT, .report = -1, .store = -1};

/*
 * Open IRONCURTAIN_HOME/system, or the directory that it is a link to, and make
 * the file that covers others.
 */
static int
system_store(struct fault *fault)
{
	char *path = paths_join(sup.paths.home, SYSTEM_STORE);
	int fd = -1, rv = -1;

	if (path != NULL && (mkdir(path, 0700) == 0 || errno == EEXIST) &&
	    (survey.store = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) !=
		-1 &&
	    (fd = openat(survey.store, SURVEY_EMPTY,
		 O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		 0444)) != -1)
		rv = 0;
	else
		fault_errno(fault, "%s/" SYSTEM_STORE, sup.paths.home);
	if (fd != -1)
		close(fd);
	free(path);
	return rv;
}

static int
system_spawn(int etc, int usr, int out, struct fault *fault)
{
	char *path = paths_join(sup.paths.libexecdir, "ic-survey");
	char name[] = "ic-survey", uid[16], gid[16], trees[16];
	char links[] = "links", none[] = "";
	char *const argv[] = {
	    name, uid, gid, survey.links ? links : none, trees, NULL};
	char *const envp[] = {NULL};
	struct spawn s = {.path = path,
	    .argv = argv,
	    .envp = envp,
	    .fds = {-1, out, STDERR_FILENO, survey.store, etc, usr},
	    .nfds = SURVEY_TREE,
	    .session = true,
	    .worker = true};
	int rv = 0;

	snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	snprintf(gid, sizeof(gid), "%u", (unsigned)getegid());
	snprintf(trees, sizeof(trees), "%u", survey.ntrees);
	for (unsigned i = 0; i < survey.ntrees; i++)
		s.fds[s.nfds++] = shown_nth(survey.trees[i])->dir;
	if (path == NULL || spawn_start(&s, &survey.sp) == -1)
		rv = fault_errno(fault, "ic-survey");
	free(path);
	return rv;
}

static int
system_start(struct fault *fault)
{
	const int etc = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		  usr = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct shown *s;
	int p[2] = {-1, -1}, rv;

	survey.ntrees = 0;
	for (size_t i = survey.known; (s = shown_nth(i)) != NULL; i++)
		if (!s->refused && s->dir != -1)
			survey.trees[survey.ntrees++] = (unsigned)i;
	if (etc == -1 || usr == -1)
		rv = fault_errno(fault, etc == -1 ? "/etc" : "/usr");
	else if (pipe2(p, O_CLOEXEC) == -1)
		rv = fault_errno(fault, "ic-survey");
	else
		rv = system_spawn(etc, usr, p[1], fault);
	if (etc != -1)
		close(etc);
	if (usr != -1)
		close(usr);
	if (p[1] != -1)
		close(p[1]);
	if (rv == 0)
		survey.report = p[0];
	else if (p[0] != -1)
		close(p[0]);
	return rv;
}

int
system_begin(struct fault *fault)
{
	if (sup.opt.check || box_bwrap() == NULL)
		return 0;
	if (shown_find(fault) == -1 || system_store(fault) == -1)
		return -1;
	survey.links = sup.opt.runtime == RUNTIME_BWRAP &&
		       !var_load(survey.store, &survey.var);
	if (!survey.links && shown_var(&survey.var, fault) == -1)
		return -1;
	return system_start(fault);
}

/*
 * Take the copy of /etc: lock it, so that nobody removes it while this session
 * runs. Returns 1 if it is there no longer.
 */
static int
system_copy(const char *name, struct fault *fault)
{
	struct stat st, now;
	char *path;
	int fd;

	if (strncmp(name, SURVEY_PREFIX, sizeof(SURVEY_PREFIX) - 1) != 0 ||
	    strchr(name, '/') != NULL)
		return fault_set(fault, "ic-survey: the report is not valid");
	fd = openat(survey.store, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return errno == ENOENT ? 1 : fault_errno(fault, "%s", name);
	if (flock(fd, LOCK_SH) == -1 || fstat(fd, &st) == -1 ||
	    fstatat(survey.store, name, &now, AT_SYMLINK_NOFOLLOW) == -1 ||
	    st.st_ino != now.st_ino || st.st_nlink == 0) {
		close(fd);
		return 1;
	}
	if (asprintf(&path, "%s/" SYSTEM_STORE "/%s", sup.paths.home, name) ==
	    -1) {
		close(fd);
		return fault_errno(fault, "/etc");
	}
	box_use_etc(fd, path);
	return 0;
}

/* Take one report. Returns 0, 1 for the last one, or -1 with the fault set. */
static int
system_take(enum survey_report kind, const char *text, const char **copy,
    struct fault *fault)
{
	static struct shown *at;
	static const char *bad;
	uint64_t n;

	switch (kind) {
	case SURVEY_COPY:
		*copy = text;
		return 0;
	case SURVEY_SAID:
		sup_note("%s", text);
		return 0;
	case SURVEY_TOO:
		sup_warn("%s", text);
		return 0;
	case SURVEY_FAILED:
		return fault_set(
		    fault, "/etc cannot be copied for the sandbox: %s", text);
	case SURVEY_AT:
		if (span_u64(span_str(text), survey.ntrees, &n) == -1 ||
		    n >= survey.ntrees)
			break;
		at = shown_nth(survey.trees[n]);
		return 0;
	case SURVEY_BAD:
		bad = text;
		return 0;
	case SURVEY_BAD_AT:
		if (at == NULL || bad == NULL)
			break;
		return shown_refuse(at, bad, text, fault);
	case SURVEY_COVER:
		if (at == NULL || at->ncovers == SURVEY_MAX_COVERS ||
		    !paths_below_ok(text))
			break;
		if ((at->covers[at->ncovers] = strdup(text)) == NULL)
			return fault_errno(fault, "ic-survey");
		at->ncovers++;
		return 0;
	case SURVEY_VAR:
		return var_add(&survey.var, text) == -1
			   ? fault_errno(fault, "ic-survey")
			   : 0;
	case SURVEY_END:
		return 1;
	}
	return fault_set(fault, "ic-survey: the report is not valid");
}

/* Take the whole report. Returns as system_copy() does. */
static int
system_report(char *text, size_t len, struct fault *fault)
{
	const char *copy = NULL;
	char *end;
	int rv = 0;

	for (char *p = text; rv == 0; p = end + 1) {
		end = memchr(p, '\0', len - (size_t)(p - text));
		if (end == NULL || end == p)
			return fault_set(fault,
			    "ic-survey, which looks at /etc and at the "
			    "directories of the sandbox, ended early");
		rv = system_take(
		    (enum survey_report)(unsigned char)*p, p + 1, &copy, fault);
	}
	if (rv == -1)
		return -1;
	return copy != NULL ? system_copy(copy, fault)
			    : fault_set(fault, "ic-survey: there is no copy");
}

static int
system_read(struct fault *fault)
{
	char *text = malloc(SURVEY_MAX_REPORT);
	int rv = -1;
	size_t len;

	if (text == NULL)
		return fault_errno(fault, "ic-survey");
	if (!read_until(
		survey.report, text, SURVEY_MAX_REPORT, SYSTEM_MS, &len))
		fault_set(fault,
		    "/etc and the directories that the sandbox shows could not "
		    "be looked through within %u s",
		    SYSTEM_MS / 1000);
	else
		rv = system_report(text, len, fault);
	free(text);
	close(survey.report);
	survey.report = -1;
	spawn_stop(&survey.sp, 0);
	return rv;
}

/* The links have been looked for: look at the places to which they lead. */
static int
system_links(struct fault *fault)
{
	survey.links = false;
	var_save(survey.store, &survey.var);
	while (shown_nth(survey.known) != NULL)
		survey.known++;
	if (shown_var(&survey.var, fault) == -1)
		return -1;
	if (shown_nth(survey.known) == NULL)
		return 0;
	return system_start(fault) == -1 ? -1 : system_read(fault);
}

int
system_end(struct fault *fault)
{
	struct shown *s;
	int rv;

	if (survey.report == -1)
		return 0;
	rv = system_read(fault);
	/* The copy may be removed before it is locked. */
	for (unsigned i = 1; rv == 1 && i < SYSTEM_TRIES; i++) {
		for (size_t k = 0; (s = shown_nth(k)) != NULL; k++)
			s->ncovers = 0;
		rv = system_start(fault) == -1 ? -1 : system_read(fault);
	}
	if (rv == 0 && survey.links)
		rv = system_links(fault);
	if (rv == 1)
		return fault_set(fault, "the copy of /etc does not stay");
	return rv == 0 ? shown_judge(fault) : -1;
}

static void
system_bind_one(struct box *b, const struct shown *s, const char *empty)
{
	char path[8192];
	struct stat st;

	if (s->target != NULL) {
		box_args(b, "--symlink", s->target, s->path);
		return;
	}
	box_bind(b, s->fd, s->path, false);
	for (unsigned i = 0; i < s->ncovers; i++) {
		snprintf(path, sizeof(path), "%s/%s", s->path, s->covers[i]);
		if (fstatat(s->dir, s->covers[i], &st, AT_SYMLINK_NOFOLLOW) ==
		    -1)
			continue;
		if (S_ISDIR(st.st_mode))
			box_args(b, "--tmpfs", path, NULL);
		else
			box_args(b, "--ro-bind", empty, path);
	}
}

void
system_bind(struct box *b)
{
	char *empty;
	struct shown *s;

	if (asprintf(&empty, "%s/" SYSTEM_STORE "/" SURVEY_EMPTY,
		sup.paths.home) == -1) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; (s = shown_nth(i)) != NULL; i++)
		if (!s->refused)
			system_bind_one(b, s, empty);
	free(empty);
}
