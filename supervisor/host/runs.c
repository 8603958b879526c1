/* SPDX-License-Identifier: ISC */
#include "host/runs.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/loop.h"

/* clang-format off */
/* Files that count in every directory. */
static const struct {
	const char *name, *by;
} runs_names[] = {
	{".git",		"git"},	/* a file that names another place */
	{".envrc",		"direnv"},
	{".mise.toml",		"mise"},
	{"mise.toml",		"mise"},
	{".exrc",		"vi"},
	{".nvim.lua",		"Neovim"},
	{".vimrc",		"vim"},
	{".dir-locals.el",	"Emacs"},
	{"*.code-workspace",	"Visual Studio Code"},
	{".devcontainer.json",	"Visual Studio Code"},
	{".mcp.json",		"coding agents"},
	{"opencode.json",	"coding agents"},
	{".pre-commit-config.yaml", "pre-commit"},
	{"lefthook.yml",	"lefthook"},
	{".gitlab-ci.yml",	"your CI"},
	{"Jenkinsfile",		"your CI"},
	{"Makefile",		"make"},
	{"makefile",		"make"},
	{"GNUmakefile",		"make"},
	{"justfile",		"just"},
	{"Taskfile.yml",	"task"},
	{"Rakefile",		"rake"},
	{"Gemfile",		"bundler"},
	{"CMakeLists.txt",	"cmake"},
	{"meson.build",		"meson"},
	{"configure",		"builds"},
	{"build.rs",		"cargo"},
	{"build.gradle",	"gradle"},
	{"build.gradle.kts",	"gradle"},
	{"gradlew",		"gradle"},
	{"mvnw",		"maven"},
	{"pom.xml",		"maven"},
	{"package.json",	"npm"},
	{".npmrc",		"npm"},
	{".pnpmfile.cjs",	"pnpm"},
	{".yarnrc.yml",		"yarn"},
	{"pyproject.toml",	"pip"},
	{"setup.py",		"pip"},
	{"setup.cfg",		"pip"},
	{"conftest.py",		"pytest"},
	{"noxfile.py",		"nox"},
	{"tox.ini",		"tox"},
	{"sitecustomize.py",	"python"},
	{"Dockerfile",		"docker"},
	{"compose.yaml",	"docker"},
	{"docker-compose.yml",	"docker"},
	{"Vagrantfile",		"vagrant"},
	{"flake.nix",		"nix"},
	{"shell.nix",		"nix"},
	{"default.nix",		"nix"},
};

/* Files in directories of these names, in every directory. */
static const struct {
	const char *dir, *name, *by;
} runs_places[] = {
	{".git",		"config*",	"git"},
	{".git/hooks",		"*",		"git"},
	{".git/info",		"attributes",	"git"},
	{".husky",		"*",		"git"},
	{".githooks",		"*",		"git"},
	{".vscode",		"*",		"Visual Studio Code"},
	{".devcontainer",	"*",		"Visual Studio Code"},
	{".idea",		"*",		"JetBrains editors"},
	{".idea/runConfigurations", "*",	"JetBrains editors"},
	{".zed",		"*",		"Zed"},
	{".cursor",		"*",		"Cursor"},
	{".claude",		"settings*",	"coding agents"},
	{".claude/hooks",	"*",		"coding agents"},
	{".gemini",		"settings*",	"coding agents"},
	{".codex",		"config*",	"coding agents"},
	{".opencode/plugin",	"*",		"coding agents"},
	{".github/workflows",	"*",		"your CI"},
	{".circleci",		"*",		"your CI"},
	{".cargo",		"config*",	"cargo"},
	{".venv/bin",		"*",		"python"},
	{"venv/bin",		"*",		"python"},
	{"node_modules/.bin",	"*",		"npm"},
};

/* Too large, or looked at by the table above. */
static const char *const runs_skipped[] = {".git", "node_modules", ".venv",
    "venv", "__pycache__", ".hg", ".svn"};
/* clang-format on */

_Static_assert(
    nitems(runs_places) + RUNS_PATHS <= RUNS_PLACES, "more places");

