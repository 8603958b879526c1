/* SPDX-License-Identifier: ISC */
/*
 * A directory in the user's PATH is in the agent's PATH if the sandbox sees it,
 * at its own path or at the one that its links lead to. What the agent installs
 * lies in its own home at the same place as outside, and comes first.
 */
#include "box/system/toolpath.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/system/shown.h"
#include "box/system/envput.h"
#include "box/view.h"
#include "core/sup.h"
#include "base/report.h"
#include "files/toolchains.h"
#include "box/system/scan.h"

#define TOOLPATH_MAX 16384U

static const char *const system_dirs[] = {"/usr", "/bin", "/sbin", "/lib"};

struct toolpath {
	struct buf path, job;
	const struct program *program;
};

/* Returns true if the sandbox sees a path that has no links. */
static bool
toolpath_seen(const struct program *p, const char *path)
{
	for (size_t i = 0; i < nitems(system_dirs); i++)
		if (paths_under(path, system_dirs[i]))
			return true;
	for (unsigned i = 1; p != NULL && i < p->ntrees; i++)
		if (paths_under(path, p->trees[i]))
			return true;
	return shown_has(path);
}

/* Append a directory, unless it is there. */
static void
toolpath_add(struct buf *b, const char *dir)
{
	const size_t len = strlen(dir);
	struct span s = buf_span(b);
	const uint8_t *at;

	for (; (at = span_find(s, span_of(dir, len))) != NULL;
	     s = span_of(at + len, s.len - (size_t)(at + len - s.p)))
		if ((at == buf_span(b).p || at[-1] == ':') &&
		    (at + len == s.p + s.len || at[len] == ':'))
			return;
	if (b->len != 0)
		buf_addc(b, ':');
	buf_adds(b, dir);
}

/* Have a directory that is not seen named. */
static void
toolpath_tell(struct toolpath *t, const char *dir, const char *real)
{
	if (strcmp(dir, "/snap/bin") == 0 ||
	    strcmp(dir, sup.paths.bindir) == 0 ||
	    paths_under(dir, sup.workspace_path))
		return;
	report_add(&t->job, SCAN_UNSEEN, dir);
	report_add(&t->job, SCAN_REAL, real);
}

