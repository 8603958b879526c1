/* SPDX-License-Identifier: ISC */
/*
 * Splits an event stream (text/event-stream of HTML, section 9.2) that arrives
 * in pieces into events. Keeps the id of the last one, and the time to wait
 * before the stream is asked for again.
 */
#ifndef MCP_SSE_H
#define MCP_SSE_H

#include "common/buf.h"

#define SSE_NAME 32U /* bytes of an event's name that are kept, with a NUL */
#define SSE_ID 257U  /* the same of its id */
#define SSE_RETRY_MAX 3600000U

struct mcp_sse {
	struct buf line; /* an incomplete line */
	struct buf data; /* the event's so far */
	size_t max;      /* longest data of one event */
	bool cr;         /* the last byte ended a line, and was a CR */
	bool begun;      /* the first line has ended */
	bool any;        /* the line has bytes */
	bool given;      /* the event was returned */
	bool has;        /* the event has data */
	bool over;       /* it has too much */
	char name[SSE_NAME];
	char next[SSE_ID]; /* the id of the event that is being read */
	/*
	 * The id of the last event, whose stream can be asked for from there:
	 * printable ASCII without a space; "": there is none.
	 */
	char id[SSE_ID];
	uint32_t retry; /* ms to wait before that; 0: the server says nothing */
};

enum mcp_sse_got {
	SSE_MORE, /* no complete event yet */
	SSE_EVENT,
	SSE_LONG, /* an event with more data than `max`, which is dropped */
};

struct mcp_event {
	struct span name; /* empty: a message */
	struct span data; /* valid until the next call */
};

void mcp_sse_init(struct mcp_sse *, size_t max);
void mcp_sse_free(struct mcp_sse *);
/* Take bytes off the front of `in` until an event is complete, or all. */
enum mcp_sse_got mcp_sse_next(
    struct mcp_sse *, struct span *in, struct mcp_event *);
/* Returns the bytes of memory in use for an incomplete event. */
size_t mcp_sse_held(const struct mcp_sse *);

#endif
