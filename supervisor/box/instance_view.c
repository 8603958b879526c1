/* SPDX-License-Identifier: ISC */
/*
 * The view of an instance: the objects of one call, opened here without
 * following links, compared with what was approved, and bound by these
 * descriptors; the server's program; nothing else of the user's.
 */
#include "core/sup.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "box/locate.h"
#include "box/mounts.h"

#define MAX_WORDS 256U

static int
open_plain(int dir, const char *path, uint64_t flags)
{
	struct open_how how = {
	    .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | flags,
	    .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static bool
is_object(int fd, uint64_t dev, uint64_t ino, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (uint64_t)st.st_dev == dev &&
	       (uint64_t)st.st_ino == ino && (st.st_mode & S_IFMT) == type;
}

/* Returns true if the entry is still the approved object, or still missing. */
static bool
entry_same(const struct object *o, const struct msg_INSTANCE_WANT *m)
{
	const char *name = strrchr(o->path, '/') + 1;
	struct stat st;

	if (fstatat(o->fd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT && m->own_ino == 0;
	return (uint64_t)st.st_dev == m->own_dev &&
	       (uint64_t)st.st_ino == m->own_ino;
}

/* Refuse IronCurtain's own configuration files, wherever they are. */
static int
object_ours(const struct object *o, struct fault *fault)
{
	const char *const files[] = {sup.config.file, sup.defs.file};
	int fd, in;

	for (size_t i = 0; i < nitems(files); i++) {
		if (files[i] == NULL ||
		    (fd = open(files[i], O_PATH | O_CLOEXEC)) == -1)
			continue;
		in = paths_within(fd, o->fd);
		close(fd);
		if (in != 0)
			return fault_set(fault, "%s: refused, because it "
						"contains %s",
			    o->path, files[i]);
	}
	return 0;
}

/*
 * The object and the workspace must not contain each other: data from outside
 * must not meet anything that the agent writes.  A name in the workspace is
 * given for a move between the two (see objects_apart()).
 */
static int
object_apart(struct object *o, struct fault *fault)
{
	if (object_ours(o, fault) == -1)
		return -1;
	o->inside = o->kind == PROTO_OBJECT_NAME &&
		    paths_within(o->fd, sup.workspace) == 1;
	if (o->inside && o->writable && sup.read_only)
		return fault_set(fault,
		    "%s: refused, because the workspace is read-only in this "
		    "session",
		    o->path);
	if (o->inside)
		return 0;
	if (paths_within(o->fd, sup.workspace) != 0 ||
	    paths_within(sup.workspace, o->fd) != 0)
		return fault_set(fault,
		    "%s: refused, because it contains the workspace or is "
		    "inside it",
		    o->path);
	return guards_check(
	    &sup.guards, o->fd, "the approved path", o->mount, fault);
}

static int
object_paths(struct object *o, struct span path, struct fault *fault)
{
	char *clean, *slash;

	if ((o->path = span_dup(path)) == NULL)
		return fault_errno(fault, "instance");
	clean = view_clean(o->path);
	if (clean == NULL || strcmp(clean, o->path) != 0 ||
	    strcmp(clean, "/") == 0) {
		free(clean);
		return fault_set(
		    fault, "%s: no such path can be given", o->path);
	}
	o->mount = clean;
	if (o->kind == PROTO_OBJECT_NAME) {
		slash = strrchr(clean, '/');
		slash[slash == clean ? 1 : 0] = '\0';
	}
	if (view_taken_tree(o->path))
		return fault_set(fault,
		    "%s: refused, the sandbox has its own there", o->path);
	return 0;
}

int
object_open(struct object *o, const struct msg_INSTANCE_WANT *m, bool *changed,
    struct fault *fault)
{
	bool dir = m->kind != PROTO_OBJECT_FILE;

	*changed = false;
	*o = (struct object){.kind = (enum proto_object)m->kind,
	    .writable = m->writable != 0,
	    .fd = -1};
	if (object_paths(o, m->path, fault) == -1)
		return -1;
	o->fd = open_plain(AT_FDCWD, o->mount, dir ? O_DIRECTORY : 0);
	if (o->fd == -1 ||
	    !is_object(o->fd, m->dev, m->ino, dir ? S_IFDIR : S_IFREG) ||
	    (o->kind == PROTO_OBJECT_NAME && !entry_same(o, m))) {
		*changed = true;
		return fault_set(fault,
		    "%s no longer exists, or is a different one", o->path);
	}
	return object_apart(o, fault);
}

void
object_close(struct object *o)
{
	if (o->fd != -1)
		close(o->fd);
	free(o->path);
	free(o->mount);
	*o = (struct object){.fd = -1};
}

/* The server's denyRead and denyWrite apply here as well. */
static int
object_denied(
    const struct object *o, char *const *list, const char *key, struct fault *f)
{
	int fd, in;

	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		if ((fd = open(list[i], O_PATH | O_CLOEXEC)) == -1)
			continue;
		in = paths_within(o->fd, fd);
		close(fd);
		if (in != 0 || paths_under(o->path, list[i]))
			return fault_set(f, "%s: refused by %s of this server",
			    o->path, key);
	}
	return 0;
}

/*
 * Returns true if the object is below a writable name that is bound as a row,
 * and so may be moved there.
 */
static bool
row_reached(const struct instance *i, const struct object *o)
{
	const struct object *p;

	for (unsigned k = 0; k < i->nobjects; k++) {
		p = &i->objects[k];
		/*
		 * A directory of the agent's is bound by its descriptor: a
		 * link may stand in its place by now.
		 */
		if (p != o && !o->inside && o->kind == PROTO_OBJECT_NAME &&
		    p->kind == PROTO_OBJECT_NAME && p->writable &&
		    strlen(p->mount) < strlen(o->mount) &&
		    paths_under(o->mount, p->mount))
			return true;
	}
	return false;
}

/*
 * A person approved the directory as a whole, but deny rules about parts of it
 * still apply, as they do in views.
 */
static int
put_denied(const struct instance *i, const struct mounts *ms, struct view *v,
    struct fault *fault)
{
	const char *server = sup.servers[i->of].def->name, *rule = "";
	const struct object *o;
	bool writes;
	int rv;

	for (unsigned k = 0; k < i->nobjects; k++) {
		o = &i->objects[k];
		/* No other entry of a name's directory can be created. */
		writes = o->writable && o->kind == PROTO_OBJECT_DIR;
		rv = o->kind == PROTO_OBJECT_FILE
			 ? 0
			 : mounts_deny(ms, v, server, o->mount, writes, &rule);
		if (rv == -1)
			return fault_errno(fault, "%s", o->path);
		if (rv == 1)
			return fault_set(fault,
			    "%s: refused, a part of it that rule \"%s\" denies "
			    "cannot be kept out",
			    o->path, rule);
	}
	return 0;
}

/* Apply the rules that are in force now. */
static int
put_rules(const struct instance *i, struct view *v, struct fault *fault)
{
	const struct rules_file *r = &sup.rules[PROTO_RULES_POLICY];
	struct mounts ms;
	int rv;

	if (mounts_read(&ms, span_of(r->text, r->len), sup.paths.user_home) ==
	    -1)
		return fault_errno(fault, "%s", r->path);
	rv = put_denied(i, &ms, v, fault);
	mounts_free(&ms);
	return rv;
}

static int
put_rows(const struct instance *i, struct view *v, struct fault *fault)
{
	const struct object *o;

	for (unsigned k = 0; k < i->nobjects; k++) {
		o = &i->objects[k];
		if (!row_reached(i, o) &&
		    view_put(v, o->mount, o->mount, o->fd,
			o->writable ? PROTO_VIEW_WRITE : PROTO_VIEW_READ) == -1)
			return fault_errno(fault, "%s", o->path);
	}
	return 0;
}

struct words {
	char *list[MAX_WORDS + 1];
	size_t n;
	bool failed;
};

static void
word_add(struct words *w, const char *s, size_t len)
{
	if (w->n == MAX_WORDS || (w->list[w->n] = strndup(s, len)) == NULL) {
		w->failed = true;
		return;
	}
	w->n++;
}

static void
words_icfs(const struct instance *i, const struct server *s, struct words *w)
{
	bool writes = false, said = false;

	word_add(w, "icfs", 4);
	for (unsigned k = 0; k < i->nobjects; k++)
		writes |= i->objects[k].writable;
	for (char **a = s->program.argv; *a != NULL; a++)
		said |= strcmp(*a, "--read-only") == 0;
	if (!writes || said)
		word_add(w, "--read-only", 11);
	for (unsigned k = 0; k < i->nobjects; k++) {
		if (i->objects[k].kind != PROTO_OBJECT_DIR)
			word_add(w, "--only", 6);
		word_add(w, i->objects[k].path, strlen(i->objects[k].path));
	}
}

/* Returns true if the argument names a path that the instance does not see. */
static bool
names_view(const struct server_def *d, const char *arg)
{
	char **lists[] = {d->allow_read, d->allow_write};

	if (paths_under(arg, "/workspace"))
		return true;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; lists[k] != NULL && lists[k][i] != NULL; i++)
			if (strcmp(lists[k][i], arg) == 0)
				return true;
	return false;
}

/* Replace the paths of the server's view by the objects' directories. */
static void
words_server(const struct instance *i, const struct server *s, struct words *w)
{
	const struct object *o;
	bool put = false;
	size_t len;

	for (char **a = s->program.argv; *a != NULL; a++) {
		if (a == s->program.argv || !names_view(s->def, *a)) {
			word_add(w, *a, strlen(*a));
			continue;
		}
		for (unsigned k = 0; k < i->nobjects && !put; k++) {
			o = &i->objects[k];
			len = o->kind == PROTO_OBJECT_DIR
				  ? strlen(o->path)
				  : (size_t)(strrchr(o->path, '/') - o->path);
			word_add(
			    w, len == 0 ? "/" : o->path, len == 0 ? 1 : len);
		}
		put = true;
	}
}

/* Names of the workspace are given together with other names only. */
static int
objects_apart(const struct instance *i, struct fault *fault)
{
	const struct object *inside = NULL, *whole = NULL;

	for (unsigned k = 0; k < i->nobjects; k++) {
		if (i->objects[k].inside)
			inside = &i->objects[k];
		else if (i->objects[k].kind != PROTO_OBJECT_NAME)
			whole = &i->objects[k];
	}
	if (inside == NULL || whole == NULL)
		return 0;
	return fault_set(fault,
	    "%s: refused together with %s, which lies in "
	    "the workspace",
	    whole->path, inside->path);
}

static int
objects_fit(
    const struct instance *i, const struct server *s, struct fault *fault)
{
	const struct object *o;

	if (objects_apart(i, fault) == -1)
		return -1;
	if (!s->def->sandboxed)
		return fault_set(
		    fault, "server %s runs without a sandbox", s->def->name);
	for (unsigned k = 0; k < i->nobjects; k++) {
		o = &i->objects[k];
		if (o->kind == PROTO_OBJECT_NAME && !s->program.ours)
			return fault_set(fault,
			    "%s: server %s cannot create, move or remove a "
			    "name outside its view; only icfs can",
			    o->path, s->def->name);
		if (object_denied(o, s->def->deny_read, "denyRead", fault) ==
			-1 ||
		    (o->writable && object_denied(o, s->def->deny_write,
					"denyWrite", fault) == -1))
			return -1;
	}
	return 0;
}

int
instance_view(
    const struct instance *i, struct view *v, char ***argv, struct fault *fault)
{
	const struct server *s = &sup.servers[i->of];
	const struct view_how how = {.guards = &sup.guards,
	    .workspace = sup.workspace,
	    .workspace_path = sup.workspace_path,
	    .read_only = sup.read_only};
	struct words w = {.n = 0};

	if (objects_fit(i, s, fault) == -1)
		return -1;
	/* A server may need its code from allowRead; icfs does not. */
	if ((s->program.ours ? view_open_program : view_open_read)(
		v, &how, s->def, &s->program, fault) == -1)
		return -1;
	if (s->program.ours)
		words_icfs(i, s, &w);
	else
		words_server(i, s, &w);
	*argv =
	    w.failed ? NULL : locate_argv((const char *const[]){NULL}, w.list);
	for (size_t k = 0; k < w.n; k++)
		free(w.list[k]);
	if (*argv == NULL) {
		view_close(v);
		return fault_set(fault, "too many arguments");
	}
	if (put_rows(i, v, fault) == 0 && put_rules(i, v, fault) == 0)
		return 0;
	jsonfile_strings_free(*argv);
	view_close(v);
	return -1;
}
