/* SPDX-License-Identifier: ISC */
/*
 * The live set: every session of this user that runs, with one connection to
 * each, what waits in it, and its latest activity. It belongs to the caller's
 * loop and never blocks: a session that is slow, or that says something odd,
 * delays no other one. Texts of activity are printable; members of JSON objects
 * are as the session sent them, so that they pass hold_view() or visible_add()
 * before a person reads them.
 */
#ifndef LIVE_H
#define LIVE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/session_age.h"
#include "common/loop.h"

#define LIVE_MAX 128U      /* links in run/ that are followed */
#define LIVE_FAR_MAX 4096U /* sessions of other machines that are followed */
#define LIVE_NAME 161U    /* bytes of the id of a session, with its machine's */
#define LIVE_HOLDS 512U   /* pending calls of one session */
#define LIVE_RING 256U    /* latest activity of one session */
#define LIVE_TEXT 200U    /* bytes of one line of activity */
#define LIVE_ID 16U       /* bytes of the short id of a pending call */
#define LIVE_BECAUSE 500U /* bytes of a reason */
#define LIVE_BY 128U      /* bytes of the claim of who answers */
/* Timers that the caller's loop must have room for. */
#define LIVE_TIMERS (2 * LIVE_MAX + 1)

enum live_kind {
	LIVE_ALLOWED,  /* a tool call */
	LIVE_DENIED,   /* a tool call */
	LIVE_HELD,     /* a call begins to wait */
	LIVE_ANSWERED, /* a call no longer waits: history of decisions */
	LIVE_MODEL,    /* an answer of a model */
	LIVE_REFUSED,  /* a request to the network */
	LIVE_ALARM,
	LIVE_NOTE, /* anything else */
};

struct live_item {
	enum live_kind kind;
	uint64_t us;      /* CLOCK_REALTIME */
	uint64_t n;       /* rises by one with each item of the session */
	char id[LIVE_ID]; /* the pending call's, or "" */
	char state[16];   /* how the call ended, for LIVE_ANSWERED */
	char text[LIVE_TEXT];
};

struct live_hold {
	char id[LIVE_ID];
	char digest[65];
	json_object *hold; /* as `show` returns it, for hold_view() */
	bool whole;        /* false: its values are still being fetched */
	uint64_t expires;  /* loop_now() ms; 0: no limit */
	uint64_t since;    /* loop_now() ms: unchanged from then on */
	size_t bytes;      /* as it came from elsewhere */
};

enum live_state {
	LIVE_ABSENT, /* a link without a session, which nobody needs to see
			unless it is starting */
	LIVE_RUNS,
	LIVE_SILENT, /* it has not answered for 10 seconds */
	LIVE_LOST,   /* the connection broke; it is tried again */
	LIVE_OVER,   /* it has ended, and is kept to be looked at */
};

struct live;
struct live_conn;
struct live_session {
	struct live *set;
	char id[LIVE_NAME];
	void *
	    far; /* the machine that it runs on, for the set's owner; or NULL */
	struct session_age age;
	char *dir;       /* HOME/run/ID; "" elsewhere */
	char real[4096]; /* its directory, once it answered; or "" */
	char agent[65];
	char workspace[1024];
	char policy[1024];
	char
	    state[24]; /* running, or a conversation's: ready, processing ... */
	char until[32]; /* when a used up quota returns, or "" */
	enum live_state is;
	bool starting;       /* it is absent for no other reason */
	char why[LIVE_TEXT]; /* it ended, printable */
	json_object *status; /* the latest reply to `status`, or NULL */
	json_object *budget; /* the latest budget, or NULL */
	size_t status_bytes, budget_bytes; /* as they came from elsewhere */
	bool much; /* some of it was more than is kept, and left out */
	struct live_hold holds[LIVE_HOLDS]; /* oldest first */
	unsigned nholds;
	struct live_item ring[LIVE_RING];
	uint64_t nitems; /* item n, from 0, is at ring[n % LIVE_RING] */
	struct live_conn *conn;
};

enum live_change {
	LIVE_LIST,     /* a session came, ended, or was dropped */
	LIVE_ROW,      /* its state, budget, grants or other numbers */
	LIVE_HOLD,     /* pending calls */
	LIVE_ACTIVITY, /* one more item */
};

/* The reply to an answer or a revocation. */
struct live_reply {
	uint64_t token; /* as given */
	const char *op, *id;
	bool ok;
	const char *code, *error; /* if not ok */
	json_object *reply;       /* or NULL: the connection broke */
};

