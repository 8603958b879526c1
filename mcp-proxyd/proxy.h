/* SPDX-License-Identifier: ISC */
/*
 * Shared by the modules of mcp-proxyd: the agent's connections (agent.c), its
 * requests (request.c), calls in flight (calls.c), the tool list (tools.c),
 * those of revision 2026-07-28 (modern.c), what agents are told about the
 * session (instructions.c), answers (answer.c),
 * and messages from peers (serve.c).
 *
 * Admission happens here: a call over a limit is not refused; instead its
 * connection is not read until another call has ended.
 */
#ifndef PROXY_H
#define PROXY_H

#include <sys/queue.h>

#include "common/bucket.h"
#include "common/ipc/worker.h"
#include "common/tool_name.h"
#include "mcp/idscan.h"
#include "mcp/jsonrpc.h"
#include "mcp/reader.h"

#define PROXY_MAX_AGENTS 64U
#define PROXY_MAX_FULL 8U /* connections beyond that are answered once */
#define PROXY_AGENTS (PROXY_MAX_AGENTS + PROXY_MAX_FULL)
#define PROXY_MAX_TOOL 256U /* CALL.tool */
/* A connection that leaves more than this unread is closed. */
#define PROXY_MAX_UNREAD (8U << 20)
/*
 * The largest answer: a tool list, or a result that a server wrote in one line.
 */
#define PROXY_MAX_ANSWER (12U << 20)
/* The instructions for the agent, as a JSON string. */
#define PROXY_MAX_INSTRUCTIONS (64U << 10)
/* The schemas of results, as value trees. */
#define PROXY_MAX_OUTPUTS ((size_t)48 << 20)
#define PROXY_MAX_BLANKS 100U
#define PROXY_MAX_SKIP ((size_t)256 << 20) /* bytes of an over-long line */
#define PROXY_CALL_MS PROTO_CALL_MS
#define PROXY_LIST_MS 30000U /* time for servers to list their tools */
#define PROXY_NOTE_MS 2000U  /* between notes about a pending call */
/* Capabilities of a client that a server may require. */
#define PROXY_CLIENT_ELICITATION 1U
#define PROXY_CLIENT_ROOTS 2U
#define PROXY_CLIENT_SAMPLING 4U
#define PROXY_SUBS 64U       /* subscriptions of one connection */
#define PROXY_CLOSE_MS 5000U /* time to read the last answer */
/*
 * A connection is not read for a while if its calls are refused so often that
 * the log only counts them, or if it cancels more than some at once and one
 * every PROXY_CANCEL_MS: so much longer for each, and never longer than the
 * last figure.
 */
#define PROXY_SLOW_MS 100U
#define PROXY_SLOW_MAX_MS 2000U
#define PROXY_CANCELS 20U
#define PROXY_CANCEL_MS 3000U
#define PROXY_FULL_MS 10000U /* time for one too many to ask for anything */
#define PROXY_FULL_TEXT                                                        \
	"64 connections are open, which is the limit of a session. Do not "    \
	"retry before one of them is closed"
#define PROXY_TIMERS 4U

struct proxy;
struct agent;
struct listen;
struct output;

/* The form of a request, which its answer has, too. */
struct era {
	bool modern;       /* revision 2026-07-28 */
	uint8_t level;     /* as in struct call */
	uint8_t declares;  /* likewise */
	struct span state; /* that it gives back, or empty */
};

enum call_kind {
	CALL_TOOL,
	CALL_LIST, /* a tools/list that waits for servers */
};

