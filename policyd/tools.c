/* SPDX-License-Identifier: ISC */
/*
 * Tool definitions of an MCP server: names are checked and known members kept,
 * checked and mended; others are dropped. The definitions come from the server
 * and are shown to the agent; policy uses only names and argument types.
 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "common/log.h"
#include "common/tool_name.h"
#include "common/visible.h"
#include "define/define.h"
#include "define/mirror.h"

#define TOOLS_FIT_POOL ((size_t)16 << 20) /* for one definition */
#define TOOLS_NAME_SHOWN 160U

/* A definition on its way into the list. */
struct candidate {
	const struct value *def;
	struct span server, name;
	char full[TOOL_NAME_SHOWN + 1];
	size_t shown; /* offset of the tool's part in `full` */
	struct definition d;
	struct buf pinned, json, line;
};

/*
 * Write {"description", "inputSchema", "name", ...}, sorted, without the
 * members that are NULL.
 */
struct writer {
	struct buf *b;
	const char *before;
};

static void
put_key(struct writer *w, const char *key)
{
	buf_printf(w->b, "%s\"%s\":", w->before, key);
	w->before = ",";
}

static void
put_value(struct writer *w, const char *key, const struct value *v)
{
	if (v == NULL)
		return;
	put_key(w, key);
	(void)json_write(w->b, v);
}

static void
put_string(struct writer *w, const char *key, struct span text)
{
	if (text.p == NULL)
		return;
	put_key(w, key);
	(void)json_write_string(w->b, text);
}

static const struct value *
object_of(const struct value *def, const char *name)
{
	const struct value *v = value_get(def, name);

	return v != NULL && v->type == VALUE_OBJECT ? v : NULL;
}

/*
 * Write the definition as its server has it, which is what a pin is compared
 * with. This form must stay: pins of earlier versions were made from it.
 */
static int
write_pinned(struct candidate *c)
{
	static const struct value object = {
	    .type = VALUE_STRING, .text = SPAN("object")};
	struct writer w = {&c->pinned, "{"};
	const struct value *schema = object_of(c->def, "inputSchema");

	put_value(&w, "annotations", object_of(c->def, "annotations"));
	put_string(&w, "description", value_str(c->def, "description"));
	if (schema != NULL) {
		put_value(&w, "inputSchema", schema);
	} else {
		put_key(&w, "inputSchema");
		buf_adds(&c->pinned, "{\"type\":");
		(void)json_write(&c->pinned, &object);
		buf_addc(&c->pinned, '}');
	}
	put_key(&w, "name");
	buf_addc(&c->pinned, '"');
	buf_addspan(&c->pinned, c->server);
	buf_adds(&c->pinned, "__");
	buf_addspan(&c->pinned, c->name);
	buf_addc(&c->pinned, '"');
	put_value(&w, "outputSchema", object_of(c->def, "outputSchema"));
	put_string(&w, "title", value_str(c->def, "title"));
	buf_addc(&c->pinned, '}');
	return c->pinned.failed ? -1 : 0;
}

/* Write the definition as the agent gets it. */
static int
write_json(struct candidate *c)
{
	struct writer w = {&c->json, "{"};

	put_value(&w, "annotations", c->d.annotations);
	put_string(&w, "description", c->d.description);
	put_value(&w, "inputSchema", c->d.schema);
	put_string(&w, "name", span_str(c->full));
	put_value(&w, "outputSchema", c->d.output);
	put_string(&w, "title", c->d.title);
	buf_addc(&c->json, '}');
	return c->json.failed ? -1 : 0;
}

/* Copy a text into the pool. Returns a span with p == NULL if it is full. */
static struct span
keep(struct value_pool *pool, struct span text)
{
	uint8_t *p = value_pool_alloc(pool, text.len + 1);

	if (p == NULL)
		return span_of(NULL, 0);
	memcpy(p, text.p, text.len);
	return span_of(p, text.len);
}

