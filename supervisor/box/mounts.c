/* SPDX-License-Identifier: ISC */
/*
 * Converts rules to mounts. A directory is opened once, without following
 * links, and bound by that descriptor. If an earlier rule denies or escalates a
 * part of it, that part is hidden or made read-only: no view that contains the
 * workspace also shows what needs approval.
 */
#include "box/mounts.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"

/* Set the kinds of roles in a list; both if it names none. */
static void
mounts_roles(struct mount *m, struct json_object *paths)
{
	static const struct {
		const char *name, *category, *effect;
	} rows[] = {
#define ROLE(id, name, category, effect, thing) {name, #category, #effect},
#include "policyd/engine/role_rows.h"
	};
	struct json_object *roles, *role;
	bool reads;

	m->reads = m->writes = true;
	if (!json_object_object_get_ex(paths, "roles", &roles) ||
	    !json_object_is_type(roles, json_type_array))
		return;
	m->reads = m->writes = false;
	for (size_t i = 0; i < json_object_array_length(roles); i++) {
		role = json_object_array_get_idx(roles, i);
		for (size_t k = 0; k < nitems(rows); k++)
			if (strcmp(rows[k].category, "PATH") == 0 &&
			    json_object_is_type(role, json_type_string) &&
			    strcmp(json_object_get_string(role),
				rows[k].name) == 0) {
				reads = strcmp(rows[k].effect, "READ") == 0;
				m->reads |= reads;
				m->writes |= !reads;
			}
	}
}

static char **
mounts_names(struct json_object *list)
{
	size_t n = json_object_array_length(list);
	char **out = calloc(n + 1, sizeof(*out));
	const char *s;

	for (size_t i = 0, k = 0; out != NULL && i < n; i++) {
		s = json_object_get_string(json_object_array_get_idx(list, i));
		if (s != NULL && (out[k++] = strdup(s)) == NULL) {
			jsonfile_strings_free(out);
			return NULL;
		}
	}
	return out;
}

static char *
mounts_within(const char *text, const char *user_home)
{
	char *whole, *clean;

	if (strcmp(text, "~") != 0 && strncmp(text, "~/", 2) != 0)
		return view_clean(text);
	if (asprintf(&whole, "%s%s", user_home, text + 1) == -1)
		return NULL;
	clean = view_clean(whole);
	free(whole);
	return clean;
}

/*
 * A rule that withholds a directory also withholds the target of its links.
 * Returns NULL if there is none.
 */
static char *
mounts_real(const char *within)
{
	char *real;
	int fd;

	if ((fd = open(within, O_PATH | O_CLOEXEC)) == -1)
		return NULL;
	real = paths_of_fd(fd);
	close(fd);
	return real;
}

/* Make room for one more. */
static int
mounts_grow(struct mounts *ms)
{
	unsigned cap = ms->cap == 0 ? 64 : 2 * ms->cap;
	struct mount *list;

	if (ms->n < ms->cap)
		return 0;
	if (ms->n >= MOUNTS_MAX) {
		errno = E2BIG;
		return -1;
	}
	if ((list = reallocarray(ms->list, cap, sizeof(*list))) == NULL)
		return -1;
	ms->list = list;
	ms->cap = cap;
	return 0;
}

/*
 * Returns the directory that a rule is about, and sets `roles`; or NULL. A rule
 * that denies by roles or server alone is about all directories.
 */
static const char *
mounts_about(struct json_object *cond, bool allow, struct json_object **roles)
{
	static const char *const narrower[] = {"tool", "domains", "lists"};
	struct json_object *within;

	if (json_object_object_get_ex(cond, "paths", roles))
		return json_object_object_get_ex(*roles, "within", &within) &&
			       json_object_is_type(within, json_type_string)
			   ? json_object_get_string(within)
			   : NULL;
	for (size_t i = 0; i < nitems(narrower); i++)
		if (json_object_object_get_ex(cond, narrower[i], NULL))
			return NULL;
	*roles = cond;
	return allow ? NULL : "/";
}

