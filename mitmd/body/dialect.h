/* SPDX-License-Identifier: ISC */
/*
 * The shapes of request bodies as tables: which member of what leads to what,
 * and which tools the agent runs itself.  Private to the body filter.
 */
#ifndef BODY_DIALECT_H
#define BODY_DIALECT_H

#include "body/filter.h"

/* What a value is; entries of an array are what the array is. */
enum dialect_ctx {
	CTX_OPAQUE, /* nothing in it matters */
	CTX_ROOT,
	CTX_MESSAGE,
	CTX_PART, /* of a message: an object of its own kind */
	CTX_SOURCE,
	CTX_FILE,
	CTX_URL,     /* fetched unless it is a data: URL */
	CTX_DATA,    /* bytes, or a URL where one is taken as well */
	CTX_FETCHED, /* fetched whatever it says */
	CTX_VARS,
	CTX_TOOLS,
	CTX_GTOOLS, /* Gemini's: one member a kind of tool */
	CTX_GTOOL,  /* such a member, kept */
	CTX_CONFIG, /* Converse's: holds tools, and goes with the last */
	CTX_ENV,
	CTX_CHOICE,
	CTX_MODEL,
	/* strings whose text says what their object is */
	CTX_TYPE,
	CTX_NAME,
	CTX_LOCAL,
	/* members that are a kind of reach by being there */
	CTX_REACH_TOOLS,
	CTX_REACH_MCP,
	CTX_STORE,
	CTX_BACKGROUND,
	/* goes with the tools */
	CTX_WITH_TOOLS,
	CTX_START, /* "type" of a WebSocket message */
	/* chat completions: whether the answer streams, and says what it cost
	 */
	CTX_STREAM,
	CTX_OPTIONS,
	CTX_USAGE,
};

/* What the member `key` of an object in ctx is. */
enum dialect_ctx dialect_member(
    enum filter_dialect, enum dialect_ctx, struct span key);

enum dialect_tool {
	TOOL_KEPT,  /* the agent runs it */
	TOOL_LOCAL, /* if it says so */
	TOOL_MCP,
	TOOL_GONE,
};
/* type: the text of its "type" as written. */
enum dialect_tool dialect_tool(enum filter_dialect, struct span type);
/* Is it that name, and not one that only folds to it? */
bool dialect_exact(struct span key, const char *name);
/* What stands in place of a part that is stripped. */
const char *dialect_filtered(enum filter_dialect);

/*
 * body/usage.c: members that say whether a stream tells what it cost.  Names
 * that only some servers would take for these go, as does a usage that is not
 * wanted.
 */
void filter_usage(struct filter *, struct filter_frame *,
    const struct body_token *, enum dialect_ctx);
/* Where nothing is said it is asked for. */
void filter_unmetered(struct filter *);

/* body/edit.c: edits at or after off are dropped; one is added at the end. */
void filter_unedit(struct filter *, size_t off);
void filter_edit(struct filter *, size_t off, size_t end, const char *with);
/* The same, among those that are there already. */
void filter_place(struct filter *, size_t off, size_t end, const char *with);
/* The outermost members that go, each with the comma that parts it. */
void filter_root_end(struct filter *);

#endif
