/* SPDX-License-Identifier: ISC */
/*
 * Checks whether a text can be a path at all, explains why not, and names what
 * a path leads to in the view and on the host.
 */
#include "engine/path.h"

const char *
path_strerror(enum path_error e)
{
	switch (e) {
	case PATH_OK:
		return "no error";
	case PATH_EMPTY:
		return "is empty";
	case PATH_NUL:
		return "holds a NUL byte";
	case PATH_TEXT:
		return "is not UTF-8, or leads to a name that is not";
	case PATH_LONG:
		return "is too long";
	case PATH_USER:
		return "names another user's home with ~: write it out";
	case PATH_HOME:
		return "uses ~, and no home directory is known";
	case PATH_URL:
		return "is a file: URL: give the path itself";
	case PATH_LOOP:
		return "leads through too many links";
	case PATH_STEPS:
		return "has too many components";
	case PATH_SPECIAL:
		return "is a device, socket or FIFO";
	case PATH_MAGIC:
		return "lies in a file system of the kernel";
	case PATH_FAILED:
		return "cannot be looked up";
	case PATH_MEMORY:
		return "takes too much memory";
	}
	return "cannot be looked up";
}

enum path_error
path_check(struct span s)
{
	if (s.len == 0)
		return PATH_EMPTY;
	if (s.len >= PATH_MAX)
		return PATH_LONG;
	if (memchr(s.p, '\0', s.len) != NULL)
		return PATH_NUL;
	if (!utf8_valid(s))
		return PATH_TEXT;
	if (s.p[0] == '~' && s.len > 1 && s.p[1] != '/')
		return PATH_USER;
	if (s.len >= 5 && span_ieq(span_of(s.p, 5), SPAN("file:")))
		return PATH_URL;
	return PATH_OK;
}

struct path_point
path_end(const struct path *path)
{
	return (struct path_point){
	    .host = path->host,
	    .hits = path->hits,
	    .nhits = path->nhits,
	    .fold = path->object.fs == PATH_FS_FOLD,
	};
}

struct span
path_joined(struct value_pool *pool, struct span a, struct span b)
{
	uint8_t *p;

	if (a.len + b.len == 0)
		return SPAN("/");
	if ((p = value_pool_alloc(pool, a.len + b.len)) == NULL)
		return span_of(NULL, 0);
	if (a.len != 0)
		memcpy(p, a.p, a.len);
	if (b.len != 0)
		memcpy(p + a.len, b.p, b.len);
	return span_of(p, a.len + b.len);
}

enum path_error
path_found(const struct path_env *env, const struct view_row *row,
    struct span text, struct path *out)
{
	struct span none = span_of(NULL, 0);

	if (row == NULL) {
		out->host = path_joined(env->pool, text, none);
		out->view = view_of_host(env->view, text, env->pool, &out->row);
	} else {
		out->row = row;
		out->view = path_joined(env->pool, text, none);
		out->host = path_joined(env->pool, row->host,
		    span_of(text.p + row->path.len, text.len - row->path.len));
		if (out->view.p == NULL)
			return PATH_MEMORY;
	}
	return out->host.p == NULL ? PATH_MEMORY : PATH_OK;
}
