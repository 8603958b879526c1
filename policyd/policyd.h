/* SPDX-License-Identifier: ISC */
/*
 * What the handlers of policyd share: the engine, the servers' sessions, the
 * calls in flight and the calls held.  Messages leave through `send`, so that
 * tests run the same code without channels.
 */
#ifndef POLICYD_H
#define POLICYD_H

#include "request_holds.h"
#include "breaker.h"
#include "compose.h"
#include "engine/eval.h"
#include "grants.h"
#include "hold.h"
#include "remotes.h"
#include "instance.h"
#include "outside.h"
#include "pins.h"
#include "reload.h"
#include "session.h"
#include "common/ipc/worker.h"

/* Timers: expiry of holds and asks, the first listing, remotes, the budget's
 * report, instances, one a session. */
#define POLICYD_TIMERS (6 + PROTO_MAX_SERVERS)

enum call_state { CALL_FREE, CALL_ASKING, CALL_HELD, CALL_RELEASED };

struct call {
	uint64_t id;
	uint32_t bytes;			/* of its arguments */
	uint16_t server;		/* or PROTO_NO_SERVER */
	uint16_t at;			/* it, or the instance of it */
	uint16_t next;			/* in its bucket; CALL_END */
	enum call_state state;
	bool forwarded, cancelled;
	uint64_t grant;			/* that let it through, or 0 */
	bool over;			/* its hold's end was told */
};

#define CALL_END UINT16_MAX
#define CALLS_MAX PROTO_MAX_CALLS

struct calls {
	struct call list[CALLS_MAX];
	uint16_t buckets[CALLS_MAX];
	uint16_t free;			/* list of them */
	unsigned n;
	unsigned server_calls[PROTO_MAX_SERVERS];
	size_t server_bytes[PROTO_MAX_SERVERS];
	uint64_t last;			/* ids rise */
	/* Ended, and mcp-proxyd not told yet; the last one: to no server. */
	struct {
		uint32_t calls, bytes;
	} credit[PROTO_MAX_SERVERS + 1];
	bool owing;
};

/* How many calls may still be made: budget.c. */
struct call_budget {
	bool told;		/* somebody said */
	uint64_t max, until;	/* UINT64_MAX: no limit */
	uint64_t calls;
	char calls_text[513], ms_text[513];
	struct loop_timer report;
};

struct policyd_env {
	struct worker *w;
	struct loop *loop;
	struct engine engine;
	struct session sessions[PROTO_MAX_SERVERS];
	struct calls calls;
	struct holds holds;
	struct asks asks;
	struct remotes remotes;
	struct instance instances[INSTANCE_MAX];
	unsigned ending;		/* dropped, and not gone yet */
	/* Instances' channels that closed: ours, mcp-proxyd's. */
	bool lost[PROTO_MAX_SERVERS], lost_proxy[PROTO_MAX_SERVERS];
	struct grants grants;
	struct pins pins;
	struct reload reload;
	struct breaker *breaker;
	struct call_budget budget;
	struct value_pool *pool;	/* of the call at hand */
	struct buf line;		/* what is composed for it */
	struct span git_dir;		/* git_set_working_dir; owned */
	struct loop_timer hold_timer, list_timer;
	/* Instances have no session, whose timer this one takes. */
	struct loop_timer instance_timer;
	bool started, list_late;
	void (*send)(struct policyd_env *, enum role, enum msg_type,
	    const void *msg);
	/* A server's session has ended. */
	void (*server_gone)(struct policyd_env *, uint16_t server);
};

/* -1 with errno. */
int policyd_init(struct policyd_env *, struct loop *);
void policyd_free(struct policyd_env *);

/* calls_table.c: admission. */
void calls_init(struct calls *);
/* NULL: *why says which limit an honest mcp-proxyd would have kept. */
struct call *calls_admit(struct calls *, uint64_t id, uint16_t server,
    size_t bytes, const char **why);
struct call *calls_find(struct calls *, uint64_t id);
void calls_end(struct calls *, struct call *);
/* Tells mcp-proxyd what ended since the last time: once a turn. */
void calls_credit(struct policyd_env *);

/* budget.c */
void budget_set(struct policyd_env *, const struct msg_BUDGET_CALLS *);
/* One call more: NULL, or what it is told instead. */
const char *budget_take(struct policyd_env *);

