/* SPDX-License-Identifier: ISC */
/*
 * Filters turn the text of a file into the text that is committed. Outside, the
 * user's configuration names their programs. In the sandbox git would commit a
 * file as it is if a program is missing, so that each filter is made required:
 * git then refuses such a file. git-lfs is no secret of the user's and runs in
 * the sandbox, if it is there.
 */
#include "workers/repo/git.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "workers/repo/told.h"
#include "repo/user.h"

#define FILTER_MAX 64U
#define FILTER_NAME 100U
#define FILTER_ATTRIBUTES 65536U

struct filter {
	char name[FILTER_NAME];
	bool lfs; /* all its programs are git-lfs */
	bool own; /* the repository in the workspace itself has it */
	bool process; /* the sandbox's /etc/gitconfig has one, which git prefers */
};

struct filters {
	struct filter list[FILTER_MAX];
	unsigned n;
};

/* Returns true for names that may stand in a message and in a command. */
static bool
filter_name_ok(struct span name)
{
	if (name.len == 0 || name.len >= FILTER_NAME)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum(name.p[i]) && strchr("._-+", name.p[i]) == NULL)
			return false;
	return true;
}

/* Returns true if a command runs git-lfs: "git-lfs clean", "/x/git-lfs ...". */
static bool
filter_is_lfs(const char *command)
{
	size_t n;

	if (command == NULL)
		return false;
	command += strspn(command, " \"'");
	if (strncmp(command, "git lfs ", 8) == 0)
		return true;
	n = strcspn(command, " \"'");
	return n >= 7 && strncmp(command + n - 7, "git-lfs", 7) == 0 &&
	       (n == 7 || command[n - 8] == '/');
}

static struct filter *
filter_find(struct filters *f, struct span name)
{
	struct filter *to;

	for (unsigned i = 0; i < f->n; i++)
		if (span_is(name, f->list[i].name))
			return &f->list[i];
	if (f->n == FILTER_MAX)
		return NULL;
	to = &f->list[f->n++];
	*to = (struct filter){.lfs = true};
	(void)span_copy(name, to->name, sizeof(to->name));
	return to;
}

static void
filter_list(struct filters *f, const struct repo_settings *s, bool own)
{
	static const char *const variables[] = {"clean", "smudge", "process"};
	struct filter *to;
	struct span name;

	for (unsigned i = 0; i < s->n; i++) {
		name.len = 0;
		for (size_t k = 0; k < nitems(variables) && name.len == 0; k++)
			name = repo_setting_name(
			    s->list[i].key, "filter", variables[k]);
		if (name.len == 0 || s->list[i].value == NULL ||
		    s->list[i].value[0] == '\0')
			continue;
		if (!filter_name_ok(name) ||
		    (to = filter_find(f, name)) == NULL) {
			errand_warn("git has a filter with an odd name, or more "
				 "than %u: files that it belongs to must not "
				 "be committed in the sandbox",
			    FILTER_MAX);
			continue;
		}
		to->own = to->own || own;
		to->process |= strncmp(s->list[i].origin, "/etc/", 5) == 0;
		to->lfs = to->lfs && filter_is_lfs(s->list[i].value);
	}
}

/* Find git-lfs as the sandbox sees it. Returns false if it has none. */
static bool
filter_lfs(char path[PATH_MAX])
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

static void
filter_put_lfs(struct buf *b, const char *program)
{
	static const struct {
		const char *name, *words;
	} rows[] = {{"clean", "clean -- %f"}, {"smudge", "smudge -- %f"},
	    {"process", "filter-process"}};
	char text[PATH_MAX + 32];

	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(text, sizeof(text), "%s %s", program, rows[i].words);
		repo_value_put(b, rows[i].name, span_str(text));
	}
	repo_value_put(b, "required", SPAN("true"));
}

/* Have git refuse files of this filter, and say why. */
static void
filter_put_none(struct buf *b, const struct filter *f)
{
	char text[FILTER_NAME + 400];

	snprintf(text, sizeof(text),
	    "echo 'The filter %s of the user'\\''s git is not in this sandbox. "
	    "Without it another text would be committed: leave this file as it "
	    "is, and tell the user to commit it outside. Do not retry.' >&2; "
	    "exit 1",
	    f->name);
	repo_value_put(b, "clean", span_str(text));
	repo_value_put(b, "smudge", SPAN("cat"));
	if (f->process)
		repo_value_put(b, "process", SPAN(""));
	repo_value_put(b, "required", SPAN("true"));
}

/* Returns true if the workspace's attributes, or its own, name the filter. */
static bool
filter_used(const struct git_known *k, const char *name)
{
	static char text[FILTER_ATTRIBUTES];
	char paths[2][PATH_MAX + 24], word[FILTER_NAME + 16];

	if (!k->found)
		return false;
	snprintf(paths[0], sizeof(paths[0]), "%s/.gitattributes",
	    k->place.top_path);
	snprintf(paths[1], sizeof(paths[1]), "%s/info/attributes", k->place.git);
	snprintf(word, sizeof(word), "filter=%s", name);
	for (unsigned i = 0; i < 2; i++)
		if (small_file_read(AT_FDCWD, paths[i], text, sizeof(text)) > 0 &&
		    strstr(text, word) != NULL)
			return true;
	return false;
}

/* A merge driver that is not there would leave git's own to merge. */
static void
filter_drivers(const struct git_known *k, struct buf *b)
{
	const struct repo_settings *all[] = {&k->user, &k->own};
	struct span name;

	for (size_t a = 0; a < (k->cloned ? 2U : 1U); a++) {
		for (unsigned i = 0; i < all[a]->n; i++) {
			name = repo_setting_name(
			    all[a]->list[i].key, "merge", "driver");
			if (!filter_name_ok(name))
				continue;
			repo_section_put(b, "merge", name);
			repo_value_put(b, "driver",
			    SPAN("echo 'The merge driver of the user'\\''s git "
				 "is not in this sandbox: this file is left as "
				 "a conflict.' >&2; exit 1"));
		}
	}
}

void
git_filter(const struct git_known *k, struct buf *b)
{
	static struct filters f;
	const struct filter *one;
	char program[PATH_MAX];
	bool lfs;

	filter_list(&f, &k->user, false);
	/* A clone has nothing of the repository's configuration. */
	filter_list(&f, &k->own, !k->cloned);
	lfs = filter_lfs(program);
	for (unsigned i = 0; i < f.n; i++) {
		one = &f.list[i];
		repo_section_put(b, "filter", span_str(one->name));
		if (one->lfs && lfs)
			filter_put_lfs(b, program);
		else
			filter_put_none(b, one);
		if (filter_used(k, one->name) && one->lfs && k->cloned)
			errand_warn("files of git-lfs are pointers in the clone, "
				 "without their content: git-lfs is not "
				 "fetched from. --with FILE takes one along");
		if (!filter_used(k, one->name) || (one->lfs && lfs) || one->own)
			continue;
		if (one->lfs)
			errand_warn("this repository uses git-lfs, which the "
				 "sandbox does not have: git there refuses to "
				 "add files of it. To install it: apt install "
				 "git-lfs");
		else
			errand_warn("the filter %s of your git is not in the "
				 "sandbox: git there refuses to add files that "
				 "attributes of git give to it",
			    one->name);
	}
	if (lfs) {
		/* Files whose content is not here stay pointers. */
		repo_section_put(b, "lfs", span_of("", 0));
		repo_value_put(b, "skipDownloadErrors", SPAN("true"));
	}
	filter_drivers(k, b);
}
