/* SPDX-License-Identifier: ISC */
/*
 * What is done about the reach that a request body asks the provider for, as
 * provider files say it:
 *
 * "filter": {"tools": "strip", "urls": "deny", "usage": "ask"}, and in a
 * route's "body"
 * "dialect": "anthropic"
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
	FILTER_RESPONSES, /* OpenAI responses, and their WebSocket messages */
	FILTER_GEMINI,    /* generateContent */
	FILTER_BEDROCK,   /* InvokeModel: the model's own, Anthropic's first */
	FILTER_CONVERSE,  /* Bedrock's own, one for all models */
	FILTER_DIALECTS,
};

enum filter_kind {
	FILTER_TOOLS,      /* run by the provider */
	FILTER_MCP,        /* servers that the provider connects to */
	FILTER_URLS,       /* what the provider fetches */
	FILTER_STORE,      /* what the provider keeps */
	FILTER_BACKGROUND, /* what outlives the request */
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
	bool usage; /* chat completions that stream are asked what they cost */
};

/* "anthropic", "tools", "strip", ...: as in provider files; -1: no such. */
int filter_dialect_find(struct span);
int filter_kind_find(struct span);
int filter_action_find(struct span);
const char *filter_kind_name(enum filter_kind);
/* tools, mcp, store and background are stripped, urls denied; usage is asked. */
extern const struct filter_rules filter_dflt;
/*
 * The rules of a "filter" object over those that are there. NULL, or what is
 * wrong: constant text.
 */
const char *filter_rules_read(const struct value *, struct filter_rules *);
/* Is there anything to look for? */
bool filter_applies(const struct filter_rules *, enum filter_dialect);

#endif
