/* SPDX-License-Identifier: ISC */
/*
 * A configuration of ours includes the user's files, so that git evaluates their
 * conditions itself. Which files they include is not known before git has read
 * them: it is asked again until nothing new is named.
 */
#include "repo/user.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/paths.h"
#include "repo/names.h"

#define USER_MAX_FILES 40U
#define USER_ROUNDS 10U
#define USER_TEXT 65536U
#define USER_PATTERN 1024U
#define USER_MAX_PAIRS 100U
#define USER_INCLUDES "^include\\.path$|^includeif\\..*\\.path$"

struct asking {
	const struct repo_user_how *how;
	char *wanted[USER_MAX_FILES]; /* paths as git will open them */
	unsigned nwanted;
	char *links[USER_MAX_FILES]; /* the ends of those that are links */
	bool told[USER_MAX_FILES]; /* it is left out, and that was said */
	int fds[USER_MAX_FILES];
	unsigned nfds;
	char *head, *config; /* files in the empty repository */
	char *dirs[4];
	unsigned ndirs;
};

static bool
user_exists(const struct asking *a, const char *path)
{
	for (unsigned i = 0; i < a->nwanted; i++)
		if (strcmp(a->wanted[i], path) == 0)
			return true;
	return false;
}

/* Note that git will open this file. Returns 0, or -1 with the fault set. */
static int
user_want(struct asking *a, const char *origin, const char *value,
    struct fault *fault)
{
	const char *slash = strrchr(origin, '/');
	char path[PATH_MAX];
	struct stat st;
	int n;

	if (value == NULL || value[0] == '\0')
		return 0;
	if (strncmp(value, "~/", 2) == 0)
		n = snprintf(path, sizeof(path), "%s%s", a->how->home, value + 1);
	else if (value[0] == '/')
		n = snprintf(path, sizeof(path), "%s", value);
	else if (value[0] != '~' && value[0] != '%' && slash != NULL)
		n = snprintf(path, sizeof(path), "%.*s/%s",
		    (int)(slash - origin), origin, value);
	else
		return 0;
	if (n < 0 || n >= (int)sizeof(path))
		return 0;
	/* git takes no notice of one that is not there. */
	if (stat(path, &st) == -1 || !S_ISREG(st.st_mode))
		return 0;
	paths_plain(path);
	if (user_exists(a, path))
		return 0;
	if (a->nwanted == USER_MAX_FILES)
		return fault_set(fault,
		    "your git configuration includes more than %u files",
		    USER_MAX_FILES);
	if ((a->wanted[a->nwanted] = strdup(path)) == NULL)
		return fault_errno(fault, "git");
	a->nwanted++;
	return 0;
}

/* Open one file, and show it in the view. Returns 0, or -1 with errno set. */
static int
user_show(struct asking *a, struct repo_view *v, unsigned i)
{
	const char *path = a->wanted[i];
	char *real;
	int fd, rv;

	/* These every sandbox shows. */
	if (strncmp(path, "/usr/", 5) == 0)
		return 0;
	if (a->how->reached(path)) {
		if (!a->told[i])
			a->how->left(path, "an agent can write there");
		a->told[i] = true;
		return 0;
	}
	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return 0;
	a->fds[a->nfds++] = fd;
	if ((real = paths_of_fd(fd)) == NULL)
		return -1;
	if (strcmp(path, "/etc/gitconfig") == 0 && strcmp(real, path) == 0)
		rv = 0;
	else
		rv = repo_view_add(v, fd, real, false);
	if (strcmp(real, path) != 0)
		a->links[i] = real;
	else
		free(real);
	return rv;
}

/* Add the settings that variables of the environment have. */
static void
user_variables(struct buf *b)
{
	const char *count = getenv("GIT_CONFIG_COUNT"), *key, *value;
	char name[48];
	long n;

	if (count == NULL)
		return;
	n = strtol(count, NULL, 10);
	for (long i = 0; i < n && i < (long)USER_MAX_PAIRS; i++) {
		snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%ld", i);
		key = getenv(name);
		snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%ld", i);
		value = getenv(name);
		if (key != NULL && value != NULL)
			repo_pair_put(b, key, value);
	}
}

static int
user_include(struct asking *a, struct buf *b, const char *path,
    struct fault *fault)
{
	repo_section_put(b, "include", span_of("", 0));
	repo_value_put(b, "path", span_str(path));
	return user_want(a, "", path, fault);
}

