/* SPDX-License-Identifier: ISC */
#include "workers/repo/git.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "common/loop.h"
#include "mcp-proxyd/icgit/place.h"
#include "repo/batch.h"
#include "repo/clone.h"
#include "repo/user.h"
#include "workers/repo/tasks.h"
#include "workers/repo/told.h"

#define GIT_MS 20000U
#define GIT_TEXT 262144U
#define GIT_PATTERNS "patterns.new"

/* The settings that are asked for. Values of others stay where they are. */
#define GIT_BOTH                                                               \
	"^(commit|tag)\\.gpgsign$|^core\\.hookspath$|"                          \
	"^filter\\..*\\.(clean|smudge|process|required)$|"                    \
	"^merge\\..*\\.driver$|^url\\..*\\.(push)?insteadof$"
#define GIT_PERSON "^(user|author|committer)\\.(name|email)$"
#define GIT_OWN                                                                \
	GIT_PERSON "|^include\\.path$|^includeif\\..*\\.path$|"                 \
	"^remote\\..*\\.(url|pushurl)$|" GIT_BOTH
#define GIT_USER                                                               \
	GIT_PERSON "|^user\\.useconfigonly$|"                                   \
	"^init\\.defaultbranch$|"                                              \
	"^core\\.(excludesfile|attributesfile|quotepath|autocrlf|eol|"         \
	"safecrlf|commentchar|commentstring)$|^commit\\.cleanup$|"            \
	"^i18n\\.commitencoding$|^(pull|merge|push|rebase|branch|diff|apply|" \
	"rerere)\\.[a-z]+$|^alias\\.[a-z0-9-]+$|" GIT_BOTH

static bool
git_reached(const char *path)
{
	return places_of(&errand.places, path, NULL) != NULL;
}

static void
git_left(const char *path, const char *why)
{
	errand_warn("%s, which your git configuration includes, does not count in "
		 "the sandbox: %s",
	    path, why);
}

/* Returns true if the path leads to the directory. */
static bool
git_same(const char *path, const char *dir)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(dir, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Find the name by which the user came to the repository: git compares the
 * conditions of includes with it, too. Returns NULL if it is the real path.
 */
static const char *
git_named(const char *dir, const char *real, char path[PATH_MAX])
{
	const char *pwd = getenv("PWD");
	int n = -1;

	while (strncmp(dir, "./", 2) == 0)
		dir += 2;
	if (pwd != NULL && pwd[0] == '/' && git_same(pwd, ".")) {
		if (git_same(pwd, real))
			n = snprintf(path, PATH_MAX, "%s", pwd);
		else if (dir[0] != '/')
			n = snprintf(path, PATH_MAX, "%s/%s", pwd, dir);
	}
	if (n == -1)
		n = snprintf(path, PATH_MAX, "%s", dir);
	while (n > 1 && n < PATH_MAX && path[n - 1] == '/')
		path[--n] = '\0';
	if (n <= 0 || n >= PATH_MAX || path[0] != '/' ||
	    strstr(path, "/..") != NULL || strcmp(path, real) == 0 ||
	    !git_same(path, real) || strncmp(path, real, strlen(real)) == 0 ||
	    strncmp(real, path, strlen(path)) == 0)
		return NULL;
	return path;
}

/* Returns true if git takes this for the name of a branch. */
static bool
git_branch_ok(struct span name)
{
	static const char *const never[] = {
	    "..", "@{", "//", "/.", ".lock/", "./"};

	if (name.len == 0 || name.len >= REPO_NAME || name.p[0] == '.' ||
	    name.p[0] == '/' || name.p[0] == '-' ||
	    strchr("./", name.p[name.len - 1]) != NULL ||
	    (name.len >= 5 && memcmp(name.p + name.len - 5, ".lock", 5) == 0))
		return false;
	for (size_t i = 0; i < nitems(never); i++)
		if (span_find(name, span_str(never[i])) != NULL)
			return false;
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] <= ' ' || name.p[i] == 0x7f ||
		    strchr("~^:?*[\\", name.p[i]) != NULL)
			return false;
	return true;
}

