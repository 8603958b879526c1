/* SPDX-License-Identifier: ISC */
/* OpenAI's responses. Nothing is stored there: reasoning comes encrypted. */
#include "docker/model/model_priv.h"

#include <ctype.h>
#include <stdlib.h>

static void
responses_path(struct buf *b, const char *model)
{
	buf_adds(b, "/v1/responses");
}

/*
 * Returns true for models that reason: others refuse a request for encrypted
 * reasoning.
 */
static bool
reasons(const char *model)
{
	const char *slash = strrchr(model, '/');

	if (slash != NULL)
		model = slash + 1;
	if (strncmp(model, "gpt-", 4) == 0)
		return model[4] >= '5' && model[4] <= '9';
	return model[0] == 'o' && isdigit((unsigned char)model[1]);
}

static void
put_message(struct buf *b, const char *role, const char *text)
{
	buf_adds(b, "{\"type\":\"message\",\"role\":\"");
	buf_adds(b, role);
	buf_addc(b, '"');
	put_key(b, true, "content");
	compose_str(b, text);
	buf_addc(b, '}');
}

/* Append an answer's items; a comma precedes each but the first. */
static void
put_assistant(struct buf *b, const struct model_message *m, bool *more)
{
	const struct model_call *c;

	if (m->text != NULL && *m->text != '\0') {
		buf_adds(b, *more ? "," : "");
		put_message(b, "assistant", m->text);
		*more = true;
	}
	for (size_t i = 0; i < m->ncalls; i++) {
		c = &m->calls[i];
		buf_adds(b, *more ? "," : "");
		buf_adds(b, "{\"type\":\"function_call\",\"call_id\":");
		compose_str(b, c->id);
		put_key(b, true, "name");
		compose_str(b, c->name);
		put_key(b, true, "arguments");
		compose_str(b, c->args != NULL ? c->args : "{}");
		buf_addc(b, '}');
		*more = true;
	}
}

/* Append the elements of a native array. */
static void
put_elements(struct buf *b, const char *native, bool *more)
{
	struct buf all;
	struct span s;

	buf_init(&all, MODEL_REQUEST_MAX);
	put_json(&all, native, "[]");
	s = buf_span(&all);
	if (all.failed)
		b->failed = true;
	else if (s.len > 2) {
		buf_adds(b, *more ? "," : "");
		buf_add(b, s.p + 1, s.len - 2);
		*more = true;
	}
	buf_free(&all);
}

static void
put_result(struct buf *b, const struct model_message *m)
{
	buf_adds(b, "{\"type\":\"function_call_output\",\"call_id\":");
	compose_str(b, m->call_id);
	put_key(b, true, "output");
	compose_str(b, m->text);
	buf_addc(b, '}');
}

static void
put_input(struct buf *b, const struct model_message *m, bool *more)
{
	switch (m->role) {
	case MODEL_ASSISTANT:
		if (native_fits(m, MODEL_RESPONSES))
			put_elements(b, m->native, more);
		else
			put_assistant(b, m, more);
		return;
	case MODEL_TOOL:
		buf_adds(b, *more ? "," : "");
		put_result(b, m);
		break;
	case MODEL_USER:
		buf_adds(b, *more ? "," : "");
		put_message(b, "user", m->text);
		break;
	}
	*more = true;
}

static void
responses_compose(struct buf *b, const struct model_request *r)
{
	bool more = false;

	buf_addc(b, '{');
	put_key(b, false, "model");
	compose_str(b, r->name);
	buf_adds(b, ",\"stream\":true,\"store\":false");
	if (reasons(r->name))
		buf_adds(b, ",\"include\":[\"reasoning.encrypted_content\"]");
	put_key(b, true, "max_output_tokens");
	buf_addu64(b, r->max_output);
	if (r->system != NULL) {
		put_key(b, true, "instructions");
		compose_str(b, r->system);
	}
	if (r->ntools != 0)
		compose_tools(b, r, "[",
		    "{\"type\":\"function\",\"strict\":false,", "parameters",
		    "}", "]");
	put_key(b, true, "input");
	buf_addc(b, '[');
	for (size_t i = 0; i < r->nmessages; i++)
		put_input(b, &r->messages[i], &more);
	buf_adds(b, "]}");
}

/*
 * Keep an item for the next request, without the names under which it would be
 * found if it had been stored. Reasoning that is not encrypted cannot go back.
 */
