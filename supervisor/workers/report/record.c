/* SPDX-License-Identifier: ISC */
/*
 * Finds records, and puts their columns, or the whole of them as JSON. A text
 * that is searched for is first looked for in the bytes of the file, and only a
 * line that has it is parsed.
 */
#include "workers/report/parts.h"

#include <stdio.h>
#include <string.h>

static struct buf record_text = {.max = REPORT_FRAME};

static void
put_bad(uint64_t number, const char *why, struct report_end *e)
{
	struct report_bad bad;

	memset(&bad, 0, sizeof(bad));
	bad.line = number;
	(void)strlcpy(bad.why, why, sizeof(bad.why));
	e->left_out++;
	/* A damaged file may have millions of them. */
	if (e->left_out <= 20)
		report_put(REPORT_BAD, span_of(&bad, sizeof(bad)), SPAN(""));
}

const struct value *
report_parse(struct span line, uint64_t number, struct value_pool *pool,
    struct report_end *e)
{
	const struct value *v;
	struct json_fail fail;

	if (line.len > REPORT_LINE) {
		put_bad(number, "it is longer than 16 MiB", e);
		return NULL;
	}
	v = json_read_large(pool, line, 400000, REPORT_LINE, &fail);
	if (v != NULL && v->type == VALUE_OBJECT &&
	    value_str(v, "event").p != NULL)
		return v;
	put_bad(number,
	    v != NULL ? "it is no record" : json_strerror(fail.error), e);
	value_pool_reset(pool);
	return NULL;
}

static bool
has(struct span text, const char *wanted)
{
	return wanted == NULL || span_is(text, wanted);
}

static bool
record_wanted(const struct report_filter *f, int64_t at,
    const struct span cols[REPORT_NCOLS])
{
	if ((f->since != 0 && at < f->since) ||
	    (f->until != 0 && at >= f->until))
		return false;
	if (!has(cols[COL_DECISION], f->decision) &&
	    !has(cols[COL_ANSWER], f->decision))
		return false;
	return has(cols[COL_TOOL], f->tool) &&
	       has(cols[COL_SERVER], f->server) &&
	       has(cols[COL_HOST], f->host) && has(cols[COL_EVENT], f->event);
}

static uint64_t
record_number(const struct value *v, const char *key)
{
	const struct value *n = value_get(v, key);
	uint64_t out = 0;

	if (n != NULL && n->type == VALUE_NUMBER)
		(void)span_u64(n->text, UINT64_MAX, &out);
	return out;
}

static void
record_put(struct report_record *r, const struct span cols[REPORT_NCOLS])
{
	struct report_column c;
	size_t from = record_text.len;

	for (uint32_t i = 0; i < REPORT_NCOLS; i++) {
		if (cols[i].len == 0)
			continue;
		c = (struct report_column){i, (uint32_t)cols[i].len};
		buf_add(&record_text, &c, sizeof(c));
		buf_addspan(&record_text, cols[i]);
		r->ncols++;
	}
	if (record_text.failed)
		return;
	report_put(REPORT_RECORD, span_of(r, sizeof(*r)),
	    span_of(buf_span(&record_text).p + from, record_text.len - from));
}

static void
record_line(struct span line, uint64_t number, const struct report_filter *f,
    struct value_pool *pool, struct report_end *e)
{
	const struct value *v = report_parse(line, number, pool, e);
	struct span cols[REPORT_NCOLS], hash;
	enum report_event event;
	struct report_record r;

	if (v == NULL)
		return;
	memset(&r, 0, sizeof(r));
	event = report_find(value_str(v, "event"));
	buf_reset(&record_text, 1U << 20);
	/* The columns point into the text, which must not move. */
	(void)buf_room(&record_text, 2 * line.len + 4096);
	report_columns(v, event, f->brief, &record_text, cols);
	r.time = report_time(cols[COL_TIME]);
	if (record_wanted(f, r.time, cols)) {
		e->records++;
		r.seq = record_number(v, "seq");
		r.line = number;
		r.event = event;
		hash = value_str(v, "hash");
		if (hash.p == NULL || span_copy(hash, r.hash, sizeof(r.hash)))
			r.hash[0] = '\0';
		if (f->json)
			report_put(REPORT_RECORD, span_of(&r, sizeof(r)), line);
		else
			record_put(&r, cols);
	}
	value_pool_reset(pool);
}

/* Move `rest` to the line that has the text next. Returns false without one. */
static bool
record_seek(struct span *rest, struct span text, uint64_t *number)
{
	const uint8_t *at, *nl, *p;

	if (text.len == 0)
		return true;
	if ((at = span_find(*rest, text)) == NULL)
		return false;
	for (p = rest->p; (nl = memchr(p, '\n', (size_t)(at - p))) != NULL;
	     p = nl + 1)
		(*number)++;
	*rest = span_of(p, (size_t)(rest->p + rest->len - p));
	return true;
}

void
report_records(struct span all, const struct report_filter *f,
    struct value_pool *pool, struct report_end *e)
{
	struct span rest = all, line;
	uint64_t number = 0;

	while (rest.len != 0 && record_seek(&rest, f->text, &number) &&
	       span_line(&rest, &line)) {
		number++;
		/* A crash may leave a torn line, and a session goes on. */
		if (rest.p == line.p + line.len &&
		    (line.len == 0 || line.p[line.len - 1] != '}')) {
			e->cut = line.len;
			break;
		}
		record_line(line, number, f, pool, e);
	}
	buf_free(&record_text);
	record_text.max = REPORT_FRAME;
}