/* call.c: the way of a call. -1: the peer broke the protocol, *why says how. */
int call_take(struct policyd_env *, const struct msg_CALL *, const char **why);
/* approve.c: the user's answer, and how calls end otherwise. */
void call_verdict(struct policyd_env *, const struct msg_VERDICT_GO *);
void call_cancel(struct policyd_env *, uint64_t id);
int call_ended(struct policyd_env *, uint64_t id, bool error,
    const char **why);
/*
 * redecide.c: judge every held call again, as other rules are in force or
 * something was granted.  `how` is the end of those that need no person now.
 */
void call_redecide(struct policyd_env *, enum proto_hold how);

/* One call on its way through the pipeline (original.md 1.2). */
struct work {
	uint64_t id;
	uint16_t server;		/* or PROTO_NO_SERVER */
	struct span server_name, tool;
	bool progress;
	struct value *tree;
	struct server *srv;
	struct annot_tool *annot;
	struct call_args args;
	bool may_ask;			/* where its remotes lead */
	struct span urls;		/* the answer; p == NULL: unknown */
	struct outside outside;		/* what its server cannot see */
	struct decision d;
	uint64_t grant;			/* that allows it, or 0 */
	struct span answer;		/* for the agent, when not forwarded */
};

/* WORK_WAIT: only with may_ask, before anything is decided. */
enum work_way { WORK_REFUSE, WORK_FORWARD, WORK_ASK, WORK_WAIT };

/* probe.c: a question of `icctl policy`. -1 with *why. */
int probe_eval(struct policyd_env *, const struct msg_EVAL *,
    const char **why);

/* instance.c. WORK_ASK: it is on its way; else to be released (refused). */
/* A call that needs no person. */
enum work_way instance_call(struct policyd_env *, struct call *, struct work *,
    struct span args, const struct composed *);
/* One that was held: takes the hold. */
enum work_way instance_held(struct policyd_env *, struct call *,
    struct work *, struct hold *, enum proto_hold how);
/* The agent gave the call up. true: it was here, and is over. */
bool instance_cancel(struct policyd_env *, uint64_t call);
/* A released call ended. */
void instance_ended(struct policyd_env *, uint64_t call);
/* Ended or not: no instance is left (policyd_free). */
void instances_free(struct policyd_env *);
/* What auditd, mcp-proxyd and its mcp-backd say. -1: impossible. */
int instance_go(struct policyd_env *, const struct msg_INSTANCE_GO *);
int instance_room(struct policyd_env *);
void instance_no(struct policyd_env *, const struct msg_INSTANCE_NO *);
void instance_moved(struct policyd_env *, const struct msg_MOVED *);
void instance_init_result(struct policyd_env *, uint16_t index,
    const struct msg_INIT_RESULT *);
void instance_gone(struct policyd_env *, uint16_t index, struct span text);
void instance_request(struct policyd_env *, uint16_t index,
    const struct msg_SERVER_REQUEST *);
/* Its mcp-backd's channel closed: here (proxy false) or in mcp-proxyd. */
void instance_lost(struct policyd_env *, unsigned index, bool proxy);
/* hold_end.c: held calls that will not go out */
#define HOLD_FINAL "\nDo not retry unless the user asks you to."
/* Tell the log and the agent how it ended; k is the call, made again. */
void hold_finish(struct policyd_env *, struct hold *, struct work *,
    enum proto_hold how, struct span answer);
