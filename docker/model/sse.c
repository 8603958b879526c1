/* SPDX-License-Identifier: ISC */
/*
 * Server-sent events.  Only data matters here: the types of events are repeated
 * in the data of each dialect that has types.  Lines end with LF, CR or both.
 */
#include "docker/model/model_priv.h"

#include <errno.h>

void
sse_init(struct sse *s)
{
	*s = (struct sse){0};
	buf_init(&s->line, MODEL_EVENT_MAX + 64);
	buf_init(&s->data, MODEL_EVENT_MAX);
}

void
sse_free(struct sse *s)
{
	buf_free(&s->line);
	buf_free(&s->data);
}

static int
sse_line(struct sse *s, sse_event_fn *fn, void *arg)
{
	struct span line = buf_span(&s->line), data = buf_span(&s->data);
	int r = 0;

	if (line.len == 0) {
		/* The newline of the last data line is not part of it. */
		if (data.len > 1)
			r = fn(arg, span_of(data.p, data.len - 1));
		buf_reset(&s->data, 65536);
		return r;
	}
	if (!span_starts(line, SPAN("data")) ||
	    (line.len > 4 && line.p[4] != ':'))
		return 0;
	line = span_of(line.p + 4, line.len - 4);
	if (line.len != 0)
		line = span_of(line.p + 1, line.len - 1);
	if (line.len != 0 && line.p[0] == ' ')
		line = span_of(line.p + 1, line.len - 1);
	buf_addspan(&s->data, line);
	buf_addc(&s->data, '\n');
	return buf_check(&s->data);
}

static int
sse_end_line(struct sse *s, sse_event_fn *fn, void *arg)
{
	int r;

	if (!s->begun && span_starts(buf_span(&s->line), SPAN("\xef\xbb\xbf")))
		buf_drain(&s->line, 3);
	s->begun = true;
	r = sse_line(s, fn, arg);
	buf_reset(&s->line, 65536);
	return r;
}

int
sse_feed(struct sse *s, struct span in, sse_event_fn *fn, void *arg)
{
	const uint8_t *p = in.p, *end = in.p + in.len, *q;

	while (p < end) {
		if (s->cr && *p == '\n') {
			s->cr = false;
			p++;
			continue;
		}
		s->cr = false;
		for (q = p; q < end && *q != '\n' && *q != '\r'; q++)
			continue;
		buf_add(&s->line, p, (size_t)(q - p));
		if (buf_check(&s->line) == -1) {
			errno = ENOBUFS;
			return -1;
		}
		if (q == end)
			break;
		s->cr = *q == '\r';
		if (sse_end_line(s, fn, arg) == -1)
			return -1;
		p = q + 1;
	}
	return 0;
}
