/* SPDX-License-Identifier: ISC */
/* Anthropic's messages. */
#include "docker/model/model_priv.h"

#include <stdlib.h>

#define CACHE_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define CACHED_GROUPS 2U /* the last messages of the user */

static void
anthropic_path(struct buf *b, const char *model)
{
	buf_adds(b, "/v1/messages");
}

static void
put_text(struct buf *b, bool more, const char *text, bool mark)
{
	buf_adds(b, more ? ",{\"type\":\"text\"" : "{\"type\":\"text\"");
	put_key(b, true, "text");
	compose_str(b, text);
	if (mark)
		buf_adds(b, CACHE_MARK);
	buf_addc(b, '}');
}

static void
put_assistant(struct buf *b, const struct model_message *m)
{
	bool more = false;

	buf_adds(b, "{\"role\":\"assistant\",\"content\":");
	if (native_fits(m, MODEL_ANTHROPIC)) {
		put_json(b, m->native, "[]");
		buf_addc(b, '}');
		return;
	}
	buf_addc(b, '[');
	if (m->text != NULL && *m->text != '\0') {
		put_text(b, false, m->text, false);
		more = true;
	}
	for (size_t i = 0; i < m->ncalls; i++, more = true) {
		buf_adds(b, more ? ",{\"type\":\"tool_use\""
				 : "{\"type\":\"tool_use\"");
		put_key(b, true, "id");
		compose_str(b, m->calls[i].id);
		put_key(b, true, "name");
		compose_str(b, m->calls[i].name);
		put_key(b, true, "input");
		put_json(b, m->calls[i].args, "{}");
		buf_addc(b, '}');
	}
	buf_adds(b, "]}");
}

static void
put_result(struct buf *b, bool more, const struct model_message *m, bool mark)
{
	buf_adds(b,
	    more ? ",{\"type\":\"tool_result\"" : "{\"type\":\"tool_result\"");
	put_key(b, true, "tool_use_id");
	compose_str(b, m->call_id);
	put_key(b, true, "content");
	compose_str(b, m->text);
	if (m->is_error)
		buf_adds(b, ",\"is_error\":true");
	if (mark)
		buf_adds(b, CACHE_MARK);
	buf_addc(b, '}');
}

/* Append one message of the user: everything up to the next answer. */
static void
put_user(struct buf *b, const struct model_message *m, size_t n, bool mark)
{
	bool last;

	buf_adds(b, "{\"role\":\"user\",\"content\":[");
	for (size_t i = 0; i < n; i++) {
		last = i + 1 == n;
		if (m[i].role == MODEL_TOOL)
			put_result(b, i != 0, &m[i], mark && last);
		else
			put_text(b, i != 0,
			    m[i].text != NULL && *m[i].text != '\0' ? m[i].text
								    : " ",
			    mark && last);
	}
	buf_adds(b, "]}");
}

static size_t
group(const struct model_request *r, size_t i)
{
	size_t n = 1;

	if (r->messages[i].role == MODEL_ASSISTANT)
		return 1;
	while (
	    i + n < r->nmessages && r->messages[i + n].role != MODEL_ASSISTANT)
		n++;
	return n;
}

static void
anthropic_compose(struct buf *b, const struct model_request *r)
{
	size_t groups = 0, n;

	for (size_t i = 0; i < r->nmessages; i += group(r, i))
		groups += r->messages[i].role != MODEL_ASSISTANT;
	buf_adds(b, "{");
	put_key(b, false, "model");
	compose_str(b, r->name);
	put_key(b, true, "max_tokens");
	buf_addu64(b, r->max_output);
	buf_adds(b, ",\"stream\":true");
	if (r->system != NULL) {
		put_key(b, true, "system");
		buf_addc(b, '[');
		put_text(b, false, r->system, true);
		buf_addc(b, ']');
	}
	if (r->ntools != 0)
		compose_tools(b, r, "[", "{", "input_schema", "}", "]");
	put_key(b, true, "messages");
	buf_addc(b, '[');
	for (size_t i = 0; i < r->nmessages; i += n) {
		n = group(r, i);
		if (i != 0)
			buf_addc(b, ',');
		if (r->messages[i].role == MODEL_ASSISTANT)
			put_assistant(b, &r->messages[i]);
		else
			put_user(
			    b, &r->messages[i], n, groups-- <= CACHED_GROUPS);
	}
	buf_adds(b, "]}");
}

static void
take_usage(struct model_usage *u, const struct value *v)
{
	if (value_get(v, "input_tokens") != NULL) {
		u->cache_read = stream_count(v, "cache_read_input_tokens");
		u->cache_write = stream_count(v, "cache_creation_input_tokens");
		u->in = stream_count(v, "input_tokens") + u->cache_read +
			u->cache_write;
	}
	if (value_get(v, "output_tokens") != NULL)
		u->out = stream_count(v, "output_tokens");
}

static int
block_start(struct stream *s, const struct value *v, uint64_t index)
{
	const struct value *part = value_get(v, "content_block");
	struct span type = value_str(part, "type");
	struct block *b;

	if (part == NULL || part->type != VALUE_OBJECT)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer has a part without content.");
	if (model_stream_find(s, index) != NULL)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer has the same part twice.");
	if (span_is(type, "text"))
		return stream_text(s, stream_block(s, BLOCK_TEXT, index),
		    value_str(part, "text"));
	if (span_is(type, "thinking"))
		return stream_text(s, stream_block(s, BLOCK_THINKING, index),
		    value_str(part, "thinking"));
	if (!span_is(type, "tool_use")) {
		b = stream_block(s, BLOCK_OTHER, index);
		return b == NULL ? -1 : json_write(&b->extra, part);
	}
	if ((b = stream_block(s, BLOCK_CALL, index)) == NULL ||
	    stream_name(s, &b->id, value_str(part, "id")) == -1 ||
	    stream_name(s, &b->name, value_str(part, "name")) == -1)
		return -1;
	if (b->id == NULL)
		return stream_fail(
		    s, MODEL_HARD, "A call in the model's answer has no id.");
	return 0;
}

