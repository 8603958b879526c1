/* SPDX-License-Identifier: ISC */
/*
 * Files that are in no commit: those that git does not know, with
 * --with-changes, and those that --with names.
 */
#include "repo/clone_priv.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "repo/with.h"

#define FILES_MAX 10000U
#define FILES_TEXT ((size_t)4 << 20)
#define FILES_NAMED 20U

static void __attribute__((format(printf, 2, 3)))
say(const struct cloning *c, const char *fmt, ...)
{
	char line[2200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	c->how->say(line);
}

/* Copy one file that git does not know. Returns 0, or -1 with the fault set. */
static int
untracked_one(struct cloning *c, int top, struct span name, unsigned n,
    struct fault *fault)
{
	char path[PATH_MAX], shown[512];

	if (!repo_path_ok(name) || span_copy(name, path, sizeof(path)) == -1) {
		/* A repository inside of it ends with a slash. */
		say(c, "left out: %s, which is no file of its own",
		    log_vis(name, shown, sizeof(shown)));
		return 0;
	}
	switch (repo_copy(top, c->new, path, &c->room, fault)) {
	case REPO_COPIED:
		if (n < FILES_NAMED)
			say(c, "also cloned: %s, which is in no commit",
			    log_vis(name, shown, sizeof(shown)));
		if (n == FILES_NAMED)
			say(c, "and further files that are in no commit");
		return 0;
	case REPO_REFUSED:
		say(c, "left out: %s", fault->text);
		return 0;
	case REPO_FAILED:
		break;
	}
	return -1;
}

int
clone_untracked(struct cloning *c, struct fault *fault)
{
	struct buf out;
	struct span rest, name;
	unsigned n = 0;
	int r, top;

	top = openat(c->from.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top == -1)
		return fault_errno(fault, "%s", c->dir);
	buf_init(&out, FILES_TEXT);
	r = REPO_GIT(c->how->env, &c->from.view, span_of("", 0), &out, fault,
	    "ls-files", "-z", "--others", "--exclude-standard");
	rest = buf_span(&out);
	while (r == 0 && repo_next(&rest, &name)) {
		if (n == FILES_MAX)
			r = fault_set(fault,
			    "more than %u files are in no commit: commit them, "
			    "or name the few that are needed with --with",
			    FILES_MAX);
		else
			r = untracked_one(c, top, name, n++, fault);
	}
	buf_free(&out);
	close(top);
	return r == 0 ? 0 : -1;
}

/* Write the path of FILE below the repository. Returns false if it is outside.
 */
static bool
with_path(const struct cloning *c, const char *file, char path[PATH_MAX])
{
	size_t n = strlen(c->from.top_path);

	if (file[0] == '/') {
		if (strncmp(file, c->from.top_path, n) != 0 || file[n] != '/')
			return false;
		file += n + 1;
	}
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	return strlcpy(path, file, PATH_MAX) < PATH_MAX &&
	       repo_path_ok(span_str(path));
}

int
clone_with(struct cloning *c, struct fault *fault)
{
	char path[PATH_MAX];
	struct fault why;
	int top, rv = 0;

	top = openat(c->from.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top == -1)
		return fault_errno(fault, "%s", c->dir);
	for (size_t i = 0; rv == 0 && i < c->how->nwith; i++) {
		if (!with_path(c, c->how->with[i], path))
			rv = fault_set(fault,
			    "--with %s: must be the path of a file below %s",
			    c->how->with[i], c->from.top_path);
		else if (repo_copy(top, c->new, path, &c->room, &why) !=
			 REPO_COPIED)
			rv = fault_set(fault, "--with %s", why.text);
	}
	close(top);
	return rv;
}

int
repo_dirty(const struct repo_env *env, const struct repo_view *view,
    const char *dir, void (*tell)(const char *), struct fault *fault)
{
	struct span rest, item;
	unsigned long n = 0;
	char line[4400];
	struct buf out;
	int r;

	buf_init(&out, FILES_TEXT);
	r = REPO_GIT(env, view, span_of("", 0), &out, fault, "status",
	    "--porcelain", "-z", "--no-renames", "--ignore-submodules=all",
	    "--untracked-files=normal");
	rest = buf_span(&out);
	while (repo_next(&rest, &item))
		n++;
	if (out.failed)
		snprintf(line, sizeof(line),
		    "much in %s is in no commit, and so not in the clone", dir);
	else
		snprintf(line, sizeof(line),
		    "%lu change%s in %s %s in no commit, and so not in the "
		    "clone. --with-changes takes %s along",
		    n, n == 1 ? "" : "s", dir, n == 1 ? "is" : "are",
		    n == 1 ? "it" : "them");
	if (out.failed || (r == 0 && n != 0))
		tell(line);
	buf_free(&out);
	/* Only what stops the start counts: an interrupt. */
	return r == -1 && env->stopped != NULL && env->stopped() ? -1 : 0;
}
