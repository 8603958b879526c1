/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl web`. web.c: its options and its loop; listen.c:
 * connections of browsers; link.c: links, which `icctl web` asks the page that
 * runs for; child.c: icwebd; send.c: messages to it; login.c: who is logged in;
 * request.c: what the page asks for; state.c, talk.c, jobs.c: what it shows;
 * verdict.c: answers to calls; always.c: rules for calls; undo.c: undo; run.c:
 * commands for these two; order.c: messages, and ends; audit.c: the log.
 * Nothing here parses what a browser sends: icwebd does.
 */
#ifndef ICCTL_WEB_PRIV_H
#define ICCTL_WEB_PRIV_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spawn.h"
#include "common/buf.h"
#include "common/ipc/chan.h"
#include "icctl/icctl.h"
#include "icctl/live/live.h"

#define WEB_LINKS 8U
#define WEB_LINK_MS 60000U
#define WEB_LOGINS 16U
#define WEB_LOGIN_MS (12U * 3600000U) /* without use */
#define WEB_WAITS 32U
#define WEB_WAIT_MS 25000U /* a page asks again after it */
#define WEB_SOON_MS 100U   /* changes that come together are one */
#define WEB_LOOK_MS 1000U  /* a call must have been shown for so long */
#define WEB_SEEN 64U
#define WEB_NAMES 8U
#define WEB_PLANS 16U
#define WEB_RUNS 4U         /* commands at work at once */
#define WEB_TALK 200U       /* events of one session */
#define WEB_TALK_TEXT 4096U /* bytes of one */
#define WEB_AUDIT_BYTES (16U << 20)
#define WEB_AUDIT_MAX 200U
#define WEB_POLICY_MAX (2U << 20)

/* A link that has not been used. */
struct web_link {
	uint8_t secret[32];
	uint64_t until; /* loop_now() ms; 0: unused place */
};

struct web_login {
	uint8_t token[32];
	uint64_t used; /* loop_now() ms; 0: unused place */
};

/* A page that waits for another state than it has. */
struct web_wait {
	bool is;
	uint64_t n, page, since, until;
	char session[LIVE_NAME];
};

/* A call as it was sent to a login, from when on. */
struct web_seen {
	const struct web_login *login;
	char session[LIVE_NAME], call[LIVE_ID], digest[65];
	uint64_t since;   /* the call's: it is unchanged if this is */
	uint64_t at;      /* loop_now() ms; 0: unused place */
	char rule[65];    /* digest of the rule for it that was sent, or "" */
	uint64_t rule_at; /* loop_now() ms */
};

/* The latest events of a conversation. */
struct web_talk {
	char id[LIVE_NAME];
	struct {
		uint64_t n;
		char event[24];
		char *text;
	} items[WEB_TALK];
	uint64_t n; /* the latest is at items[(n - 1) % WEB_TALK] */
};

struct web {
	struct icctl *ctl;
	struct loop loop;
	struct live *live;
	bool quit;
	int status;

	/* Options. */
	unsigned port;
	const char *path;             /* a Unix socket instead of a port */
	const char *names[WEB_NAMES]; /* further names of the page's host */
	unsigned nnames;
	bool open;
	bool said; /* its address was printed */

	/* listen.c */
	int diag, fd;
	struct loop_io listener;
	char url[300]; /* "http://127.0.0.1:PORT/" */
	char site[PROTO_MAX_SITE + 1];

	/* link.c */
	struct loop_io meet;
	struct web_link links[WEB_LINKS];
	char redirect[4200]; /* the file that --open made, or "" */

	/* child.c */
	struct chan *webd;
	bool ready; /* it serves */
	void (*serving)(struct web *);
	struct spawned sp;
	struct loop_io ended;
	uint64_t started[3]; /* loop_now() ms of the latest starts */

	struct web_login logins[WEB_LOGINS];
	struct web_seen seen[WEB_SEEN];
	unsigned nseen; /* the next place */
	/* Plans of an undo: `call` is the checkpoint. */
	struct web_seen plans[WEB_PLANS];
	unsigned nplans; /* the next place */
	struct web_run *runs[WEB_RUNS];

	/* state.c */
	uint64_t rev;
	struct web_wait waits[WEB_WAITS];
	struct loop_timer soon, late;
	/* jobs.c: jobs that a person should look at. */
	struct loop_timer look;
	json_object *jobs;
	struct web_talk *talks[LIVE_MAX];
};

/* listen.c: Listen, as the options say. Returns 0, or -1 after the reason. */
int listen_open(struct web *);
/* Take connections, or let them wait. Returns 0, or -1 with errno set. */
int listen_accept(struct web *, bool on);
void listen_close(struct web *);

/* link.c */
/*
 * Ask the page that runs for what `ask` says. Returns 0 after it printed the
 * answer, an exit status after it printed the reason, or -1 if none runs.
 */
int link_ask(const struct icctl *, const char *ask);
/* Take such requests. Returns 0, or -1 after the reason. */
int link_open(struct web *);
void link_close(struct web *);
/* Write a new link, with a secret that is good once, within a minute. */
void link_make(struct web *, char *dst, size_t cap);
/* Open the browser with a new link. */
void link_browse(struct web *);
/* Use up the secret. Returns true if it was good. */
bool link_use(struct web *, struct span secret);

/* child.c: icwebd, which is started again if it dies. */
int web_child_start(struct web *);
void child_stop(struct web *);

/* send.c */
/* Give icwebd a connection, which is taken. */
void send_conn(struct web *, int fd);
/* Answer. Returns false if the page is told that it is too long instead. */
bool send_answer(struct web *, uint64_t n, unsigned status, json_object *);
/* Do the same with one error. send_answer() takes the object. */
void send_refuse(struct web *, uint64_t n, unsigned status, const char *why);

/* login.c */
/* Make a login. Returns its token. */
const uint8_t *login_new(struct web *);
/* Returns the login of the token, or NULL; it has been used now. */
struct web_login *login_of(struct web *, struct span token);
void login_end(struct web *, struct web_login *);
void login_end_all(struct web *);

/* request.c */
int web_request_take(struct chan *, const struct msg_WEB_REQUEST *);

/* state.c */
void state_changed(void *, struct live_session *, enum live_change);
/* Answer now, or once the state is another one. */
void state_ask(struct web *, const struct msg_WEB_REQUEST *);
/* Answer everyone who waits: icwebd is another one. */
void state_forget(struct web *);
/* Returns text of a session in its visible form. */
json_object *state_vis(const char *);
void state_free(struct web *);

/* jobs.c: Look for jobs that failed or are late, now and every 10 s. */
void web_jobs_look(struct web *);
void web_jobs_free(struct web *);

/* talk.c */
void web_talk_event(struct web *, struct live_session *, json_object *);
json_object *talk_items(struct web *, const struct live_session *);
void talk_free(struct web *);

/* verdict.c */
void verdict_show(
    struct web *, const struct msg_WEB_REQUEST *, const struct web_login *);
void verdict_give(
    struct web *, const struct msg_WEB_REQUEST *, const struct web_login *);
void verdict_revoke(struct web *, const struct msg_WEB_REQUEST *);
/*
 * Returns how this login was sent the call that is named, long enough ago and
 * unchanged since; or NULL after the page was told why not.
 */
struct web_seen *verdict_seen(
    struct web *, const struct msg_WEB_REQUEST *, const struct web_login *);
void verdict_replied(void *, struct live_session *, const struct live_reply *);

/* always.c */
/* Make a rule for the call and show it, or add the one that was shown. */
void always_ask(
    struct web *, const struct msg_WEB_REQUEST *, const struct web_login *);

/* undo.c: List checkpoints, show a plan, or do the one that was shown. */
void web_undo_ask(
    struct web *, const struct msg_WEB_REQUEST *, const struct web_login *);
/* Forget what the login was shown: its place is taken by another. */
void web_undo_end_login(struct web *, const struct web_login *);

/* run.c: End the commands that run. */
void web_run_free(struct web *);

/* order.c: Pass on a message, or an order to interrupt or to stop. */
void order_take(struct web *, const struct msg_WEB_REQUEST *);

/* audit.c */
/* Says that a session's files are on another machine. */
extern const char web_elsewhere[];
void audit_find(struct web *, const struct msg_WEB_REQUEST *);
void audit_policy(struct web *, const struct msg_WEB_REQUEST *);

#endif
