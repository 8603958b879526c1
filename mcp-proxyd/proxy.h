/* SPDX-License-Identifier: ISC */
/*
 * Shared by the modules of mcp-proxyd: the agent's connections (agent.c), its
 * requests (request.c), calls in flight (calls.c), the tool list (tools.c),
 * what agents are told about the session (instructions.c), answers (answer.c),
 * and messages from peers (serve.c).
 *
 * Admission happens here: a call over a limit is not refused; instead its
 * connection is not read until another call has ended.
 */
#ifndef PROXY_H
#define PROXY_H

#include <sys/queue.h>

#include "common/ipc/worker.h"
#include "mcp/idscan.h"
#include "mcp/jsonrpc.h"
#include "mcp/lines.h"

#define PROXY_MAX_AGENTS 16U
#define PROXY_MAX_TOOL 256U /* CALL.tool */
/* A connection that leaves more than this unread is closed. */
#define PROXY_MAX_UNREAD (8U << 20)
/*
 * The largest answer: a tool list, or a result that a server wrote in one line.
 */
#define PROXY_MAX_ANSWER (12U << 20)
/* The instructions for the agent, as a JSON string. */
#define PROXY_MAX_INSTRUCTIONS (64U << 10)
#define PROXY_MAX_BLANKS 100U
#define PROXY_MAX_SKIP ((size_t)256 << 20) /* bytes of an over-long line */
#define PROXY_CALL_MS 300000U
#define PROXY_LIST_MS 30000U /* time for servers to list their tools */
#define PROXY_NOTE_MS 2000U  /* between notes about a pending call */
#define PROXY_CLOSE_MS 5000U /* time to read the last answer */
#define PROXY_TIMERS 4U

struct proxy;
struct agent;

enum call_kind {
	CALL_TOOL,
	CALL_LIST, /* a tools/list that waits for servers */
};

struct call {
	uint64_t id; /* issued by calls.c; 0: free */
	TAILQ_ENTRY(call) of_agent;
	struct call *next;   /* in its bucket, or in the free list */
	struct call *rid_next; /* in its bucket by `rid` */
	struct agent *agent; /* NULL: given up, waiting for its end */
	enum call_kind kind;
	uint16_t server;   /* or PROTO_NO_SERVER */
	uint16_t from;     /* answered by this server or instance */
	size_t bytes;      /* size of its arguments */
	uint64_t deadline; /* loop ms */
	uint64_t held;     /* time of CALL_HELD; 0: not pending */
	uint64_t note;     /* time of the next note */
	uint32_t held_ms;
	unsigned notes;
	char held_as[9]; /* the id by which people answer it, or "" */
	struct jsonrpc_id rid;         /* the agent's; while there is one */
	struct jsonrpc_id token;       /* len 0: no progress requested */
	char name[PROXY_MAX_TOOL + 1]; /* the tool's, for messages */
};

struct agent {
	struct proxy *p;
	struct loop_io io;
	int fd;          /* -1: free */
	unsigned number; /* increasing, for the log */
	struct lines in;
	struct idscan scan; /* for an over-long line */
	struct buf out;
	TAILQ_HEAD(, call) calls;
	bool greeted;     /* initialize was answered */
	bool listed;      /* tools/list was answered */
	bool blocked;     /* at a limit: its next line has to wait */
	bool eof;         /* the agent will write nothing more */
	bool dirty;       /* has unwritten output of this turn */
	bool doomed;      /* to be closed at the end of this turn */
	uint64_t closing; /* deadline for writing its last answer; 0: none */
	unsigned blanks;
};

struct proxy_server {
	bool used;
	struct span name;
	char name_text[64 + 1];
	char view[PROTO_MAX_SEEN + 1]; /* "": it has no sandbox */
	unsigned calls;
	size_t bytes;
};

struct proxy {
	struct worker w;
	struct loop_io listener;
	int listen_fd;
	struct agent agents[PROXY_MAX_AGENTS];
	unsigned nagents, number;
	struct proxy_server servers[PROTO_MAX_SERVERS];
	uint16_t nservers; /* one more than the last index in use */
	struct call calls[PROTO_MAX_CALLS];
	struct call *free, *bucket[PROTO_MAX_CALLS];
	struct call *by_rid[PROTO_MAX_CALLS]; /* those with an agent */
	unsigned ncalls, ngiven_up;
	unsigned uncredited;    /* sent, and not yet reported by CREDIT */
	uint64_t last_id;
	bool ended;             /* a call ended: try blocked agents again */
	struct loop_timer tick; /* armed while there is anything to watch */
	unsigned nclosing;      /* agents whose last answer is being written */
	uint64_t call_ms, list_ms, note_ms; /* PROXY_*_MS */
	struct value_pool *pool;
	struct buf tree;  /* the arguments being sent */
	struct buf tools; /* text of the last TOOLS */
	bool tools_known, tools_complete;
	bool oriented;           /* ORIENTATION came */
	struct buf orientation;  /* its text */
	struct buf told;         /* text of the last TOOLS_TOLD */
	struct buf instructions; /* both, as a JSON string */
	uint64_t list_until; /* time until which tools/list waits */
	uint64_t stray;      /* results that belong to no call here */
	uint64_t ignored;    /* notifications and answers of agents */
};

extern struct proxy proxy_env;

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

/*
 * request.c: process one line.  Returns -1 if the agent is at a limit and the
 * line has to wait.
 */
int request_take(struct agent *, struct span line);

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
/* Set the short id of a pending call: letters and digits. */
void calls_held_as(struct proxy *, struct call *, struct span name);
/* Arm the tick, because something has a deadline. */
void calls_wake(struct proxy *);
/* Check deadlines, and send notes about pending calls. */
void calls_tick(struct proxy *);

/*
 * tools.c: answer now, or when the servers have listed.  Returns -1 at a limit.
 */
int tools_ask(struct agent *, const struct jsonrpc_id *);
/*
 * Store the list from TOOLS.  Returns -1 if it is not a JSON array in one line.
 */
int tools_set(struct proxy *, struct span text, bool complete);

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
/* Answer tools/list with the list as known so far. */
void answer_tools(struct agent *, const struct jsonrpc_id *);

#endif
