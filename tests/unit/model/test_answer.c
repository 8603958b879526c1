/* SPDX-License-Identifier: ISC */
/* Answers of every dialect, good and bad, fed whole and byte by byte. */
#include <stdio.h>
#include <stdlib.h>

#include "docker/model/model_priv.h"
#include "tests/lib/tap.h"
#include "tests/unit/model/answer_rows.h"

static struct buf shown;

static void
show_text(void *arg, struct span text)
{
	buf_addspan(&shown, text);
}

static const struct model_show show = {.text = show_text};

static void
read_answer(const struct answer_row *row, struct span in, size_t step,
    struct model_answer *out)
{
	struct stream s;
	size_t n;

	*out = (struct model_answer){0};
	buf_reset(&shown, 0);
	stream_init(&s, dialect_find(row->dialect), &show, out);
	for (size_t i = 0; i < in.len; i += n) {
		n = in.len - i < step ? in.len - i : step;
		if (stream_feed(&s, span_of(in.p + i, n)) == -1)
			break;
	}
	stream_end(&s);
	model_stream_free(&s);
}

/* Describe what was read: "text|name(args)|...|stop" or "error: sentence". */
static char *
describe(const struct model_answer *a)
{
	static const char *const stops[] = {
	    "end", "calls", "length", "refused"};
	struct buf b;
	char *s;

	buf_init(&b, 1 << 20);
	if (a->error != MODEL_OK) {
		buf_printf(&b, "%s: %s", model_error_name(a->error), a->why);
	} else {
		buf_adds(&b, a->text != NULL ? a->text : "");
		for (size_t i = 0; i < a->ncalls; i++)
			buf_printf(&b, "|%s:%s(%s)", a->calls[i].id,
			    a->calls[i].name,
			    a->calls[i].args != NULL ? a->calls[i].args
						     : "BAD");
		buf_printf(&b, "|%s", stops[a->stop]);
		if (a->usage.in + a->usage.out != 0)
			buf_printf(&b, "|%llu/%llu/%llu",
			    (unsigned long long)a->usage.in,
			    (unsigned long long)a->usage.out,
			    (unsigned long long)a->usage.cache_read);
	}
	s = span_dup(buf_span(&b));
	buf_free(&b);
	return s;
}

/* Returns the answer's bytes: each line of the row is the data of an event. */
static void
events(const struct answer_row *row, struct buf *b)
{
	struct span rest = span_str(row->events), line;

	buf_init(b, 1 << 20);
	while (span_line(&rest, &line)) {
		buf_adds(b, row->crlf ? "data:" : "event: x\ndata: ");
		buf_addspan(b, line);
		buf_adds(b, row->crlf ? "\r\n\r\n" : "\n\n");
	}
}

/* Send the answer back in its own dialect; returns the request. */
static char *
send_back(const struct answer_row *row, struct model_answer *a)
{
	struct model_message m;
	struct model_request r = {
	    .name = "gpt-9", .max_output = 1, .messages = &m, .nmessages = 1};
	struct buf b;
	char *s;

	model_answer_take(a, row->dialect, &m);
	buf_init(&b, 1 << 20);
	dialect_find(row->dialect)->compose(&b, &r);
	s = span_dup(buf_span(&b));
	buf_free(&b);
	model_message_free(&m);
	return s;
}

static void
test_row(const struct answer_row *row)
{
	struct model_answer a;
	struct buf b;
	char *s;

	events(row, &b);
	read_answer(row, buf_span(&b), b.len + 1, &a);
	s = describe(&a);
	is_str(s, row->want, "%s", row->name);
	free(s);
	if (a.error == MODEL_OK && a.text != NULL)
		ok(span_is(buf_span(&shown), a.text) || row->parts,
		    "%s: the text was shown", row->name);
	if (row->back != NULL) {
		s = send_back(row, &a);
		ok(strstr(s, row->back) != NULL, "%s: goes back as it came: %s",
		    row->name, s);
		free(s);
	}
	model_answer_free(&a);
	read_answer(row, buf_span(&b), 1, &a);
	s = describe(&a);
	is_str(s, row->want, "%s, byte by byte", row->name);
	free(s);
	model_answer_free(&a);
	buf_free(&b);
}

/* An answer that does not end, or is one huge event. */
static void
test_floods(void)
{
	static const char piece[] =
	    "data: {\"choices\":[{\"delta\":{\"content\":\"aaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}]"
	    "}\n\n";
	struct model_answer a = {0};
	struct stream s;
	size_t n = 0;

	stream_init(&s, &dialect_chat, NULL, &a);
	while (stream_feed(&s, SPAN(piece)) == 0 && n < 64 << 20)
		n += sizeof(piece) - 1;
	is_int(a.error, MODEL_HARD, "text without end is refused");
	ok(n < MODEL_ANSWER_MAX, "at its limit: %zu", n);
	ok(strstr(a.why, "too large") != NULL, "and said: %s", a.why);
	stream_end(&s);
	model_stream_free(&s);
	model_answer_free(&a);

	stream_init(&s, &dialect_chat, NULL, &a);
	for (n = 0; stream_feed(&s, SPAN(":ping\n\n")) == 0 && n < 64 << 20;)
		n += 7;
	is_int(a.error, MODEL_HARD, "comments without end are refused");
	ok(n <= MODEL_ANSWER_MAX, "at the limit of an answer: %zu", n);
	stream_end(&s);
	model_stream_free(&s);
	model_answer_free(&a);

	stream_init(&s, &dialect_chat, NULL, &a);
	stream_feed(&s, SPAN("data: {\"a\":\""));
	for (n = 0;
	     stream_feed(&s, SPAN("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")) == 0 &&
	     n < 64 << 20;)
		n += 32;
	is_int(a.error, MODEL_HARD, "one event without end is refused");
	is_str(a.why, "The provider sent an event of over 4 MB.", "and said");
	stream_end(&s);
	model_stream_free(&s);
	model_answer_free(&a);
}

static void
test_refusals(void)
{
	struct model_answer a;

	for (size_t i = 0; i < nitems(refusal_rows); i++) {
		a = (struct model_answer){0};
		error_classify(
		    &a, refusal_rows[i].status, span_str(refusal_rows[i].body));
		is_str(model_error_name(a.error), refusal_rows[i].error,
		    "status %u: %s", refusal_rows[i].status,
		    refusal_rows[i].body);
		ok(strstr(a.why, refusal_rows[i].said) != NULL, "says: %s",
		    a.why);
	}
}

int
main(void)
{
	buf_init(&shown, 1 << 24);
	for (size_t i = 0; i < nitems(answer_rows); i++)
		test_row(&answer_rows[i]);
	test_floods();
	test_refusals();
	buf_free(&shown);
	return tap_done();
}
