/* SPDX-License-Identifier: ISC */
/*
 * Internals of auditd: the log, the effects that wait for it, and the servers'
 * stdin ends. Every handler composes its line and adds the action that the line
 * permits as an effect. At the end of a loop turn the lines are written with
 * one call, and only then do the effects happen, in order.
 */
#ifndef AUDITD_H
#define AUDITD_H

#include <sys/queue.h>

#include "common/ipc/worker.h"
#include "log/line.h"

#define AUDITD_STALL_MS 30000U
/*
 * Ends of calls are reported to policyd in batches, because it only counts
 * those that succeeded: with the next one that comes AUDITD_ENDED_MS or more
 * after the first, at once if one failed, and after AUDITD_ENDED_IDLE_MS if
 * none follows. Only the last is a timer (BACKD_DONE_MS says why).
 */
#define AUDITD_ENDED 64U
#define AUDITD_ENDED_MS 2U
#define AUDITD_ENDED_IDLE_MS 6U
#define AUDITD_MAX_CALLS PROTO_MAX_CALLS

/* A line for a server, or a message, that waits for the log to be written. */
struct auditd_effect {
	TAILQ_ENTRY(auditd_effect) entry;
	size_t upto; /* log bytes of this turn that must be written
			first */
	uint64_t id; /* the call, or 0 */
	unsigned server;
	enum role to; /* a message's receiver */
	unsigned index;
	enum msg_type type;  /* 0: a line for `server` */
	union proto_any msg; /* its spans point into `bytes` */
	/*
	 * The log covers the effect: called instead of sending `msg`. Returns
	 * true if it keeps the effect.
	 */
	bool (*release)(struct auditd_effect *);
	/* The log does not cover the effect. NULL: nobody waits for it. */
	void (*refuse)(const struct auditd_effect *);
	size_t off; /* line: bytes already written */
	size_t len;
	uint8_t bytes[];
};
TAILQ_HEAD(auditd_effects, auditd_effect);

struct auditd_server {
	bool known;
	bool virtual; /* a virtual server: icsupervisor carries out
			 its calls */
	char name[65];
	int fd; /* its stdin; -1 if it has none or lost it */
	struct loop_io io;
	struct loop_timer stall;
	struct auditd_effects lines; /* released, not yet written in full */
	size_t queued;
	bool unwritten;   /* got lines in this turn */
	bool died;        /* policyd waits for it to run again */
	bool gone;        /* its mcp-backd has said that it died */
	int next;         /* stdin of the next one; -1: none yet */
	unsigned late;    /* cancelled calls that the server may still
			     answer */
	uint32_t unasked; /* unasked results that it sent in this turn */
};

/* A call that went to a server. */
struct auditd_call {
	uint64_t id;    /* 0: free */
	uint64_t since; /* clock_mono_us() when it was released */
	unsigned server;
	bool error; /* it failed, or was lost */
	bool shown; /* icsupervisor is told of its end */
};

/* The end of a call that went to a server. */
struct auditd_result {
	enum proto_result status;
	bool blocked;    /* by the server's sandbox */
	uint32_t bytes;  /* length of the answer, if there is one */
	uint32_t ago;    /* microseconds since it ended */
	const char *why; /* the reason for having no answer, or NULL */
};

/* An instance of a server, from policyd's request until it is dropped. */
struct auditd_instance {
	uint64_t call;  /* the call that it runs for; 0: free */
	unsigned of;    /* the server that it is an instance of */
	unsigned index; /* its own server index; 0 if it does not run */
	unsigned left;  /* objects that have still to be named */
};

struct auditd_env {
	struct worker w;
	int fd; /* the log */
	bool sync;
	uint64_t room; /* bytes until another file is asked for */
	bool full;     /* it was asked for */
	bool logged;   /* this run's first record was composed */
	struct auditlog log;
	struct buf out; /* this turn's lines */
	struct auditd_effects effects;
	char failed[128]; /* why the log failed; if not empty, nothing is
			     released any more */
	struct auditd_server servers[PROTO_MAX_SERVERS];
	bool unwritten; /* so did one of them */
	struct auditd_call calls[AUDITD_MAX_CALLS];
	struct auditd_instance instances[PROTO_MAX_INSTANCES];
	/*
	 * The channel to this instance's mcp-backd has closed: here, in
	 * policyd.
	 */
	bool lost[PROTO_MAX_SERVERS], left[PROTO_MAX_SERVERS];
	uint64_t ended[AUDITD_ENDED];
	bool ended_error[AUDITD_ENDED];
	unsigned nended;
	uint64_t ended_since; /* loop ms of the first of those */
	struct loop_timer ended_timer;
	struct msg_COUNTS counts;
	uint64_t dropped;
	bool unasked; /* some server's `unasked` is not 0 */
};