/* Read which branch is checked out: a file that an agent may have written. */
static void
git_branch(struct git_known *k)
{
	char path[PATH_MAX + 8], text[REPO_NAME + 64];
	struct span s;

	snprintf(path, sizeof(path), "%s/HEAD", k->place.git);
	if (small_file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	s = span_str(text);
	if (!span_starts(s, SPAN("ref: refs/heads/")))
		return;
	s = span_of(s.p + 16, s.len - 16);
	if (git_branch_ok(s))
		(void)span_copy(s, k->branch, sizeof(k->branch));
}

/* Find the repository that the user means, if there is one. */
static void
git_place(struct git_known *k, char dir[PATH_MAX])
{
	static struct repo_record record;
	char path[PATH_MAX + 8];
	const char *hash;
	struct fault ignored;
	struct stat st;

	(void)strlcpy(dir, errand.workspace, PATH_MAX);
	/* A session that is resumed knows where its clone came from. */
	if (errand.clone == NULL && errand.named == NULL &&
	    repo_record_read(&record, ERRAND_SESSION, errand.session_path,
		&ignored) == 0) {
		k->cloned = true;
		k->url = record.url;
		if (record.dir[0] == '\0')
			return;
		(void)strlcpy(dir, record.dir, PATH_MAX);
	}
	if (errand.clone != NULL) {
		k->cloned = true;
		if (repo_is_url(errand.clone)) {
			(void)strlcpy(record.url, errand.clone,
			    sizeof(record.url));
			record.url[strcspn(record.url, "#")] = '\0';
			k->url = record.url;
			return;
		}
		(void)strlcpy(dir, errand.clone, PATH_MAX);
		if ((hash = strrchr(dir, '#')) != NULL && stat(dir, &st) == -1)
			dir[hash - dir] = '\0';
	}
	/* An agent may have written where .git leads. */
	snprintf(path, sizeof(path), "%s/.git", errand.workspace);
	if (!k->cloned && !errand.gitfile &&
	    (lstat(path, &st) == -1 || !S_ISDIR(st.st_mode)))
		return;
	if (repo_place_open(&k->place, dir, REPO_PLACE_TREE, &ignored) == -1)
		return;
	k->found = true;
	git_branch(k);
}

/*
 * Have the sandbox that is asked for the repository's own settings stay, for
 * git_dirty(). The user's patterns of ignored files are not known yet: it sees
 * a file to which they are written later.
 */
static void
git_keep(struct git_known *k, const char *dir)
{
	struct repo_view *v = &k->place.view;

	k->patterns = -1;
	/* The working tree is that of the branch that is checked out. */
	if (!errand.dirty || !k->found || k->place.bare ||
	    strcmp(dir, errand.clone) != 0)
		return;
	(void)unlinkat(ERRAND_SESSION, GIT_PATTERNS, 0);
	k->patterns = openat(ERRAND_SESSION, GIT_PATTERNS,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (k->patterns == -1 ||
	    repo_view_add(v, k->patterns, ICGIT_IGNORE, false) == -1)
		return;
	v->identity = ICGIT_FILES;
	v->batch_git = repo_batch_git;
	v->batch = repo_batch_new(v);
}

/* Returns true if the repository includes files of the user's. */
static bool
git_further(const struct git_known *k)
{
	for (unsigned i = 0; i < k->own.n; i++)
		if (repo_user_further(&k->place, &k->own.list[i]))
			return true;
	return false;
}

/*
 * If there is no repository, or none yet, the agent may make one: conditions on
 * places and remotes hold for the one that is to be.
 */
static bool
git_future(struct git_known *k)
{
	static char key[] = "remote.origin.url";
	struct repo_place *p = &k->place;

	if (strlcpy(p->top_path, errand.workspace, PATH_MAX) >= PATH_MAX ||
	    strlcpy(p->git, errand.workspace, PATH_MAX) >= PATH_MAX ||
	    strlcat(p->git, "/.git", PATH_MAX) >= PATH_MAX)
		return false;
	if (k->url != NULL && k->url[0] != '\0')
		k->own.list[k->own.n++] = (struct repo_setting){
		    .origin = "", .key = key, .value = k->url};
	return true;
}

static void
git_ask(struct git_known *k, const char *dir)
{
	char path[PATH_MAX];
	struct fault fault;
	struct repo_user_how how = {.env = &k->env,
	    .home = errand.home,
	    .branch = k->branch,
	    .own = &k->own,
	    .reached = git_reached,
	    .left = git_left};

	/* A repository that git cannot read says so itself later. */
	if (k->found &&
	    repo_settings_ask(&k->own, &k->env, &k->place.view, NULL, GIT_OWN,
		&fault) == -1)
		errand_note("the repository's git configuration: %s", fault.text);
	if (k->found) {
		how.named = git_named(
		    k->cloned || errand.named == NULL
			? dir
			: errand.named,
		    k->place.top_path, path);
	}
	if (k->found || git_future(k))
		how.place = &k->place;
	if (repo_user_ask(&how, GIT_USER, &k->user, &fault) == -1)
		errand_warn("your git configuration could not be read, so that "
			 "git in the sandbox has nothing of it: %s",
		    fault.text);
	how.further = k->found && git_further(k);
	if (how.further && repo_user_ask(&how, GIT_PERSON, &k->person, &fault) == -1)
		errand_warn("what the repository's git configuration includes "
			    "from your home does not count in the sandbox: %s",
		    fault.text);
}

static char *
git_text(struct buf *b)
{
	char *text = b->failed ? NULL : span_dup(buf_span(b));

	if (b->failed)
		errand_warn("your git configuration is too long for the sandbox");
	buf_free(b);
	return text;
}

static void
git_lacks(const char *line)
{
	errand_warn("%s", line);
}

/* Say what a clone of this repository will lack. */
static void
git_dirty(struct git_known *k, const char *dir, const char *ignore)
{
	struct fault ignored;

	if (k->patterns == -1)
		return;
	if (ignore == NULL || span_write(k->patterns, span_str(ignore)) == 0)
		(void)repo_dirty(
		    &k->env, &k->place.view, dir, git_lacks, &ignored);
	repo_batch_free(k->place.view.batch);
	k->place.view.batch = NULL;
	close(k->patterns);
}

int
errand_settings(struct fault *fault)
{
	static struct git_known k;
	char dir[PATH_MAX];
	struct buf b;
	char *text, *ignore;

	if (errand.workspace == NULL || errand.inside == NULL)
		return fault_set(fault, "not an errand");
	k.env.libexecdir = errand.libexecdir;
	k.env.until = clock_mono_us() + (uint64_t)GIT_MS * 1000;
	git_place(&k, dir);
	git_keep(&k, dir);
	git_ask(&k, dir);
	(void)unlinkat(ERRAND_SESSION, GIT_PATTERNS, 0);
	buf_init(&b, GIT_TEXT);
	git_person(&k, &b);
	if (b.failed || asprintf(&text, "%.*s" ICGIT_FILES, (int)b.len,
			    (const char *)buf_span(&b).p) == -1)
		text = NULL;
	errand_report(ERRAND_IDENTITY, text);
	free(text);
	ignore = git_files(&k, &b);
	git_set(&k, &b);
	text = git_text(&b);
	errand_report(ERRAND_CONFIG, text);
	free(text);
	git_dirty(&k, dir, ignore);
	free(ignore);
	return 0;
}
