/* SPDX-License-Identifier: ISC */
/* Composes the JSON of requests, and takes answers over into messages. */
#include "docker/model/model_priv.h"

#include <stdlib.h>

#include "common/json/text.h"

void
put_key(struct buf *b, bool more, const char *key)
{
	buf_adds(b, more ? ",\"" : "\"");
	buf_adds(b, key);
	buf_adds(b, "\":");
}

/* Append the string with each ill-formed byte replaced. */
static void
put_repaired(struct buf *b, struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len;
	struct buf good;
	size_t n;

	buf_init(&good, MODEL_REQUEST_MAX);
	while (p < end) {
		if ((n = text_utf8_len(p, end)) == 0) {
			buf_adds(&good, "\xef\xbf\xbd");
			n = 1;
		} else {
			buf_add(&good, p, n);
		}
		p += n;
	}
	if (good.failed)
		b->failed = true;
	json_write_string(b, buf_span(&good));
	buf_free(&good);
}

void
compose_str(struct buf *b, const char *s)
{
	struct span text = span_str(s != NULL ? s : "");

	if (utf8_valid(text))
		json_write_string(b, text);
	else
		put_repaired(b, text);
}

void
put_json(struct buf *b, const char *json, const char *other)
{
	struct value_pool *pool = NULL;
	const struct value *v = NULL;

	if (json != NULL && (pool = value_pool_new(MODEL_POOL)) != NULL)
		v = json_read(pool, span_str(json), NULL);
	if (v == NULL ||
	    v->type != (*other == '[' ? VALUE_ARRAY : VALUE_OBJECT))
		buf_adds(b, other);
	else
		json_write(b, v);
	value_pool_free(pool);
}

void
compose_tools(struct buf *b, const struct model_request *r, const char *open,
    const char *each, const char *schema, const char *each_end,
    const char *close)
{
	put_key(b, true, "tools");
	buf_adds(b, open);
	for (size_t i = 0; i < r->ntools; i++) {
		buf_adds(b, i != 0 ? "," : "");
		buf_adds(b, each);
		put_key(b, false, "name");
		compose_str(b, r->tools[i].name);
		put_key(b, true, "description");
		compose_str(b, r->tools[i].description);
		put_key(b, true, schema);
		put_json(b, r->tools[i].schema,
		    "{\"type\":\"object\",\"properties\":{}}");
		buf_adds(b, each_end);
	}
	buf_adds(b, close);
}

bool
native_fits(const struct model_message *m, enum model_dialect d)
{
	return m->native != NULL && m->dialect == d;
}

static void
calls_free(struct model_call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(calls[i].id);
		free(calls[i].name);
		free(calls[i].args);
	}
	free(calls);
}

void
model_answer_free(struct model_answer *a)
{
	calls_free(a->calls, a->ncalls);
	free(a->text);
	free(a->native);
	*a = (struct model_answer){0};
}

void
model_answer_take(
    struct model_answer *a, enum model_dialect d, struct model_message *m)
{
	*m = (struct model_message){.role = MODEL_ASSISTANT,
	    .text = a->text,
	    .calls = a->calls,
	    .ncalls = a->ncalls,
	    .dialect = d,
	    .native = a->native};
	a->text = a->native = NULL;
	a->calls = NULL;
	a->ncalls = 0;
}

void
model_message_free(struct model_message *m)
{
	calls_free(m->calls, m->ncalls);
	free(m->text);
	free(m->native);
	free(m->call_id);
	free(m->call_name);
	*m = (struct model_message){0};
}