static int
add_tool(struct session_tools *t, struct candidate *c)
{
	struct session_tool *tool = &t->list[t->n];
	bool same = span_eq(buf_span(&c->pinned), buf_span(&c->json));

	*tool = (struct session_tool){0};
	told_tool(&c->line, span_str(c->full), c->def);
	tool->name = keep(t->pool, c->name);
	tool->full = keep(t->pool, span_str(c->full));
	tool->pinned = keep(t->pool, buf_span(&c->pinned));
	tool->json = same ? tool->pinned : keep(t->pool, buf_span(&c->json));
	tool->line = keep(t->pool, buf_span(&c->line));
	tool->schema = value_copy(t->pool, c->d.schema);
	if (c->line.failed || tool->name.p == NULL || tool->full.p == NULL ||
	    tool->pinned.p == NULL || tool->json.p == NULL ||
	    tool->line.p == NULL || tool->schema == NULL)
		return -1;
	tool->shown =
	    span_of(tool->full.p + c->shown, tool->full.len - c->shown);
	t->renamed = t->renamed || !span_eq(tool->shown, tool->name);
	t->bytes += tool->json.len;
	t->n++;
	return 0;
}

/* Returns true if another tool has the name, for its server or the agent. */
static bool
known(const struct session_tools *t, struct span name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (span_eq(t->list[i].name, name) ||
		    span_eq(t->list[i].shown, name))
			return true;
	}
	return false;
}

static int __attribute__((format(printf, 2, 3)))
leave_out(char why[DEFINE_WHY], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, DEFINE_WHY, fmt, ap);
	va_end(ap);
	return -1;
}

/* Returns 0 if the tool was added, or -1 with the reason. */
static int
take_tool(struct session_tools *t, const struct session_limits *max,
    struct value_pool *pool, struct candidate *c, char why[DEFINE_WHY])
{
	const char *bad = define_name(value_get(c->def, "name"));

	if (bad != NULL)
		return leave_out(why, "%s", bad);
	c->name = value_str(c->def, "name");
	c->shown = tool_name_show(c->server, c->name, c->full);
	if (known(t, c->name) || known(t, span_str(c->full + c->shown)))
		return leave_out(why, "it is listed twice");
	if (t->n == SESSION_MAX_TOOLS)
		return leave_out(why, "its server has more than %u tools",
		    SESSION_MAX_TOOLS);
	if (write_pinned(c) == -1)
		return leave_out(why,
		    "its definition has more than %zu KiB "
		    "(toolDefinitions.maxToolKiB)",
		    max->tool >> 10);
	if (t->mirrors &&
	    mirror_check(value_get(c->def, "inputSchema"), why) == -1)
		return -1;
	if (define_tool(pool, c->def, &c->d, why) == -1)
		return -1;
	if (write_json(c) == -1)
		return leave_out(why,
		    "its definition has more than %zu KiB once characters "
		    "that nobody sees are escaped",
		    max->tool >> 10);
	if (c->json.len > max->server - t->bytes)
		return leave_out(why,
		    "the definitions of its server have more than %zu KiB "
		    "(toolDefinitions.maxServerKiB)",
		    max->server >> 10);
	if (add_tool(t, c) == -1)
		return leave_out(why, "policyd has no memory left for it");
	return 0;
}

/* Returns the name of the tool, or its place in the list, for people. */
static struct span
name_of(const struct session_tools *t, const struct value *def,
    char dst[TOOLS_NAME_SHOWN])
{
	struct span name = value_str(def, "name");
	struct buf b;

	if (name.len == 0) {
		snprintf(dst, TOOLS_NAME_SHOWN, "(number %zu)", t->seen);
		return span_str(dst);
	}
	buf_init(&b, 1024);
	(void)visible_add(
	    &b, span_of(name.p, visible_cut(name, 80)), VISIBLE_ASCII);
	snprintf(dst, TOOLS_NAME_SHOWN, "%.*s%s", (int)buf_span(&b).len,
	    (const char *)buf_span(&b).p, name.len > 80 ? "..." : "");
	buf_free(&b);
	return span_str(dst);
}

