/* SPDX-License-Identifier: ISC */
/*
 * An answer while it arrives: the bytes of the body become events, the events
 * fill blocks, and at the end the blocks become text and calls.
 */
#include "docker/model/model_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct dialect *const stream_dialects[] = {
    &dialect_anthropic, &dialect_responses, &dialect_chat, &dialect_gemini};

const struct dialect *
dialect_find(enum model_dialect id)
{
	for (size_t i = 0; i < nitems(stream_dialects); i++) {
		if (stream_dialects[i]->id == id)
			return stream_dialects[i];
	}
	return NULL;
}

int
stream_fail(struct stream *s, enum model_error error, const char *fmt, ...)
{
	va_list ap;

	if (s->out->error != MODEL_OK)
		return -1;
	s->out->error = error;
	va_start(ap, fmt);
	vsnprintf(s->out->why, sizeof(s->out->why), fmt, ap);
	va_end(ap);
	return -1;
}

int
stream_init(struct stream *s, const struct dialect *d,
    const struct model_show *show, struct model_answer *out)
{
	*s = (struct stream){.dialect = d, .show = show, .out = out};
	sse_init(&s->sse);
	buf_init(&s->native, MODEL_ANSWER_MAX);
	s->blocks = calloc(MODEL_BLOCKS_MAX, sizeof(*s->blocks));
	s->pool = value_pool_new(MODEL_POOL);
	if (s->blocks == NULL || s->pool == NULL)
		return stream_fail(s, MODEL_HARD, "There is no memory left.");
	return 0;
}

void
model_stream_free(struct stream *s)
{
	for (size_t i = 0; i < s->nblocks; i++) {
		free(s->blocks[i].id);
		free(s->blocks[i].name);
		buf_free(&s->blocks[i].body);
		buf_free(&s->blocks[i].extra);
	}
	free(s->blocks);
	s->blocks = NULL;
	s->nblocks = 0;
	value_pool_free(s->pool);
	s->pool = NULL;
	buf_free(&s->native);
	sse_free(&s->sse);
}

struct block *
model_stream_find(struct stream *s, uint64_t index)
{
	for (size_t i = s->nblocks; i-- > 0;) {
		if (s->blocks[i].index == index)
			return &s->blocks[i];
	}
	return NULL;
}

struct block *
stream_block(struct stream *s, enum block_kind kind, uint64_t index)
{
	struct block *b = model_stream_find(s, index);

	if (b != NULL && b->kind == kind)
		return b;
	if (b != NULL) {
		stream_fail(s, MODEL_HARD,
		    "The provider changed the kind of a part of its answer.");
		return NULL;
	}
	if (s->nblocks == MODEL_BLOCKS_MAX ||
	    (kind == BLOCK_CALL && s->ncalls == MODEL_CALLS_MAX)) {
		stream_fail(s, MODEL_HARD,
		    "The model's answer has too many parts: %u calls and %u "
		    "parts are the limit.",
		    MODEL_CALLS_MAX, MODEL_BLOCKS_MAX);
		return NULL;
	}
	b = &s->blocks[s->nblocks++];
	b->kind = kind;
	b->index = index;
	s->ncalls += kind == BLOCK_CALL;
	buf_init(
	    &b->body, kind == BLOCK_CALL ? MODEL_ARGS_MAX : MODEL_TEXT_MAX);
	buf_init(&b->extra, MODEL_EVENT_MAX);
	return b;
}

int
stream_add(struct stream *s, struct buf *b, struct span text)
{
	buf_addspan(b, text);
	if (buf_check(b) == -1)
		return stream_fail(s, MODEL_HARD,
		    "The model's answer is too large: a part of it exceeds "
		    "%zu MB.",
		    b->max >> 20);
	return 0;
}

int
stream_text(struct stream *s, struct block *b, struct span text)
{
	if (b == NULL)
		return -1;
	if (text.len == 0)
		return 0;
	if (text.len > MODEL_TEXT_MAX - s->text)
		return stream_fail(s, MODEL_HARD,
		    "The model's answer is too large: its text exceeds %u MB.",
		    MODEL_TEXT_MAX >> 20);
	s->text += text.len;
	if (stream_add(s, &b->body, text) == -1)
		return -1;
	if (b->kind == BLOCK_TEXT && s->show != NULL && s->show->text != NULL) {
		s->shown = true;
		s->show->text(s->show->arg, text);
	}
	return 0;
}

int
stream_name(struct stream *s, char **to, struct span name)
{
	if (name.len == 0 || *to != NULL)
		return 0;
	if (name.len > MODEL_NAME_MAX)
		return stream_fail(s, MODEL_HARD,
		    "A call in the model's answer has a name of over %u bytes.",
		    MODEL_NAME_MAX);
	if ((*to = span_dup(name)) == NULL)
		return stream_fail(s, MODEL_HARD,
		    "A call in the model's answer has an unusable name.");
	return 0;
}

void
stream_native(struct stream *s, struct buf *b)
{
	if (s->native.len == 0)
		return;
	buf_addc(b, '[');
	buf_addspan(b, buf_span(&s->native));
	buf_addc(b, ']');
}

uint64_t
stream_count(const struct value *v, const char *member)
{
	int64_t n = 0;

	if (value_int(value_get(v, member), 0, INT32_MAX, &n) == -1)
		return 0;
	return (uint64_t)n;
}