static int
block_delta(struct stream *s, const struct value *v, uint64_t index)
{
	const struct value *d = value_get(v, "delta");
	struct block *b = model_stream_find(s, index);

	if (b == NULL)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer continues a part that has not "
		    "begun.");
	switch (b->kind) {
	case BLOCK_TEXT:
		return stream_text(s, b, value_str(d, "text"));
	case BLOCK_THINKING:
		if (stream_add(s, &b->extra, value_str(d, "signature")) == -1)
			return -1;
		return stream_text(s, b, value_str(d, "thinking"));
	case BLOCK_CALL:
		return stream_add(s, &b->body, value_str(d, "partial_json"));
	case BLOCK_OTHER:
		break;
	}
	return 0;
}

static int
message_delta(struct stream *s, const struct value *v)
{
	struct span stop = value_str(value_get(v, "delta"), "stop_reason");

	take_usage(&s->out->usage, value_get(v, "usage"));
	if (stop.p == NULL)
		return 0;
	s->stopped = true;
	if (span_is(stop, "tool_use"))
		s->out->stop = MODEL_STOP_CALLS;
	else if (span_is(stop, "max_tokens"))
		s->out->stop = MODEL_STOP_LENGTH;
	else if (span_is(stop, "model_context_window_exceeded"))
		return stream_fail(s, MODEL_TOO_LONG,
		    "The conversation is too long for the model.");
	else if (span_is(stop, "refusal"))
		s->out->stop = MODEL_STOP_REFUSED;
	return 0;
}

static int
anthropic_event(struct stream *s, const struct value *v)
{
	struct span type = value_str(v, "type");
	int64_t index = 0;

	if (span_is(type, "message_start"))
		take_usage(&s->out->usage,
		    value_get(value_get(v, "message"), "usage"));
	else if (span_is(type, "message_delta"))
		return message_delta(s, v);
	else if (span_is(type, "message_stop"))
		s->done = true;
	else if (span_is(type, "error"))
		return error_event(s, value_get(v, "error"));
	else if (span_is(type, "content_block_start") ||
		 span_is(type, "content_block_delta")) {
		if (value_int(value_get(v, "index"), 0, INT32_MAX, &index) ==
		    -1)
			return stream_fail(s, MODEL_HARD,
			    "A part of the provider's answer has no number.");
		return span_is(type, "content_block_start")
			   ? block_start(s, v, (uint64_t)index)
			   : block_delta(s, v, (uint64_t)index);
	}
	return 0;
}

static void
native_thinking(struct buf *b, const struct block *k)
{
	buf_adds(b, "{\"type\":\"thinking\",\"thinking\":");
	json_write_string(b, buf_span(&k->body));
	put_key(b, true, "signature");
	json_write_string(b, buf_span(&k->extra));
	buf_addc(b, '}');
}

static void
native_call(struct stream *s, struct buf *b, const struct block *k)
{
	const struct value *v;

	value_pool_reset(s->pool);
	v = json_read(s->pool, buf_span(&k->body), NULL);
	buf_adds(b, "{\"type\":\"tool_use\",\"id\":");
	compose_str(b, k->id);
	put_key(b, true, "name");
	compose_str(b, k->name);
	put_key(b, true, "input");
	if (v != NULL && v->type == VALUE_OBJECT)
		json_write(b, v);
	else
		buf_adds(b, "{}");
	buf_addc(b, '}');
}

/* Only what came with signatures of thinking, or in other parts, is needed. */
static bool
native_needed(const struct stream *s)
{
	for (size_t i = 0; i < s->nblocks; i++) {
		if (s->blocks[i].kind == BLOCK_THINKING ||
		    s->blocks[i].kind == BLOCK_OTHER)
			return true;
	}
	return false;
}

static void
anthropic_native(struct stream *s, struct buf *b)
{
	const struct block *k;
	size_t n = 0;

	if (!native_needed(s))
		return;
	buf_addc(b, '[');
	for (size_t i = 0; i < s->nblocks; i++) {
		k = &s->blocks[i];
		if (k->kind == BLOCK_TEXT && k->body.len == 0)
			continue;
		if (n++ != 0)
			buf_addc(b, ',');
		switch (k->kind) {
		case BLOCK_TEXT:
			buf_adds(b, "{\"type\":\"text\",\"text\":");
			json_write_string(b, buf_span(&k->body));
			buf_addc(b, '}');
			break;
		case BLOCK_THINKING:
			native_thinking(b, k);
			break;
		case BLOCK_CALL:
			native_call(s, b, k);
			break;
		case BLOCK_OTHER:
			buf_addspan(b, buf_span(&k->extra));
			break;
		}
	}
	buf_addc(b, ']');
}

const struct dialect dialect_anthropic = {
    .id = MODEL_ANTHROPIC,
    .name = "anthropic",
    .base = "https://api.anthropic.com",
    .path = anthropic_path,
    .compose = anthropic_compose,
    .event = anthropic_event,
    .native = anthropic_native,
};