extern struct auditd_env auditd_env;

void auditd_serve(void) __attribute__((noreturn));

/* model.c */
int auditd_on_alarm(struct chan *, const struct msg_ALARM *);
int auditd_on_package(struct chan *, const struct msg_PACKAGE *);
int auditd_on_usage(struct chan *, const struct msg_USAGE *);
int auditd_on_request(struct chan *, const struct msg_REQUEST *);
int auditd_on_exchange_end(struct chan *, const struct msg_EXCHANGE_END *);

/*
 * Record a request that goes to its keyd. `asked` is policyd's report if a
 * person approved the request, or NULL.
 */
void auditd_request_line(
    const struct msg_REQUEST_GO *, const struct msg_REQUEST_APPROVED *asked);
void auditd_request_go(const struct msg_REQUEST_GO *);

/* ask.c */
int auditd_on_request_approved(
    struct chan *, const struct msg_REQUEST_APPROVED *);
int auditd_on_request_unapproved(
    struct chan *, const struct msg_REQUEST_UNAPPROVED *);

/* forge.c */
int auditd_on_forge_look(struct chan *, const struct msg_FORGE_LOOK *);
int auditd_on_forge_found(struct chan *, const struct msg_FORGE_FOUND *);
/* The exchange goes to its keyd, which may answer with a redirect. */
void auditd_forge_released(const struct msg_REQUEST_GO *);
int auditd_on_follow(struct chan *, const struct msg_FOLLOW *);
void auditd_follow_end(const struct msg_EXCHANGE_END *);

/* host.c */
int auditd_on_host_open(struct chan *, const struct msg_HOST_OPEN *);
int auditd_on_host_shut(struct chan *, const struct msg_HOST_SHUT *);

/* hold.c */
/* Returns the end of a pending call as logged: "approved", ...; "" for none. */
const char *auditd_hold_end(enum proto_hold);
int auditd_on_hold(struct chan *, const struct msg_HOLD *);
int auditd_on_verdict(struct chan *, const struct msg_VERDICT *);
int auditd_on_question_end(struct chan *, const struct msg_QUESTION_END *);
int auditd_on_opinion(struct chan *, const struct msg_OPINION *);
int auditd_on_approved(struct chan *, const struct msg_APPROVED *);
int auditd_on_late(struct chan *, const struct msg_LATE *);
int auditd_on_grant(struct chan *, const struct msg_GRANT *);
int auditd_on_revoke(struct chan *, const struct msg_REVOKE *);

/* rounds.c */
int auditd_on_round(struct chan *, const struct msg_ROUND *);

/* egress.c */
int auditd_on_connect(struct chan *, const struct msg_CONNECT *);
int auditd_on_connect_end(struct chan *, const struct msg_CONNECT_END *);
int auditd_on_port_use(struct chan *, const struct msg_PORT_USE *);

/* service.c */
int auditd_on_door(struct chan *, const struct msg_DOOR *);
/*
 * A connection of the services' egressd begins, or has ended. Returns the name
 * of its service, or NULL after a violation of the protocol.
 */
const char *auditd_service_begin(struct chan *, const struct msg_CONNECT *);
const char *auditd_service_end(struct chan *, const struct msg_CONNECT_END *);
int auditd_on_login(struct chan *, const struct msg_LOGIN *);

/* refusals.c */
int auditd_on_denied(struct chan *, const struct msg_DENIED *);
int auditd_on_connect_denied(struct chan *, const struct msg_CONNECT_DENIED *);
/*
 * Write a line for each group of refusals, those of counted.c included, that is
 * counted and not yet written.
 */
void auditd_refusals_flush(void);

/* counted.c */
/*
 * Count the refused call, if there were many of its kind. Returns false if it
 * is to be recorded by itself.
 */
bool auditd_counted_call(const struct msg_RELEASE *);
/* The same for a request that nobody could be asked about. */
bool auditd_counted_request(const struct msg_REQUEST_UNAPPROVED *);
void auditd_counted_flush(void);

/* instance.c */
int auditd_on_instance(struct chan *, const struct msg_INSTANCE *);
int auditd_on_instance_up(
    struct chan *, const struct msg_INSTANCE_UP *, int fd);
