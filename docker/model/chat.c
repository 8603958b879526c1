/* SPDX-License-Identifier: ISC */
/* Chat completions, as OpenAI has them and OpenRouter takes them. */
#include "docker/model/model_priv.h"

#include <stdlib.h>

#define CHAT_TEXT 0U /* the block of the text; calls follow it */

static void
chat_path(struct buf *b, const char *model)
{
	buf_adds(b, "/v1/chat/completions");
}

static void
put_assistant(struct buf *b, const struct model_message *m)
{
	const struct model_call *c;

	buf_adds(b, "{\"role\":\"assistant\",\"content\":");
	if (m->text != NULL && *m->text != '\0')
		compose_str(b, m->text);
	else
		buf_adds(b, m->ncalls != 0 ? "null" : "\"\"");
	if (native_fits(m, MODEL_CHAT)) {
		put_key(b, true, "reasoning_details");
		put_json(b, m->native, "[]");
	}
	for (size_t i = 0; i < m->ncalls; i++) {
		c = &m->calls[i];
		buf_adds(b, i != 0 ? "," : ",\"tool_calls\":[");
		buf_adds(b, "{\"type\":\"function\",\"id\":");
		compose_str(b, c->id);
		put_key(b, true, "function");
		buf_addc(b, '{');
		put_key(b, false, "name");
		compose_str(b, c->name);
		put_key(b, true, "arguments");
		compose_str(b, c->args != NULL ? c->args : "{}");
		buf_adds(b, "}}");
	}
	buf_adds(b, m->ncalls != 0 ? "]}" : "}");
}

static void
put_message(struct buf *b, const struct model_message *m)
{
	switch (m->role) {
	case MODEL_ASSISTANT:
		put_assistant(b, m);
		return;
	case MODEL_TOOL:
		buf_adds(b, "{\"role\":\"tool\",\"tool_call_id\":");
		compose_str(b, m->call_id);
		break;
	case MODEL_USER:
		buf_adds(b, "{\"role\":\"user\"");
		break;
	}
	put_key(b, true, "content");
	compose_str(b, m->text);
	buf_addc(b, '}');
}

static void
chat_compose(struct buf *b, const struct model_request *r)
{
	bool more = false;

	buf_addc(b, '{');
	put_key(b, false, "model");
	compose_str(b, r->name);
	buf_adds(b, ",\"stream\":true,"
		    "\"stream_options\":{\"include_usage\":true}");
	put_key(b, true, r->openai ? "max_completion_tokens" : "max_tokens");
	buf_addu64(b, r->max_output);
	if (r->ntools != 0)
		compose_tools(b, r, "[",
		    "{\"type\":\"function\",\"function\":{", "parameters", "}}",
		    "]");
	put_key(b, true, "messages");
	buf_addc(b, '[');
	if (r->system != NULL) {
		buf_adds(b, "{\"role\":\"system\",\"content\":");
		compose_str(b, r->system);
		buf_addc(b, '}');
		more = true;
	}
	for (size_t i = 0; i < r->nmessages; i++) {
		buf_adds(b, more ? "," : "");
		put_message(b, &r->messages[i]);
		more = true;
	}
	buf_adds(b, "]}");
}

static int
take_call(struct stream *s, const struct value *call, uint64_t position)
{
	const struct value *f = value_get(call, "function");
	int64_t index = (int64_t)position;
	struct block *b;

	/* Some servers leave the number out and send whole calls. */
	if (value_get(call, "index") != NULL &&
	    value_int(value_get(call, "index"), 0, INT32_MAX, &index) == -1)
		return stream_fail(s, MODEL_HARD,
		    "A call in the provider's answer has no number.");
	if ((b = stream_block(s, BLOCK_CALL, (uint64_t)index + 1)) == NULL ||
	    stream_name(s, &b->id, value_str(call, "id")) == -1 ||
	    stream_name(s, &b->name, value_str(f, "name")) == -1)
		return -1;
	return stream_add(s, &b->body, value_str(f, "arguments"));
}

/* Keep pieces of reasoning, which go back in their order. */
static int
take_reasoning(struct stream *s, const struct value *details)
{
	if (details == NULL || details->type != VALUE_ARRAY)
		return 0;
	for (const struct value *d = details->child; d != NULL; d = d->next) {
		buf_adds(&s->native, s->native.len != 0 ? "," : "");
		json_write(&s->native, d);
	}
	return stream_add(s, &s->native, SPAN(""));
}

static int
take_delta(struct stream *s, const struct value *delta)
{
	const struct value *calls = value_get(delta, "tool_calls");
	struct span text = value_str(delta, "content");
	uint64_t n = 0;

	if (take_reasoning(s, value_get(delta, "reasoning_details")) == -1)
		return -1;
	if (text.p == NULL)
		text = value_str(delta, "refusal");
	if (text.len != 0 &&
	    stream_text(s, stream_block(s, BLOCK_TEXT, CHAT_TEXT), text) == -1)
		return -1;
	if (calls == NULL || calls->type != VALUE_ARRAY)
		return 0;
	for (const struct value *c = calls->child; c != NULL; c = c->next) {
		if (take_call(s, c, n++) == -1)
			return -1;
	}
	return 0;
}

static int
chat_event(struct stream *s, const struct value *v)
{
	const struct value *choices = value_get(v, "choices");
	const struct value *error = value_get(v, "error");
	const struct value *usage = value_get(v, "usage"), *c;
	struct span stop;

	if (error != NULL && error->type != VALUE_NULL)
		return error_event(s, error);
	if (usage != NULL && usage->type == VALUE_OBJECT) {
		s->out->usage.in = stream_count(usage, "prompt_tokens");
		s->out->usage.out = stream_count(usage, "completion_tokens");
		s->out->usage.cache_read = stream_count(
		    value_get(usage, "prompt_tokens_details"), "cached_tokens");
	}
	if (choices == NULL || choices->type != VALUE_ARRAY ||
	    (c = choices->child) == NULL)
		return 0;
	if (take_delta(s, value_get(c, "delta")) == -1)
		return -1;
	stop = value_str(c, "finish_reason");
	if (stop.len == 0)
		return 0;
	s->stopped = true;
	if (span_is(stop, "tool_calls"))
		s->out->stop = MODEL_STOP_CALLS;
	else if (span_is(stop, "length"))
		s->out->stop = MODEL_STOP_LENGTH;
	else if (span_is(stop, "content_filter"))
		s->out->stop = MODEL_STOP_REFUSED;
	else if (span_is(stop, "error"))
		return stream_fail(s, MODEL_TRANSIENT,
		    "The provider ended its answer with an error.");
	return 0;
}

const struct dialect dialect_chat = {
    .id = MODEL_CHAT,
    .name = "chat",
    .base = "https://api.openai.com",
    .path = chat_path,
    .compose = chat_compose,
    .event = chat_event,
    .native = stream_native,
};