/* Include what the repository includes, but for what lies in it. */
static int
user_further(struct asking *a, struct buf *b, struct fault *fault)
{
	const struct repo_settings *own = a->how->own;
	const struct repo_setting *s;
	struct span on;

	for (unsigned i = 0; a->how->further && i < own->n; i++) {
		s = &own->list[i];
		on = repo_setting_name(s->key, "includeif", "path");
		if (!repo_user_further(a->how->place, s))
			continue;
		repo_section_put(b, on.len != 0 ? "includeIf" : "include", on);
		repo_value_put(b, "path", span_str(s->value));
		if (user_want(a, "", s->value, fault) == -1)
			return -1;
	}
	return 0;
}

bool
repo_user_further(const struct repo_place *p, const struct repo_setting *s)
{
	return s->value != NULL &&
	       (strcmp(s->key, "include.path") == 0 ||
		   repo_setting_name(s->key, "includeif", "path").len != 0) &&
	       (strncmp(s->value, "~/", 2) == 0 ||
		   (s->value[0] == '/' && !paths_under(s->value, p->top_path) &&
		       !paths_under(s->value, p->git)));
}

static bool
user_variable_true(const char *name)
{
	const struct repo_setting s = {.key = name, .value = getenv(name)};

	return s.value != NULL && s.value[0] != '\0' && repo_setting_true(&s);
}

/* Write the configuration that includes the user's, in git's order. */
static int
user_base(struct asking *a, struct buf *b, struct fault *fault)
{
	const char *system = getenv("GIT_CONFIG_SYSTEM"),
		   *global = getenv("GIT_CONFIG_GLOBAL"),
		   *xdg = getenv("XDG_CONFIG_HOME");
	char path[PATH_MAX];

	if (!user_variable_true("GIT_CONFIG_NOSYSTEM") &&
	    user_include(a, b, system != NULL ? system : "/etc/gitconfig",
		fault) == -1)
		return -1;
	if (global != NULL) {
		if (global[0] != '\0' && user_include(a, b, global, fault) == -1)
			return -1;
		user_variables(b);
		return 0;
	}
	if (xdg != NULL && xdg[0] == '/')
		snprintf(path, sizeof(path), "%.4000s/git/config", xdg);
	else
		snprintf(path, sizeof(path), "%.4000s/.config/git/config",
		    a->how->home);
	if (user_include(a, b, path, fault) == -1)
		return -1;
	snprintf(path, sizeof(path), "%.4000s/.gitconfig", a->how->home);
	if (user_include(a, b, path, fault) == -1)
		return -1;
	user_variables(b);
	return 0;
}

/* Write the configuration of the empty repository. */
static char *
user_remotes(const struct repo_settings *own)
{
	struct span name;
	struct buf b;
	char *text;

	buf_init(&b, USER_TEXT);
	buf_adds(&b, "[core]\n\trepositoryformatversion = 0\n");
	for (unsigned i = 0; own != NULL && i < own->n; i++) {
		name = repo_setting_name(own->list[i].key, "remote", "url");
		if (name.len == 0 || own->list[i].value == NULL ||
		    memchr(name.p, '\n', name.len) != NULL)
			continue;
		repo_section_put(&b, "remote", name);
		repo_value_put(&b, "url", span_str(own->list[i].value));
	}
	text = b.failed ? NULL : span_dup(buf_span(&b));
	buf_free(&b);
	return text;
}

static char *
user_dir(struct asking *a, const char *name)
{
	char *path = paths_join(a->how->place->git, name);

	if (path != NULL)
		a->dirs[a->ndirs++] = path;
	return path;
}

/* Compose the empty repository. Returns 0, or -1 with errno set. */
static int
user_repository(struct asking *a, struct repo_made *made, unsigned *n)
{
	const struct repo_user_how *how = a->how;
	const char *objects = user_dir(a, "objects"),
		   *refs = user_dir(a, "refs"), *head = user_dir(a, "HEAD"),
		   *config = user_dir(a, "config");
	char text[REPO_NAME + 32];

	/* A branch that is none: the name of an object that is not there. */
	snprintf(text, sizeof(text), "%s%s\n",
	    how->branch[0] != '\0' ? "ref: refs/heads/" : "",
	    how->branch[0] != '\0' ? how->branch
				   : "1111111111111111111111111111111111111111");
	a->head = strdup(text);
	a->config = user_remotes(how->own);
	if (objects == NULL || refs == NULL || head == NULL || config == NULL ||
	    a->head == NULL || a->config == NULL)
		return -1;
	made[(*n)++] = (struct repo_made){.dest = how->place->top_path};
	made[(*n)++] = (struct repo_made){.dest = objects};
	made[(*n)++] = (struct repo_made){.dest = refs};
	made[(*n)++] = (struct repo_made){.dest = head, .text = a->head};
	made[(*n)++] = (struct repo_made){.dest = config, .text = a->config};
	if (how->named != NULL)
		made[(*n)++] = (struct repo_made){
		    .dest = how->named, .link = how->place->top_path};
	return 0;
}

