/* SPDX-License-Identifier: ISC */
/*
 * A model's answer, in the dialect that the first byte names, read whole and
 * cut where it says: both ways give the same result.  What was read is then
 * composed into a request of every dialect.
 */
#include <stdlib.h>

#include "docker/model/model_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void
read_answer(
    enum model_dialect d, struct span in, size_t step, struct model_answer *out)
{
	struct stream s;

	*out = (struct model_answer){0};
	if (stream_init(&s, dialect_find(d), NULL, out) == -1)
		abort();
	for (size_t i = 0; i < in.len; i += step) {
		if (stream_feed(
			&s, span_of(in.p + i,
				in.len - i < step ? in.len - i : step)) == -1)
			break;
	}
	stream_end(&s);
	model_stream_free(&s);
}

/* Whatever was read can be sent, as one JSON text. */
static void
send_again(const struct model_message *m)
{
	struct model_message all[2] = {
	    *m, {.role = MODEL_TOOL, .text = m->text}};
	struct model_request r = {
	    .name = "m", .max_output = 1, .messages = all, .nmessages = 2};
	struct value_pool *pool = value_pool_new(MODEL_POOL);
	struct buf b;

	if (m->ncalls != 0) {
		all[1].call_id = m->calls[0].id;
		all[1].call_name = m->calls[0].name;
	}
	for (int d = MODEL_ANTHROPIC; d <= MODEL_GEMINI; d++) {
		buf_init(&b, MODEL_REQUEST_MAX);
		dialect_find((enum model_dialect)d)->compose(&b, &r);
		if (!b.failed && json_read_large(pool, buf_span(&b), 1000000,
				     MODEL_REQUEST_MAX, NULL) == NULL)
			abort();
		value_pool_reset(pool);
		buf_free(&b);
	}
	value_pool_free(pool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum model_dialect d;
	struct model_answer a, b;
	struct model_message m;

	if (size < 2)
		return 0;
	d = (enum model_dialect)(data[0] & 3);
	read_answer(d, span_of(data + 1, size - 1), size, &a);
	read_answer(d, span_of(data + 1, size - 1), 1 + (data[0] >> 2), &b);
	if (a.error != b.error || a.stop != b.stop || a.ncalls != b.ncalls ||
	    !same(a.text, b.text) || !same(a.native, b.native))
		abort();
	for (size_t i = 0; i < a.ncalls; i++) {
		if (!same(a.calls[i].name, b.calls[i].name) ||
		    !same(a.calls[i].args, b.calls[i].args))
			abort();
	}
	model_answer_take(&a, d, &m);
	send_again(&m);
	model_message_free(&m);
	model_answer_free(&a);
	model_answer_free(&b);
	return 0;
}
