/* SPDX-License-Identifier: ISC */
/*
 * Reads messages of MCP off a transport. Whatever frames them, a message comes
 * out as one text, and one that is too long costs itself only. A transport that
 * MCP adds later is one more framing.
 */
#ifndef READER_H
#define READER_H

#include "mcp/lines.h"
#include "mcp/mcp_sse.h"

enum mcp_got {
	MCP_MORE,     /* no complete message yet */
	MCP_ONE,      /* a message */
	MCP_LONG,     /* part of a message that is too long; more may follow */
	MCP_LONG_END, /* its last part, which may be empty */
	MCP_OTHER,    /* no message; the text is its name */
};

struct mcp_reader;

struct mcp_framing {
	void (*init)(struct mcp_reader *, size_t max);
	uint8_t *(*room)(struct mcp_reader *);
	void (*filled)(struct mcp_reader *, size_t n);
	enum mcp_got (*next)(struct mcp_reader *, struct span *);
	/* The stream is complete. Returns what is left of it. */
	enum mcp_got (*end)(struct mcp_reader *, struct span *);
	/* Drop what was taken. */
	void (*done)(struct mcp_reader *);
	/* Bytes in memory. */
	size_t (*held)(const struct mcp_reader *);
	void (*free)(struct mcp_reader *);
};

/* Each message is a line, as on stdin and stdout. */
extern const struct mcp_framing mcp_by_line;
/* Each is an event of a stream of events (mcp_sse.h). */
extern const struct mcp_framing mcp_by_event;
/* The whole stream is one, as the body of an HTTP answer is. */
extern const struct mcp_framing mcp_by_body;

struct mcp_reader {
	const struct mcp_framing *by; /* NULL: not begun, or freed */
	size_t max;                   /* longest message */
	struct lines lines;
	struct mcp_sse sse;
	struct buf in; /* bytes that were not looked at; the body so far */
};

/* `max`: the longest message, in bytes. */
void mcp_reader_init(
    struct mcp_reader *, const struct mcp_framing *, size_t max);
void mcp_reader_free(struct mcp_reader *);

/*
 * Returns room for LINES_READ bytes, or NULL; report with mcp_reader_filled()
 * how many were used.
 */
static inline uint8_t *
mcp_reader_room(struct mcp_reader *r)
{
	return r->by->room(r);
}

static inline void
mcp_reader_filled(struct mcp_reader *r, size_t n)
{
	r->by->filled(r, n);
}

/* Add at most LINES_READ bytes. Returns 0, or -1 if there is no memory. */
int mcp_reader_add(struct mcp_reader *, struct span);

/*
 * Returns the next message, which is valid until mcp_reader_done() or _room().
 */
static inline enum mcp_got
mcp_reader_next(struct mcp_reader *r, struct span *text)
{
	return r->by->next(r, text);
}

static inline enum mcp_got
mcp_reader_end(struct mcp_reader *r, struct span *text)
{
	return r->by->end(r, text);
}

/* Drop what was taken. Call after the last mcp_reader_next() of a turn. */
static inline void
mcp_reader_done(struct mcp_reader *r)
{
	r->by->done(r);
}

/* Returns the bytes of memory in use for what is not complete. */
static inline size_t
mcp_reader_held(const struct mcp_reader *r)
{
	return r->by == NULL ? 0 : r->by->held(r);
}

/* Put the line just taken back, to be the next one again. Only by lines. */
static inline void
mcp_reader_again(struct mcp_reader *r, struct span line)
{
	lines_again(&r->lines, line);
}

/* Returns the bytes of a message that is too long, as far as it has come. */
static inline size_t
mcp_reader_over(const struct mcp_reader *r)
{
	return r->lines.over;
}

#endif
