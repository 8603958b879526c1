/* SPDX-License-Identifier: ISC */
/*
 * control.sock: icctl's way to a session.  One JSON object a line, each way;
 * a request gets one reply; `watch` turns a connection into a stream of
 * events.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <json-c/json.h>

#include "common/buf.h"
#include "common/loop.h"
#include "control/approvals.h"
#include "control/peer.h"

#define CONTROL_MAX_CLIENTS 32U
#define CONTROL_MAX_LINE 65536U
#define CONTROL_MAX_OUT (64U << 20)   /* a reply with a whole held call */
#define CONTROL_MAX_UNREAD (8U << 20) /* of a watcher that does not read */
#define CONTROL_MAX_SHOWN 16384U      /* arguments in lists and events */

struct client {
	int fd; /* -1: free */
	struct loop_io io;
	struct loop_timer timer;
	struct peer peer;
	struct buf in, out;
	int handed; /* came with the latest request; -1: nothing */
	bool watch;
	bool counting;    /* `status` waits for COUNTS */
	uint64_t keys;    /* `keys` waits for these keyds */
	unsigned reload;  /* `keys reload` for this one; 0: no */
	bool rules;       /* waits for what policyd says of its rules */
	bool session;     /* its approval is for the session */
	/* Waits for what becomes of a tool that it trusts; "": no. */
	char trust_server[65], trust_tool[65];
	uint64_t verdict; /* waits for what becomes of this call; 0: no */
	bool approve;     /* what it asked for */
	struct json_object *reply; /* what it gets then */
	bool closing;              /* once out is written */
};

int control_open(int listener);
/* Tells watchers that this is the end; closes. */
void control_close(const char *why);

/* control/events.c */
void control_hold(const struct hold *);
void control_hold_end(const struct hold *, enum proto_hold, bool granted);
void control_late(uint64_t call);
void control_server(unsigned server);
void control_key(unsigned provider);
/* A host was added in the session, or removed. */
void control_destination(const char *host, bool added);
void control_alarm(const char *who, const char *kind, const char *text);
void control_counts(void);
/* What models cost so far. */
void control_usage(void);
/* Of a tool that is in quarantine now, or no longer. */
void control_tool(struct json_object *);
/* Those who wait for it; why: NULL: the rules are in force. Takes it. */
void control_reloaded(const char *why, struct json_object *reply);
/* why: NULL: the tool is trusted. */
void control_trusted(const char *server, const char *tool, const char *why);
void control_budget(const char *key, bool over, const char *text);

/* control/metrics.c: metrics.sock */
int metrics_open(int listener);
void metrics_close(void);

/* control/keys.c */
void control_keys(struct client *);
/* keyd asks for another credential. -1: there is none to be had so. */
int control_keys_want(unsigned provider);
void control_keys_tell(unsigned provider, const struct msg_KEY_TELL *);
/* trouble.c: a provider fails, `count` times more, for this reason. */
void trouble_take(unsigned provider, struct span text, uint32_t count);
/* The last failure: text, count, ago_ms; NULL: there was none. */
struct json_object *trouble_json(unsigned provider);
/* The failures of all providers, with the providers' names. */
struct json_object *trouble_list(void);
/* path: a file to take it from this once, or NULL. */
void control_keys_reload(
    struct client *, const char *provider, const char *path);
void control_keys_state(unsigned provider);

/* To all who watch. Takes the object. */
void control_event(const char *name, struct json_object *);
/* What was waited for came, or will not: c->reply goes out as it is. */
void control_answer(struct client *);
/* The waiting reply becomes a refusal. */
void control_refuse(struct client *, const char *code, const char *error);
void control_fail(struct client *, const char *code, const char *error);
/* The same with a descriptor; takes both. */
void control_hand(struct client *, struct json_object *, int fd);
/* Takes the object. */
void control_reply(struct client *, struct json_object *);
/* control/ops.c: takes one request line. */
void control_request(struct client *, struct span line);
/* reload.c, control/policy.c: take no ownership of the request. */
void control_op_reload(struct client *, struct json_object *req);
void control_op_tools(struct client *, struct json_object *req);
/* control_attach.c */
void control_op_attach(struct client *);
void control_op_trust(struct client *, struct json_object *req);
void control_fail(struct client *, const char *code, const char *error);
/* 64 hex digits. -1: they are not. */
int control_digest(struct json_object *req, const char *key, uint8_t[32]);
/* control/json.c */
struct json_object *control_hold_json(const struct hold *, bool whole);
struct json_object *control_holds_json(void);
struct json_object *control_status_json(void);
struct json_object *control_server_json(unsigned server);
/* One of that kind; text: what is to be said of it. */
struct json_object *control_server_row(
    const char *name, enum proto_state state, uint32_t tools, const char *text);
struct json_object *control_ok(void);
const char *control_server_state(enum proto_state);
/* For watchers and everybody else who waits for it. */
extern struct client control_clients[CONTROL_MAX_CLIENTS];

#endif
