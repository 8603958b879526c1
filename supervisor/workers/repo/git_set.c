/* SPDX-License-Identifier: ISC */
/*
 * Tells ic-gitset (repo/gitset.h) what there is of git's settings and
 * attributes, and takes the configuration that it writes.
 */
#include "workers/repo/git.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/report.h"
#include "base/small_file.h"
#include "repo/gitset.h"
#include "workers/repo/told.h"

#define SET_MS 10000U
#define SET_ATTRIBUTES 65536U

static struct buf *set_config; /* takes the configuration of ic-gitset */

/* Find git-lfs as the sandbox sees it. Returns false if it has none. */
static bool
set_lfs(char path[PATH_MAX])
{
	const char *dir = errand.path != NULL ? errand.path : "";
	size_t n;

	/* An image has its own, or none, which git then says. */
	(void)strlcpy(path, "git-lfs", PATH_MAX);
	if (!errand.bwrap)
		return true;
	for (; *dir != '\0'; dir += n + (dir[n] == ':')) {
		n = strcspn(dir, ":");
		if (dir[0] != '/' ||
		    snprintf(path, PATH_MAX, "%.*s/git-lfs", (int)n, dir) >=
			PATH_MAX ||
		    access(path, X_OK) == -1)
			continue;
		if (strncmp(path, "/usr/", 5) == 0 || errand_shown(path))
			return strpbrk(path, "\"'\\ $`\n") == NULL;
	}
	(void)strlcpy(path, "/usr/bin/git-lfs", PATH_MAX);
	return access(path, X_OK) == 0;
}

/* Returns true if there is a filter, which attributes may name. */
static bool
set_settings(struct buf *job, const struct repo_settings *s, int letter)
{
	const struct repo_setting *one;
	bool filters = false;
	int kind;

	for (unsigned i = 0; i < s->n; i++) {
		one = &s->list[i];
		kind = letter == GITSET_USER &&
			       strncmp(one->origin, "/etc/", 5) == 0
			   ? GITSET_SYSTEM
			   : letter;
		filters = filters || strncmp(one->key, "filter.", 7) == 0;
		buf_addc(job, (uint8_t)kind);
		buf_adds(job, one->key);
		buf_adds(job, one->value != NULL ? "\n" : "");
		buf_adds(job, one->value != NULL ? one->value : "");
		buf_addc(job, '\0');
	}
	return filters;
}

/* Tell what the files of attributes say: no NUL ends them. */
static void
set_attributes(const struct git_known *k, struct buf *job)
{
	static const char *const words[] = {"grep", "-h", "-I", "-F", "-e",
	    "filter=", "--", ":(glob)**/.gitattributes", NULL};
	static char text[SET_ATTRIBUTES];
	char path[PATH_MAX + 24];
	struct fault ignored;
	struct buf all;

	buf_init(&all, 8 * SET_ATTRIBUTES);
	if (!k->place.bare && repo_git(&k->env, &k->place.view, words,
				  span_of("", 0), &all, &ignored) != 0)
		buf_drain(&all, all.len);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s",
		    i == 0 ? k->place.top_path : k->place.git,
		    i == 0 ? ".gitattributes" : "info/attributes");
		if (small_file_read(AT_FDCWD, path, text, sizeof(text)) > 0)
			buf_adds(&all, text);
		buf_addc(&all, '\n');
	}
	buf_adds(&all, k->attributes != NULL ? k->attributes : "");
	buf_addc(&all, '\0');
	if (!all.failed)
		report_add(
		    job, GITSET_ATTRIBUTES, (const char *)buf_span(&all).p);
	buf_free(&all);
}

static void
set_list(struct buf *job, int letter, const struct errand_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		report_add(job, letter, l->list[i]);
}

static int
set_take(int letter, const char *text, struct fault *fault)
{
	if (letter == ERRAND_WARN)
		errand_report(ERRAND_WARN, text);
	else if (letter == ERRAND_CONFIG)
		buf_adds(set_config, text);
	else
		return fault_set(fault, "the report is not valid");
	return 0;
}

/*
 * Write what ends every git: without the filters of this configuration, another
 * text than the user's git would have may be committed.
 */
static void
set_none(const struct fault *fault, struct buf *b)
{
	errand_warn("git does not work in this sandbox, because its "
		    "configuration could not be written: %s",
	    fault->text);
	buf_reset(b, 0);
	buf_adds(b,
	    "# The user's configuration of git could not be written for this "
	    "sandbox, and without it\n# other texts might be committed. Do not "
	    "retry: tell the user.\n[\n");
}

void
git_set(const struct git_known *k, struct buf *b)
{
	static char *const envp[] = {NULL};
	struct helper h = {.libexecdir = errand.libexecdir,
	    .name = GITSET_PROGRAM,
	    .task = "settings",
	    .envp = envp,
	    .take = set_take,
	    .stopped = errand_stopped};
	char lfs[PATH_MAX];
	struct fault fault;
	struct buf job;
	bool filters;

	buf_init(&job, GITSET_JOB);
	if (k->found)
		report_add(&job, GITSET_FOUND, "");
	if (k->cloned)
		report_add(&job, GITSET_CLONED, "");
	if (errand.bwrap)
		report_add(&job, GITSET_BWRAP, "");
	report_add(&job, GITSET_HOME, errand.home);
	report_add(&job, GITSET_INSIDE, errand.inside);
	if (set_lfs(lfs))
		report_add(&job, GITSET_LFS, lfs);
	set_list(&job, GITSET_DESTINATION, &errand.destinations);
	set_list(&job, GITSET_SHOWN, &errand.shown);
	filters = set_settings(&job, &k->user, GITSET_USER);
	filters = set_settings(&job, &k->own, GITSET_OWN) || filters;
	if (k->found && filters)
		set_attributes(k, &job);
	h.job = &job;
	set_config = b;
	if (helper_run(&h, SET_MS, &fault) == -1)
		set_none(&fault, b);
	buf_free(&job);
}
