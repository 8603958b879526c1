/* SPDX-License-Identifier: ISC */
/*
 * Converts the paths of a call to the objects for an instance. An existing file
 * or directory is an object itself; a name to be created, removed or moved is
 * an entry of its directory, which can be compared and mounted. Only such names
 * are given together with names of the view.
 */
#include "outside.h"

#include <sys/stat.h>

static struct span
parent_of(struct span path, unsigned up)
{
	while (up-- != 0) {
		while (path.len != 0 && path.p[path.len - 1] != '/')
			path.len--;
		if (path.len > 1)
			path.len--;
	}
	return path;
}

/* Describe `path`, which exists, as an entry of its directory. */
static int
entry_of(const struct engine *e, struct span path, struct value_pool *pool,
    struct hold_object *o)
{
	struct path_env env;
	struct path dir;

	o->own_dev = o->dev;
	o->own_ino = o->ino;
	engine_path_env(e, NULL, pool, &env);
	if (path_resolve(&env, parent_of(path, 1), &dir) != PATH_OK ||
	    !dir.exists || !span_eq(dir.host, parent_of(path, 1)))
		return -1;
	o->dev = dir.object.dev;
	o->ino = dir.object.ino;
	return 0;
}

static int
object_of(const struct engine *e, const struct arg_value *v,
    struct value_pool *pool, struct span *path, struct hold_object *o)
{
	const struct path *p = &v->path;

	*path = p->host;
	*o = (struct hold_object){
	    .writable = (v->mask & ARGS_PATH & ~ARG_BIT(ARG_READ_PATH)) != 0,
	    .dev = p->object.dev,
	    .ino = p->object.ino,
	};
	if (!p->exists) {
		/* The first missing name, in the last directory that exists. */
		o->kind = PROTO_OBJECT_NAME;
		*path = parent_of(p->host, p->missing - 1);
		return 0;
	}
	if (o->writable && S_ISREG(p->object.mode))
		o->nlink = p->object.nlink;
	if (v->mask & ARG_BIT(ARG_DELETE_PATH)) {
		o->kind = PROTO_OBJECT_NAME;
		return entry_of(e, p->host, pool, o);
	}
	o->kind =
	    S_ISDIR(p->object.mode) ? PROTO_OBJECT_DIR : PROTO_OBJECT_FILE;
	return 0;
}

/* Merge a path that the call names twice into one object with both rights. */
static bool
merge(struct outside *out, struct span path, const struct hold_object *o)
{
	struct hold_object *have;

	for (unsigned i = 0; i < out->n; i++) {
		have = &out->objects[i];
		if (!span_eq(out->paths[i], path))
			continue;
		if (o->kind == PROTO_OBJECT_NAME) {
			bool writable = have->writable || o->writable;

			*have = *o;
			have->writable = writable;
		} else {
			have->writable |= o->writable;
			have->nlink |= o->nlink;
		}
		return true;
	}
	return false;
}

/*
 * The places in which a path can be served: the view, an instance, or either.
 */
enum where_to {
	IN_VIEW,
	OUTSIDE,
	EITHER
};

static enum where_to
where_to(const struct arg_value *v)
{
	const struct path *p = &v->path;
	bool writes = (v->mask & ARGS_PATH & ~ARG_BIT(ARG_READ_PATH)) != 0;

	if (p->view.p == NULL)
		return OUTSIDE;
	/* Never show an instance anything that the agent can write. */
	if (p->row == NULL || p->row->kind != PROTO_VIEW_READ ||
	    !span_eq(p->view, p->host))
		return IN_VIEW;
	return writes ? OUTSIDE : EITHER;
}

static int
too_mixed(const struct server *s, const struct arg_value *out,
    const struct arg_value *in, struct value_pool *pool, struct span *reason)
{
	*reason = reason_printf(pool,
	    "%.*s is outside what server \"%s\" can see or write and %.*s is "
	    "inside: no process is given both. Use one call for each",
	    (int)out->path.host.len, (const char *)out->path.host.p, s->name,
	    (int)in->path.view.len, (const char *)in->path.view.p);
	return -1;
}

