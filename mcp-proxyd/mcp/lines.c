/* SPDX-License-Identifier: ISC */
/*
 * Splits a stream into lines.  Holds bytes that were read and not yet taken;
 * they belong to an agent or an MCP server, and only newlines have a meaning
 * here.
 */
#include "mcp/lines.h"

void
lines_init(struct lines *l, size_t max)
{
	*l = (struct lines){.max = max};
	/* A whole line, its newline, and what one read can bring beyond it. */
	buf_init(&l->in, max + 1 + LINES_READ);
}

void
lines_free(struct lines *l)
{
	buf_free(&l->in);
	l->pos = l->seen = l->over = 0;
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

/*
 * Return a line that is too long in parts: first the bytes that are there, and
 * the rest when its end has come.
 */
static enum lines_got
lines_part(struct lines *l, struct span *line, size_t len, bool ends)
{
	bool first = l->over == 0;

	*line = span_of(buf_span(&l->in).p + l->pos, len);
	if (ends && !first) {
		l->pos += len + 1;
		l->seen = l->pos;
		l->over = 0;
		return LINES_LONG_END;
	}
	if (len == 0)
		return LINES_MORE;
	l->pos += len;
	l->seen = l->pos;
	l->over += len;
	return LINES_LONG;
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
	if (l->over != 0 || len > l->max)
		return lines_part(l, line, len, nl != NULL);
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
	/* One long line must not keep its memory allocated for ever. */
	if (l->in.len == 0)
		buf_reset(&l->in, 2 * LINES_READ);
}

size_t
lines_rest(const struct lines *l)
{
	return l->in.len - l->pos + (l->over != 0);
}