static int
keep_item(struct stream *s, const struct value *item)
{
	bool more = false;

	if (span_is(value_str(item, "type"), "reasoning") &&
	    value_str(item, "encrypted_content").p == NULL)
		return 0;
	buf_adds(&s->native, s->native.len != 0 ? ",{" : "{");
	for (const struct value *m = item->child; m != NULL; m = m->next) {
		if (span_is(m->key, "id") || span_is(m->key, "status"))
			continue;
		buf_adds(&s->native, more ? "," : "");
		json_write_string(&s->native, m->key);
		buf_addc(&s->native, ':');
		json_write(&s->native, m);
		more = true;
	}
	return stream_add(s, &s->native, SPAN("}"));
}

/* Take the text of a message whose deltas did not come. */
static int
whole_text(struct stream *s, const struct value *item, uint64_t index)
{
	const struct value *parts = value_get(item, "content");
	struct block *b = stream_block(s, BLOCK_TEXT, index);
	int r = 0;

	if (b == NULL)
		return -1;
	if (b->body.len != 0 || parts == NULL || parts->type != VALUE_ARRAY)
		return 0;
	for (const struct value *p = parts->child; p != NULL && r == 0;
	     p = p->next) {
		if (span_is(value_str(p, "type"), "refusal")) {
			s->out->stop = MODEL_STOP_REFUSED;
			r = stream_text(s, b, value_str(p, "refusal"));
		} else {
			r = stream_text(s, b, value_str(p, "text"));
		}
	}
	return r;
}

static int
item_done(struct stream *s, const struct value *v, uint64_t index)
{
	const struct value *item = value_get(v, "item");
	struct span type = value_str(item, "type");
	struct block *b;

	if (item == NULL || item->type != VALUE_OBJECT)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer has an item without content.");
	if (keep_item(s, item) == -1)
		return -1;
	if (span_is(type, "message"))
		return whole_text(s, item, index);
	if (!span_is(type, "function_call"))
		return 0;
	if (model_stream_find(s, index) != NULL)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer has the same item twice.");
	if ((b = stream_block(s, BLOCK_CALL, index)) == NULL ||
	    stream_name(s, &b->id, value_str(item, "call_id")) == -1 ||
	    stream_name(s, &b->name, value_str(item, "name")) == -1)
		return -1;
	if (b->id == NULL)
		return stream_fail(
		    s, MODEL_HARD, "A call in the model's answer has no id.");
	return stream_add(s, &b->body, value_str(item, "arguments"));
}

static void
take_usage(struct model_usage *u, const struct value *v)
{
	u->in = stream_count(v, "input_tokens");
	u->out = stream_count(v, "output_tokens");
	u->cache_read =
	    stream_count(value_get(v, "input_tokens_details"), "cached_tokens");
}

static int
response_ended(struct stream *s, const struct value *response, bool cut)
{
	struct span why =
	    value_str(value_get(response, "incomplete_details"), "reason");

	take_usage(&s->out->usage, value_get(response, "usage"));
	s->stopped = s->done = true;
	if (cut && span_is(why, "content_filter"))
		s->out->stop = MODEL_STOP_REFUSED;
	else if (cut)
		s->out->stop = MODEL_STOP_LENGTH;
	return 0;
}

static int
responses_event(struct stream *s, const struct value *v)
{
	const struct value *response = value_get(v, "response");
	struct span type = value_str(v, "type");
	int64_t index = 0;

	if (span_is(type, "response.completed"))
		return response_ended(s, response, false);
	if (span_is(type, "response.incomplete"))
		return response_ended(s, response, true);
	if (span_is(type, "response.failed"))
		return error_event(s, value_get(response, "error"));
	if (span_is(type, "error"))
		return error_event(s,
		    value_get(v, "error") != NULL ? value_get(v, "error") : v);
	if (!span_is(type, "response.output_text.delta") &&
	    !span_is(type, "response.output_item.done"))
		return 0;
	if (value_int(value_get(v, "output_index"), 0, INT32_MAX, &index) == -1)
		return stream_fail(s, MODEL_HARD,
		    "An item of the provider's answer has no number.");
	if (span_is(type, "response.output_item.done"))
		return item_done(s, v, (uint64_t)index);
	return stream_text(s, stream_block(s, BLOCK_TEXT, (uint64_t)index),
	    value_str(v, "delta"));
}

const struct dialect dialect_responses = {
    .id = MODEL_RESPONSES,
    .name = "responses",
    .base = "https://api.openai.com",
    .path = responses_path,
    .compose = responses_compose,
    .event = responses_event,
    .native = stream_native,
};
