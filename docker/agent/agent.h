/* SPDX-License-Identifier: ISC */
/*
 * Internals of ic-agent: one conversation with a model, whose tools are those of
 * the session's MCP server.  It runs in the sandbox and holds nothing that the
 * sandbox does not have.
 */
#ifndef AGENT_H
#define AGENT_H

#include <signal.h>

#include "docker/agent/code.h"
#include "docker/agent/history.h"
#include "docker/agent/mcp_client.h"
#include "docker/agent/repeat.h"
#include "docker/agent/show.h"
#include "docker/model/model.h"

#define AGENT_RESULT_MAX 100000U /* bytes of a tool's result for the model */
#define AGENT_TOOLS_MAX 2000U

enum agent_output { OUTPUT_PERSON, OUTPUT_JSON };

struct agent_options {
	const char *provider, *model, *base;
	const char *task;
	const char *conversation;	/* its name; NULL: a new one */
	bool resume, latest;
	bool direct;
	enum agent_output output;
	const char *socket, *orientation, *home, *workspace;
	unsigned compact_at;		/* tokens */
	unsigned max_output;
};

/* The provider in use. */
struct agent_choice {
	enum model_dialect dialect;
	const char *provider, *base, *key;
	unsigned max_output;	/* tokens of one answer */
	char model[MODEL_NAME_MAX + 1];
};

/* choose.c: Returns 0, or -1 with a sentence in `why`. */
int choose_provider(const struct agent_options *, struct agent_choice *,
    char why[MODEL_WHY_MAX]);

struct agent {
	const struct agent_options *options;
	struct agent_choice choice;
	struct model *provider;
	struct mcp mcp;
	bool code;			/* code mode */
	/* The tools as the model is offered them. */
	struct model_tool *offered;
	size_t noffered;
	struct code_tool *stubs;	/* code mode: one for each MCP tool */
	char *names;			/* memory of their names */
	char *description;		/* execute_code's */
	char *system;
	struct history history;
	struct repeat repeat;
};

/* signals.c */
/* Make Ctrl-C readable on the returned descriptor.  Returns -1 on failure. */
int signals_setup(void);
/* Returns the signal that arrived since signals_clear(), or 0. */
int signals_got(void);
void signals_clear(void);

/* offer.c */
/* List the tools and prepare what the model is told.  Returns 0 or -1. */
int offer_tools(struct agent *, char why[MODEL_WHY_MAX]);
void offer_free(struct agent *);
/* Returns the MCP tool that the model calls by this name, or NULL. */
const struct mcp_tool *offer_find(const struct agent *, const char *name);
/* Compose the system prompt.  Returns 0 or -1. */
int offer_system(struct agent *);

/* calls.c */
/*
 * Make the model's calls and append their results to the history.  Returns 0;
 * or -1 if the turn has to end: it was interrupted, or the agent goes in
 * circles, or the session is gone.
 */
int calls_run(struct agent *, const struct model_message *answer);

/* compact.c */
/* Shorten the history if it has become too long, or if `now`. */
void compact_run(struct agent *, bool now);

/* turn.c */
enum turn_end { TURN_DONE, TURN_INTERRUPTED, TURN_FAILED, TURN_GONE };
/* Take the person's message and work until the model has answered it. */
enum turn_end turn_run(struct agent *, const char *message);

extern const char agent_prompt[];	/* prompt.md */

#endif
