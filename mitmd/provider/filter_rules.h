/* SPDX-License-Identifier: ISC */
/*
 * The part of a provider file that says what to do about reach, the things that
 * a request body asks the provider to do on its own:
 *
 * "filter": {"tools": "strip", "urls": "deny", "usage": "ask"}, and in a
 * route's "body": "dialect": "anthropic"
 */
#ifndef FILTER_RULES_H
#define FILTER_RULES_H

#include "common/json/value.h"
#include "common/span.h"

/* The shape of the body. */
enum filter_dialect {
	FILTER_NONE,
	FILTER_ANTHROPIC, /* messages */
	FILTER_CHAT,      /* OpenAI chat completions */
	FILTER_RESPONSES, /* OpenAI responses and their WebSocket messages */
	FILTER_GEMINI,    /* generateContent */
	FILTER_BEDROCK,   /* InvokeModel: the model's own, mostly Anthropic's */
	FILTER_CONVERSE,  /* Bedrock's own, the same for all models */
	FILTER_DIALECTS,
};

enum filter_kind {
	FILTER_TOOLS,      /* run by the provider */
	FILTER_MCP,        /* MCP servers that the provider connects to */
	FILTER_URLS,       /* URLs that the provider fetches */
	FILTER_STORE,      /* answers that the provider keeps */
	FILTER_BACKGROUND, /* work that outlives the request */
	FILTER_KINDS,
};

enum filter_action {
	FILTER_STRIP,
	FILTER_DENY,
	FILTER_ALLOW,
	FILTER_ACTIONS
};

struct filter_rules {
	enum filter_action action[FILTER_KINDS];
	bool usage; /* make streaming chat completions report their usage */
};

/*
 * Map a word of a provider file to its value, or -1: "anthropic", "tools",
 * "strip", ...
 */
int filter_dialect_find(struct span);
int filter_kind_find(struct span);
int filter_action_find(struct span);
const char *filter_kind_name(enum filter_kind);
/*
 * The default: strip tools, mcp, store and background; deny urls; ask for
 * usage.
 */
extern const struct filter_rules filter_dflt;
/*
 * Apply a "filter" object to the rules. Returns NULL, or the mistake as
 * constant text.
 */
const char *filter_rules_read(const struct value *, struct filter_rules *);
/* Returns true if the filter has anything to look for. */
bool filter_applies(const struct filter_rules *, enum filter_dialect);

#endif