int auditd_on_instance_fail(struct chan *, const struct msg_INSTANCE_FAIL *);
int auditd_on_instance_drop(struct chan *, const struct msg_INSTANCE_DROP *);
int auditd_on_instance_ended(struct chan *, const struct msg_INSTANCE_ENDED *);
int auditd_on_instance_gone(struct chan *, const struct msg_INSTANCE_GONE *);
void auditd_lost(enum role, unsigned index);

/* virtual.c */
int auditd_on_virtual_done(struct chan *, const struct msg_VIRTUAL_DONE *);
/* Pass a released call to the virtual server. Returns -1 if it is too long. */
int auditd_virtual(const struct msg_RELEASE *);

/* policy.c */
int auditd_on_tool_seen(struct chan *, const struct msg_TOOL_SEEN *);
int auditd_on_tools_noted(struct chan *, const struct msg_TOOLS_NOTED *);
int auditd_on_trust(struct chan *, const struct msg_TRUST *);
int auditd_on_rules_now(struct chan *, const struct msg_RULES_NOW *);

/* log.c */
/*
 * Returns true if this JSON text of another process would end the line early.
 */
bool auditd_breaks(struct span json);
/* Begin a line of this turn. */
void auditd_line(struct auditlog_line *, const char *event);
/*
 * End the line. A line that cannot be composed counts as a failure of the log.
 */
void auditd_line_end(struct auditlog_line *);
/*
 * Add a decision, {"reason":...,"rule":...,"status":...}, with the status as
 * enum proto_status.
 */
void auditd_decision(struct auditlog_line *, uint8_t status, struct span rule,
    struct span reason);
/*
 * Send a message once all lines so far are written. The caller sets the
 * effect's `refuse` if somebody waits for the message.
 */
struct auditd_effect *auditd_effect_msg(enum role to, unsigned index,
    enum msg_type, const void *msg, uint64_t call);
/*
 * Do the same for a message that reports an end, which is sent even if the log
 * does not cover it.
 */
void auditd_effect_end(
    enum role to, unsigned index, enum msg_type, const void *msg);
/* Add bytes instead of a message. The caller sets `release` to deliver them. */
struct auditd_effect *auditd_effect_line(
    unsigned server, uint64_t call, struct span);
/* Write the lines of this turn and carry out its effects. */
void auditd_commit(void);

/* result.c */
/* People follow this session: tell icsupervisor of its calls. */
void auditd_show_calls(void);
/*
 * Tell icsupervisor of a decided call with these arguments, once it is
 * recorded. Returns false if it is not told.
 */
bool auditd_show(const struct msg_RELEASE *, struct span args);
/* A call is decided of which icsupervisor is told only that there was one. */
void auditd_show_missed(void);
/* Record the end of a call. The caller ends it. */
void auditd_result(const struct auditd_call *, const struct auditd_result *);

/* server.c */
/* The session ends: record the end of every call that still runs. */
void auditd_calls_over(void);
void auditd_server_stdin(unsigned server, int fd);
/*
 * A server that died runs again, with this stdin. policyd is told once the old
 * server is over for it and for mcp-backd. Returns -1 if nobody waits for it.
 */
int auditd_server_again(unsigned server, int fd);
void auditd_server_gone(unsigned server, bool died);
/* Write a line to a server once all lines so far are recorded. */
void auditd_server_line(unsigned server, uint64_t call, struct span);
/*
 * Write the lines that were released in this turn, with one call per server. A
 * server that is found lost adds lines to the log, and effects.
 */
void auditd_servers_write(void);
/* Send an answer to mcp-proxyd once all lines so far are recorded. */
void auditd_answer_later(const struct msg_ANSWER *, uint64_t call);
/* Deny and end a call that the log does not cover. */
void auditd_call_refuse(const struct auditd_effect *);
/* The server is gone: answer, record and end its calls. */
void auditd_server_lost(unsigned server, const char *why);
struct auditd_call *auditd_call_find(uint64_t id);
/* Returns NULL if there are more calls than a session may have. */
struct auditd_call *auditd_call_new(uint64_t id, unsigned server);
/* Free the call and report its end to policyd. */
void auditd_call_end(struct auditd_call *);
/* Report the end of a call to policyd soon, together with others. */
void auditd_ended(uint64_t id, bool error);
/* Count a result from the server for a call that it does not have. */
void auditd_unasked(unsigned server);
/* Report such results to the servers' mcp-backds; called once a turn. */
void auditd_unasked_tell(void);
/*
 * Record and end a call that the server was told to cancel; it need not answer
 * any more.
 */
void auditd_call_cancelled(struct auditd_call *);

#endif
