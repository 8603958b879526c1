/* SPDX-License-Identifier: ISC */
#include "mcp/reader.h"

#include <string.h>

void
mcp_reader_init(struct mcp_reader *r, const struct mcp_framing *by, size_t max)
{
	*r = (struct mcp_reader){.by = by, .max = max};
	by->init(r, max);
}

void
mcp_reader_free(struct mcp_reader *r)
{
	if (r->by != NULL)
		r->by->free(r);
	r->by = NULL;
}

int
mcp_reader_add(struct mcp_reader *r, struct span s)
{
	uint8_t *room;

	if (s.len > LINES_READ || (room = mcp_reader_room(r)) == NULL)
		return -1;
	if (s.len != 0)
		memcpy(room, s.p, s.len);
	mcp_reader_filled(r, s.len);
	return 0;
}

static void
line_init(struct mcp_reader *r, size_t max)
{
	lines_init(&r->lines, max);
}

static uint8_t *
line_room(struct mcp_reader *r)
{
	return lines_room(&r->lines);
}

static void
line_filled(struct mcp_reader *r, size_t n)
{
	lines_filled(&r->lines, n);
}

static enum mcp_got
line_next(struct mcp_reader *r, struct span *text)
{
	switch (lines_next(&r->lines, text)) {
	case LINES_ONE:
		return MCP_ONE;
	case LINES_LONG:
		return MCP_LONG;
	case LINES_LONG_END:
		return MCP_LONG_END;
	case LINES_MORE:
		break;
	}
	return MCP_MORE;
}

/* The last line has no newline. */
static enum mcp_got
line_end(struct mcp_reader *r, struct span *text)
{
	*text = SPAN("");
	return lines_rest(&r->lines) != 0 ? MCP_LONG_END : MCP_MORE;
}

static void
line_done(struct mcp_reader *r)
{
	lines_done(&r->lines);
}

static size_t
line_held(const struct mcp_reader *r)
{
	return lines_rest(&r->lines);
}

static void
line_free(struct mcp_reader *r)
{
	lines_free(&r->lines);
}

const struct mcp_framing mcp_by_line = {line_init, line_room, line_filled,
    line_next, line_end, line_done, line_held, line_free};

static void
event_init(struct mcp_reader *r, size_t max)
{
	mcp_sse_init(&r->sse, max);
	buf_init(&r->in, 2 * LINES_READ);
}

static uint8_t *
in_room(struct mcp_reader *r)
{
	return buf_room(&r->in, LINES_READ);
}

static void
in_filled(struct mcp_reader *r, size_t n)
{
	buf_grow(&r->in, n);
}

static enum mcp_got
event_next(struct mcp_reader *r, struct span *text)
{
	struct span in = buf_span(&r->in);
	struct mcp_event ev;
	enum mcp_sse_got got = mcp_sse_next(&r->sse, &in, &ev);

	/* The event is in the memory of `sse`. */
	buf_drain(&r->in, r->in.len - in.len);
	switch (got) {
	case SSE_EVENT:
		break;
	case SSE_LONG:
		*text = SPAN("");
		return MCP_LONG_END;
	case SSE_MORE:
		return MCP_MORE;
	}
	if (ev.name.len == 0 || span_is(ev.name, "message")) {
		*text = ev.data;
		return MCP_ONE;
	}
	*text = ev.name;
	return MCP_OTHER;
}

/* An event that no empty line ends is none. */
static enum mcp_got
event_end(struct mcp_reader *r, struct span *text)
{
	return MCP_MORE;
}

static void
event_done(struct mcp_reader *r)
{
	if (r->in.len == 0)
		buf_reset(&r->in, 0);
}

static size_t
event_held(const struct mcp_reader *r)
{
	return mcp_sse_held(&r->sse) + r->in.len;
}

static void
event_free(struct mcp_reader *r)
{
	mcp_sse_free(&r->sse);
	buf_free(&r->in);
}

const struct mcp_framing mcp_by_event = {event_init, in_room, in_filled,
    event_next, event_end, event_done, event_held, event_free};

static void
body_init(struct mcp_reader *r, size_t max)
{
	/* All of it, and what one read can bring beyond it. */
	buf_init(&r->in, max + 1 + LINES_READ);
}

static enum mcp_got
body_next(struct mcp_reader *r, struct span *text)
{
	*text = SPAN("");
	return r->in.len > r->max ? MCP_LONG : MCP_MORE;
}

static enum mcp_got
body_end(struct mcp_reader *r, struct span *text)
{
	*text = buf_span(&r->in);
	return r->in.len > r->max ? MCP_LONG_END : MCP_ONE;
}

static void
body_done(struct mcp_reader *r)
{
}

static size_t
body_held(const struct mcp_reader *r)
{
	return r->in.len;
}

static void
body_free(struct mcp_reader *r)
{
	buf_free(&r->in);
}

const struct mcp_framing mcp_by_body = {body_init, in_room, in_filled,
    body_next, body_end, body_done, body_held, body_free};