struct call {
	uint64_t id; /* issued by calls.c; 0: free */
	TAILQ_ENTRY(call) of_agent;
	struct call *next;     /* in its bucket, or in the free list */
	struct call *rid_next; /* in its bucket by `rid` */
	struct agent *agent;   /* NULL: given up, waiting for its end */
	enum call_kind kind;
	uint16_t server;   /* or PROTO_NO_SERVER */
	uint16_t from;     /* answered by this server or instance */
	size_t bytes;      /* size of its arguments */
	uint64_t deadline; /* loop ms */
	uint64_t held;     /* time of CALL_HELD; 0: not pending */
	uint64_t note;     /* time of the next note */
	uint32_t held_ms;
	unsigned notes;
	char held_as[9];         /* the id by which people answer it, or "" */
	bool question;           /* its server asks the person something */
	struct jsonrpc_id rid;   /* the agent's; while there is one */
	struct jsonrpc_id token; /* len 0: no progress requested */
	uint8_t part;            /* PROTO_PART_*: about that; 0: of a tool */
	bool modern;             /* the request is of revision 2026-07-28 */
	uint8_t level;    /* one more than the least level it wants, or 0 */
	uint8_t declares; /* PROXY_CLIENT_*, as the request declares them */
	/*
	 * It is about a part of another request, whose id is `rid`: told
	 * instead of an answer. NULL: it is a request of its own.
	 */
	void (*decided)(struct call *, bool good, bool listening);
	char *asked;  /* the server's address of the resource, or NULL */
	bool updated; /* which has changed since this was asked for */
	char name[PROXY_MAX_TOOL + 1]; /* the tool's, for messages */
};

struct agent {
	struct proxy *p;
	struct loop_io io;
	int fd;          /* -1: free */
	unsigned number; /* increasing, for the log */
	struct mcp_reader in;
	struct idscan scan; /* for an over-long line */
	struct buf out;
	TAILQ_HEAD(, call) calls;
	uint64_t full;          /* one too many: its first request is its last;
				   deadline for it, or 0 */
	struct listen *listens; /* modern.c */
	bool greeted;           /* initialize was answered */
	bool listed;            /* tools/list was answered */
	uint8_t parts;          /* PROTO_PART_* that it was told of */
	uint8_t level;    /* one more than the least level it wants, or 0 */
	bool blocked;     /* at a limit: its next line has to wait */
	bool eof;         /* the agent will write nothing more */
	bool dirty;       /* has unwritten output of this turn */
	bool doomed;      /* to be closed at the end of this turn */
	uint64_t closing; /* deadline for writing its last answer; 0: none */
	uint64_t slow;    /* loop ms: not read before; 0: at once */
	struct bucket cancels;
	unsigned blanks;
	LIST_HEAD(, sub) subs; /* to resources */
	unsigned nsubs;
};

struct proxy_server {
	bool used;
	struct span name;
	char name_text[64 + 1];
	char alias[TOOL_SERVER_SHOWN + 1]; /* shortened; tool_name.h */
	char view[PROTO_MAX_SEEN + 1];     /* "": it has no sandbox */
	unsigned calls;
	size_t bytes;
};

struct proxy {
	struct worker w;
	unsigned
	    nupdates; /* those of resources that agents must still hear of */
	struct loop_io listener;
	int listen_fd;
	struct agent agents[PROXY_AGENTS];
	/* Rows of `agents` and `calls` beyond these were never touched. */
	size_t agent_rows, call_rows;
	unsigned nagents, number;
	unsigned nfull; /* some of nagents: those that are answered once */
	struct proxy_server servers[PROTO_MAX_SERVERS];
	uint16_t nservers; /* one more than the last index in use */
	struct call calls[PROTO_MAX_CALLS];
	struct call *free, *bucket[PROTO_MAX_CALLS];
	struct call *by_rid[PROTO_MAX_CALLS]; /* those with an agent */
	unsigned ncalls, ngiven_up;
	unsigned uncredited; /* sent, and not yet reported by CREDIT */
	uint64_t last_id;
	bool ended;             /* a call ended: try blocked agents again */
	struct loop_timer tick; /* armed while there is anything to watch */
	struct loop_timer slow; /* the end of the first agent's `slow` */
	unsigned nclosing;      /* agents whose last answer is being written */
	uint64_t call_ms, list_ms, note_ms; /* PROXY_*_MS */
	struct value_pool *pool;
	struct buf tree;  /* the arguments being sent */
	struct buf tools; /* text of the last TOOLS */
	bool tools_known, tools_complete;
	struct output *outputs;          /* output.c; in outputs_pool */
	struct value_pool *outputs_pool; /* or NULL */
	uint8_t parts;                   /* PROTO_PART_* of the session */
	struct buf lists[PROTO_LISTS];   /* texts of the last PARTS */
	uint32_t lists_ttl[PROTO_LISTS], tools_ttl; /* ms */
	unsigned level;          /* one more than that of the last LOG_LEVEL */
	bool oriented;           /* ORIENTATION came */
	struct buf orientation;  /* its text */
	struct buf told;         /* text of the last TOOLS_TOLD */
	struct buf instructions; /* both, as a JSON string */
	uint64_t list_until;     /* time until which tools/list waits */
	uint64_t stray;          /* results that belong to no call here */
	uint64_t ignored;        /* notifications and answers of agents */
};

