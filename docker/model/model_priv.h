/* SPDX-License-Identifier: ISC */
/* Shared by the parts of the model library, and by its tests. */
#ifndef MODEL_PRIV_H
#define MODEL_PRIV_H

#include "common/buf.h"
#include "common/json/json.h"
#include "docker/model/model.h"

#define MODEL_BLOCKS_MAX 256U
#define MODEL_POOL (24U << 20)

/* sse.c: server-sent events, as the HTML standard defines their format. */
struct sse {
	struct buf line, data;
	bool cr;		/* the last byte was CR */
	bool begun;		/* a BOM may come no more */
};

typedef int sse_event_fn(void *arg, struct span data);

void sse_init(struct sse *);
void sse_free(struct sse *);
/*
 * Feed bytes; call `fn` for each event's data.  Returns 0; or -1 with errno
 * ENOBUFS if an event is too large, or as `fn` left it.
 */
int sse_feed(struct sse *, struct span, sse_event_fn *, void *arg);

/* A part of the answer while it arrives. */
enum block_kind { BLOCK_TEXT, BLOCK_THINKING, BLOCK_CALL, BLOCK_OTHER };

struct block {
	enum block_kind kind;
	uint64_t index;		/* the provider's */
	char *id, *name;	/* BLOCK_CALL */
	struct buf body;	/* its text, or the arguments of the call */
	struct buf extra;	/* a signature, or the JSON of the whole part */
};

/* An answer while it arrives. */
struct stream {
	const struct dialect *dialect;
	struct sse sse;
	struct value_pool *pool;
	struct block *blocks;
	size_t nblocks, ncalls;
	struct buf native;	/* elements collected so far, with commas */
	size_t total;		/* raw bytes */
	size_t text;		/* bytes of text */
	bool stopped;		/* the provider gave its reason to stop */
	bool done;		/* nothing may follow */
	bool shown;		/* text has been shown */
	const struct model_show *show;
	struct model_answer *out;
};

struct model_request {
	const char *name, *system;
	unsigned max_output;
	bool openai;		/* the base is OpenAI's own */
	const struct model_message *messages;
	size_t nmessages;
	const struct model_tool *tools;
	size_t ntools;
};

/* One dialect. */
struct dialect {
	enum model_dialect id;
	const char *name, *base;
	/* Append the request's path and query, from the first slash. */
	void (*path)(struct buf *, const char *model);
	void (*compose)(struct buf *, const struct model_request *);
	/* Take one event.  Returns 0, or -1 with the answer's error set. */
	int (*event)(struct stream *, const struct value *);
	/* Compose the native form of the whole answer, or nothing. */
	void (*native)(struct stream *, struct buf *);
};

extern const struct dialect dialect_anthropic, dialect_responses, dialect_chat,
    dialect_gemini;
const struct dialect *dialect_find(enum model_dialect);

/* stream.c */
int stream_init(struct stream *, const struct dialect *,
    const struct model_show *, struct model_answer *);
void model_stream_free(struct stream *);
/* Feed bytes of the body.  Returns 0, or -1 with the answer's error set. */
int stream_feed(struct stream *, struct span);
/* The body has ended: complete the answer.  Returns as stream_feed(). */
int stream_end(struct stream *);
/* Set the answer's error.  Always returns -1. */
int stream_fail(struct stream *, enum model_error, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the block, made if there is none, or NULL with the error set. */
struct block *stream_block(struct stream *, enum block_kind, uint64_t index);
struct block *model_stream_find(struct stream *, uint64_t index);
/* Add text to a block and show it.  Returns 0, or -1 with the error set. */
int stream_text(struct stream *, struct block *, struct span);
/* Add bytes to one of a block's buffers.  Returns as stream_text(). */
int stream_add(struct stream *, struct buf *, struct span);
/* Set a name or id, once.  Returns as stream_text(). */
int stream_name(struct stream *, char **, struct span);
/* Compose the native form of elements that were collected, if there are any. */
void stream_native(struct stream *, struct buf *);
/* Returns a count of tokens from a member, or 0. */
uint64_t stream_count(const struct value *, const char *member);

/* compose.c */
/* Append a member's name and colon, after a comma if `more`. */
void put_key(struct buf *, bool more, const char *key);
/* Append a string; ill-formed UTF-8 becomes U+FFFD. */
void compose_str(struct buf *, const char *);
/* Append JSON if it is one valid value of that type, otherwise `other`. */
void put_json(struct buf *, const char *json, const char *other);
/*
 * Append the member "tools": a list between `open` and `close`, whose elements
 * are the tools between `each` and `each_end`, with the schema in the member
 * `schema`.
 */
void compose_tools(struct buf *, const struct model_request *, const char *open,
    const char *each, const char *schema, const char *each_end,
    const char *close);
/* Returns true if the message's native form can be sent in this dialect. */
bool native_fits(const struct model_message *, enum model_dialect);

/* errors.c */
/* Judge an answer that is not an answer: its status, headers and body. */
void error_classify(struct model_answer *, unsigned status, struct span body);
/*
 * Judge an error object that came within a stream: `error` has the members
 * type, code, status or message, as the dialect has them.
 */
int error_event(struct stream *, const struct value *error);
/* Set the sentence, from text of any kind. */
void error_say(struct model_answer *, const char *before, struct span said);

#endif
