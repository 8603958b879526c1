/* SPDX-License-Identifier: ISC */
/*
 * Copies values from one side to the other. Left out in either direction:
 * "_meta", in which editors and agents have private agreements, some of which
 * run programs. Left out towards the editor as well: terminals of the editor,
 * of which the agent has none, and locations outside the workspace, which would
 * be other files on the host.
 */
#include "acp/acp_priv.h"

int
acp_put(struct acp *a, struct value *o, const char *key, struct span text)
{
	return value_set(o, span_str(key), value_new_string(a->pool, text));
}

int
acp_put_bool(struct acp *a, struct value *o, const char *key, bool on)
{
	return value_set(o, span_str(key),
	    value_new(a->pool, on ? VALUE_TRUE : VALUE_FALSE));
}

int
acp_put_number(struct acp *a, struct value *o, const char *key, int64_t n)
{
	return value_set(o, span_str(key), value_new_number(a->pool, n));
}

/* Returns true if this element of an array must not reach the editor. */
static bool
copy_leaves_out(
    const struct acp_copy *c, const struct value *list, const struct value *v)
{
	struct span out, path;

	if (!c->to_editor || v->type != VALUE_OBJECT)
		return false;
	if (span_is(list->key, "content") &&
	    span_is(value_str(v, "type"), "terminal"))
		return true;
	path = value_str(v, "path");
	return span_is(list->key, "locations") &&
	       (path.p == NULL || !acp_path(c, path, &out));
}

/* Returns the member's text in the words of the other side. */
static struct span
copy_text(const struct acp_copy *c, const struct value *v)
{
	struct span out = v->text;

	if (span_is(v->key, "path") || span_is(v->key, "cwd"))
		(void)acp_path(c, v->text, &out);
	else if (span_is(v->key, "uri"))
		(void)acp_uri(c, v->text, &out);
	return out;
}

/* The reader has bounded the depth. */
struct value *
acp_copy(const struct acp_copy *c, const struct value *v)
{
	struct value *copy = value_new(c->acp->pool, v->type);

	if (copy == NULL)
		return NULL;
	if (v->type == VALUE_STRING)
		copy->text = copy_text(c, v);
	else
		copy->text = v->text;
	for (const struct value *e = v->child; e != NULL; e = e->next) {
		if (v->type == VALUE_OBJECT && span_is(e->key, "_meta"))
			continue;
		if (v->type == VALUE_ARRAY && copy_leaves_out(c, v, e))
			continue;
		if ((v->type == VALUE_OBJECT
			    ? value_set(copy, e->key, acp_copy(c, e))
			    : value_append(copy, acp_copy(c, e))) == -1)
			return NULL;
	}
	return copy;
}

struct value *
acp_members(const struct acp_copy *c, const struct value *from,
    const struct acp_member *list)
{
	struct value *o = value_new(c->acp->pool, VALUE_OBJECT);
	const struct value *v;

	for (; o != NULL && list->name != NULL; list++) {
		if (list->rule != ACP_COPY ||
		    (v = value_get(from, list->name)) == NULL)
			continue;
		if (value_set(o, span_str(list->name), acp_copy(c, v)) == -1)
			return NULL;
	}
	return o;
}
