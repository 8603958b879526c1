/* SPDX-License-Identifier: ISC */
/*
 * Copies values from one side to the other. Left out in either direction:
 * "_meta", in which editors and agents have private agreements, some of which
 * run programs. Left out towards the editor as well: terminals of the editor,
 * of which the agent has none; and locations, differences, links and embedded
 * files that are not in the workspace, which would be other files on the host,
 * or pages that an editor might load. An image keeps its bytes and loses its
 * address, and so do images in texts (acp_images.h).
 */
#include "workers/acpd/acp_priv.h"

#include <string.h>

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

/* Returns true if the member names a file of the workspace. */
static bool
copy_in_workspace(
    const struct acp_copy *c, const struct value *v, const char *member)
{
	const struct span s = value_str(v, member);
	struct span out;

	if (s.p == NULL || memchr(s.p, '\\', s.len) != NULL)
		return false;
	if (strcmp(member, "path") == 0)
		return acp_path(c, s, &out);
	/* "file:///workspace/%2e%2e/x" */
	for (size_t i = 0; i + 2 < s.len; i++)
		if (s.p[i] == '%' && s.p[i + 1] == '2' &&
		    strchr("eEfF", s.p[i + 2]) != NULL)
			return false;
	return acp_uri(c, s, &out);
}

/* Returns true if a block of content leads out of the workspace. */
static bool
copy_is_foreign(const struct acp_copy *c, const struct value *v)
{
	const struct span type = value_str(v, "type");
	const struct value *in;

	if (!c->to_editor || v->type != VALUE_OBJECT)
		return false;
	if (span_is(type, "diff"))
		return !copy_in_workspace(c, v, "path");
	if (span_is(type, "resource_link"))
		return !copy_in_workspace(c, v, "uri");
	if (span_is(type, "image"))
		return value_str(v, "data").len == 0;
	if (span_is(type, "resource"))
		return (in = value_get(v, "resource")) == NULL ||
		       !copy_in_workspace(c, in, "uri");
	if (span_is(type, "content"))
		return (in = value_get(v, "content")) != NULL &&
		       copy_is_foreign(c, in);
	return false;
}

/* Returns true if this element of an array must not reach the editor. */
static bool
copy_leaves_out(
    const struct acp_copy *c, const struct value *list, const struct value *v)
{
	if (!c->to_editor || v->type != VALUE_OBJECT)
		return false;
	if (span_is(list->key, "content") &&
	    span_is(value_str(v, "type"), "terminal"))
		return true;
	if (span_is(list->key, "locations"))
		return !copy_in_workspace(c, v, "path");
	return copy_is_foreign(c, v);
}

/* Returns true if this member of an object must not reach the editor. */
static bool
copy_drops(
    const struct acp_copy *c, const struct value *o, const struct value *member)
{
	if (span_is(member->key, "_meta"))
		return true;
	return c->to_editor && span_is(member->key, "uri") &&
	       span_is(value_str(o, "type"), "image") &&
	       !copy_in_workspace(c, o, "uri");
}

/* Make the text that stands in the place of a block that is left out. */
static struct value *
copy_left_out(const struct acp_copy *c)
{
	struct value *o = value_new(c->acp->pool, VALUE_OBJECT);

	if (o == NULL || acp_put(c->acp, o, "type", SPAN("text")) == -1 ||
	    acp_put(c->acp, o, "text",
		SPAN("[IronCurtain: left out, because it is not in the "
		     "workspace]")) == -1)
		return NULL;
	return o;
}

/* Returns true if editors show the member as Markdown. */
static bool
copy_is_shown(const struct value *parent, const struct value *v)
{
	static const char *const keys[] = {
	    "text", "title", "content", "description", "message"};

	/* The text of an embedded file is shown as it is. */
	if (parent != NULL && value_get(parent, "uri") != NULL)
		return false;
	for (size_t i = 0; i < nitems(keys); i++)
		if (span_is(v->key, keys[i]))
			return true;
	return false;
}

/* Returns the text without addresses of images; NULL if there is no room. */
static struct span
copy_shown(const struct acp_copy *c, struct span s)
{
	struct acp_images alone = {.image = false}, was;
	struct acp_images *m = c->images != NULL ? c->images : &alone;
	uint8_t *p;
	size_t n;

	was = *m;
	if ((n = acp_images(m, s, NULL)) == s.len)
		return s;
	*m = was;
	if ((p = value_pool_alloc(c->acp->pool, n)) == NULL)
		return SPAN("");
	(void)acp_images(m, s, p);
	return span_of(p, n);
}

/* Returns the member's text in the words of the other side. */
static struct span
copy_text(const struct acp_copy *c, const struct value *parent,
    const struct value *v, bool raw)
{
	struct span out = v->text;

	if (span_is(v->key, "path") || span_is(v->key, "cwd"))
		(void)acp_path(c, v->text, &out);
	else if (span_is(v->key, "uri"))
		(void)acp_uri(c, v->text, &out);
	else if (c->to_editor && !raw && copy_is_shown(parent, v))
		out = copy_shown(c, v->text);
	return out;
}

/*
 * The reader has bounded the depth. `raw`: it is in what a tool was called
 * with, or gave back, which editors show as it is.
 */
static struct value *
copy_value(const struct acp_copy *c, const struct value *parent,
    const struct value *v, bool raw)
{
	struct value *copy, *one;

	if (copy_is_foreign(c, v))
		return copy_left_out(c);
	if ((copy = value_new(c->acp->pool, v->type)) == NULL)
		return NULL;
	raw |= span_is(v->key, "rawInput") || span_is(v->key, "rawOutput");
	if (v->type == VALUE_STRING)
		copy->text = copy_text(c, parent, v, raw);
	else
		copy->text = v->text;
	for (const struct value *e = v->child; e != NULL; e = e->next) {
		if (v->type == VALUE_OBJECT && copy_drops(c, v, e))
			continue;
		if (v->type == VALUE_ARRAY && copy_leaves_out(c, v, e))
			continue;
		one = copy_value(c, v, e, raw);
		if ((v->type == VALUE_OBJECT ? value_set(copy, e->key, one)
					     : value_append(copy, one)) == -1)
			return NULL;
	}
	return copy;
}

struct value *
acp_copy(const struct acp_copy *c, const struct value *v)
{
	return copy_value(c, NULL, v, false);
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