extern struct proxy proxy_env;

/*
 * Returns the first open connection behind `a`, or the first of all if that is
 * NULL; or NULL.
 */
static inline struct agent *
agents_next(struct proxy *p, struct agent *a)
{
	for (a = a == NULL ? p->agents : a + 1;
	     a != p->agents + p->agent_rows; a++)
		if (a->fd != -1)
			return a;
	return NULL;
}

/* serve.c */
void proxy_serve(void) __attribute__((noreturn));
/*
 * Initialise everything but the loop and the channels, which worker_init()
 * makes.
 */
void proxy_init(struct proxy *);
/* Begin to accept and read the agent's connections. */
void proxy_start(struct proxy *);
extern const struct chan_handler proxy_handlers[];
extern const size_t proxy_nhandlers;

/* agent_out.c */
/* Count an event that a peer can repeat without end; log at 1, 10, 100, ... */
void proxy_count(uint64_t *counter, const char *what);
/* Set the events that epoll reports for the connection. */
void agent_watch(struct agent *);
/* Write what is in a->out. */
void agent_flush(struct agent *);
/* Call after adding output to a->out. */
void agent_wrote(struct agent *);
/* Do not read the connection for a while: see PROXY_SLOW_MS. */
void agent_slow(struct agent *);
/* The agent has cancelled a call. */
void agent_cancelled(struct agent *);
/* Give up closing connections that take too long. */
void agents_tick(struct proxy *);

/* agent.c */
void agents_init(struct proxy *);
int agents_listen(struct proxy *);
/* Take over a connection of the agent. */
void agents_take(struct proxy *, int fd);
/*
 * At the end of a turn: continue blocked connections, write output, close
 * doomed ones.
 */
void agents_after(void *proxy);
/* Peers have caught up: every connection may be read again. */
void agents_caught_up(struct proxy *);
/* Send a last error and close the connection. */
void agent_fail(struct agent *, enum jsonrpc_code, const char *text);
/* Do the same as the answer to the request with this id. */
void agent_end(struct agent *, const struct jsonrpc_id *, enum jsonrpc_code,
    const char *text);

/*
 * request.c: process one line.  Returns -1 if the agent is at a limit and the
 * line has to wait.
 */
int request_take(struct agent *, struct span line);

/*
 * modern.c: Returns true for a request of revision 2026-07-28.
 */
bool modern_is(const struct jsonrpc *);
/*
 * Check the request's _meta. Returns 0 with the level of messages it wants and
 * what it declares, or -1 after an error.
 */
int modern_check(struct agent *, const struct jsonrpc *, struct era *);
/*
 * Take the state that the agent gives back, or an empty one. Returns 0, or -1
 * after an error.
 */
