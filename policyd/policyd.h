/* SPDX-License-Identifier: ISC */
/*
 * The state that policyd's handlers share: the engine, the servers' sessions,
 * the calls in flight and the pending calls. Messages are sent through `send`,
 * so that tests run the same code without channels.
 */
#ifndef POLICYD_H
#define POLICYD_H

#include "approval/grants.h"
#include "approval/hold.h"
#include "approval/host_holds.h"
#include "approval/request_holds.h"
#include "asks/question.h"
#include "breaker.h"
#include "common/ipc/worker.h"
#include "compose.h"
#include "early.h"
#include "engine/eval.h"
#include "instance.h"
#include "outside.h"
#include "parts/parts.h"
#include "pins.h"
#include "reload.h"
#include "remotes.h"
#include "rounds.h"
#include "session.h"

/*
 * Timers: expiry of holds, asks, hosts and questions, the first listing, remotes, the
 * budget's report, instances, and three for each session.
 */
#define POLICYD_TIMERS (8 + 3 * PROTO_MAX_SERVERS)

enum call_state { CALL_FREE, CALL_ASKING, CALL_HELD, CALL_RELEASED };

struct call {
	uint64_t id;
	uint32_t bytes;			/* bytes of its arguments */
	uint16_t server;		/* or PROTO_NO_SERVER */
	uint16_t at;			/* the same, or the instance that
					   runs the call */
	uint16_t next;			/* next in its bucket, or CALL_END */
	enum call_state state;
	bool forwarded, cancelled;
	uint64_t grant;			/* id of the grant that allowed it,
					   or 0 */
	bool over;			/* the end of its hold was reported */
	bool automatic;			/* the approver approved it */
	uint8_t questions;		/* its server asked so many */
	/* If its server may ask: what a question belongs to. */
	char tool[PROTO_MAX_TOOL_NAME + 1];
	uint8_t digest[HOLD_DIGEST];
	bool modern;			/* the agent takes a state; CALL */
	struct round *round;		/* kept to be sent again, or NULL */
};

#define CALL_END UINT16_MAX
#define CALLS_MAX PROTO_MAX_CALLS

struct calls {
	struct call list[CALLS_MAX];
	uint16_t buckets[CALLS_MAX];
	uint16_t free;			/* head of the list of free calls */
	unsigned n;
	unsigned server_calls[PROTO_MAX_SERVERS];
	size_t server_bytes[PROTO_MAX_SERVERS];
	uint64_t last;			/* highest id so far; ids must rise */
	/*
	 * Calls that ended since mcp-proxyd was last told. The last entry is
	 * for calls to no server.
	 */
	struct {
		uint32_t calls, bytes;
	} credit[PROTO_MAX_SERVERS + 1];
	bool owing;
};

/* The calls that the session may still make: budget.c. */
struct call_budget {
	bool told;		/* a limit was set */
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
	struct forge_dest *forges[PROTO_MAX_PROVIDERS]; /* NULL: no forge */
	struct hosts hosts;
	struct questions questions;
	struct remotes remotes;
	struct round_states states;
	struct early_calls early;
	struct instance instances[INSTANCE_MAX];
	unsigned ending;		/* dropped instances that have not
					   ended yet */
	/* Instances' channels that closed: policyd's, mcp-proxyd's. */
	bool lost[PROTO_MAX_SERVERS], lost_proxy[PROTO_MAX_SERVERS];
	struct grants grants;
	struct pins pins;
	struct reload reload;
	struct breaker *breaker;
	struct call_budget budget;
	struct value_pool *pool;	/* for the current call */
	struct buf line;		/* the line composed for it */
	struct span git_dir;		/* git_set_working_dir; owned */
	struct loop_timer hold_timer, list_timer;
	/* Shared by all instances; they have no session with a timer. */
	struct loop_timer instance_timer;
	struct session_limits limits;
	bool started, list_late;
	bool parts_told;		/* PARTS was sent */
	uint8_t log_level;		/* one more than the level, or 0 */
	void (*send)(struct policyd_env *, enum role, enum msg_type,
	    const void *msg);
	/* Called when a server has listed its tools, or its session has ended. */
	void (*server_listed)(struct policyd_env *, uint16_t server);
	/* Called when a server's session has ended. */
	void (*server_gone)(struct policyd_env *, uint16_t server);
	/* question_take() */
	const char *(*question)(struct policyd_env *,
	    const struct question_from *, const struct value *params);
};