/* The same with this text, HOLD_FINAL behind it. */
void hold_refuse(struct policyd_env *, struct hold *, enum proto_hold how,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* End those that have expired, and set the timer for the next one. */
void call_arm(struct policyd_env *);
void call_server_gone(struct policyd_env *, uint16_t server);
/*
 * Its remotes may lead elsewhere by now: ask, and call `led` with the answer.
 * Returns false if nobody can say.
 */
bool hold_ask_again(struct policyd_env *, struct hold *, remotes_led *led);
/* That answer came: the hold, or NULL if it is over or they lead elsewhere. */
struct hold *hold_led(struct policyd_env *, uint64_t id, struct span urls);
void hold_led_elsewhere(struct policyd_env *, struct hold *);

/* approval_show.c: a person decides. WORK_REFUSE: it cannot be held. */
enum work_way work_hold(struct policyd_env *, struct call *, struct work *,
    struct span args, const struct composed *);
/*
 * Tell what is held, what it would do and why; again only if that changed.
 * Returns 0, or -1 if it cannot be told.
 */
int work_show(struct policyd_env *, struct hold *, const struct work *,
    struct span args);
/* What an approval for the session would grant; its text. -1: nothing. */
int work_offer(struct policyd_env *, const struct work *, struct grant *,
    struct span *text);

/*
 * tool_grants.c: approvals for calls without a path or URL: these arguments for
 * the session, or the tool so many times.  The offer of a call; its texts live
 * as long as it does.  -1: there is none.
 */
int tool_grant_offer(struct policyd_env *, const struct work *,
    struct grant *);
/* Allow an escalated call that one of them covers: NULL, or which one. */
const struct grant *tool_grant_apply(struct policyd_env *, struct work *);
/* It goes out on the strength of that grant. Uses that remain, for the log. */
uint8_t tool_grant_take(struct policyd_env *, uint64_t id);
/* It was made: those who watch are told. */
void tool_grant_made(struct policyd_env *, uint64_t id);
/*
 * End grants of the server and tool, or of all its tools if tool.p is NULL; if
 * `counted`, only those.
 */
void tool_grants_end(struct policyd_env *, uint16_t server, struct span tool,
    bool counted, const char *why);
/* The counted ones of all servers. */
void tool_grants_end_counted(struct policyd_env *, const char *why);
/* End that one, whatever its form; false: it is not there. */
bool tool_grant_end(struct policyd_env *, uint64_t id, bool counted,
    const char *why);

/* work.c: the bottom */
#define WORK_FINAL "\nDo not retry: the answer will be the same."
#define WORK_LINE_KEEP ((size_t)1 << 16)	/* of env->line, for the next */
struct request work_request(struct policyd_env *, const struct work *);
/* Returns "server__tool", or the tool if its server is unknown. */
struct span work_name(struct policyd_env *, const struct work *);
/* Refuse with this rule and reason. */
enum work_way work_refuse(struct work *, const char *rule,
    struct span reason);
/* The same; the agent is told the reason and `more`. */
enum work_way work_refuse_plain(struct policyd_env *, struct work *,
    const char *rule, struct span reason, const char *more);
/* What the agent is told of a call that was refused. */
struct span work_answer(struct policyd_env *, const struct work *);
/* The line in env->line; WORK_REFUSE when it is too large. */
enum work_way work_compose(struct policyd_env *, struct work *,
    struct composed *);
/* Count the call; WORK_REFUSE when it is one too many. */
enum work_way work_breaker(struct policyd_env *, struct work *,
    const struct composed *);
/* Hand it to auditd, to be sent or refused. */
void work_release(struct policyd_env *, struct call *, struct work *,
    enum work_way, enum proto_hold, struct composed *);

/* judge.c */
enum work_way work_decide(struct policyd_env *, struct work *);
/* The same for a tool that is there, whatever its server can see (probe.c). */
enum work_way work_judge(struct policyd_env *, struct work *,
    const struct session_tool *);
/*
 * unknown.c: tools that no policy knows.  Is each of their calls held for a
 * person, and is this one kept from the agent?
 */
bool unknown_held(const struct policyd_env *);
bool unknown_hidden(const struct policyd_env *, unsigned server,
    struct span tool);
/* Decide about a call of one: denied by a rule that names it, or held. */
enum work_way unknown_judge(struct policyd_env *, struct work *);
/*
 * Deny the call if a rule does so that names its server, or its tool if
 * `tools`.  Returns true if one did.  annot and args: in place of the call's.
 */
bool work_rule_denies(struct policyd_env *, struct work *,
    struct annot_tool *annot, const struct call_args *args, bool tools);
/* work_again.c */
/* Note for later what the call is.  -1: it cannot be noted. */
int work_note(struct policyd_env *, const struct work *,
    const struct composed *, struct hold *);
/* Make the call again, not judged yet.  -1: it cannot be made. */
int work_remake(struct policyd_env *, const struct hold *, struct work *);
/*
 * The same call as when it was noted, made and composed anew? WORK_REFUSE:
 * why not is in the decision.
 */
enum work_way work_again(struct policyd_env *, const struct hold *,
    struct work *, struct composed *);
/* call_log.c: what the log holds, behind env->line, if it is not the line. */
void work_log(struct policyd_env *, struct work *, struct composed *);
/* gitdir.c: note what later calls of git work on. */
void work_note_git_dir(struct policyd_env *, const struct work *);

#endif
