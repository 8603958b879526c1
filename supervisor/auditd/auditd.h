/* SPDX-License-Identifier: ISC */
/*
 * auditd's inside: the log, what waits for it, and the servers' stdin ends.
 * Every handler composes its line and pushes what the line permits as an
 * effect; at the end of a loop turn the lines are written with one call and
 * only then do the effects happen, in order.
 */
#ifndef AUDITD_H
#define AUDITD_H

#include <sys/queue.h>

#include "auditlog/line.h"
#include "common/ipc/worker.h"

#define AUDITD_STALL_MS 30000U
/* Ends of calls that policyd, which only counts them, is told together. */
#define AUDITD_ENDED 16U
#define AUDITD_ENDED_MS 2U
#define AUDITD_MAX_CALLS PROTO_MAX_CALLS

/* A line on its way to a server, or a message that waits for the log. */
struct auditd_effect {
	TAILQ_ENTRY(auditd_effect) entry;
	size_t upto;		/* log bytes of this turn that must be written */
	uint64_t id;		/* the call, or 0 */
	unsigned server;
	enum role to;		/* message: receiver */
	unsigned index;
	enum msg_type type;	/* 0: a line for `server` */
	union proto_any msg;	/* its spans point into bytes */
	/* The log covers it: in place of sending it. True: it is kept. */
	bool (*release)(struct auditd_effect *);
	/* The log does not cover it; NULL: nobody waits for it. */
	void (*refuse)(const struct auditd_effect *);
	size_t off;		/* line: bytes already written */
	size_t len;
	uint8_t bytes[];
};
TAILQ_HEAD(auditd_effects, auditd_effect);

struct auditd_server {
	bool known;
	bool virtual;		/* icsupervisor carries its calls out */
	char name[65];
	int fd;			/* its stdin; -1: none, or lost */
	struct loop_io io;
	struct loop_timer stall;
	struct auditd_effects lines;	/* released, not yet written */
	size_t queued;
	unsigned late;		/* cancelled calls that it may still answer */
	uint32_t unasked;	/* results of this turn that it was not asked */
};

/* A call that went to a server. */
struct auditd_call {
	uint64_t id;		/* 0: free */
	uint64_t since;		/* clock_mono_us */
	unsigned server;
};

/* An instance of a server that policyd asked for, until it is dropped. */
struct auditd_instance {
	uint64_t call;		/* 0: free */
	unsigned of;		/* the server that it stands for */
	unsigned index;		/* 0: it does not run */
	unsigned left;		/* objects that still have to be named */
};

struct auditd_env {
	struct worker w;
	int fd;			/* the log */
	bool sync;
	bool logged;		/* this run's first record was composed */
	struct auditlog log;
	struct buf out;		/* this turn's lines */
	struct auditd_effects effects;
	char failed[128];	/* not empty: nothing is released any more */
	struct auditd_server servers[PROTO_MAX_SERVERS];
	struct auditd_call calls[AUDITD_MAX_CALLS];
	struct auditd_instance instances[PROTO_MAX_INSTANCES];
	/* Whose mcp-backd has closed: for us, for policyd. */
	bool lost[PROTO_MAX_SERVERS], left[PROTO_MAX_SERVERS];
	uint64_t ended[AUDITD_ENDED];
	unsigned nended;
	struct loop_timer ended_timer;
	struct msg_COUNTS counts;
	uint64_t dropped;
	bool unasked;		/* some server has any */
};

extern struct auditd_env auditd_env;

void auditd_serve(void) __attribute__((noreturn));

/* auditd/model.c */
chan_fn auditd_on_alarm, auditd_on_package, auditd_on_usage, auditd_on_request, auditd_on_exchange_end;

/*
 * A request that goes to its keyd; asked: what policyd says of it, or NULL.
 * Its line first, then the message.
 */
void auditd_request_line(
    const struct msg_REQUEST_GO *, const struct msg_ASKED *asked);
void auditd_request_go(const struct msg_REQUEST_GO *);

/* auditd/ask.c */
chan_fn auditd_on_asked, auditd_on_ask_no;

/* auditd/hold.c */
/* "approved", ...; "" for none. */
const char *auditd_hold_end(enum proto_hold);
chan_fn auditd_on_hold, auditd_on_verdict, auditd_on_approved, auditd_on_late;

/* auditd/egress.c */
chan_fn auditd_on_connect, auditd_on_connect_end;

/* auditd/refusals.c */
chan_fn auditd_on_denied, auditd_on_connect_denied;
/* Lines for those that are counted and not written yet. */
void auditd_refusals_flush(void);

/* auditd/instance.c */
chan_fn auditd_on_instance, auditd_on_instance_up, auditd_on_instance_fail,
    auditd_on_instance_drop, auditd_on_instance_over,
    auditd_on_instance_left;
void auditd_lost(enum role, unsigned index);

/* auditd/virtual.c */
chan_fn auditd_on_virtual_done;
/* A released call to the virtual server. -1: impossible. */
int auditd_virtual(const struct msg_RELEASE *);

/* auditd/policy.c */
chan_fn auditd_on_tool_seen, auditd_on_trust, auditd_on_rules_now;

/* auditd/log.c */
/* Could this JSON text of another process end our line? */
bool auditd_breaks(struct span json);
/* Begins a line of this turn. */
void auditd_line(struct auditlog_line *, const char *event);
/* Ends it; a line that cannot be composed latches the failure. */
void auditd_line_end(struct auditlog_line *);
/*
 * A message that may go out once all lines so far are written.  Whoever waits
 * for it sets `refuse` of the effect.
 */
struct auditd_effect *auditd_effect_msg(enum role to, unsigned index,
    enum msg_type, const void *msg, uint64_t call);
/* The same, and it goes out even where the log does not cover it: an end. */
void auditd_effect_end(enum role to, unsigned index, enum msg_type,
    const void *msg);
/* Bytes instead of a message: `release` says what becomes of them. */
struct auditd_effect *auditd_effect_line(
    unsigned server, uint64_t call, struct span);
/* Writes what this turn composed and lets its effects happen. */
void auditd_commit(void);

/* auditd/server.c */
/* The session ends: calls that are out get their last line. */
void auditd_calls_over(void);
void auditd_server_stdin(unsigned server, int fd);
/* A line that may go to a server once all lines so far are written. */
void auditd_server_line(unsigned server, uint64_t call, struct span);
/* An answer that mcp-proxyd gets then. */
void auditd_answer_later(const struct msg_ANSWER *, uint64_t call);
/* A call that the log does not cover is denied, and ends. */
void auditd_call_refuse(const struct auditd_effect *);
/* The server is gone: its calls are answered, recorded and ended. */
void auditd_server_lost(unsigned server, const char *why);
struct auditd_call *auditd_call_find(uint64_t id);
/* NULL: more calls than a session may have. */
struct auditd_call *auditd_call_new(uint64_t id, unsigned server);
/* Forgets the call; policyd hears of it. */
void auditd_call_end(struct auditd_call *);
/* A call ended: policyd is told soon, with others. */
void auditd_ended(uint64_t id);
/* The server answered a call that it does not have. */
void auditd_unasked(unsigned server);
/* Their mcp-backds are told of such answers, once a turn. */
void auditd_unasked_tell(void);
/* The server was told to drop it and need not answer: recorded and ended. */
void auditd_call_cancelled(struct auditd_call *);

#endif