/* Returns 0, or -1 with errno. */
int policyd_init(struct policyd_env *, struct loop *);
void policyd_free(struct policyd_env *);

/* calls_table.c: admission. */
void calls_table_init(struct calls *);
/* Returns NULL with *why: a limit that an honest mcp-proxyd would have kept. */
struct call *calls_table_admit(struct calls *, uint64_t id, uint16_t server,
    size_t bytes, const char **why);
struct call *calls_table_find(struct calls *, uint64_t id);
void calls_table_end(struct calls *, struct call *);
/* Report to mcp-proxyd the calls that ended since the last report. */
void calls_credit(struct policyd_env *);

/* budget.c */
void budget_set(struct policyd_env *, const struct msg_BUDGET_CALLS *);
/* Count one more call. Returns NULL, or the text that refuses it. */
const char *budget_take(struct policyd_env *);

/* call.c: a new call. Returns -1 with *why if the peer broke the protocol. */
int call_take(struct policyd_env *, const struct msg_CALL *, const char **why);
/* approval/approve.c: verdicts and the other ends of calls. */
void call_verdict(struct policyd_env *, const struct msg_VERDICT_GO *);
void call_cancel(struct policyd_env *, uint64_t id);
int call_ended(struct policyd_env *, uint64_t id, bool error,
    const char **why);
/*
 * approval/redecide.c: judge every held call again, after the rules changed or
 * something was granted. `how` is the end of those that no longer need a
 * person.
 */
void call_redecide(struct policyd_env *, enum proto_hold how);

/* One call on its way through the pipeline. */
struct work {
	uint64_t id;
	uint16_t server;		/* or PROTO_NO_SERVER */
	struct span server_name, tool;
	bool progress;
	struct value *tree;
	struct server *srv;
	struct annot_tool *annot;
	struct call_args args;
	bool may_ask;			/* may wait for its server's tools, or
					   until icgit resolved its remotes */
	struct span urls;		/* icgit's answer; p == NULL: unknown */
	struct outside outside;		/* the objects that its server cannot
					   see */
	struct decision d;
	uint64_t grant;			/* the grant that allows it, or 0 */
	struct span answer;		/* the text for the agent if it is
					   not forwarded */
	struct span given;		/* the state that the agent gave back;
					   p == NULL: none */
	uint64_t thread;		/* the call that it goes on with, or 0 */
};

/* WORK_WAIT: only with may_ask, before the decision. */
enum work_way { WORK_REFUSE, WORK_FORWARD, WORK_ASK, WORK_WAIT };

/*
 * parts_judge.c: decide about a request for a part of a server that is there.
 * Returns WORK_REFUSE with the reason, or WORK_FORWARD with the decision in `k`.
 */
enum work_way parts_judge(struct policyd_env *, struct work *);

/* probe.c: a question of `icctl policy`. Returns 0, or -1 with *why. */
int probe_eval(struct policyd_env *, const struct msg_EVAL *,
    const char **why);

/*
 * instance.c: calls by instances. Both return WORK_ASK if an instance was
 * requested; otherwise the call is to be released as returned.
 */
/* Start an instance for an allowed call. */
enum work_way instance_call(struct policyd_env *, struct call *, struct work *,
    struct span args, const struct composed *);
/* Start an instance for an approved call. Takes the hold. */
enum work_way instance_held(struct policyd_env *, struct call *,
    struct work *, struct hold *, enum proto_hold how);
/* Cancel a call. Returns true if it was waiting for an instance and is over. */
bool instance_cancel(struct policyd_env *, uint64_t call);
/* Drop the instance of a released call that ended. */
void instance_ended(struct policyd_env *, uint64_t call);
/* Free all instances, ended or not. */
void instances_free(struct policyd_env *);
/*
 * Messages of auditd, of mcp-proxyd and of an instance's mcp-backd. Return -1
 * for a message that is impossible in this state.
 */
