/* SPDX-License-Identifier: ISC */
/*
 * The answers of a remote MCP server, one stream for each message that its keyd
 * posted. A stream carries one HTTP answer, whose body is one message or a
 * stream of events, each a message.
 */
#ifndef BACKD_REMOTE_H
#define BACKD_REMOTE_H

#include "backd/backd.h"
#include "common/ipc/stream.h"

/* As many as keyd has at once (keyd/post.c). */
#define REMOTE_MAX (PROTO_MAX_CALLS + 64U)
/* Bytes of incomplete answers, of all streams together. */
#define REMOTE_HELD ((size_t)64 << 20)
/* Bytes of an error's body that are looked at. */
#define REMOTE_WORDS 16384U

enum remote_how {
	REMOTE_HEAD,   /* the answer's head is awaited */
	REMOTE_JSON,   /* the body is one message: `in` */
	REMOTE_EVENTS, /* the body is a stream of events, likewise */
	REMOTE_ERROR,  /* the body explains an error */
	REMOTE_NONE,   /* the body is nothing to us */
};

/* The point from which a stream that broke is asked for again. */
struct remote_last {
	char id[SSE_ID];  /* the last event's that had one, or "" */
	uint32_t retry;   /* ms, as in struct mcp_sse */
	unsigned refused; /* how often it was not given, in a row */
};

struct remote {
	LIST_ENTRY(remote) entry;
	struct backd *b;
	int fd; /* -1: it has ended */
	struct loop_io io;
	struct jsonrpc_id id; /* the request's; len 0: none, or answered */
	bool first;           /* the request begins the session */
	bool login;           /* it was not sent: a login is wanted */
	bool session;         /* the message named a session */
	bool events;          /* no message: it was asked for events */
	bool told;            /* a message has come */
	struct remote_last last; /* before this stream */
	uint64_t begun;       /* loop_now() */
	enum remote_how how;
	unsigned status;
	char type[65], retry[33], location[257]; /* headers, or "" */
	uint8_t fhead[STREAM_HEADER];
	size_t fhave;
	struct stream_frame frame; /* if `fhave` is complete */
	uint32_t fleft;            /* bytes of it that are missing */
	struct buf part;           /* the payload of HEAD or FAIL so far */
	struct buf body;      /* the beginning of one that explains an error */
	struct mcp_reader in; /* reads the messages */
};

/* Returns true for the server's own stream, which answers no request. */
static inline bool
remote_is_own(const struct remote *r)
{
	return r->events && r->id.len == 0;
}

int remote_on_afar(struct chan *, const struct msg_SERVER_AFAR *);
int remote_on_post(struct chan *, const struct msg_POST *, int fd);

/* backd/remote_again.c */
/*
 * The stream of events has ended. Returns true if it will be asked for again,
 * so that its request has not failed.
 */
bool remote_again(struct remote *);
/* The stream was asked for: set where it goes on. */
void remote_again_begun(struct remote *);
/* The server's session is over: nothing is asked for. */
void remote_again_none(struct backd *);

/* backd/remote_why.c */
/*
 * Write what the server's answer means that has no message, as the end of a
 * sentence that begins with the server. Returns `dst`.
 */
const char *remote_why(const struct remote *, char *dst, size_t cap);
/* The same for a FAIL frame of keyd. */
const char *remote_why_failed(
    const struct remote *, struct span payload, char *dst, size_t cap);
/* Returns true if keyd says in a FAIL frame that a login is wanted. */
bool remote_why_login(struct span payload);

#endif
