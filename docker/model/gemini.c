/* SPDX-License-Identifier: ISC */
/* Google's Gemini. Parts are kept as they came, for their signatures. */
#include "docker/model/model_priv.h"

#include <stdlib.h>

static void
gemini_path(struct buf *b, const char *model)
{
	buf_adds(b, "/v1beta/models/");
	buf_adds(b, model);
	buf_adds(b, ":streamGenerateContent?alt=sse");
}

/* An id that stream.c made is not the provider's. */
static void
put_id(struct buf *b, const char *id)
{
	if (id == NULL || strncmp(id, "ic-call-", 8) == 0)
		return;
	put_key(b, false, "id");
	compose_str(b, id);
	buf_addc(b, ',');
}

static void
put_result(struct buf *b, const struct model_message *m)
{
	buf_adds(b, "{\"functionResponse\":{");
	put_id(b, m->call_id);
	put_key(b, false, "name");
	compose_str(b, m->call_name);
	buf_adds(b, ",\"response\":{");
	put_key(b, false, m->is_error ? "error" : "output");
	compose_str(b, m->text);
	buf_adds(b, "}}}");
}

static void
put_text(struct buf *b, const char *text)
{
	buf_adds(b, "{\"text\":");
	compose_str(b, text != NULL && *text != '\0' ? text : " ");
	buf_addc(b, '}');
}

static void
put_assistant(struct buf *b, const struct model_message *m)
{
	bool more = m->text != NULL && *m->text != '\0';

	buf_adds(b, "{\"role\":\"model\",\"parts\":");
	if (native_fits(m, MODEL_GEMINI)) {
		put_json(b, m->native, "[]");
		buf_addc(b, '}');
		return;
	}
	buf_addc(b, '[');
	if (more || m->ncalls == 0)
		put_text(b, m->text);
	for (size_t i = 0; i < m->ncalls; i++) {
		buf_adds(b, more || i != 0 ? ",{" : "{");
		buf_adds(b, "\"functionCall\":{");
		put_id(b, m->calls[i].id);
		put_key(b, false, "name");
		compose_str(b, m->calls[i].name);
		put_key(b, true, "args");
		put_json(b, m->calls[i].args, "{}");
		buf_adds(b, "}}");
	}
	buf_adds(b, "]}");
}

static void
put_contents(struct buf *b, const struct model_request *r)
{
	const struct model_message *m;
	bool open = false;

	for (size_t i = 0; i < r->nmessages; i++) {
		m = &r->messages[i];
		if (open && m->role == MODEL_ASSISTANT) {
			buf_adds(b, "]}");
			open = false;
		}
		buf_adds(b, i != 0 ? "," : "");
		if (m->role == MODEL_ASSISTANT) {
			put_assistant(b, m);
			continue;
		}
		buf_adds(b, open ? "" : "{\"role\":\"user\",\"parts\":[");
		open = true;
		if (m->role == MODEL_TOOL)
			put_result(b, m);
		else
			put_text(b, m->text);
	}
	buf_adds(b, open ? "]}" : "");
}

static void
gemini_compose(struct buf *b, const struct model_request *r)
{
	buf_addc(b, '{');
	if (r->system != NULL) {
		put_key(b, false, "systemInstruction");
		buf_adds(b, "{\"parts\":[");
		put_text(b, r->system);
		buf_adds(b, "]},");
	}
	buf_printf(
	    b, "\"generationConfig\":{\"maxOutputTokens\":%u}", r->max_output);
	if (r->ntools != 0)
		compose_tools(b, r, "[{\"functionDeclarations\":[", "{",
		    "parametersJsonSchema", "}", "]}]");
	put_key(b, true, "contents");
	buf_addc(b, '[');
	put_contents(b, r);
	buf_adds(b, "]}");
}

static int
take_call(struct stream *s, const struct value *call)
{
	const struct value *args = value_get(call, "args");
	struct block *b = stream_block(s, BLOCK_CALL, s->nblocks + 1);

	if (b == NULL || stream_name(s, &b->id, value_str(call, "id")) == -1 ||
	    stream_name(s, &b->name, value_str(call, "name")) == -1)
		return -1;
	if (args != NULL)
		json_write(&b->body, args);
	return stream_add(s, &b->body, SPAN(""));
}

/*
 * Keep a part. Pieces of one text that carry nothing else become one part, for
 * a signature belongs to the part that it came with.
 */
static int
keep_part(struct stream *s, const struct value *part)
{
	buf_adds(&s->native, s->native.len != 0 ? "," : "");
	json_write(&s->native, part);
	return stream_add(s, &s->native, SPAN(""));
}

static int
take_part(struct stream *s, const struct value *part)
{
	const struct value *call = value_get(part, "functionCall");
	struct span text = value_str(part, "text");
	struct block *b;

	if (part->type != VALUE_OBJECT)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer has a part that is not an object.");
	if (keep_part(s, part) == -1)
		return -1;
	if (call != NULL)
		return take_call(s, call);
	if (text.len == 0 || value_bool(part, "thought", false))
		return 0;
	/* Text goes on in the block that was the last. */
	b = s->nblocks != 0 && s->blocks[s->nblocks - 1].kind == BLOCK_TEXT
		? &s->blocks[s->nblocks - 1]
		: stream_block(s, BLOCK_TEXT, s->nblocks + 1);
	return stream_text(s, b, text);
}

static void
take_usage(struct model_usage *u, const struct value *v)
{
	if (v == NULL || v->type != VALUE_OBJECT)
		return;
	u->in = stream_count(v, "promptTokenCount");
	u->out = stream_count(v, "candidatesTokenCount") +
		 stream_count(v, "thoughtsTokenCount");
	u->cache_read = stream_count(v, "cachedContentTokenCount");
}

static int
take_stop(struct stream *s, struct span stop)
{
	if (stop.len == 0)
		return 0;
	s->stopped = true;
	if (span_is(stop, "MAX_TOKENS"))
		s->out->stop = MODEL_STOP_LENGTH;
	else if (span_is(stop, "MALFORMED_FUNCTION_CALL") ||
		 span_is(stop, "UNEXPECTED_TOOL_CALL"))
		return stream_fail(s, MODEL_TRANSIENT,
		    "The model wrote a call that the provider cannot read.");
	else if (!span_is(stop, "STOP"))
		s->out->stop = MODEL_STOP_REFUSED;
	return 0;
}

static int
gemini_event(struct stream *s, const struct value *v)
{
	const struct value *error = value_get(v, "error"), *list, *parts;

	if (error != NULL)
		return error_event(s, error);
	take_usage(&s->out->usage, value_get(v, "usageMetadata"));
	if (value_str(value_get(v, "promptFeedback"), "blockReason").p !=
	    NULL) {
		s->stopped = true;
		s->out->stop = MODEL_STOP_REFUSED;
	}
	list = value_get(v, "candidates");
	if (list == NULL || list->type != VALUE_ARRAY || list->child == NULL)
		return 0;
	parts = value_get(value_get(list->child, "content"), "parts");
	if (parts != NULL && parts->type == VALUE_ARRAY) {
		for (const struct value *p = parts->child; p != NULL;
		     p = p->next) {
			if (take_part(s, p) == -1)
				return -1;
		}
	}
	return take_stop(s, value_str(list->child, "finishReason"));
}

const struct dialect dialect_gemini = {
    .id = MODEL_GEMINI,
    .name = "gemini",
    .base = "https://generativelanguage.googleapis.com",
    .path = gemini_path,
    .compose = gemini_compose,
    .event = gemini_event,
    .native = stream_native,
};