int instance_go(struct policyd_env *, const struct msg_INSTANCE_GO *);
int instance_room(struct policyd_env *);
void instance_no(struct policyd_env *, const struct msg_INSTANCE_FAIL_GO *);
void instance_moved(struct policyd_env *, const struct msg_MOVED *);
void instance_init_result(struct policyd_env *, uint16_t index,
    const struct msg_INIT_RESULT *);
void instance_discovered(struct policyd_env *, uint16_t index,
    const struct msg_DISCOVERED *);
void instance_gone(struct policyd_env *, uint16_t index, struct span text);
void instance_request(struct policyd_env *, uint16_t index,
    const struct msg_SERVER_REQUEST *);
/* Count an answer to its requests. Returns false if it had too many. */
bool instance_may_answer(struct policyd_env *, uint16_t index);
/* An mcp-backd's channel closed: here, or in mcp-proxyd if `proxy`. */
void instance_lost(struct policyd_env *, unsigned index, bool proxy);
/* approval/hold_end.c: held calls that are not sent */
#define HOLD_FINAL "\nDo not retry unless the user asks you to."
/*
 * Report how the hold ended to the log and the agent; `k` is the call, rebuilt.
 */
void hold_finish(struct policyd_env *, struct hold *, struct work *,
    enum proto_hold how, struct span answer);