static int
stream_event(void *arg, struct span data)
{
	struct stream *s = arg;
	const struct value *v;
	struct json_fail fail;

	if (s->done || span_is(data, "[DONE]"))
		return 0;
	value_pool_reset(s->pool);
	/* A character may be cut in two between events: that is no reason. */
	if ((v = json_read_repaired(s->pool, data, &fail)) == NULL)
		return stream_fail(s, MODEL_HARD,
		    "The provider sent an event that is not strict JSON: %s at "
		    "byte %zu.",
		    json_strerror(fail.error), fail.at);
	if (v->type != VALUE_OBJECT)
		return stream_fail(s, MODEL_HARD,
		    "The provider sent an event that is not a JSON object.");
	return s->dialect->event(s, v);
}

int
stream_feed(struct stream *s, struct span in)
{
	if (s->out->error != MODEL_OK)
		return -1;
	if (in.len > MODEL_ANSWER_MAX - s->total)
		return stream_fail(s, MODEL_HARD,
		    "The provider's answer is too large: over %u MB.",
		    MODEL_ANSWER_MAX >> 20);
	s->total += in.len;
	if (sse_feed(&s->sse, in, stream_event, s) == 0)
		return 0;
	return stream_fail(s, MODEL_HARD,
	    errno == ENOBUFS ? "The provider sent an event of over 4 MB."
			     : "The provider's answer could not be read.");
}

/* Take the arguments, if they are one object; no arguments are an empty one. */
static char *
call_args(struct stream *s, struct span text)
{
	const struct value *v;
	struct buf b;
	char *args = NULL;

	if (text.len == 0)
		text = SPAN("{}");
	value_pool_reset(s->pool);
	if ((v = json_read(s->pool, text, NULL)) == NULL ||
	    v->type != VALUE_OBJECT)
		return NULL;
	buf_init(&b, MODEL_ARGS_MAX * 2);
	if (json_write(&b, v) == 0)
		args = span_dup(buf_span(&b));
	buf_free(&b);
	return args;
}

static int
end_call(struct stream *s, struct block *b, struct model_answer *out)
{
	struct model_call *c = &out->calls[out->ncalls];
	char id[32];

	if (b->name == NULL)
		return stream_fail(
		    s, MODEL_HARD, "A call in the model's answer has no name.");
	/* Gemini may leave the id out: this one is never sent to it. */
	snprintf(id, sizeof(id), "ic-call-%zu", out->ncalls + 1);
	if (b->id == NULL && (b->id = strdup(id)) == NULL)
		return stream_fail(s, MODEL_HARD, "There is no memory left.");
	c->args = call_args(s, buf_span(&b->body));
	c->id = b->id;
	c->name = b->name;
	b->id = b->name = NULL;
	out->ncalls++;
	return 0;
}

static char *
text_of(struct buf *b)
{
	struct span t = buf_span(b);
	char *s;

	/* U+0000 has no place in the strings that are kept. */
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] == 0)
			b->p[b->off + i] = ' ';
	}
	s = span_dup(t);
	return s;
}

static int
end_blocks(struct stream *s)
{
	struct model_answer *out = s->out;
	struct buf text;
	int r = 0;

	buf_init(&text, MODEL_TEXT_MAX + MODEL_BLOCKS_MAX);
	if (s->ncalls != 0 &&
	    (out->calls = calloc(s->ncalls, sizeof(*out->calls))) == NULL)
		r = stream_fail(s, MODEL_HARD, "There is no memory left.");
	for (size_t i = 0; r == 0 && i < s->nblocks; i++) {
		if (s->blocks[i].kind == BLOCK_TEXT) {
			if (text.len != 0 && s->blocks[i].body.len != 0 &&
			    s->dialect->id != MODEL_GEMINI)
				buf_addc(&text, '\n');
			buf_addspan(&text, buf_span(&s->blocks[i].body));
		} else if (s->blocks[i].kind == BLOCK_CALL) {
			r = end_call(s, &s->blocks[i], out);
		}
	}
	if (text.len != 0 && (out->text = text_of(&text)) == NULL && r == 0)
		r = stream_fail(s, MODEL_HARD, "There is no memory left.");
	buf_free(&text);
	return r;
}

/* Keep the text that arrived, of an answer that failed. */
static int
end_failed(struct stream *s)
{
	enum model_error error = s->out->error;

	s->ncalls = 0;
	for (size_t i = 0; i < s->nblocks; i++) {
		if (s->blocks[i].kind == BLOCK_CALL)
			s->blocks[i].kind = BLOCK_OTHER;
	}
	end_blocks(s);
	s->out->error = error;
	return -1;
}

int
stream_end(struct stream *s)
{
	struct model_answer *out = s->out;
	struct buf native;

	if (out->error == MODEL_OK && !s->stopped)
		stream_fail(s, MODEL_TRANSIENT,
		    s->total == 0 ? "The provider's answer was empty."
				  : "The provider's answer broke off.");
	if (out->error != MODEL_OK)
		return end_failed(s);
	buf_init(&native, MODEL_ANSWER_MAX);
	s->dialect->native(s, &native);
	if (native.len != 0 && !native.failed)
		out->native = span_dup(buf_span(&native));
	buf_free(&native);
	if (end_blocks(s) == -1)
		return -1;
	if (out->ncalls != 0 && out->stop == MODEL_STOP_END)
		out->stop = MODEL_STOP_CALLS;
	if (out->text == NULL && out->ncalls == 0 &&
	    out->stop == MODEL_STOP_END)
		return stream_fail(
		    s, MODEL_TRANSIENT, "The model answered with nothing.");
	return 0;
}