static void
take_one(struct session_tools *t, const struct session_limits *max,
    struct value_pool *pool, struct candidate *c)
{
	char why[DEFINE_WHY] = "", shown[TOOLS_NAME_SHOWN], more[32] = "";
	struct span name = name_of(t, c->def, shown), full = span_of(NULL, 0);
	char text[DEFINE_WHY + sizeof(more)];

	if (take_tool(t, max, pool, c, why) == -1) {
		tool_note_add(t, name, full, true, why);
		return;
	}
	if (!span_eq(t->list[t->n - 1].shown, c->name))
		full = span_str(c->full);
	if (c->d.mended > 1)
		snprintf(more, sizeof(more), " (and %u more)", c->d.mended - 1);
	snprintf(text, sizeof(text), "%s%s", c->d.first, more);
	if (full.len != 0 || c->d.mended != 0)
		tool_note_add(t, name, full, false, text);
}

void
tools_add_words(struct session_tools *t, struct span server, const char *name,
    struct span words)
{
	struct candidate c = {.server = server, .name = span_str(name)};
	struct writer w = {&c.pinned, "{"};
	struct session_tool *tool;

	if ((t->pool == NULL &&
		(t->pool = value_pool_new(SESSION_MAX_POOL)) == NULL) ||
	    (t->list == NULL && (t->list = calloc(SESSION_MAX_TOOLS,
				     sizeof(*t->list))) == NULL) ||
	    t->n == SESSION_MAX_TOOLS)
		return;
	buf_init(&c.pinned, PROTO_TOOL_BYTES);
	put_string(&w, "description", words);
	put_string(&w, "name", c.name);
	buf_addc(&c.pinned, '}');
	tool = &t->list[t->n];
	*tool = (struct session_tool){.words = true, .name = c.name};
	tool->shown = tool->full = tool->name;
	tool->pinned = tool->json = keep(t->pool, buf_span(&c.pinned));
	tool->schema = value_new(t->pool, VALUE_OBJECT);
	if (!c.pinned.failed && tool->pinned.p != NULL && tool->schema != NULL)
		t->n++;
	buf_free(&c.pinned);
}

int
tools_add_page(struct session_tools *t, const struct session_limits *max,
    struct span server, const struct value *array)
{
	struct candidate c = {.server = server};
	struct value_pool *pool;

	if (t->pool == NULL &&
	    (t->pool = value_pool_new(SESSION_MAX_POOL)) == NULL)
		return -1;
	if (t->list == NULL &&
	    (t->list = calloc(SESSION_MAX_TOOLS, sizeof(*t->list))) == NULL)
		return -1;
	if ((pool = value_pool_new(TOOLS_FIT_POOL)) == NULL)
		return -1;
	buf_init(&c.pinned, max->tool);
	buf_init(&c.json, max->tool);
	buf_init(&c.line, PROTO_MAX_TOLD);
	for (c.def = array->child; c.def != NULL; c.def = c.def->next) {
		t->seen++;
		value_pool_reset(pool);
		buf_reset(&c.pinned, max->tool);
		buf_reset(&c.json, max->tool);
		buf_reset(&c.line, PROTO_MAX_TOLD);
		take_one(t, max, pool, &c);
	}
	buf_free(&c.pinned);
	buf_free(&c.json);
	buf_free(&c.line);
	value_pool_free(pool);
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

struct span
tools_own_name(const struct session_tools *t, struct span shown)
{
	for (size_t i = 0; t->renamed && i < t->n; i++)
		if (span_eq(t->list[i].shown, shown))
			return t->list[i].name;
	return shown;
}

void
tools_free(struct session_tools *t)
{
	value_pool_free(t->pool);
	free(t->list);
	*t = (struct session_tools){0};
}
