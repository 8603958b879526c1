/* SPDX-License-Identifier: ISC */
/*
 * The requests about parts, and their lines for a server. A request has the
 * name of its method where a call has that of a tool; no tool has such a name.
 */
#include "parts/parts.h"

#include "common/json/json.h"
#include "policyd.h"

static const struct {
	const char *method;
	uint8_t part;
} parts[] = {
    {PARTS_READ, PROTO_PART_RESOURCES},
    {PARTS_SUBSCRIBE, PROTO_PART_SUBSCRIBE},
    {PARTS_UNSUBSCRIBE, PROTO_PART_SUBSCRIBE},
    {PARTS_GET, PROTO_PART_PROMPTS},
    {PARTS_COMPLETE, PROTO_PART_COMPLETION},
};

uint8_t
parts_of(struct span tool)
{
	for (size_t i = 0; i < nitems(parts); i++)
		if (span_is(tool, parts[i].method))
			return parts[i].part;
	return 0;
}

bool
parts_is(struct span tool)
{
	return parts_of(tool) != 0;
}

/* Write the member that names what the request is about, if there is one. */
static const struct value *
put_name(struct buf *b, const struct value *params)
{
	const struct value *v = value_get(params, "name");

	if (v == NULL)
		v = value_get(params, "uri");
	if (v == NULL)
		return NULL;
	(void)json_write_string(b, v->key);
	buf_addc(b, ':');
	(void)json_write(b, v);
	buf_addc(b, ',');
	return v;
}

/* Write a subscription as revision 2026-07-28 has it. */
static void
put_listen(
    struct buf *b, const struct compose_form *f, const struct value *params)
{
	buf_addc(b, '{');
	compose_meta(b, f, 0, ",");
	buf_adds(b, "\"notifications\":{\"resourceSubscriptions\":[");
	(void)json_write(b, value_get(params, "uri"));
	buf_adds(b, "]}}");
}

/* Write the members as revision 2026-07-28 has them, the name first. */
static void
put_modern(
    struct buf *b, const struct compose_form *f, const struct value *params)
{
	const struct value *first, *v;
	bool more;

	buf_addc(b, '{');
	first = put_name(b, params);
	more = params->count > (first != NULL ? 1U : 0U);
	compose_meta(b, f, 0, more ? "," : "");
	more = false;
	for (v = params->child; v != NULL; v = v->next) {
		if (v == first)
			continue;
		if (more)
			buf_addc(b, ',');
		(void)json_write_string(b, v->key);
		buf_addc(b, ':');
		(void)json_write(b, v);
		more = true;
	}
	buf_addc(b, '}');
}

int
parts_compose(struct buf *b, const struct compose_form *f, uint64_t id,
    struct span method, const struct value *params, struct composed *c)
{
	uint32_t start = (uint32_t)b->len;
	bool listen = f->modern && span_is(method, PARTS_SUBSCRIBE);

	buf_adds(b, "{\"id\":");
	buf_addu64(b, id);
	buf_adds(b, ",\"jsonrpc\":\"2.0\",\"method\":");
	(void)json_write_string(
	    b, listen ? SPAN("subscriptions/listen") : method);
	buf_adds(b, ",\"params\":");
	if (f->modern) {
		if (listen)
			put_listen(b, f, params);
		else
			put_modern(b, f, params);
		buf_adds(b, "}\n");
		c->line_len = (uint32_t)b->len - start;
	}
	/* Our own _meta is neither judged nor recorded. */
	c->args_off = (uint32_t)b->len;
	(void)json_write(b, params);
	c->args_len = (uint32_t)b->len - c->args_off;
	if (!f->modern) {
		buf_adds(b, "}\n");
		c->line_len = (uint32_t)b->len - start;
	}
	return b->failed ? -1 : 0;
}
