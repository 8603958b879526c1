/* SPDX-License-Identifier: ISC */
/*
 * control.sock: the socket between icctl and a session. One JSON object per
 * line in each direction; a request gets one reply; `watch` turns a connection
 * into a stream of events.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <json-c/json.h>

#include "common/buf.h"
#include "common/loop.h"
#include "hub/approvals.h"
#include "hub/peer.h"

#define CONTROL_MAX_CLIENTS 32U
#define CONTROL_MAX_LINE 65536U
#define CONTROL_MAX_OUT                                                        \
	(64U << 20) /* enough for a reply with a whole pending                 \
		       call */
#define CONTROL_MAX_UNREAD (8U << 20) /* for a watcher that does not read */
#define CONTROL_MAX_SHOWN 16384U      /* arguments in lists and events */

struct client {
	int fd; /* -1: free */
	struct loop_io io;
	struct loop_timer timer;
	struct peer peer;
	struct buf in, out;
	int handed; /* descriptor of the latest request; -1: none */
	bool watch;
	bool follows;    /* gets the events of a conversation */
	uint32_t turn;   /* follows this turn alone, to its end; 0: all */
	bool counting;   /* `status` waits for COUNTS */
	uint64_t keys;   /* `keys` waits for these keyds */
	unsigned reload; /* `keys reload` waits for the provider with this
			    number, counted from 1; 0: no */
	bool rules;      /* waits for policyd's answer to new rules */
	bool session;    /* its approval is for the session */
	/* Waits until this tool is trusted or gone; "": not waiting. */
	char trust_server[65], trust_tool[129];
	uint64_t verdict; /* waits for the end of this call; 0: not waiting */
	bool approve;     /* its verdict on that call */
	bool signing;     /* its signatures are checked, for as long as that
			     takes */
	uint64_t revoke;  /* waits for the end of this grant; 0: not waiting */
	struct json_object *reply; /* the reply that it will get */
	bool closing;              /* close once `out` is written */
	uint32_t checkpoint; /* waits for it, however long that takes; or 0 */
	uint64_t recorded;   /* waits for the record of its undo or paste with
				this number, counted from 1; 0: not waiting */
	bool undoes;         /* puts the workspace back: no turn begins */
};

/* Handle one line from a client, without its newline. */
typedef void control_request(struct client *, struct span line);

/*
 * Start to serve clients; `take` gets each line that one sends. Returns 0, or
 * -1 with errno set.
 */
int control_open(int listener, control_request *take);
/* Tell watchers why the session ends, and close all connections. */
void control_close(const char *why);
/* Send an event to every watcher. Takes the object. */
void control_event(const char *name, struct json_object *);
/*
 * Send an event of a conversation to those that follow it; `last`: it is the
 * turn's last one. Takes the object.
 */
void control_follow(uint32_t turn, bool last, struct json_object *);
/* Send a reply. Takes the object. */
void control_reply(struct client *, struct json_object *);
/* Send a reply with a descriptor. Takes both. */
void control_hand(struct client *, struct json_object *, int fd);
/* Returns {"ok":true}, for the caller to extend. */
struct json_object *control_ok(void);
/* Send a refusal. */
void control_fail(struct client *, const char *code, const char *error);
/* Turn the pending reply (`c->reply`) into a refusal. */
void control_refuse(struct client *, const char *code, const char *error);
/* Wait for what the pending reply depends on, from now on. */
void control_wait(struct client *);
/* Send the pending reply, and stop waiting. */
void control_answer(struct client *);
/* Set what is called when a client that `undoes` has gone. */
void control_when_gone(void (*gone)(const struct client *));
/* All clients; `fd` is -1 in free entries. */
extern struct client control_clients[CONTROL_MAX_CLIENTS];

/* ops.c: Carry out the operation that a line asks for. */
void control_op(struct client *, struct span line);
/* Operations in other files. None keeps the request. */
/* talk.c */
void control_op_send(struct client *, struct json_object *);
void control_op_say(struct client *, struct json_object *);
void control_op_interrupt(struct client *, struct json_object *);
void control_op_events(struct client *);
/* undo.c */
void control_op_checkpoint(struct client *, struct json_object *);
void control_op_undo(struct client *, struct json_object *);
void control_op_undone(struct client *, struct json_object *);
void control_op_attach(struct client *, struct json_object *); /* attach.c */
/* policy/reload.c */
void control_op_reload(struct client *, struct json_object *);
void control_op_tools(struct client *, struct json_object *); /* policy.c */
void control_op_trust(struct client *, struct json_object *); /* policy.c */
/* policy.c: Read member `key` of a request, 64 hex digits. Returns 0, or -1. */
int control_digest(struct json_object *req, const char *key, uint8_t[32]);

struct value;
struct value_pool;
/*
 * events.c: Begin the detail of a record. Returns NULL if there is no memory;
 * then there is no pool either, and no record.
 */
struct value *event_open(struct value_pool **);
/* Write the record, and free its detail. */
void event_close(const char *event, struct value_pool *, struct value *detail);
/* Tell watchers what happened. */
void control_key(unsigned provider);
void control_destination(const char *host, bool added);
void control_alarm(const char *who, const char *kind, const char *text);
void control_usage(void);
void control_budget(const char *key, bool over, const char *text);
/* A tool entered quarantine. Takes the object. */
void control_tool(struct json_object *);
/*
 * Answer clients that wait for a reload: with `reply`, or, if `why` is not
 * NULL, with the reason why the rules are not in force. Takes `reply`.
 */
void control_reloaded(const char *why, struct json_object *reply);
/*
 * Answer clients that trusted the tool. `why` is the reason that it is not
 * trusted, or NULL.
 */
void control_trusted(const char *server, const char *tool, const char *why);

/* server_row.c */
const char *control_server_state(enum proto_state);
/* Returns a server as a row; `text` is a remark about it. */
struct json_object *control_server_row(
    const char *name, enum proto_state state, uint32_t tools, const char *text);
struct json_object *control_server_json(unsigned server);
/* Tell watchers of a server's new state. Takes the row. */
void control_server_event(struct json_object *row);
void control_server(unsigned server);

/* status.c */
struct json_object *control_holds_json(void);
struct json_object *control_status_json(void);
struct json_object *control_alarms_json(void);
/* Answer clients that wait for auditd's counts. */
void control_counts(void);

/* keys.c */
void control_keys(struct client *);
/*
 * Handle keyd's request for another credential. Returns 0, or -1 if it may not
 * have one.
 */
int control_keys_want(unsigned provider);
void control_keys_tell(unsigned provider, const struct msg_KEY_TELL *);
/* `path` is a file to read the credential from this once, or NULL. */
void control_keys_reload(
    struct client *, const char *provider, const char *path);
void control_keys_state(unsigned provider);

/*
 * trouble.c: Record that a provider failed `count` more times for this reason,
 * and that it asks to wait `retry` seconds, unless that is 0.
 */
void trouble_take(
    unsigned provider, struct span text, uint32_t count, uint32_t retry);
/* Returns the last failure (text, count, ago_ms), or NULL if there is none. */
struct json_object *trouble_json(unsigned provider);
/* Returns the failures of all providers, with the providers' names. */
struct json_object *trouble_list(void);

/* metrics.c: metrics.sock */
int metrics_open(int listener);
void metrics_close(void);

#endif
