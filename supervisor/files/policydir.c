/* SPDX-License-Identifier: ISC */
/*
 * Finds a policy by its name. The names are the user's own, and the home and
 * shipped directories are trusted; policyd judges the files in them.
 */
#include "files/policydir.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/near.h"

/* More names than a message shows. */
#define POLICYDIR_NAMES 64U

const char *const policydir_names[PROTO_RULES_LAST + 1] = {
    [PROTO_RULES_POLICY] = "compiled-policy.json",
    [PROTO_RULES_ANNOTATIONS] = "tool-annotations.json",
    [PROTO_RULES_LISTS] = "dynamic-lists.json",
};

static bool
is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * Returns true if the name has only letters, digits, - and _, so that it cannot
 * lead out of the directory.
 */
static bool
name_ok(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= 64 && s[0] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_-") == n;
}

static char *
join(const char *dir, const char *sub, const char *name, struct fault *fault)
{
	char *out;

	if (asprintf(&out, "%s%s%s", dir, sub, name) == -1) {
		fault_errno(fault, "policy");
		return NULL;
	}
	return out;
}

/* Append ", NAME" for each directory in `dir`. */
static void
names_in(const char *dir, char *dst, size_t cap)
{
	struct dirent **list;
	char path[4200];
	size_t len;
	int n;

	if ((n = scandir(dir, &list, NULL, alphasort)) == -1)
		return;
	for (int i = 0; i < n; i++) {
		snprintf(
		    path, sizeof(path), "%.3900s/%s", dir, list[i]->d_name);
		len = strlen(dst);
		if (name_ok(list[i]->d_name) && is_dir(path))
			snprintf(dst + len, cap - len, ", %s", list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

/*
 * Find the name in `known`, a list separated by ", ", that is nearest to
 * `name`. Returns `hint`.
 */
static char *
names_hint(const char *name, const char *known, char *hint)
{
	const char *list[POLICYDIR_NAMES + 1] = {NULL};
	char copy[600], *rest = copy, *one;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", known);
	while (n < POLICYDIR_NAMES && (one = strsep(&rest, ", ")) != NULL)
		if (*one != '\0')
			list[n++] = one;
	return near_hint(name, list, hint);
}

void
policydir_base(const char *dir, char *dst, size_t cap)
{
	char path[4400];
	struct stat st;

	snprintf(path, sizeof(path), "%.4300s/" POLICYDIR_IN_FORCE, dir);
	if (lstat(path, &st) == -1 || !S_ISDIR(st.st_mode))
		snprintf(path, sizeof(path), "%.4300s", dir);
	snprintf(dst, cap, "%s", path);
}

/*
 * Returns true if the directory has only the drafts of icctl policy compile, or
 * had, when it was killed while it put them in place.
 */
static bool
is_draft(const char *dir)
{
	char path[4500], base[4400];

	policydir_base(dir, base, sizeof(base));
	snprintf(path, sizeof(path), "%s/%s", base,
	    policydir_names[PROTO_RULES_POLICY]);
	if (access(path, F_OK) == 0)
		return false;
	if (strcmp(base, dir) != 0)
		return true;
	snprintf(path, sizeof(path), "%.4300s/pending", dir);
	if (is_dir(path))
		return true;
	/* A compilation that was refused leaves what was said. */
	snprintf(path, sizeof(path), "%.4300s/%s", dir,
	    policydir_names[PROTO_RULES_ANNOTATIONS]);
	if (access(path, F_OK) == 0)
		return false;
	snprintf(path, sizeof(path), "%.4300s/llm-interactions.jsonl", dir);
	return access(path, F_OK) == 0;
}

static char *
find_default(const char *home, const char *shipped, struct fault *fault)
{
	static const char *const dirs[] = {"/policy", "/generated"};
	struct stat st;
	char *dir;

	for (size_t i = 0; i < 2; i++) {
		if ((dir = join(home, dirs[i], "", fault)) == NULL)
			return NULL;
		/*
		 * If it is not a directory, reading the files will fail with a
		 * message.
		 */
		if (stat(dir, &st) == 0 && !is_draft(dir))
			return dir;
		free(dir);
	}
	return join(shipped, "", "", fault);
}

static char *
find_named(const char *home, const char *shipped, const char *name,
    struct fault *fault)
{
	char known[600] = "default", own[4200], hint[NEAR_HINT], *dir;

	snprintf(own, sizeof(own), "%.4000s/policies", home);
	if (name_ok(name)) {
		dir = join(own, "/", name, fault);
		if (dir == NULL || is_dir(dir))
			return dir;
		free(dir);
		if (strcmp(name, "default") == 0)
			return join(shipped, "", "", fault);
		dir = join(shipped, "/", name, fault);
		if (dir == NULL || is_dir(dir))
			return dir;
		free(dir);
	}
	names_in(own, known, sizeof(known));
	names_in(shipped, known, sizeof(known));
	fault_set(fault,
	    "no policy is called \"%.64s\"%s. Known: %s. Name a directory with "
	    "a slash in it (./mine); your own policies are directories in %s",
	    name, names_hint(name, known, hint), known, own);
	return NULL;
}

char *
policydir_find(const char *home, const char *shipped, const char *what,
    struct fault *fault)
{
	if (what == NULL)
		return find_default(home, shipped, fault);
	if (strchr(what, '/') == NULL)
		return find_named(home, shipped, what, fault);
	if (!is_dir(what)) {
		fault_set(fault,
		    "policy %s: no such directory (a policy's directory holds "
		    "compiled-policy.json and tool-annotations.json)",
		    what);
		return NULL;
	}
	return join(what, "", "", fault);
}

bool
policydir_is_name(const char *what)
{
	struct stat st;

	if (what == NULL || (stat(what, &st) == 0 && !S_ISDIR(st.st_mode)))
		return false;
	return strchr(what, '/') == NULL ? strchr(what, '.') == NULL
					 : stat(what, &st) == 0;
}

/*
 * Returns true if the policy is a persona's own. Its annotations may be those
 * of all personas, as the TypeScript IronCurtain has them.
 */
static bool
is_persona(const char *home, const char *dir)
{
	char all[PATH_MAX], resolved[PATH_MAX], path[4400];
	size_t n;

	snprintf(path, sizeof(path), "%.4300s/personas", home);
	if (realpath(path, all) == NULL || realpath(dir, resolved) == NULL)
		return false;
	n = strlen(all);
	return strncmp(resolved, all, n) == 0 && resolved[n] == '/';
}

/* Find the annotations for a persona's policy that has none. */
static int
find_annotations(struct policydir *p, const char *home, const char *shipped,
    struct fault *fault)
{
	char **file = &p->files[PROTO_RULES_ANNOTATIONS], base[4400], *dir;

	if (access(*file, F_OK) == 0 || !is_persona(home, p->dir))
		return 0;
	if ((dir = find_default(home, shipped, fault)) == NULL)
		return -1;
	free(*file);
	policydir_base(dir, base, sizeof(base));
	*file = join(base, "/", policydir_names[PROTO_RULES_ANNOTATIONS], fault);
	free(dir);
	return *file == NULL ? -1 : 0;
}

/*
 * Let no installation begin while the files are read, where this can be done.
 */
static void
take_lock(struct policydir *p)
{
	p->lock = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (p->lock != -1 && flock(p->lock, LOCK_SH) == -1 && errno == EINTR)
		continue;
}

int
policydir_files(struct policydir *p, const char *home, const char *shipped,
    const char *usual, const char *const files[], struct fault *fault)
{
	const char *what = files[PROTO_RULES_POLICY];
	bool named = policydir_is_name(what);
	char base[4400];

	*p = (struct policydir){.lock = -1};
	p->dir = policydir_find(home, shipped, named ? what : usual, fault);
	if (p->dir == NULL)
		return -1;
	take_lock(p);
	policydir_base(p->dir, base, sizeof(base));
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		if (files[k] != NULL && !(named && k == PROTO_RULES_POLICY))
			p->files[k] = join(files[k], "", "", fault);
		else if (k == PROTO_RULES_LISTS && what != NULL && !named)
			continue;
		else
			p->files[k] =
			    join(base, "/", policydir_names[k], fault);
		if (p->files[k] == NULL) {
			policydir_free(p);
			return -1;
		}
		if (k == PROTO_RULES_LISTS && files[k] == NULL &&
		    access(p->files[k], F_OK) == -1 && errno == ENOENT) {
			free(p->files[k]);
			p->files[k] = NULL;
		}
	}
	if (files[PROTO_RULES_ANNOTATIONS] == NULL &&
	    find_annotations(p, home, shipped, fault) == -1) {
		policydir_free(p);
		return -1;
	}
	return 0;
}

void
policydir_free(struct policydir *p)
{
	free(p->dir);
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		free(p->files[k]);
	if (p->lock != -1)
		close(p->lock);
	*p = (struct policydir){.lock = -1};
}
