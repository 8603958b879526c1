/* SPDX-License-Identifier: ISC */
/*
 * The stream comes from a remote server, which may be hostile: a line, an
 * event's data and its name have limits, and whatever exceeds them costs that
 * event alone.
 */
#include "mcp/mcp_sse.h"

/* The longest name of a field that counts, with its colon and a space. */
#define SSE_FIELD 8U

void
mcp_sse_init(struct mcp_sse *s, size_t max)
{
	*s = (struct mcp_sse){.max = max};
	buf_init(&s->line, max + SSE_FIELD);
	buf_init(&s->data, max);
}

void
mcp_sse_free(struct mcp_sse *s)
{
	buf_free(&s->line);
	buf_free(&s->data);
}

size_t
mcp_sse_held(const struct mcp_sse *s)
{
	return s->line.len + s->data.len;
}

static void
mcp_sse_reset(struct mcp_sse *s)
{
	s->has = s->over = s->given = false;
	s->name[0] = '\0';
	buf_reset(&s->data, 0);
}

/* Too much for one event: the rest of it is only looked at for its end. */
static void
mcp_sse_spoil(struct mcp_sse *s)
{
	s->over = true;
	buf_reset(&s->line, 0);
	buf_reset(&s->data, 0);
}

static void
mcp_sse_add(struct mcp_sse *s, struct span part)
{
	if (part.len == 0)
		return;
	s->any = true;
	if (s->over)
		return;
	buf_addspan(&s->line, part);
	if (s->line.failed)
		mcp_sse_spoil(s);
}

static void
mcp_sse_data(struct mcp_sse *s, struct span value)
{
	if (s->has)
		buf_addc(&s->data, '\n');
	s->has = true;
	buf_addspan(&s->data, value);
	if (s->data.failed)
		mcp_sse_spoil(s);
}

/* An id that is no good as a header's value is as if there were none. */
static void
mcp_sse_id(struct mcp_sse *s, struct span value)
{
	for (size_t i = 0; i < value.len; i++) {
		if (value.p[i] <= 0x20 || value.p[i] > 0x7e) {
			value.len = 0;
			break;
		}
	}
	if (span_copy(value, s->next, sizeof(s->next)) == -1)
		s->next[0] = '\0';
}

static void
mcp_sse_retry(struct mcp_sse *s, struct span value)
{
	uint64_t ms;

	if (span_u64(value, UINT64_MAX, &ms) == 0)
		s->retry =
		    ms < SSE_RETRY_MAX ? (uint32_t)ms : SSE_RETRY_MAX;
}

static void
mcp_sse_field(struct mcp_sse *s, struct span line)
{
	const uint8_t *colon = memchr(line.p, ':', line.len);
	struct span name = line, value = SPAN("");

	if (colon != NULL) {
		name.len = (size_t)(colon - line.p);
		value = span_of(colon + 1, line.len - name.len - 1);
	}
	if (value.len != 0 && value.p[0] == ' ')
		value = span_of(value.p + 1, value.len - 1);
	if (span_is(name, "data"))
		mcp_sse_data(s, value);
	else if (span_is(name, "id"))
		mcp_sse_id(s, value);
	else if (span_is(name, "retry"))
		mcp_sse_retry(s, value);
	else if (span_is(name, "event") &&
		 span_copy(value, s->name, sizeof(s->name)) == -1)
		(void)span_copy(SPAN("?"), s->name, sizeof(s->name));
}

/* A line has ended. Returns true if that ends an event. */
static bool
mcp_sse_line(struct mcp_sse *s)
{
	struct span line = buf_span(&s->line);
	bool empty = !s->any;

	if (!s->begun && span_starts(line, SPAN("\xef\xbb\xbf"))) {
		line = span_of(line.p + 3, line.len - 3);
		empty = line.len == 0;
	}
	s->begun = true;
	s->any = false;
	if (empty)
		return true;
	/* A line that begins with a colon is a comment. */
	if (!s->over && line.p[0] != ':')
		mcp_sse_field(s, line);
	buf_reset(&s->line, 0);
	return false;
}

/* Returns what an empty line ends; an event without data counts as none. */
static enum mcp_sse_got
mcp_sse_end(struct mcp_sse *s, struct mcp_event *ev)
{
	buf_reset(&s->line, 0);
	s->given = true;
	memcpy(s->id, s->next, sizeof(s->id));
	if (s->over)
		return SSE_LONG;
	if (s->data.len == 0)
		return SSE_MORE;
	ev->name = span_str(s->name);
	ev->data = buf_span(&s->data);
	return SSE_EVENT;
}

enum mcp_sse_got
mcp_sse_next(struct mcp_sse *s, struct span *in, struct mcp_event *ev)
{
	enum mcp_sse_got got;
	size_t n;

	while (in->len != 0) {
		if (s->given)
			mcp_sse_reset(s);
		if (s->cr && in->p[0] == '\n') {
			*in = span_of(in->p + 1, in->len - 1);
			s->cr = false;
			continue;
		}
		s->cr = false;
		for (n = 0; n < in->len; n++)
			if (in->p[n] == '\n' || in->p[n] == '\r')
				break;
		mcp_sse_add(s, span_of(in->p, n));
		if (n == in->len) {
			*in = span_of(NULL, 0);
			break;
		}
		s->cr = in->p[n] == '\r';
		*in = span_of(in->p + n + 1, in->len - n - 1);
		if (mcp_sse_line(s) && (got = mcp_sse_end(s, ev)) != SSE_MORE)
			return got;
	}
	return SSE_MORE;
}