static int
runs_open(int dir, const char *path)
{
	struct open_how how = {
	    .flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		       RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* Returns the directory of one place at the top, by its number. */
static const char *
runs_place(const struct runs *r, unsigned i)
{
	return i < nitems(runs_places) ? runs_places[i].dir
				       : r->paths[i - nitems(runs_places)];
}

static unsigned
runs_nplaces(const struct runs *r)
{
	return (unsigned)nitems(runs_places) + r->npaths;
}

/* Keep the directories of PATH that are in the workspace. */
static void
runs_paths(struct runs *r, const char *top_path, const char *path)
{
	size_t n = strlen(top_path);
	char *copy, *rest, *dir;

	if (path == NULL || (copy = rest = strdup(path)) == NULL)
		return;
	while ((dir = strsep(&rest, ":")) != NULL) {
		/* A relative one means the directory that the user is in. */
		if (dir[0] == '/') {
			if (strncmp(dir, top_path, n) != 0 ||
			    (dir[n] != '/' && dir[n] != '\0'))
				continue;
			dir += n;
			dir += strspn(dir, "/");
		}
		if (r->npaths == RUNS_PATHS ||
		    strlcpy(r->paths[r->npaths], dir[0] == '\0' ? "." : dir,
			sizeof(r->paths[0])) >= sizeof(r->paths[0]))
			r->more_paths = true;
		else
			r->npaths++;
	}
	free(copy);
}

void
runs_begin(
    struct runs *r, int top, const char *top_path, const char *path)
{
	struct timespec now;
	struct stat st;
	int fd;

	memset(r, 0, sizeof(*r));
	r->top = top;
	r->most = RUNS_ENTRIES;
	/* The clock that the kernel takes the times of inodes from. */
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	r->since = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
	runs_paths(r, top_path, path);
	for (unsigned i = 0; i < runs_nplaces(r); i++) {
		if ((fd = runs_open(top, runs_place(r, i))) == -1)
			continue;
		if (fstat(fd, &st) == 0) {
			r->places[i].there = true;
			r->places[i].dev = st.st_dev;
			r->places[i].ino = st.st_ino;
		}
		close(fd);
	}
}

static void
runs_found(
    struct runs *r, const char *dir, const char *name, const char *by)
{
	struct runs_item *item = &r->list[r->n];
	char path[PATH_MAX + 300];

	r->total++;
	if (r->n == RUNS_LISTED)
		return;
	snprintf(path, sizeof(path), "%s%s%s", dir, dir[0] != '\0' ? "/" : "",
	    name);
	/* A directory of PATH may be one of the others, too. */
	log_vis(span_str(path), item->path, sizeof(item->path));
	for (unsigned i = 0; i < r->n; i++)
		if (strcmp(r->list[i].path, item->path) == 0) {
			r->total--;
			return;
		}
	item->by = by;
	r->n++;
}

static bool
runs_changed(const struct runs *r, const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000U +
		   (uint64_t)st->st_ctim.tv_nsec >=
	       r->since;
}

/* Look at one file of a place. `moved`: the directory is another one. */
static void
runs_file(struct runs *r, int dir, const char *path, const char *name,
    const char *by, bool moved, bool programs)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) ||
	    (programs && S_ISREG(st.st_mode) && (st.st_mode & 0111) == 0))
		return;
	if (moved || runs_changed(r, &st))
		runs_found(r, path, name, by);
}

/* Returns true if there is no time or no number of entries left. */
static bool
runs_over(struct runs *r)
{
	if (!r->cut && (++r->seen > r->most || (r->seen % 64 == 0 &&
						  clock_mono_us() > r->until)))
		r->cut = true;
	return r->cut;
}

/* Look into the directory `sub`, for files of that name. */
static void
runs_in(struct runs *r, int dir, const char *rel, const char *sub,
    const char *pattern, const char *by, const bool *there, ino_t ino)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct stat st;
	bool moved;
	int fd;
	DIR *d;

	if ((fd = runs_open(dir, sub)) == -1) {
		/* A link in its place leads to files of the agent's choice. */
		if (errno == ELOOP &&
		    fstatat(dir, sub, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISLNK(st.st_mode) && runs_changed(r, &st))
			runs_found(r, rel, sub, by);
		return;
	}
	if (fstat(fd, &st) == -1 || (d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	moved = there != NULL && (!*there || st.st_ino != ino);
	snprintf(path, sizeof(path), "%.2000s%s%.1000s", rel,
	    rel[0] != '\0' ? "/" : "", strcmp(sub, ".") == 0 ? "" : sub);
	while (!runs_over(r) && (e = readdir(d)) != NULL)
		if (fnmatch(pattern, e->d_name, 0) == 0 &&
		    fnmatch("*.sample", e->d_name, 0) != 0)
			runs_file(r, fd, path, e->d_name, by, moved,
			    strcmp(by, "PATH") == 0);
	closedir(d);
}

static void
runs_top(struct runs *r)
{
	for (unsigned i = 0; i < runs_nplaces(r); i++) {
		const bool path = i >= nitems(runs_places);

		runs_in(r, r->top, "", runs_place(r, i),
		    path ? "*" : runs_places[i].name,
		    path ? "PATH" : runs_places[i].by, &r->places[i].there,
		    r->places[i].ino);
	}
}

static bool
runs_skip(const char *name)
{
	for (size_t i = 0; i < nitems(runs_skipped); i++)
		if (strcmp(runs_skipped[i], name) == 0)
			return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Look at a directory, which this closes, and at those below it. */
static void
runs_walk(struct runs *r, int fd, const char *rel, unsigned depth)
{
	char path[PATH_MAX];
	struct dirent *e;
	int sub;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	for (size_t i = 0; depth != 0 && i < nitems(runs_places); i++)
		runs_in(r, fd, rel, runs_places[i].dir, runs_places[i].name,
		    runs_places[i].by, NULL, 0);
	while (!runs_over(r) && (e = readdir(d)) != NULL) {
		for (size_t i = 0; i < nitems(runs_names); i++)
			if (fnmatch(runs_names[i].name, e->d_name, 0) == 0)
				runs_file(r, fd, rel, e->d_name,
				    runs_names[i].by, false, false);
		if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) ||
		    runs_skip(e->d_name))
			continue;
		if (depth == RUNS_DEPTH) {
			r->cut = r->cut || e->d_type == DT_DIR;
			continue;
		}
		if ((sub = runs_open(fd, e->d_name)) == -1)
			continue;
		snprintf(path, sizeof(path), "%.3000s%s%.255s", rel,
		    rel[0] != '\0' ? "/" : "", e->d_name);
		runs_walk(r, sub, path, depth + 1);
	}
	closedir(d);
}

void
runs_end(struct runs *r)
{
	int fd;

	r->until = clock_mono_us() + (uint64_t)RUNS_MS * 1000;
	r->n = r->total = r->seen = 0;
	r->cut = false;
	runs_top(r);
	if ((fd = runs_open(r->top, ".")) != -1)
		runs_walk(r, fd, "", 0);
	r->cut = r->cut || r->more_paths;
}
