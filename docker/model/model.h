/* SPDX-License-Identifier: ISC */
/*
 * A conversation with a model provider, for programs that run in the sandbox:
 * one request per turn, with a streamed answer, through HTTPS_PROXY.  Messages
 * and tools have one form here; each dialect composes its own request from them
 * and decodes its own events.  A provider's answer is hostile input: it is read
 * strictly and has limits.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum model_dialect {
	MODEL_ANTHROPIC,	/* /v1/messages */
	MODEL_RESPONSES,	/* OpenAI, /v1/responses */
	MODEL_CHAT,		/* OpenAI and OpenRouter, /v1/chat/completions */
	MODEL_GEMINI,		/* :streamGenerateContent */
};

/* Limits. */
#define MODEL_REQUEST_MAX	(32U << 20)	/* as the routes of mitmd */
#define MODEL_ANSWER_MAX	(16U << 20)	/* bytes of one answer, raw */
#define MODEL_EVENT_MAX		(4U << 20)
#define MODEL_TEXT_MAX		(2U << 20)
#define MODEL_ARGS_MAX		(2U << 20)	/* for one call */
#define MODEL_CALLS_MAX		64U		/* for one answer */
#define MODEL_NAME_MAX		128U
#define MODEL_WHY_MAX		512U

struct model_options {
	enum model_dialect dialect;
	/*
	 * "https://api.anthropic.com", to which the dialect's path is appended;
	 * NULL stands for the dialect's usual one.  Plain http is taken only
	 * for 127.0.0.1.
	 */
	const char *base;
	const char *key;
	const char *name;	/* the model's */
	/* 0 stands for the default. */
	unsigned connect_ms;	/* 30 s */
	unsigned idle_ms;	/* no byte arrives: 300 s */
	unsigned total_ms;	/* one answer: 30 min */
	unsigned attempts;	/* 5 */
	unsigned max_output;	/* tokens; 8192 */
	int cancel_fd;		/* readable: the turn ends; -1 or 0: none */
};

struct model_call {
	char *id, *name;
	/*
	 * One JSON object; or NULL if the model wrote something else, so that the
	 * call must be answered with an error.
	 */
	char *args;
};

enum model_role { MODEL_USER, MODEL_ASSISTANT, MODEL_TOOL };

/* Strings are UTF-8 without NUL and may be NULL where there is none. */
struct model_message {
	enum model_role role;
	char *text;
	/* MODEL_ASSISTANT */
	struct model_call *calls;
	size_t ncalls;
	/*
	 * The answer as the provider wrote it, with its signatures of thinking:
	 * JSON of this dialect, which goes back unchanged.  Without it, text and
	 * calls are sent.
	 */
	enum model_dialect dialect;
	char *native;
	/* MODEL_TOOL: the result of one call */
	char *call_id, *call_name;
	bool is_error;
};

struct model_tool {
	const char *name;	/* [a-zA-Z_][a-zA-Z0-9_-]{0,63} */
	const char *description;
	const char *schema;	/* a JSON Schema of the arguments, an object */
};

/* Functions that are called during a turn; each may be NULL. */
struct model_show {
	/* A piece of text, not yet checked for anything but UTF-8. */
	void (*text)(void *arg, struct span);
	/*
	 * An attempt failed with this sentence; another begins after `ms`.  If
	 * `shown`, text was shown that is not part of the answer any more.
	 * If this function is NULL, no attempt follows text that was shown.
	 */
	void (*again)(void *arg, const char *why, unsigned ms, bool shown);
	void *arg;
};

enum model_stop {
	MODEL_STOP_END,
	MODEL_STOP_CALLS,	/* it wants the results of its calls */
	MODEL_STOP_LENGTH,	/* cut at max_output */
	MODEL_STOP_REFUSED,	/* by the provider's own filter */
};

enum model_error {
	MODEL_OK,
	MODEL_TRANSIENT,	/* the attempts are used up; see retry_s */
	MODEL_QUOTA,		/* the provider's: see retry_s */
	MODEL_AUTHENTICATION,
	MODEL_BUDGET,		/* the session's, as the proxy enforces it */
	MODEL_TOO_LONG,		/* the conversation exceeds the model's window */
	MODEL_CANCELLED,	/* through cancel_fd */
	MODEL_HARD,		/* anything else, hostile answers included */
};

struct model_usage {
	uint64_t in, out;	/* `in` includes both of: */
	uint64_t cache_read, cache_write;
};

struct model_answer {
	char *text;		/* may be NULL */
	struct model_call *calls;
	size_t ncalls;
	char *native;		/* for a message */
	enum model_stop stop;
	struct model_usage usage;
	enum model_error error;
	unsigned status;	/* HTTP status, or 0 */
	unsigned retry_s;	/* as the provider says, or 0 */
	char why[MODEL_WHY_MAX]; /* a sentence for a person; printable */
};

struct model;

/* Returns NULL with a sentence in `why` if the options cannot be used. */
struct model *model_new(const struct model_options *, char why[MODEL_WHY_MAX]);
void model_free(struct model *);
/*
 * Send the conversation and read the answer.  Returns 0, or -1 with out->error
 * and out->why set.  Either way the caller frees `out`; after -1 it may contain
 * the text that had arrived.
 */
int model_turn(struct model *, const char *system,
    const struct model_message *, size_t nmessages,
    const struct model_tool *, size_t ntools,
    const struct model_show *, struct model_answer *out);
void model_answer_free(struct model_answer *);
/*
 * Move an answer into a message, for the next turn.  The answer then has
 * neither text nor calls.
 */
void model_answer_take(struct model_answer *, enum model_dialect,
    struct model_message *);
void model_message_free(struct model_message *);
/* Returns the word for an error: "quota" and so on. */
const char *model_error_name(enum model_error);

#endif