/* Take one directory of the user's PATH. */
static void
toolpath_take(struct toolpath *t, const char *dir)
{
	const size_t home = strlen(sup.paths.user_home);
	char own[PATH_MAX], *real = NULL;
	int fd;

	if (dir[0] != '/' ||
	    (fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return;
	real = paths_of_fd(fd);
	close(fd);
	if (real == NULL)
		return;
	if (paths_under(dir, sup.paths.user_home) && dir[home] == '/' &&
	    snprintf(own, sizeof(own), TOOLPATH_HOME "%s", dir + home) <
		(int)sizeof(own))
		toolpath_add(&t->path, own);
	if (paths_under(real, sup.paths.user_home) && shown_has(real))
		report_add(&t->job, SCAN_SEEN, real);
	if (!toolpath_seen(t->program, real))
		toolpath_tell(t, dir, real);
	else if (toolpath_seen(t->program, dir))
		toolpath_add(&t->path, dir);
	else
		toolpath_add(&t->path, real);
	free(real);
}

static void
toolpath_user(struct toolpath *t)
{
	char dir[PATH_MAX];
	size_t n;

	for (const char *p = sup.host.path; p != NULL && *p != '\0';
	     p += n + (p[n] == ':')) {
		n = strcspn(p, ":");
		if (n != 0 && span_copy(span_of(p, n), dir, sizeof(dir)) == 0)
			toolpath_take(t, dir);
	}
}

/* Have ic-scan say what of PATH the sandbox does not see. */
static void
toolpath_scan(struct toolpath *t)
{
	const struct toolchain *tc;
	const struct shown *s;
	const char *value;
	char set[PATH_MAX];

	if (t->job.len == 0)
		return;
	report_add(&t->job, SCAN_USER, sup.paths.user_home);
	report_add(&t->job, SCAN_SHOWN, sup.workspace_path);
	report_add(&t->job, SCAN_REFUSED, sup.paths.home);
	for (unsigned i = 0; i < sup.host.places.n; i++)
		report_add(&t->job, SCAN_REFUSED, sup.host.places.paths[i]);
	for (size_t i = 0; i < nitems(system_dirs); i++)
		report_add(&t->job, SCAN_SHOWN, system_dirs[i]);
	for (size_t i = 0; (s = shown_nth(i)) != NULL; i++)
		if (!s->refused)
			report_add(&t->job, SCAN_SHOWN, s->path);
	for (unsigned i = 1; t->program != NULL && i < t->program->ntrees; i++)
		report_add(&t->job, SCAN_SHOWN, t->program->trees[i]);
	for (size_t i = 0; (tc = toolchain_nth(i)) != NULL; i++)
		if (tc->variable != NULL &&
		    (value = getenv(tc->variable)) != NULL &&
		    snprintf(set, sizeof(set), "%s=%s", tc->variable, value) <
			(int)sizeof(set))
			report_add(&t->job, SCAN_MANAGER, set);
	scan_path(&t->job);
}

char *
toolpath(const struct program *p)
{
	static const char *const system[] = {"/usr/local/bin", "/usr/bin",
	    "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"};
	const bool user = sup.opt.runtime == RUNTIME_BWRAP &&
			  sup.opt.trial == NULL && !sup.opt.policy_work;
	struct toolpath t = {.program = p};
	char dir[PATH_MAX], *out;

	buf_init(&t.path, TOOLPATH_MAX);
	buf_init(&t.job, SCAN_JOB);
	buf_adds(&t.path, "/opt/ironcurtain/bin:" TOOLPATH_GLOBAL);
	if (user)
		toolpath_user(&t);
	for (size_t i = 0; i < nitems(system); i++)
		toolpath_add(&t.path, system[i]);
	for (unsigned i = 1; p != NULL && i < p->ntrees; i++)
		if (snprintf(dir, sizeof(dir), "%s/bin", p->trees[i]) <
		    (int)sizeof(dir))
			toolpath_add(&t.path, dir);
	toolpath_scan(&t);
	buf_addc(&t.path, '\0');
	errno = E2BIG;
	if (t.path.failed ||
	    asprintf(&out, "PATH=%s", (const char *)buf_span(&t.path).p) == -1)
		out = NULL;
	buf_free(&t.path);
	buf_free(&t.job);
	return out;
}

int
toolpath_environment(char **env, size_t *n, size_t max, struct fault *fault)
{
	/* They name one toolchain of several. */
	static const char *const chosen[] = {"JAVA_HOME", "GOROOT",
	    "CONDA_PREFIX", "OPAM_SWITCH_PREFIX", "DOTNET_ROOT", "ANDROID_HOME",
	    "ANDROID_SDK_ROOT", "MAVEN_HOME", "GRADLE_HOME", "SCALA_HOME"};
	const struct toolchain *t;
	const char *value;
	char dir[PATH_MAX];

	if (sup.opt.runtime != RUNTIME_BWRAP || sup.opt.trial != NULL)
		return 0;
	for (size_t i = 0; (t = toolchain_nth(i)) != NULL; i++)
		if (t->variable != NULL &&
		    toolchain_path(t, sup.paths.user_home, dir, sizeof(dir)) ==
			0 &&
		    shown_has(dir) &&
		    env_put(env, n, max, t->variable, dir, fault) == -1)
			return -1;
	for (size_t i = 0; i < nitems(chosen); i++) {
		value = getenv(chosen[i]);
		if (value != NULL && value[0] == '/' &&
		    strlen(value) < PATH_MAX && strpbrk(value, "\n") == NULL &&
		    strstr(value, "/..") == NULL &&
		    toolpath_seen(NULL, value) &&
		    env_put(env, n, max, chosen[i], value, fault) == -1)
			return -1;
	}
	return 0;
}
