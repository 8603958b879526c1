/* SPDX-License-Identifier: ISC */
/*
 * Tool definitions of an MCP server: names are checked, known members kept,
 * others dropped. The definitions come from the server and are shown to the
 * agent; policy uses only names and argument types.
 */
#include "session.h"

#include <stdlib.h>

#include "common/json/json.h"
#include "common/log.h"

#define TOOL_NAME_MAX 64U

/* Sorted by name, as canonical JSON requires. */
static const char *const members[] = {"annotations", "description",
    "inputSchema", "name", "outputSchema", "title"};

static bool
name_good(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c != '-')
			return false;
	}
	return name.len != 0 && name.len <= TOOL_NAME_MAX;
}

static bool
member_good(const char *name, const struct value *v)
{
	if (v == NULL)
		return false;
	if (strcmp(name, "description") == 0 || strcmp(name, "title") == 0)
		return v->type == VALUE_STRING;
	return v->type == VALUE_OBJECT;
}

/* Write {"description", "inputSchema", "name": "server__tool", ...}. */
static int
write_tool(struct buf *b, struct span server, const struct value *def)
{
	const struct value *v;
	const char *before = "{";

	for (size_t i = 0; i < nitems(members); i++) {
		v = value_get(def, members[i]);
		if (strcmp(members[i], "name") == 0) {
			buf_printf(b, "%s\"name\":\"", before);
			buf_addspan(b, server);
			buf_adds(b, "__");
			buf_addspan(b, v->text);
			buf_addc(b, '"');
		} else if (member_good(members[i], v)) {
			buf_printf(b, "%s\"%s\":", before, members[i]);
			(void)json_write(b, v);
		} else if (strcmp(members[i], "inputSchema") == 0) {
			buf_printf(b, "%s\"inputSchema\":{\"type\":\"object\"}",
			    before);
		} else {
			continue;
		}
		before = ",";
	}
	buf_addc(b, '}');
	return b->failed ? -1 : 0;
}

static int
add_tool(struct session_tools *t, struct span server, const struct value *def)
{
	struct session_tool *tool = &t->list[t->n];
	const struct value *name = value_get(def, "name"), *schema;
	struct value *copy;
	size_t json;
	struct buf b;
	uint8_t *p;
	int ret = -1;

	buf_init(&b, PROTO_MAX_TREE + PROTO_MAX_TOLD);
	*tool = (struct session_tool){0};
	if (write_tool(&b, server, def) == -1 || b.len > PROTO_MAX_TREE)
		goto out;
	json = b.len;
	told_tool(&b, server, def);
	/* Name and texts share one allocation. */
	if (b.failed || (p = value_pool_alloc(
			     t->pool, name->text.len + b.len)) == NULL)
		goto out;
	memcpy(p, name->text.p, name->text.len);
	memcpy(p + name->text.len, buf_span(&b).p, b.len);
	tool->name = span_of(p, name->text.len);
	p += name->text.len;
	tool->json = span_of(p, json);
	tool->line = span_of(p + json, b.len - json);
	schema = value_get(def, "inputSchema");
	if (schema != NULL && schema->type == VALUE_OBJECT) {
		if ((copy = value_copy(t->pool, schema)) == NULL)
			goto out;
		tool->schema = copy;
	}
	t->n++;
	ret = 0;
out:
	buf_free(&b);
	return ret;
}

static bool
known(const struct session_tools *t, struct span name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (span_eq(t->list[i].name, name))
			return true;
	}
	return false;
}

enum outcome {
	TAKEN,
	BAD_NAME,
	TWICE,
	TOO_MANY,
	TOO_LARGE,
	OUTCOMES
};

static enum outcome
take_tool(struct session_tools *t, struct span server, const struct value *def)
{
	const struct value *name = value_get(def, "name");

	if (name == NULL || name->type != VALUE_STRING ||
	    !name_good(name->text))
		return BAD_NAME;
	if (known(t, name->text))
		return TWICE;
	if (t->n == SESSION_MAX_TOOLS)
		return TOO_MANY;
	return add_tool(t, server, def) == -1 ? TOO_LARGE : TAKEN;
}

int
tools_add_page(
    struct session_tools *t, struct span server, const struct value *array)
{
	static const char *const texts[OUTCOMES] = {"", "without a good name",
	    "listed twice", "beyond the limit", "too large"};
	unsigned count[OUTCOMES] = {0};
	const struct value *def;
	char who[80];

	if (t->pool == NULL &&
	    (t->pool = value_pool_new(SESSION_MAX_POOL)) == NULL)
		return -1;
	if (t->list == NULL &&
	    (t->list = calloc(SESSION_MAX_TOOLS, sizeof(*t->list))) == NULL)
		return -1;
	for (def = array->child; def != NULL; def = def->next)
		count[take_tool(t, server, def)]++;
	/* Log one line for each kind, so that a server cannot fill the log. */
	for (unsigned i = BAD_NAME; i < OUTCOMES; i++) {
		if (count[i] != 0)
			log_warnx("server %s: %u tools left out: %s",
			    log_vis(server, who, sizeof(who)), count[i],
			    texts[i]);
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const struct session_tool *x = a, *y = b;

	return span_cmp(x->name, y->name);
}

void
tools_sort(struct session_tools *t)
{
	if (t->n > 1)
		qsort(t->list, t->n, sizeof(*t->list), compare);
}

const struct session_tool *
tools_find(const struct session_tools *t, struct span name)
{
	const struct session_tool key = {.name = name};

	if (t->n == 0)
		return NULL;
	return bsearch(&key, t->list, t->n, sizeof(*t->list), compare);
}

void
tools_free(struct session_tools *t)
{
	value_pool_free(t->pool);
	free(t->list);
	*t = (struct session_tools){0};
}