/* Refuse the held call with this text, followed by HOLD_FINAL. */
void hold_refuse(struct policyd_env *, struct hold *, enum proto_hold how,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* End expired holds and set the timer for the next. */
void call_arm(struct policyd_env *);
void call_server_gone(struct policyd_env *, uint16_t server);
/*
 * The call's remotes may have changed: ask icgit again and call `led` with the
 * answer. Returns false if icgit cannot be asked.
 */
bool hold_ask_again(struct policyd_env *, struct hold *, remotes_led *led);
/*
 * Returns the hold for which icgit answered, or NULL if it is over or its
 * remotes changed; the hold has been refused then.
 */
struct hold *hold_led(struct policyd_env *, uint64_t id, struct span urls);
void hold_led_elsewhere(struct policyd_env *, struct hold *);

/*
 * approval/show.c: calls that a person decides. Returns WORK_REFUSE if the call
 * cannot be held.
 */
enum work_way work_hold(struct policyd_env *, struct call *, struct work *,
    struct span args, const struct composed *);
/*
 * Show the held call, its effect and the reason, unless the same was shown
 * before. Returns 0, or -1 if it cannot be shown.
 */
int work_show(struct policyd_env *, struct hold *, const struct work *,
    struct span args);
/*
 * approval/auto.c: Returns true if the approver may answer the pending call.
 */
bool auto_permits(struct policyd_env *, const struct work *);
/*
 * Fill in what an approval for the session would grant, and its text. Returns
 * 0, or -1 if nothing can be granted.
 */
int work_offer(struct policyd_env *, const struct work *, struct grant *,
    struct span *text);

/*
 * approval/tool_grants.c: grants for calls without a path or URL: these arguments
 * for the session, or a number of calls of the tool. Fill in the grant to offer
 * for a call; its texts live as long as the call. Returns 0, or -1 if there is
 * none.
 */
int tool_grant_offer(struct policyd_env *, const struct work *,
    struct grant *);
/*
 * Allow an escalated call that one of these grants covers. Returns the grant,
 * or NULL.
 */
const struct grant *tool_grant_apply(struct policyd_env *, struct work *);
/*
 * Use the grant for a call that is sent. Returns the uses that remain, for the
 * log.
 */
uint8_t tool_grant_take(struct policyd_env *, uint64_t id);
/* Report a new grant to those who watch. */
void tool_grant_made(struct policyd_env *, uint64_t id);
/* A grant of an earlier run is in force again; report that. */
void tool_grant_kept(struct policyd_env *, struct grant *);
/*
 * End the grants of the tool, or of all tools of the server if tool.p is NULL;
 * if `counted`, only the counted ones.
 */
void tool_grants_end(struct policyd_env *, uint16_t server, struct span tool,
    bool counted, const char *why);
/* End the counted grants of all servers. */
void tool_grants_end_counted(struct policyd_env *, const char *why);
/*
 * End a grant by id (if `counted`, only a counted one). Returns false if it
 * does not exist.
 */
bool tool_grant_end(struct policyd_env *, uint64_t id, bool counted,
    const char *why);

/*
 * approval/kept_grants.c: grants of an earlier run that a person confirmed. Each
 * waits until the tools of its server are known, and is judged again then. Take
 * one, before START. Returns 0, or -1 with errno.
 */
int kept_take(struct policyd_env *, const struct msg_RESTORE_GRANT *);
/* Judge those of a server, whose tools were listed or that is gone. */
void kept_judge(struct policyd_env *, uint16_t server);
/* After START: end those of servers that this run does not have. */
void kept_start(struct policyd_env *);

/* work.c: used by all of the above */
#define WORK_FINAL "\nDo not retry: the answer will be the same."
#define WORK_LINE_KEEP ((size_t)1 << 16)	/* kept of env->line for the
						   next call */
struct request work_request(struct policyd_env *, const struct work *);
/* Returns "server__tool", or the tool if its server is unknown. */
struct span work_name(struct policyd_env *, const struct work *);
/* Refuse with this rule and reason. */
enum work_way work_refuse(struct work *, const char *rule,
    struct span reason);
/* The same, but the agent is told the reason and `more`. */
enum work_way work_refuse_plain(struct policyd_env *, struct work *,
    const char *rule, struct span reason, const char *more);
/* Returns the text for the agent about a refused call. */
struct span work_answer(struct policyd_env *, const struct work *);
/* Compose the line in env->line. Returns WORK_REFUSE if it is too large. */
enum work_way work_compose(struct policyd_env *, struct work *,
    struct composed *);
/* Count the call in the breaker. Returns WORK_REFUSE if it is one too many. */
enum work_way work_breaker(struct policyd_env *, struct work *,
    const struct composed *);
/* Hand the call to auditd, to be sent or refused. */
void work_release(struct policyd_env *, struct call *, struct work *,
    enum work_way, enum proto_hold, struct composed *);

/* judge.c */
enum work_way work_decide(struct policyd_env *, struct work *);
/* Judge a call of a known tool whatever its server can see (probe.c). */
enum work_way work_judge(struct policyd_env *, struct work *,
    const struct session_tool *);
/*
 * unknown.c: tools without an annotation. unknown_held() returns true if their
 * calls are held for a person, unknown_hidden() if the agent does not see this
 * tool.
 */
bool unknown_held(const struct policyd_env *);
bool unknown_hidden(const struct policyd_env *, unsigned server,
    struct span tool);
/* Deny the call by a rule that names the server or tool, or hold it. */
enum work_way unknown_judge(struct policyd_env *, struct work *);
/*
 * Deny the call if a rule that names its server, or its tool if `tools`, does.
 * Returns true if one did. `annot` and `args` replace those of the call.
 */
bool work_rule_denies(struct policyd_env *, struct work *,
    struct annot_tool *annot, const struct call_args *args, bool tools);
/* work_again.c */
/* Record the call so that it can be rebuilt. Returns 0, or -1. */
int work_note(struct policyd_env *, const struct work *,
    const struct composed *, struct hold *);
/* Rebuild the call from the hold, without judging it. Returns 0, or -1. */
int work_remake(struct policyd_env *, const struct hold *, struct work *);
/*
 * Rebuild, judge and compose the call, and check that it is still the one that
 * was recorded. Returns WORK_REFUSE with the reason in the decision if not.
 */
enum work_way work_again(struct policyd_env *, const struct hold *,
    struct work *, struct composed *);
/*
 * call_log.c: append the text for the log to env->line if it differs from the
 * line.
 */
void work_log(struct policyd_env *, struct work *, struct composed *);
/* Returns a text as the log may have it: with secrets masked. */
struct span work_log_text(struct policyd_env *, struct span);
/* Forget which texts have none: the session has another secret. */
void work_log_forget(void);
/*
 * named.c: append the names by which links lead to the call's paths to env->line,
 * as canonical JSON; nothing if there are none:
 *   [{"argument","links":[...],"named","value"}]
 * Returns 0, or -1 if they are too long.
 */
int named_compose(struct buf *, const struct work *, struct composed *);
/* Write the members links and named of a path that leads through links. */
void named_put(struct buf *, const struct path *);
/* gitdir.c: record the directory that later calls of git will work in. */
void work_note_git_dir(struct policyd_env *, const struct work *);

#endif