/* Read one rule. Returns 0 also for a rule without a directory. */
static int
mounts_rule(struct mounts *ms, struct json_object *rule, const char *user_home)
{
	struct json_object *cond, *roles, *then, *name, *servers;
	const char *verdict, *within;
	struct mount *m;
	bool allow;

	if (!json_object_object_get_ex(rule, "if", &cond) ||
	    !json_object_object_get_ex(rule, "then", &then) ||
	    !json_object_object_get_ex(rule, "name", &name) ||
	    !json_object_is_type(cond, json_type_object) ||
	    !json_object_is_type(name, json_type_string))
		return 0;
	verdict = json_object_get_string(then);
	allow = verdict != NULL && strcmp(verdict, "allow") == 0;
	if ((within = mounts_about(cond, allow, &roles)) == NULL)
		return 0;
	if (mounts_grow(ms) == -1)
		return -1;
	m = &ms->list[ms->n];
	memset(m, 0, sizeof(*m));
	m->allow = allow;
	m->deny = verdict != NULL && strcmp(verdict, "deny") == 0;
	mounts_roles(m, roles);
	m->rule = strdup(json_object_get_string(name));
	m->within = mounts_within(within, user_home);
	if (m->rule == NULL || m->within == NULL)
		goto bad;
	if (json_object_object_get_ex(cond, "server", &servers) &&
	    json_object_is_type(servers, json_type_array) &&
	    (m->servers = mounts_names(servers)) == NULL)
		goto bad;
	if (!m->allow)
		m->real = mounts_real(m->within);
	ms->n++;
	return 0;
bad:
	/* policyd refuses a relative path, or one with dots, by name. */
	free(m->rule);
	free(m->within);
	return errno == EINVAL ? 0 : -1;
}

int
mounts_read(struct mounts *ms, struct span text, const char *user_home)
{
	struct json_object *root, *rules, *rule;
	struct fault fault;
	int rv = 0;

	memset(ms, 0, sizeof(*ms));
	if ((root = jsonfile_parse("policy", text, &fault)) == NULL)
		return 0;
	if (json_object_object_get_ex(root, "rules", &rules) &&
	    json_object_is_type(rules, json_type_array))
		for (size_t i = 0;
		     rv == 0 && i < json_object_array_length(rules); i++) {
			rule = json_object_array_get_idx(rules, i);
			if (json_object_is_type(rule, json_type_object))
				rv = mounts_rule(ms, rule, user_home);
		}
	json_object_put(root);
	if (rv == -1)
		mounts_free(ms);
	return rv;
}

void
mounts_free(struct mounts *ms)
{
	for (unsigned i = 0; i < ms->n; i++) {
		free(ms->list[i].rule);
		free(ms->list[i].within);
		free(ms->list[i].real);
		jsonfile_strings_free(ms->list[i].servers);
	}
	free(ms->list);
	memset(ms, 0, sizeof(*ms));
}

static bool
mounts_concerns(const struct mount *m, const char *server)
{
	for (char **s = m->servers; s != NULL && *s != NULL; s++)
		if (strcmp(*s, server) == 0)
			return true;
	return m->servers == NULL;
}

static int
mounts_open(const char *path, const char **why)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
	    .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd;

	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd == -1)
		*why = errno == ELOOP ? "its path contains a symbolic link: "
					"name the real directory"
				      : strerror(errno);
	return fd;
}

/*
 * Reduce the access by what an earlier rule says about m's directory or one
 * above it. A directory that must not be read is not mounted for writing
 * either.
 */
static void
mounts_less(const struct mounts *ms, unsigned i, const char *server,
    bool *reads, bool *writes)
{
	const struct mount *m = &ms->list[i], *e;

	*reads = m->reads;
	*writes = m->writes;
	for (unsigned k = 0; k < i; k++) {
		e = &ms->list[k];
		if (e->allow || !mounts_concerns(e, server) ||
		    (!paths_under(m->within, e->within) &&
			(e->real == NULL || !paths_under(m->within, e->real))))
			continue;
		*reads &= !e->reads;
		*writes &= !e->reads && !e->writes;
	}
}

