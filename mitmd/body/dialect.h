/* SPDX-License-Identifier: ISC */
/*
 * The shapes of request bodies as tables: the meaning of each member in each
 * context, and the tools that the agent runs itself. Private to the body
 * filter.
 */
#ifndef BODY_DIALECT_H
#define BODY_DIALECT_H

#include "body/filter.h"

/* The meaning of a value. The elements of an array have that of the array. */
enum dialect_ctx {
	CTX_OPAQUE, /* ignored by the filter */
	CTX_ROOT,
	CTX_MESSAGE,
	CTX_PART, /* a part of a message: an object with a type */
	CTX_SOURCE,
	CTX_FILE,
	CTX_URL,     /* fetched unless it is a data: URL */
	CTX_DATA,    /* bytes, or a URL where the provider also takes one */
	CTX_FETCHED, /* fetched whatever its text */
	CTX_VARS,
	CTX_NAMED, /* an object: its id names something in the account */
	CTX_TOOLS,
	CTX_GTOOLS, /* Gemini's tools: one member for each kind */
	CTX_GTOOL,  /* a kind of tool that is kept */
	CTX_CONFIG, /* Converse's configuration: holds tools, removed with the
		       last one */
	CTX_ENV,
	CTX_CHOICE,
	CTX_MODEL,
	/* strings that say what their object is */
	CTX_TYPE,
	CTX_NAME,
	CTX_LOCAL,
	/* members whose presence alone is reach */
	CTX_REACH_TOOLS,
	CTX_REACH_MCP,
	CTX_STORE,
	CTX_BACKGROUND,
	/* these name something that is kept in the account */
	CTX_KEPT,
	CTX_PREVIOUS, /* the answer before; on a WebSocket that is its own */
	CTX_ITEM,     /* so if this string is "item_reference" */
	CTX_ID,       /* so if its object has nothing else */
	/* removed together with the tools */
	CTX_WITH_TOOLS,
	CTX_START, /* "type" of a WebSocket message */
	/* chat completions: streaming, and reporting of usage */
	/* these decide the price */
	CTX_SPEED,
	CTX_TIER,
	CTX_MOST,
	CTX_TIMES,
	CTX_STREAM,
	CTX_OPTIONS,
	CTX_USAGE,
};

/* Returns the meaning of member `key` of an object in this context. */
enum dialect_ctx dialect_member(
    enum filter_dialect, enum dialect_ctx, struct span key);

enum dialect_tool {
	TOOL_KEPT,  /* the agent runs it */
	TOOL_LOCAL, /* run by the agent if the body says so */
	TOOL_MCP,
	TOOL_GONE,
};
/* `type` is the text of the tool's "type", as written. */
enum dialect_tool dialect_tool(enum filter_dialect, struct span type);
/* Returns true if `key` is this very name and does not merely fold to it. */
bool dialect_exact(struct span key, const char *name);
/* Returns the JSON that replaces a stripped part. */
const char *dialect_filtered(enum filter_dialect);

/*
 * body/usage.c: Read the members that decide whether a stream reports its
 * usage. Remove spellings that only some servers would accept, and values that
 * turn the report off.
 */
void filter_usage(struct filter *, struct filter_frame *,
    const struct body_token *, enum dialect_ctx);
/* Ask for usage in a stream if the body does not. */
void filter_unmetered(struct filter *);

/*
 * body/kept.c: Refuse what names something that is kept in the account, where
 * nothing may be kept: the provider would not find what this session made, and
 * what others made there is not the agent's.
 */
void filter_kept(struct filter *, struct filter_frame *,
    const struct body_token *, enum dialect_ctx);
/* An object is complete. Refuse it if it is a reference by its id alone. */
void filter_kept_end(struct filter *, const struct filter_frame *);
/* Refuse a model that is settings kept in the account. */
void filter_kept_model(struct filter *, struct span model);

/*
 * body/edit.c: filter_unedit() drops the edits at or after `off`; filter_edit()
 * adds one at the end.
 */
void filter_unedit(struct filter *, size_t off);
void filter_edit(struct filter *, size_t off, size_t end, const char *with);
/* Insert an edit among the existing ones, in order. */
void filter_place(struct filter *, size_t off, size_t end, const char *with);
/* Cut the outermost members that are marked, each with its comma. */
void filter_root_end(struct filter *);

#endif