/*
 * Returns true if the call needs only names, as a move does: the entries of
 * directories that are to be made or removed. An instance of icfs can be given
 * these on both sides, because it uses no other name of a directory and follows
 * no link: nothing that the agent writes leads it elsewhere.
 */
static bool
names_only(const struct call_args *args)
{
	const struct arg_value *v;

	for (size_t i = 0; i < args->n; i++) {
		v = &args->values[i];
		if (!v->has_path)
			continue;
		if (v->path.exists && !(v->mask & ARG_BIT(ARG_DELETE_PATH)))
			return false;
		if (v->path.view.p != NULL &&
		    (v->path.row == NULL ||
			v->path.row->kind != PROTO_VIEW_WRITE))
			return false;
	}
	return true;
}

/*
 * Returns the existing destination of a move, or NULL: nothing is moved over
 * it, and a person is not asked in vain.
 */
static const struct arg_value *
move_onto(const struct call_args *args)
{
	const uint32_t deletes = ARG_BIT(ARG_DELETE_PATH),
		       writes = ARG_BIT(ARG_WRITE_PATH);
	const struct arg_value *v, *onto = NULL;
	bool moves = false;

	for (size_t i = 0; i < args->n; i++) {
		v = &args->values[i];
		moves = moves || (v->has_path && (v->mask & deletes) != 0);
		if (v->has_path && v->path.exists &&
		    (v->mask & (writes | deletes)) == writes)
			onto = v;
	}
	return moves ? onto : NULL;
}

/* The instance knows all paths as the host does. */
static void
name_on_host(const struct call_args *args)
{
	for (size_t i = 0; i < args->n; i++)
		if (args->values[i].has_path)
			args->values[i].node->text = args->values[i].path.host;
}

int
outside_find(const struct engine *e, const struct server *s,
    const struct call_args *args, struct value_pool *pool, struct outside *out,
    struct span *reason)
{
	const struct arg_value *v, *in = NULL, *first = NULL;
	struct hold_object o;
	struct span path;

	out->n = 0;
	for (size_t i = 0; i < args->n; i++) {
		v = &args->values[i];
		if (v->has_path && where_to(v) == IN_VIEW)
			in = v;
		else if (v->has_path && where_to(v) == OUTSIDE && first == NULL)
			first = v;
	}
	if (first == NULL)
		return 0;
	if (in != NULL && !names_only(args)) {
		v = move_onto(args);
		if (v == NULL)
			return too_mixed(s, first, in, pool, reason);
		*reason = reason_printf(pool,
		    "%.*s exists already, and nothing is moved over it. Use "
		    "another name",
		    (int)v->node->text.len, (const char *)v->node->text.p);
		return -1;
	}
	if (in != NULL)
		name_on_host(args);
	for (size_t i = 0; i < args->n; i++) {
		v = &args->values[i];
		if (!v->has_path)
			continue;
		*reason = reason_printf(pool,
		    "Path cannot be given to server \"%s\": %.*s", s->name,
		    (int)v->path.host.len, (const char *)v->path.host.p);
		if (object_of(e, v, pool, &path, &o) == -1)
			return -1;
		if (merge(out, path, &o))
			continue;
		if (out->n == PROTO_MAX_OBJECTS) {
			*reason = reason_printf(pool,
			    "More than %u paths outside what server \"%s\" "
			    "can see; ask for fewer at once",
			    PROTO_MAX_OBJECTS, s->name);
			return -1;
		}
		out->paths[out->n] = path;
		out->objects[out->n++] = o;
	}
	return 0;
}

bool
outside_same(const struct outside *o, const struct hold *h)
{
	const struct hold_object *a, *b;

	if (o->n != h->nobjects)
		return false;
	for (unsigned i = 0; i < o->n; i++) {
		a = &o->objects[i];
		b = &h->objects[i];
		if (a->kind != b->kind || a->writable != b->writable ||
		    a->dev != b->dev || a->ino != b->ino ||
		    a->own_dev != b->own_dev || a->own_ino != b->own_ino ||
		    a->nlink != b->nlink)
			return false;
	}
	return true;
}
