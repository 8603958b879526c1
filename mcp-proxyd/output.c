/* SPDX-License-Identifier: ISC */
/*
 * The outputSchema of each tool that the agent is offered, as policyd published
 * it: a structured result must fit it. They are read when the list changes, and
 * not again for each call.
 */
#include "proxy.h"

#include <string.h>

#include "common/json/json.h"
#include "common/json/schema.h"

#define OUTPUT_POOL ((size_t)16 << 20) /* for one definition */

struct output {
	struct output *next;
	struct span name;
	const struct value *schema; /* NULL: too large to be checked */
};

/* Find the end of the object that begins at `at`. Returns 0 if there is none.
 */
static size_t
object_end(struct span text, size_t at)
{
	bool quoted = false;
	unsigned depth = 0;

	for (; at < text.len; at++) {
		uint8_t b = text.p[at];

		if (quoted && b == '\\')
			at++;
		else if (b == '"')
			quoted = !quoted;
		else if (!quoted && (b == '{' || b == '['))
			depth++;
		else if (!quoted && (b == '}' || b == ']') && --depth == 0)
			return at + 1;
	}
	return 0;
}

/* Keep the schema of one definition. */
static void
output_add(struct proxy *p, struct value_pool *pool, struct span text)
{
	const struct value *def, *schema;
	struct output *o;
	struct span name;
	uint8_t *copy;

	value_pool_reset(pool);
	if ((def = json_read(pool, text, NULL)) == NULL ||
	    (schema = value_get(def, "outputSchema")) == NULL)
		return;
	name = value_str(def, "name");
	if ((o = value_pool_alloc(p->outputs_pool, sizeof(*o))) == NULL ||
	    (copy = value_pool_alloc(p->outputs_pool, name.len + 1)) == NULL)
		return;
	if (name.len != 0)
		memcpy(copy, name.p, name.len);
	*o = (struct output){.next = p->outputs,
	    .name = span_of(copy, name.len),
	    .schema = value_copy(p->outputs_pool, schema)};
	p->outputs = o;
}

void
outputs_set(struct proxy *p, struct span list)
{
	struct value_pool *pool;
	size_t at = 1, end;

	p->outputs = NULL;
	if (p->outputs_pool == NULL &&
	    (p->outputs_pool = value_pool_new(PROXY_MAX_OUTPUTS)) == NULL)
		return;
	value_pool_reset(p->outputs_pool);
	/* Most lists have no schema of results. */
	if (span_find(list, SPAN("\"outputSchema\"")) == NULL ||
	    (pool = value_pool_new(OUTPUT_POOL)) == NULL)
		return;
	while (at < list.len && (end = object_end(list, at)) != 0) {
		output_add(p, pool, span_of(list.p + at, end - at));
		at = end + 1;
	}
	value_pool_free(pool);
}

int
output_check(const struct call *c, const struct value *result, char *why)
{
	const struct value *v = value_get(result, "structuredContent");
	const struct output *o;

	if (v == NULL || value_bool(result, "isError", false))
		return 0;
	for (o = c->agent->p->outputs; o != NULL; o = o->next)
		if (span_is(o->name, c->name))
			break;
	if (o == NULL)
		return 0;
	if (o->schema != NULL)
		return schema_value_check(o->schema, v, why);
	(void)strlcpy(why, "the schema is too large", SCHEMA_WHY);
	return -1;
}