/* Withhold `path`, a name of e's directory, from m's directory. */
static int
mounts_hide(struct view *v, const struct mount *m, const struct mount *e,
    const char *path)
{
	const char *why;
	int fd, rv;

	if (path == NULL || strcmp(path, m->within) == 0 ||
	    !paths_under(path, m->within))
		return 0;
	/* A missing directory cannot be hidden; nothing may create it. */
	if ((fd = mounts_open(path, &why)) == -1)
		return errno == ENOENT && !m->writes ? 0 : 1;
	rv = view_put(
	    v, path, path, fd, e->reads ? PROTO_VIEW_HIDDEN : PROTO_VIEW_READ);
	close(fd);
	return rv;
}

/* Withhold the parts of m's directory that earlier rules are about. */
static int
mounts_parts(
    const struct mounts *ms, unsigned i, struct view *v, const char *server)
{
	const struct mount *m = &ms->list[i], *e;
	int rv = 0;

	for (unsigned k = 0; k < i && rv == 0; k++) {
		e = &ms->list[k];
		if (e->allow || !mounts_concerns(e, server))
			continue;
		if ((rv = mounts_hide(v, m, e, e->within)) == 0)
			rv = mounts_hide(v, m, e, e->real);
	}
	return rv;
}

int
mounts_deny(const struct mounts *ms, struct view *v, const char *server,
    const char *path, bool writes, const char **rule)
{
	const struct mount m = {
	    .within = (char *)(uintptr_t)path, .writes = writes};
	const struct mount *e;
	bool linked;
	int rv = 0;

	for (unsigned k = 0; k < ms->n && rv == 0; k++) {
		e = &ms->list[k];
		if (!e->deny || !mounts_concerns(e, server))
			continue;
		*rule = e->rule;
		/* Hide the targets of links; the links themselves stay. */
		linked = e->real != NULL && strcmp(e->real, e->within) != 0;
		if (!linked || writes)
			rv = mounts_hide(v, &m, e, e->within);
		if (rv == 0)
			rv = mounts_hide(v, &m, e, e->real);
	}
	return rv;
}

static int
mounts_one(const struct mounts *ms, unsigned i, struct view *v,
    const struct view_how *how, const struct server_def *d, const char **why)
{
	const struct mount *m = &ms->list[i];
	static struct fault fault;
	bool reads, writes;
	struct stat st;
	int fd, rv;

	mounts_less(ms, i, d->name, &reads, &writes);
	if (!reads && !writes)
		return 0;
	if ((fd = mounts_open(m->within, why)) == -1)
		return 1;
	if (how->directories && fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) {
		close(fd);
		return 0;
	}
	/* The workspace is in the view already, also under its own path. */
	rv = paths_within(fd, how->workspace);
	if (rv == 0 &&
	    guards_check(how->guards, fd, m->rule, m->within, &fault) == -1) {
		*why = fault.text;
		rv = 1;
	} else if (rv == 0 && view_taken(m->within)) {
		*why = "the sandbox has its own there";
		rv = 1;
	} else if (rv == 0) {
		rv = mounts_parts(ms, i, v, d->name);
		*why = "a part of it that an earlier rule withholds cannot be "
		       "kept out";
		if (rv == 0)
			rv = view_put(v, m->within, m->within, fd,
			    writes ? PROTO_VIEW_WRITE : PROTO_VIEW_READ);
		if (rv == 0)
			view_ruled(v, m->within);
	} else {
		rv = rv == -1 ? -1 : 0;
	}
	if (rv == -1) {
		*why = errno == E2BIG ? "the view has too many paths"
				      : strerror(errno);
		rv = 1;
	}
	close(fd);
	return rv;
}

void
mounts_apply(const struct mounts *ms, struct view *v,
    const struct view_how *how, const struct server_def *d,
    void (*warn)(const char *, const struct mount *, const char *))
{
	const char *why = "";

	for (unsigned i = 0; i < ms->n; i++)
		if (ms->list[i].allow &&
		    mounts_concerns(&ms->list[i], d->name) &&
		    mounts_one(ms, i, v, how, d, &why) != 0)
			warn(d->name, &ms->list[i], why);
}