int modern_state(struct agent *, const struct jsonrpc *, struct span *state);
/* Process a method that older revisions do not have, if it is one. */
bool modern_take(struct agent *, const struct jsonrpc *);
void listen_take(struct agent *, const struct jsonrpc *);
/* Returns true if a subscription has this id. */
bool listen_uses(const struct agent *, const struct jsonrpc_id *);
/* End the subscription with this id. Returns false if there is none. */
bool listen_cancel(struct agent *, const struct jsonrpc_id *);
void listen_free(struct agent *);
/* Tell those who listen that the tools, or the lists of a part, changed. */
void listen_changed(struct agent *, uint8_t part);

/*
 * parts.c: process a request about resources, prompts, completion or logging,
 * if it is one and some server has that. Returns -1 if the agent is at a limit.
 */
int parts_take(
    struct agent *, const struct jsonrpc *, const struct era *, bool *known);
/* A request wants messages from this level on, one more than it; 0: none. */
void parts_level(struct proxy *, uint8_t level);
/* Returns true if the method is one that is sent to policyd as a call. */
bool parts_is_call(struct span method);
/* Store a list from PARTS. Returns -1 if it is no JSON array in one line. */
int parts_set(struct proxy *, const struct msg_PARTS *);
/* Give the agents that want it what a server logs. */
void parts_notice(struct proxy *, uint16_t server, const struct msg_NOTICE *);
#define PARTS_SCHEME "icmcp://"
/*
 * The longest address of a resource: that of its server, which policyd lets
 * have 2048 bytes, behind the server's name.
 */
#define PARTS_URI (sizeof(PARTS_SCHEME "/") - 1 + 64U + 2048U)
#define PARTS_SUBSCRIBE "resources/subscribe"
/*
 * parts_sub.c: Find the server of a URI as the agent has it, and its own part
 * of it. Returns PROTO_NO_SERVER if there is none.
 */
uint16_t parts_server(const struct proxy *, struct span uri, struct span *own);
/*
 * Ask for a subscription to the resource, as a part of the request with this
 * id. Returns 0, or -1 if there is none to be had.
 */
int parts_subscribe(struct agent *, const struct jsonrpc_id *, struct span uri,
    void (*decided)(struct call *, bool good, bool listening));
/*
 * subs.c: subscriptions to resources, by the server's own address. `listen`:
 * the id of the subscriptions/listen that it belongs to, or NULL.
 */
bool subs_has(struct agent *, uint16_t server, const char *uri);
bool subs_full(const struct agent *);
/*
 * The server has taken this subscription. `listening`: its request stays open
 * until the call is cancelled.
 */
void subs_add(struct agent *, const struct call *,
    const struct jsonrpc_id *listen, bool listening);
/* End a subscription that belongs to no subscriptions/listen. */
void subs_end(struct agent *, uint16_t server, const char *uri);
/* Returns true if the server has to be asked to end it. */
bool subs_last(struct agent *, uint16_t server, const char *uri);
/* End those that belong to this one. */
void subs_end_listen(struct agent *, const struct jsonrpc_id *listen);
void subs_free(struct agent *);
/* Tell those that have one of an update, now or at a tick. */
void subs_updated(struct proxy *, uint16_t server, struct span uri);
void subs_tick(struct proxy *);
/* parts_answer.c: answer such a call by its server's result. */
void parts_answer(struct call *, const struct value *);

/*
 * error_data.c: Append the data of a server's error if its code is known, with
 * known members only; or nothing.
 */
void error_data(
    struct buf *, const struct call *, int64_t code, const struct value *data);
/*
 * Returns PROXY_CLIENT_* that the server requires, by this data, and the
 * request did not declare.
 */
uint8_t error_lacks(const struct call *, const struct value *data);
/* Returns PROXY_CLIENT_* of an object of capabilities, or of NULL. */
uint8_t error_declared(const struct value *);

/* calls.c */
void calls_init(struct proxy *);
/* Returns true if there is room for a call with `bytes` of arguments. */
bool calls_admit(const struct proxy *, uint16_t server, size_t bytes);
/* Make a call; calls_admit() must have returned true. */
struct call *calls_new(struct agent *, enum call_kind, uint16_t server,
    size_t bytes, const struct jsonrpc_id *rid);
