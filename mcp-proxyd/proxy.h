/* SPDX-License-Identifier: ISC */
/*
 * What the modules of mcp-proxyd share: connections of the agent (agent.c),
 * what they ask (request.c), calls under way (calls.c), the tool list
 * (tools.c), answers (answer.c), and messages of our peers (serve.c).
 *
 * Admission happens here: a call over a limit is not refused, its connection
 * is not read until another call has ended.
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
/* Unread by the agent: beyond this its connection is closed. */
#define PROXY_MAX_UNREAD (8U << 20)
/* One answer: a tool list, or a result that a server wrote in a line. */
#define PROXY_MAX_ANSWER (12U << 20)
#define PROXY_MAX_BLANKS 100U
#define PROXY_MAX_SKIP ((size_t)256 << 20) /* of a line that is too long */
#define PROXY_CALL_MS 300000U
#define PROXY_LIST_MS 30000U /* servers may take to list tools */
#define PROXY_NOTE_MS 10000U /* between notes about a held call */
#define PROXY_CLOSE_MS 5000U /* to read the last answer */
#define PROXY_TIMERS 4U

struct proxy;
struct agent;

enum call_kind {
	CALL_TOOL,
	CALL_LIST, /* a tools/list that waits for the servers */
};

struct call {
	uint64_t id; /* ours; 0: free */
	TAILQ_ENTRY(call) of_agent;
	struct call *next;   /* of its bucket, or free */
	struct agent *agent; /* NULL: given up, its end is awaited */
	enum call_kind kind;
	uint16_t server;   /* or PROTO_NO_SERVER */
	uint16_t from;     /* who answers it: server, or an instance of it */
	size_t bytes;      /* of arguments */
	uint64_t deadline; /* loop ms */
	uint64_t held;     /* since when; 0: not held */
	uint64_t note;     /* when the next one is due */
	uint32_t held_ms;
	unsigned notes;
	struct jsonrpc_id rid;         /* the agent's */
	struct jsonrpc_id token;       /* len 0: no progress wanted */
	char name[PROXY_MAX_TOOL + 1]; /* of the tool, for texts */
};

struct agent {
	struct proxy *p;
	struct loop_io io;
	int fd;          /* -1: free */
	unsigned number; /* rising, for the log */
	struct lines in;
	struct idscan scan; /* of a line that is too long */
	struct buf out;
	TAILQ_HEAD(, call) calls;
	bool greeted;     /* initialize was answered */
	bool listed;      /* tools/list was answered */
	bool blocked;     /* at a limit: its next line waits */
	bool eof;         /* it will write nothing more */
	bool dirty;       /* has output of this turn */
	bool doomed;      /* to be closed at the end of this turn */
	uint64_t closing; /* its last answer is under way until then */
	unsigned blanks;
};

struct proxy_server {
	bool used;
	struct span name;
	char name_text[64 + 1];
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
	struct call calls[PROTO_MAX_CALLS];
	struct call *free, *bucket[PROTO_MAX_CALLS];
	unsigned ncalls, ngiven_up;
	unsigned uncredited;    /* sent, and not ended for policyd */
	uint64_t last_id;
	bool ended;             /* a call ended: blocked agents may go on */
	struct loop_timer tick; /* armed while there is anything to watch */
	unsigned nclosing;      /* agents with their last answer under way */
	uint64_t call_ms, list_ms, note_ms; /* PROXY_*_MS */
	struct value_pool *pool;
	struct buf tree;  /* the arguments being sent */
	struct buf tools; /* what TOOLS said last */
	bool tools_known, tools_complete;
	uint64_t list_until; /* tools/list waits no longer */
	uint64_t stray;      /* results of no call of ours */
	uint64_t ignored;    /* notifications and answers of agents */
};

extern struct proxy proxy_env;

/* serve.c */
void proxy_serve(void) __attribute__((noreturn));
/* Everything but the loop and the channels, which worker_init has made. */
void proxy_init(struct proxy *);
/* The agent is read from now on. */
void proxy_start(struct proxy *);
extern const struct chan_handler proxy_handlers[];
extern const size_t proxy_nhandlers;

/* agent_out.c */
/* Counts, and logs at 1, 10, 100, ...: what a peer can repeat for ever. */
void proxy_count(uint64_t *counter, const char *what);
/* Asks epoll for what the connection waits for. */
void agent_watch(struct agent *);
/* Writes what there is. */
void agent_flush(struct agent *);
/* Output was added to a->out. */
void agent_wrote(struct agent *);
/* Closing ones that take too long. */
void agents_tick(struct proxy *);

/* agent.c */
void agents_init(struct proxy *);
int agents_listen(struct proxy *);
/* The end of a turn: blocked ones go on, output is written, doomed closed. */
void agents_after(void *proxy);
/* Peers take again what we send: every connection may be read. */
void agents_caught_up(struct proxy *);
/* The connection ends after a last error. */
void agent_fail(struct agent *, enum jsonrpc_code, const char *text);

/* request.c: takes one line. -1: the agent is at a limit, come again. */
int request_take(struct agent *, struct span line);

/* calls.c */
void calls_init(struct proxy *);
/* Is there room for one with so many bytes of arguments? */
bool calls_admit(const struct proxy *, uint16_t server, size_t bytes);
/* After calls_admit. */
struct call *calls_new(
    struct agent *, enum call_kind, uint16_t server, size_t bytes);
/* NULL: not under way. */
struct call *calls_find(struct proxy *, uint64_t id);
struct call *calls_find_rid(struct agent *, const struct jsonrpc_id *);
/* Over: its id means nothing any more. */
void calls_end(struct proxy *, struct call *);
/* Given up before its answer came; policyd is told. */
void calls_cancel(struct proxy *, struct call *);
void calls_held(struct proxy *, struct call *, uint32_t ms);
/* Something has a deadline. */
void calls_wake(struct proxy *);
/* What time brings: deadlines, notes about held calls. */
void calls_tick(struct proxy *);

/* tools.c: answers now, or when the servers have listed. -1: at a limit. */
int tools_ask(struct agent *, const struct jsonrpc_id *);
/* The list that TOOLS brought. -1: it is none. */
int tools_set(struct proxy *, struct span text, bool complete);

/* answer.c: answers of a call. */
void answer_text(struct call *, struct span text, bool error);
void answer_result(struct call *, const struct value *);
void answer_error(struct call *, const struct value *);
/* Answers outside of calls. */
void answer_fail(struct agent *, const struct jsonrpc_id *, enum jsonrpc_code,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void answer_ping(struct agent *, const struct jsonrpc_id *);
void answer_hello(
    struct agent *, const struct jsonrpc_id *, struct span version);
/* Notifications. */
void answer_note(struct call *, struct span progress, struct span total,
    struct span message);
void answer_changed(struct agent *);
/* To a CALL_LIST, with what is known. */
void answer_tools(struct agent *, const struct jsonrpc_id *);

#endif
