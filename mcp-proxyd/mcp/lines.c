/* SPDX-License-Identifier: ISC */
/*
 * Cuts a stream into lines.  Holds what was read and not yet taken; its bytes
 * are an agent's or an MCP server's and mean nothing here but for newlines.
 */
#include "mcp/lines.h"

void
lines_init(struct lines *l, size_t max)
{
	*l = (struct lines){.max = max};
	/* A whole line, its newline, and what one read brings beyond it. */
	buf_init(&l->in, max + 1 + LINES_READ);
}

void
lines_free(struct lines *l)
{
	buf_free(&l->in);
	l->pos = l->seen = 0;
}

uint8_t *
lines_room(struct lines *l)
{
	return buf_room(&l->in, LINES_READ);
}

void
lines_filled(struct lines *l, size_t n)
{
	buf_grow(&l->in, n);
}

enum lines_got
lines_next(struct lines *l, struct span *line)
{
	struct span in = buf_span(&l->in);
	const uint8_t *nl = NULL;
	size_t len;

	if (l->seen < in.len)
		nl = memchr(in.p + l->seen, '\n', in.len - l->seen);
	len = (nl != NULL ? (size_t)(nl - in.p) : in.len) - l->pos;
	if (len > l->max)
		return LINES_LONG;
	if (nl == NULL) {
		l->seen = in.len;
		return LINES_MORE;
	}
	*line = span_of(in.p + l->pos, len);
	l->pos += len + 1;
	l->seen = l->pos;
	return LINES_ONE;
}

void
lines_again(struct lines *l, struct span line)
{
	l->pos -= line.len + 1;
	l->seen = l->pos;
}

void
lines_done(struct lines *l)
{
	buf_drain(&l->in, l->pos);
	l->seen -= l->pos;
	l->pos = 0;
	/* One long line does not hold its memory for ever. */
	if (l->in.len == 0)
		buf_reset(&l->in, 2 * LINES_READ);
}

size_t
lines_rest(const struct lines *l)
{
	return l->in.len - l->pos;
}