/* None of these may free the set, or forget sessions. */
struct live_ops {
	/* Something changed. `s` is valid until LIVE_LIST says otherwise. */
	void (*changed)(void *arg, struct live_session *s, enum live_change);
	void (*replied)(
	    void *arg, struct live_session *s, const struct live_reply *);
	/* May be NULL: every event of the session, and its first reply. */
	void (*event)(void *arg, struct live_session *s, json_object *);
};

/*
 * Begin. `home` is IRONCURTAIN_HOME, or `dir` is the only session to follow.
 * `flags` are those of visible_add(), for texts of activity. Returns NULL with
 * errno set if it cannot be followed.
 */
struct live *live_new(struct loop *, const char *home, const char *dir,
    unsigned flags, const struct live_ops *, void *arg);
void live_free(struct live *);
/*
 * Returns the sessions that a person wants to see, in the order of their ids:
 * those that answer, or did. NULL after the last.
 */
struct live_session *live_at(const struct live *, unsigned i);
/* Returns the session of that id, or NULL. */
struct live_session *live_find(const struct live *, const char *id);
/* Returns true if more sessions run than can be followed. */
bool live_more(const struct live *);
/* Forget sessions that have ended. */
void live_forget(struct live *);
struct live_hold *live_hold(struct live_session *, const char *id);
/* Returns the item `back` places before the newest, or NULL. */
const struct live_item *live_item(const struct live_session *, unsigned back);

/*
 * Ask for the call again, as the session describes it now. If it is unchanged,
 * its `since` stays.
 */
int live_show(struct live_session *, const char *id);
/* Ask for the session's status again. */
void live_status(struct live_session *);

struct live_verdict {
	bool approve;
	const char *id, *digest; /* the shown call's */
	const char *session; /* digest of the grant that was shown, or NULL */
	unsigned times;      /* so many calls instead, or 0 */
	const char *because; /* or NULL */
	const char *answer;  /* to a question, as JSON; or NULL */
	const char *by; /* the name that a hub claims for its person; or NULL */
	const char *entries; /* signatures; or NULL */
};

/*
 * Send an answer, or a revocation; ops->replied() tells the outcome. Returns 0,
 * or -1 with errno ENOTCONN, EBUSY (too many requests are open), or EINVAL.
 */
int live_answer(
    struct live_session *, const struct live_verdict *, uint64_t token);
int live_revoke(struct live_session *, const char *id, uint64_t token);
/*
 * Send an order, `op`, which is a constant: "say", with the text of a message
 * that comes from a page, "interrupt" or "stop". Otherwise as live_answer().
 */
int live_order(
    struct live_session *, const char *op, const char *text, uint64_t token);

/* How a set asks sessions that run on other machines. */
struct live_far {
	/* Send a request on, and take it. Returns 0, or -1 with errno set. */
	int (*ask)(void *arg, struct live_session *, json_object *,
	    const char *op, const char *id, uint64_t token);
	void *arg;
};

/*
 * Begin a set whose sessions the caller adds, and whose news it brings, which
 * it has taken from elsewhere. Returns NULL with errno set.
 */
struct live *live_new_far(struct loop *, unsigned flags,
    const struct live_ops *, void *arg, const struct live_far *);

/* The state of a session as another machine tells it; none is NULL. */
struct live_row {
	enum live_state is;
	bool starting;
	const char *agent, *workspace, *policy, *state, *until, *why;
};
/* Returns the session of that id, which may be new, or NULL. */
struct live_session *live_far_add(struct live *, const char *id, void *far);
void live_far_row(struct live_session *, const struct live_row *);
/* Returns the session at this place, seen or not, or NULL after the last. */
struct live_session *live_far_at(const struct live *, unsigned i);
/* Forget the session. */
void live_far_drop(struct live_session *);
/* Some of what it has is not shown: say so, now and in later rows. */
void live_far_much(struct live_session *, const char *why);
void live_far_hold(struct live_session *, json_object *hold);
void live_far_end(struct live_session *, const char *id);
/* Keep the object: a reply to `status`, or its budget. */
void live_far_status(struct live_session *, json_object *);
void live_far_budget(struct live_session *, json_object *);
/* Pass on the reply to a request. */
void live_far_reply(struct live_session *, const struct live_reply *);
/* Add an item; its number is another one here. */
void live_far_item(struct live_session *, const struct live_item *);

#endif