/* Find a call in flight.  Returns NULL if there is none. */
struct call *calls_find(struct proxy *, uint64_t id);
struct call *calls_find_rid(struct agent *, const struct jsonrpc_id *);
/* End a call; its id is no longer valid. */
void calls_end(struct proxy *, struct call *);
/* Give up a call before its answer has come, and tell policyd. */
void calls_cancel(struct proxy *, struct call *);
void calls_held(struct proxy *, struct call *, uint32_t ms);
/* The call's server asks the person something; or, if ms is 0, no longer. */
void calls_question(struct proxy *, struct call *, uint32_t ms);
/* Set the short id of a pending call: letters and digits. */
void calls_held_as(struct proxy *, struct call *, struct span name);
/* Arm the tick, because something has a deadline. */
void calls_wake(struct proxy *);
/* Check deadlines, and send notes about pending calls. */
void calls_tick(struct proxy *);

/*
 * tools.c: answer now, or when the servers have listed.  Returns -1 at a limit.
 */
int tools_ask(struct agent *, const struct jsonrpc_id *, bool modern);
/*
 * Store the list from TOOLS.  Returns -1 if it is not a JSON array in one line.
 */
int tools_set(struct proxy *, const struct msg_TOOLS *);

/*
 * Find the server of a name SERVER__NAME, and the rest of it. Returns its
 * index, or PROTO_NO_SERVER.
 */
uint16_t tools_server_of(
    const struct proxy *, struct span name, struct span *rest);

/*
 * output.c: Read the schemas of results from the list of tools.
 */
void outputs_set(struct proxy *, struct span list);
/*
 * Returns 0 if the structured part of a tool's result fits the tool's schema,
 * or if either is missing; else -1 with the reason in `why`, of SCHEMA_WHY
 * bytes.
 */
int output_check(const struct call *, const struct value *result, char *why);

/*
 * instructions.c: Store the text from ORIENTATION. Returns -1 if it came before
 * or is not UTF-8.
 */
int instructions_set(struct proxy *, struct span text);
/* Store the text from TOOLS_TOLD. Returns -1 if it is not UTF-8. */
int instructions_tools(struct proxy *, struct span text);

/* answer.c: answers to a call. */
void answer_text(struct call *, struct span text, bool error);
void answer_result(struct call *, const struct value *);
void answer_error(struct call *, const struct value *);
/*
 * blocked.c: the same for an error that came of the server's sandbox. It is
 * marked, and a hint says what the sandbox has.
 */
void answer_blocked(struct call *, const struct value *, bool error);
/* Answers outside calls. */
void answer_fail(struct agent *, const struct jsonrpc_id *, enum jsonrpc_code,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void answer_ping(struct agent *, const struct jsonrpc_id *);
void answer_hello(
    struct agent *, const struct jsonrpc_id *, struct span version);
/* Notifications. */
void answer_note(struct call *, struct span progress, struct span total,
    struct span message);
void answer_changed(struct agent *);
/* The same for the lists of a part, if the agent was told of it. */
void answer_list_changed(struct agent *, uint8_t part);
void answer_notice(struct agent *, const char *level, struct span server,
    struct span logger, struct span text);
/* Answer with a list of parts, under the name of its member. */
void answer_list(struct agent *, const struct jsonrpc_id *, bool modern,
    const char *member, enum proto_list which);
/* Answer tools/list with the list as known so far. */
void answer_tools(struct agent *, const struct jsonrpc_id *, bool modern);
/* Answer server/discover. */
void answer_discover(struct agent *, const struct jsonrpc_id *);
/* End the agent's request with a state that it may give back. */
void answer_state(struct call *, struct span state);
/*
 * Write the last members of a result, and its end: of which type it is, for a
 * request of revision 2026-07-28. `before`: "{" if there is none before.
 */
void answer_close(struct buf *, bool modern, const char *before);

#endif
