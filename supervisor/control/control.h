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

/* Takes one line of a client, without its newline. */
typedef void control_request(struct client *, struct span line);

/* Each line that a client sends is given to `take`. Returns 0, or -1. */
int control_open(int listener, control_request *take);
/* Tells watchers that this is the end, and closes. */
void control_close(const char *why);
/* Sends an event to every watcher. Takes the object. */
void control_event(const char *name, struct json_object *);
/* Sends a reply. Takes the object. */
void control_reply(struct client *, struct json_object *);
/* Sends a reply with a descriptor. Takes both. */
void control_hand(struct client *, struct json_object *, int fd);
/* {"ok":true}, for the caller to add to. */
struct json_object *control_ok(void);
/* Sends a refusal. */
void control_fail(struct client *, const char *code, const char *error);
/* Turns the reply that waits (`c->reply`) into a refusal. */
void control_refuse(struct client *, const char *code, const char *error);
/* Sends the reply that waits: what it waited for came, or will not come. */
void control_answer(struct client *);
/* Those whose `fd` is not -1. */
extern struct client control_clients[CONTROL_MAX_CLIENTS];

/* ops.c: finds the operation that a line asks for. */
void control_op(struct client *, struct span line);
/* The operations of other files; none keeps the request. */
void control_op_attach(struct client *);		    /* attach.c */
void control_op_reload(struct client *, struct json_object *); /* reload.c */
void control_op_tools(struct client *, struct json_object *);  /* policy.c */
void control_op_trust(struct client *, struct json_object *);  /* policy.c */
/* policy.c: member `key` of a request, 64 hex digits. Returns 0, or -1. */
int control_digest(struct json_object *req, const char *key, uint8_t[32]);

/* events.c: what watchers are told. */
void control_key(unsigned provider);
void control_destination(const char *host, bool added);
void control_alarm(const char *who, const char *kind, const char *text);
void control_usage(void);
void control_budget(const char *key, bool over, const char *text);
/* A tool came into quarantine or left it. Takes the object. */
void control_tool(struct json_object *);
/*
 * Answers those who wait for a reload: with `reply`, or, if `why` is not NULL,
 * with that reason why the rules are not in force. Takes `reply`.
 */
void control_reloaded(const char *why, struct json_object *reply);
/* Answers those who trusted a tool; `why` it is not trusted, or NULL. */
void control_trusted(const char *server, const char *tool, const char *why);

/* server_row.c */
const char *control_server_state(enum proto_state);
/* A server as a row; `text` is what there is to say about it. */
struct json_object *control_server_row(
    const char *name, enum proto_state state, uint32_t tools, const char *text);
struct json_object *control_server_json(unsigned server);
/* Tells watchers of a server's new state. Takes the row. */
void control_server_event(struct json_object *row);
void control_server(unsigned server);

/* status.c */
struct json_object *control_holds_json(void);
struct json_object *control_status_json(void);
/* Answers those who wait for auditd's counts. */
void control_counts(void);

/* keys.c */
void control_keys(struct client *);
/* keyd asks for another credential. -1: it cannot have one. */
int control_keys_want(unsigned provider);
void control_keys_tell(unsigned provider, const struct msg_KEY_TELL *);
/* `path` is a file to take the credential from this once, or NULL. */
void control_keys_reload(
    struct client *, const char *provider, const char *path);
void control_keys_state(unsigned provider);

/* trouble.c: a provider failed, `count` times more, for this reason. */
void trouble_take(unsigned provider, struct span text, uint32_t count);
/* The last failure: text, count, ago_ms; NULL if there was none. */
struct json_object *trouble_json(unsigned provider);
/* The failures of all providers, with the providers' names. */
struct json_object *trouble_list(void);

/* metrics.c: metrics.sock */
int metrics_open(int listener);
void metrics_close(void);

#endif