static void
user_close(struct asking *a)
{
	for (unsigned i = 0; i < a->nfds; i++)
		close(a->fds[i]);
	for (unsigned i = 0; i < a->nwanted; i++) {
		free(a->links[i]);
		a->links[i] = NULL;
	}
	for (unsigned i = 0; i < a->ndirs; i++)
		free(a->dirs[i]);
	free(a->head);
	free(a->config);
	a->head = a->config = NULL;
	a->nfds = a->ndirs = 0;
}

/* Ask once, with the files that are known so far. */
static int
user_round(struct asking *a, const char *base, const char *pattern,
    struct repo_settings *s, struct fault *fault)
{
	const struct repo_user_how *how = a->how;
	struct repo_made made[USER_MAX_FILES + 8];
	char pwd[PATH_MAX + 4], dir[PATH_MAX + 16];
	const char *const before[] = {"/usr/bin/env", pwd, NULL},
			  *const env[] = {"HOME", how->home, NULL};
	struct repo_view v = {
	    .dir = "/", .identity = base, .env = env, .made = made};
	unsigned n = 0;
	int rv = 0;

	for (unsigned i = 0; rv == 0 && i < a->nwanted; i++) {
		rv = user_show(a, &v, i);
		if (a->links[i] != NULL)
			made[n++] = (struct repo_made){
			    .dest = a->wanted[i], .link = a->links[i]};
	}
	dir[0] = '\0';
	if (rv == 0 && how->place != NULL) {
		rv = user_repository(a, made, &n);
		v.dir = how->place->top_path;
		snprintf(dir, sizeof(dir), "--git-dir=%s", how->place->git);
	}
	if (how->place != NULL && how->named != NULL) {
		/* git looks at the name by which the user came there, too. */
		snprintf(pwd, sizeof(pwd), "PWD=%s", how->named);
		(void)strlcpy(dir, "--git-dir=.git", sizeof(dir));
		v.dir = how->named;
		v.before = before;
	}
	made[n] = (struct repo_made){.dest = NULL};
	if (rv == -1)
		fault_errno(fault, "git");
	else
		rv = repo_settings_ask(s, how->env, &v,
		    dir[0] != '\0' ? dir : NULL, pattern, fault);
	repo_view_free(&v);
	user_close(a);
	return rv;
}

/* Returns 1 if another file is wanted now, 0, or -1 with the fault set. */
static int
user_more(struct asking *a, const struct repo_settings *s, struct fault *fault)
{
	const unsigned n = a->nwanted;
	const struct repo_setting *one;

	for (unsigned i = 0; i < s->n; i++) {
		one = &s->list[i];
		if ((strcmp(one->key, "include.path") == 0 ||
			repo_setting_name(one->key, "includeif", "path").len !=
			    0) &&
		    user_want(a, one->origin, one->value, fault) == -1)
			return -1;
	}
	return a->nwanted != n;
}

int
repo_user_ask(const struct repo_user_how *how, const char *pattern,
    struct repo_settings *s, struct fault *fault)
{
	static struct asking a;
	char all[USER_PATTERN];
	struct buf b;
	int rv;

	memset(&a, 0, sizeof(a));
	a.how = how;
	buf_init(&b, USER_TEXT);
	snprintf(all, sizeof(all), USER_INCLUDES "|%s", pattern);
	rv = user_base(&a, &b, fault);
	if (rv == 0)
		rv = user_further(&a, &b, fault);
	buf_addc(&b, '\0');
	if (rv == 0 && b.failed)
		rv = fault_set(fault, "the variables GIT_CONFIG_* are too long");
	for (unsigned i = 0; rv == 0; i++) {
		rv = user_round(
		    &a, (const char *)buf_span(&b).p, all, s, fault);
		if (rv == 0)
			rv = user_more(&a, s, fault);
		if (rv != 1)
			break;
		rv = i + 1 < USER_ROUNDS
			 ? 0
			 : fault_set(fault,
			       "your git configuration has more than %u files "
			       "that include each other",
			       USER_ROUNDS);
	}
	if (rv == -1)
		repo_settings_free(s);
	for (unsigned i = 0; i < a.nwanted; i++)
		free(a.wanted[i]);
	buf_free(&b);
	return rv;
}
