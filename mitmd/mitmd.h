/* SPDX-License-Identifier: ISC */
/*
 * mitmd's internals. A struct agent is a connection of the agent, which goes
 * through CONNECT, TLS and HTTP. A struct exchange is one request on it with
 * its answer; once the request is admitted, a stream connects it to its
 * provider's keyd. A struct front is the protocol between the two: it decodes
 * requests into exchanges and composes answers.
 */
#ifndef MITMD_H
#define MITMD_H

#include <sys/queue.h>

#include <openssl/ssl.h>

#include "body/decode.h"
#include "body/hold.h"
#include "body/meter.h"
#include "ca.h"
#include "common/buf.h"
#include "common/http/http1.h"
#include "common/ipc/stream.h"
#include "common/ipc/worker.h"
#include "common/trim.h"
#include "provider/provider.h"
#include "out_ring.h"
#include "refuse.h"
#include "wire/git_push.h"
#include "wire/ws.h"

#define MITMD_MAX_AGENTS 1280U
#define MITMD_MAX_EXCHANGES 8192U  /* in all connections */
/* To keyds; more requests have to wait. */
#define MITMD_MAX_STREAMS PROTO_MAX_MITM_STREAMS
#define MITMD_MAX_CONNECT 8192U    /* bytes of a CONNECT's head */
#define MITMD_WINDOW (256U << 10)  /* bytes each way, per connection */
#define MITMD_MAX_QUEUE (1U << 20) /* one window and one more read */
#define MITMD_MAX_AHEAD 65536U     /* bytes of requests sent ahead */
#define MITMD_MAX_IN (HTTP1_MAX_HEAD + 2 * MITMD_MAX_AHEAD)
#define MITMD_MAX_HELD (128U << 20) /* bytes of all held bodies */
/* bytes that one wake-up may add to them */
#define MITMD_HELD_READ (512U << 10)
#define MITMD_MAX_KEPT (64U << 20) /* bytes of all waiting heads */
/* a longer message of an event stream is not held back */
#define MITMD_MAX_PART 65536U
#define MITMD_KEEP (256U << 10)      /* capacity that a reused buffer keeps */
#define MITMD_MAX_DISCARD (1U << 20) /* rest of a refused request's body */
#define MITMD_MAX_ALARMS 1000U       /* per session */
#define MITMD_MAX_NOTES 2000U        /* log lines that an agent may cause */
#define MITMD_MAX_BAD_KEYS 5U        /* per connection, before the penalty */

/* Deadlines, ms. */
#define MITMD_CONNECT_MS 15000U
#define MITMD_WANTED_MS 10000U /* waiting for a person to open a host */
#define MITMD_TLS_MS 10000U
#define MITMD_HEAD_MS 60000U
#define MITMD_IDLE_MS 300000U
#define MITMD_STALL_MS 60000U  /* a body, or an answer that is not taken */
#define MITMD_QUEUE_MS 60000U  /* waiting for a free stream */
#define MITMD_STREAM_MS 10000U /* waiting for keyd's STREAM */
#define MITMD_LINGER_MS 2000U
#define MITMD_PENALTY_MS 30000U

struct agent;
struct exchange;
struct h2;
struct ws;

enum agent_state {
	AGENT_CONNECT, /* reads the head of a CONNECT */
	AGENT_WANTED,  /* its host is on no list: a person is asked */
	AGENT_TLS,     /* handshake */
	AGENT_OPEN,    /* the front reads requests and writes answers */
	AGENT_PENALTY, /* too many wrong keys: waits, then refuses */
	AGENT_LINGER,  /* everything was sent: discards input until the agent
			  closes */
};

enum exchange_state {
	EXCHANGE_IDLE,    /* no request; may keep a stream for the next one */
	EXCHANGE_HOLD,    /* collects a body that must be whole */
	EXCHANGE_QUEUED,  /* waits for a stream to come free */
	EXCHANGE_OPENING, /* waits for keyd to create the stream */
	EXCHANGE_ON,      /* request sent: relays body and answer */
	EXCHANGE_ANSWER,  /* keyd is done; the agent takes the rest */
	EXCHANGE_DISCARD, /* refused: discards the request's body (HTTP/1.1) */
};

/* An admitted request; spans point into `kept` or a scratch buffer. */
struct request {
	unsigned route;
	struct span path, query, headers;
	bool sized;      /* the length was announced */
	uint64_t length; /* bytes of the body, once known */
	enum decode_coding coding;
	bool close;         /* HTTP/1.1: the connection ends after the answer */
	bool head;          /* method HEAD: the answer has no body */
	uint8_t digest[32]; /* digest of the body, if the route needs it */
	bool expect;
	bool websocket;     /* asks for a WebSocket, on a route that has it */
	struct span ws_key; /* value of Sec-WebSocket-Key */
	const char *why;    /* constant text: reason for "malformed", or NULL */
};

/* The side of an exchange that faces keyd. */
struct upstream {
	int fd; /* -1: no stream */
	struct loop_io io;
	uint32_t stream; /* 0: no stream, and none requested */
	uint32_t exchange;
	bool write_closed; /* keyd takes no more of the body */
	uint64_t passed;   /* bytes of the body that were sent to keyd */
	bool failed;       /* keyd failed, and what it had sent costs nothing */
	unsigned status;   /* the answer's; 0: none yet */
	struct buf out;    /* frames that the socket has not taken */
	struct buf in;     /* an incomplete frame header, HEAD or FAIL */
	uint32_t left;     /* bytes left of a BODY frame */
	bool answered;     /* HEAD was received */
	bool redirected;   /* keyd says that followd will answer */
	bool followed;     /* the stream is followd's, for this one answer */
	bool sized;        /* HEAD announced the length */
	uint64_t promised; /* bytes left, if `sized` */
};

/*
 * The protocol in which an exchange talks to its agent. Functions that return
 * int return -1 if the connection is broken; the caller closes it.
 */
struct front {
	/* Begin the answer; `headers` as in REQUEST, checked. */
	int (*head)(struct exchange *, unsigned status, struct span headers,
	    bool sized, uint64_t length);
	int (*body)(struct exchange *, struct span);
	/* Send the output of head() and body(). */
	int (*flush)(struct exchange *);
	/* The answer is complete: send it and end the exchange. */
	void (*end)(struct exchange *);
	/*
	 * Send an answer of mitmd's own. If `known`, the request's framing is
	 * known, so that its body can be discarded and the connection kept.
	 */
	void (*refuse)(
	    struct exchange *, enum refusal, const char *detail, bool known);
	/* End the answer early, visibly incomplete to the agent. */
	void (*cut)(struct exchange *, bool now);
	/*
	 * The budget ends the answer: report it where the agent can read it,
	 * and end the answer. Returns false if it can only be cut.
	 */
	bool (*farewell)(struct exchange *, enum refusal, const char *detail);
	/* Returns the bytes of the answer that the agent has not taken. */
	size_t (*waiting)(const struct exchange *);
	/* keyd has taken the whole body so far. */
	void (*drained)(struct exchange *);
	size_t window; /* keyd waits while more bytes than this are waiting */
	bool frames;   /* a WebSocket: body() takes frames, and meters them */
};

/* The functions for an exchange's timer and stream. */
struct exchange_ops {
	void (*late)(struct loop_timer *);
	void (*up_ready)(struct loop_io *, uint32_t);
};

struct exchange {
	TAILQ_ENTRY(exchange) entry; /* a->exchanges or a->parked */
	TAILQ_ENTRY(exchange) queue; /* mitmd_env.queued or .spare */
	struct agent *a;
	const struct front *front;
	const struct exchange_ops *ops;
	enum exchange_state state;
	bool parked; /* on a->parked */
	bool spare;  /* on mitmd_env.spare */
	bool gone;   /* to be freed when its agent's callback returns */
	struct loop_timer timer;
	/* loop_now() of the latest byte in either direction */
	uint64_t progress;
	struct request req;
	uint64_t left;    /* bytes of a sized body not yet received */
	bool whole;       /* the body was received completely */
	struct buf kept;  /* path, query and headers of a waiting request */
	struct hold held; /* a held body, later its unsent rest */
	size_t reserved;  /* bytes of mitmd_env.held reserved for it */
	TAILQ_ENTRY(exchange) hold_entry; /* mitmd_env.holding */
	bool holding;
	uint32_t ask; /* id of the pending request at policyd; 0: none */
	bool probe;   /* a git push that only probes authentication */
	struct git_push_list push;
	struct buf tree;          /* a request to a forge, for policyd */
	uint32_t denied;          /* number of the refusal in the log */
	bool metered;             /* its cost is not yet reported */
	struct meter meter;       /* METER_NONE: the answer costs nothing */
	struct meter_usage usage; /* as last reported */
	struct meter_usage asked; /* see asked.c */
	uint32_t usage_message;   /* a WebSocket: number of its messages */
	bool silent;              /* this message asks for no answer */
	uint64_t usage_at;        /* loop_now() of the last report */
	struct buf part;          /* incomplete message of an event stream */
	uint32_t usage_stream, usage_exchange;
	struct upstream up;
	struct http1_body body; /* framing of the request's body */
	bool gathers;           /* `held` is an incomplete message */
	struct ws *ws;          /* NULL: not a WebSocket */
	/* HTTP/2 */
	int32_t id;        /* the agent's stream */
	struct buf answer; /* bytes waiting for the agent's window */
	bool ended;        /* `answer` has the complete rest */
	bool malformed;    /* reset the stream after the answer */
	size_t dropped;    /* body bytes discarded after the answer */
	size_t owed; /* body bytes for which the window is not yet open again */
	TAILQ_ENTRY(exchange) turn; /* a->turns */
	bool turning;               /* on it */
};
TAILQ_HEAD(exchanges, exchange);

/* The functions that read a connection and know its protocols. */
struct agent_ops {
	/* Returns true if this state reads from the agent. */
	bool (*reads)(const struct agent *);
	/* A request is over: process the input received meanwhile. */
	void (*resume)(struct agent *);
	/* The deadline of the state has passed. */
	void (*late)(struct agent *);
	void (*free)(struct agent *);
};

struct agent {
	TAILQ_ENTRY(agent) entry;
	const struct agent_ops *ops;
	unsigned number;
	int fd;
	struct loop_io io;
	struct loop_timer timer;
	enum agent_state state;
	unsigned provider, host; /* index of the provider, and of its host */
	SSL *ssl;
	bool gathers;    /* its records are sent with one call */
	bool sends_much; /* at once */
	bool drained;    /* TLS had no more data at the last read */
	bool shut;       /* close_notify was sent */
	bool cut;        /* the answer is incomplete: no close_notify */
	bool dead;       /* to be freed when its callback returns */
	bool alarmed;
	unsigned busy;
	unsigned bad_keys;
	char *wanted;   /* AGENT_WANTED: the host */
	struct buf in;  /* received, not yet used */
	size_t seen;    /* bytes of it scanned by http1_request_more() */
	struct buf out; /* records that the socket has not taken */
	/* loop_now() of the latest byte in either direction */
	uint64_t progress;
	struct h2 *h2;              /* NULL: HTTP/1.1 */
	struct exchange *x;         /* the only exchange of HTTP/1.1 */
	struct exchanges exchanges; /* those with a request; HTTP/1.1: x */
	/* HTTP/2: without a request, keeping a stream */
	struct exchanges parked;
	struct exchanges gone;
	/* HTTP/2: those with something to send, in the order of their turns */
	struct exchanges turns;
	uint64_t taken; /* HTTP/2: loop_now() of the latest DATA frame */
	/* the exchange to refuse after AGENT_PENALTY */
	struct exchange *penalized;
	enum refusal refusal; /* its refusal */
};
TAILQ_HEAD(agents, agent);

struct mitmd_provider {
	struct provider *p; /* NULL: the slot is free */
	bool dropped;       /* added, and removed from the list again */
	bool keyed;
	uint8_t sentinel[32]; /* SHA-256 of the placeholder key */
	SSL_CTX *ctx[PROTO_MAX_HOSTS];
};

struct mitmd_env {
	struct worker w;
	struct mitmd_provider providers[PROTO_MAX_PROVIDERS];
	bool sealed;
	bool open;       /* hosts may still be added */
	bool asks_hosts; /* a CONNECT to another host asks for it */
	/* but to one of these, "HOST" or "HOST PROGRAM" on a line */
	char unasked[PROTO_MAX_UNASKED + 1];
	bool leafless;   /* the leaves of the start list are still missing */
	struct loop_turn leaves;
	struct mitmd_ca ca; /* only while `leafless` or `open` */
	int listener;
	struct loop_io accept;
	bool full; /* out of descriptors: not accepting */
	struct agents agents;
	unsigned nagents;
	struct out_ring ring;
	struct trim trim;
	unsigned last_agent;
	uint32_t last_refusal, last_ask;
	unsigned asks; /* requests waiting for a person */
	unsigned nexchanges;
	/* indexed by the number's low bits */
	struct exchange *streams[MITMD_MAX_STREAMS];
	unsigned nstreams;
	/*
	 * The most connections, and the most streams, for which there are
	 * descriptors: one that arrives in a message must find a free number.
	 */
	unsigned most;
	uint32_t last_stream;
	struct exchanges queued, spare;
	struct exchanges holding; /* in EXCHANGE_HOLD, oldest first */
	size_t held;              /* bytes of all held bodies */
	size_t max_held;
	bool starved;          /* a connection is not read for want of room */
	bool freed;            /* room was released since */
	struct loop_turn left; /* runs after an agent's callback has returned */
	size_t kept;           /* bytes of all heads of waiting requests */
	unsigned alarms, notes;
};

extern struct mitmd_env mitmd_env;

/* Returns the host that the agent's tunnel leads to, NUL-terminated. */
static inline struct span
mitmd_host(const struct agent *a)
{
	return mitmd_env.providers[a->provider].p->hosts[a->host];
}

/*
 * The source files, from the bottom up: each calls only those above it in this
 * list, and refuse.h, ca.h and tls.h, which know nothing of exchanges.
 */

/* note.c */
/*
 * Log a line that an agent caused. Lines are counted; above the limit they are
 * dropped.
 */
void mitmd_note(const struct agent *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Record an alarm in the audit log; counted likewise. */
void mitmd_alarm(const char *kind, const char *text);
/*
 * Record in the audit log and in the session's log that a request is refused.
 * Returns the number for the answer. A `status` of 0 means the reason's own;
 * `why` adds to the log, or is NULL.
 */
uint32_t mitmd_denied(const struct agent *, enum refusal, unsigned status,
    struct span method, struct span target, const char *why);

/* deny_text.c: the parts of a refusal that depend on the provider */
/*
 * Returns the text to add to the answer: written to dst, or `detail`, or NULL.
 */
const char *deny_detail(const struct exchange *, enum refusal,
    const char *detail, char *dst, size_t cap);
/* Returns the status if the route or reason overrides the usual one, else 0. */
unsigned deny_status(const struct exchange *, enum refusal);
/* Returns the form in which this provider's clients read errors. */
enum refuse_form deny_form(const struct exchange *);

/* ask.c: requests that a person must approve */
bool ask_wanted(const struct exchange *);
/* The body of `x` is complete: read the part that a person will see. */
enum refusal ask_look(struct exchange *, struct span body);
/*
 * Send policyd the request instead of auditd. Returns false if too many wait.
 */
bool ask_send(struct exchange *, const struct msg_REQUEST *);
/* Stop waiting for approval; if `cancel`, tell policyd. */
void ask_over(struct exchange *, bool cancel);

/* forge.c: requests to a forge */
/*
 * Spell a request without a body as it will be sent: path and query are valid
 * until the next call. If it is refused, r->why says so.
 */
void forge_respell(
    const struct provider *, struct span method, struct request *);
/*
 * The body of `x` is complete: check the request, keep its tree, and hand the
 * body to be sent to `compose`.
 */
enum refusal forge_look(struct exchange *, struct span body,
    enum refusal (*compose)(struct exchange *, struct span));

/* asked.c: what decides the price of an answer */
struct filter;
/*
 * The body was read: note the model and the speed that it asks for, or forget
 * those of the last request (NULL).
 */
void asked_body(struct exchange *, const struct filter *);
/* Note the model and the place that the path names. */
void asked_path(struct exchange *);

/* body.c: see body.h */

/* upstream.c: the stream to keyd */
int upstream_open(struct exchange *, int fd);
void upstream_close(struct exchange *);
/* Returns the arena shared with the exchange's keyd; NULL if keyd is gone. */
struct arena *upstream_arena(const struct exchange *);
/*
 * Send a piece of the request's body as frames, or queue it if the socket is
 * full.
 */
int upstream_put(struct exchange *, struct span);
/* Write the queue. Returns 0, or -1 if it takes no more. */
int upstream_flush(struct exchange *);

/* usage.c: see usage.h */

/* exchange.c: the resources of an exchange, and its end */
/*
 * Take the exchange off its lists; it is freed, with its stream, when the
 * callback returns.
 */
void exchange_free(struct exchange *);
/*
 * Free the exchanges of an agent that are gone, if none of its callbacks runs.
 */
void exchange_reap(struct agent *);
/* Give up the exchange: send nothing more to keyd and drop the body. */
void exchange_abandon(struct exchange *);
/* Forget the finished request. A stream in a clean state is kept. */
void exchange_end(struct exchange *);
void exchange_enter(struct exchange *, enum exchange_state, uint64_t ms);
void exchange_watch(struct exchange *);
/* Returns the number of the exchange's refusal, or a new one. */
uint32_t exchange_denied_id(struct exchange *);
/*
 * Copy the spans of a waiting request into x->kept. Returns 0, or -1 if there
 * is no room.
 */
int exchange_keep(struct exchange *);

/* agent.c: a connection and its end */
/* Close the connection now; it is freed when the running callback returns. */
void agent_close(struct agent *);
/* Send the queue, then discard input until the agent closes. */
void agent_linger(struct agent *);
void agent_enter(struct agent *, enum agent_state, uint64_t ms);
/* Watch the socket as the state and the queues require. */
void agent_events(struct agent *);
/* Enclose each callback of an agent; agent_leave() may free it. */
void agent_hold(struct agent *);
void agent_leave(struct agent *);
/* A request is over: process the input received meanwhile. */
void agent_resume(struct agent *);
/*
 * Returns true if TLS has bytes that were taken from the socket but not yet
 * read.
 */
bool agent_pending(const struct agent *);

/* unlisted.c: hosts on no list that a CONNECT waits for */
/*
 * Write the host of a target that may be asked about. Returns false if it is
 * not a public name with port 443.
 */
bool unlisted_name(struct span target, char *host);
/*
 * Let the CONNECT wait until a person opens its host. Returns REFUSE_NONE if it
 * waits, or the reason to refuse it: nobody is asked about it.
 */
enum refusal unlisted_ask(struct agent *, const struct http1_head *);
/* Returns true if the connection waits for this host. */
bool unlisted_waits(const struct agent *, struct span host);
enum refusal unlisted_refusal(enum proto_shut);
/* Write "HOST:443 is ...", the text of the refusal. Returns `dst`. */
const char *unlisted_detail(
    enum refusal, const char *host, char *dst, size_t cap);

/* added.c: hosts that are added and removed during a session */
/*
 * Make a leaf for the provider and put it on the list. Returns 0, or -1 if it
 * is not permitted.
 */
int added_take(struct mitmd_provider *, struct provider *);
int added_drop(struct chan *, const struct msg_PROVIDER_DROP *);

/* deny.c: refused requests and failed exchanges */
/*
 * Answer with a refusal; wrong keys are counted. For `known` see struct front.
 */
void deny_request(struct exchange *, enum refusal, bool known);
/* keyd, auditd or the provider failed: answer 502 or 503, or cut the answer. */
void deny_exchange(struct exchange *, enum refusal, const char *detail);
/* The penalty for too many wrong keys is over: answer. */
void deny_after_penalty(struct agent *);
/*
 * A push cannot be shown to a person: answer in git's own words, for each ref.
 */
void deny_refs(struct exchange *);
/* The request was denied, or expired: answer. */
void deny_asked(struct exchange *, enum refusal);

/* reply.c: frames from keyd, and from followd */
void reply_ready(struct loop_io *, uint32_t);
/*
 * followd has the answer to a request whose stream is keyd's: take it from
 * there if keyd has said so. Takes ownership of `fd`.
 */
void reply_follow(uint32_t stream, int fd);

/* streams.c: streams to keyd, and the queue for one */
/*
 * The length is known: send the request on a free stream, or request a stream.
 */
void exchange_launch(struct exchange *);
/* Use keyd's end of the requested stream. Takes ownership of `fd`. */
void streams_exchange(struct exchange *, int fd);
/* Returns the exchange that requested this stream, or NULL. */
struct exchange *exchange_find(uint32_t stream);
/* Give free streams to waiting exchanges. */
void exchange_dequeue(void);

/* check.c: mitmd's check of requests */
/*
 * Check a decoded request against the provider of its connection. On
 * REFUSE_NONE `*r` is the request; its spans are valid until the next check.
 * Sets `*known` if the framing is known, so that a refused request's body can
 * be skipped.
 */
enum refusal check_request(const struct agent *, const struct http1_head *,
    struct http1_body *, struct request *r, bool *known);

/*
 * ws_answer.c: WebSocket messages to the agent; ws.c: messages from the agent
 */
extern const struct front front_ws;
/* The provider accepted: compose the answer's head and switch protocols. */
int ws_begin(struct exchange *, struct span headers);
/* Prepare for an admitted handshake. Returns 0, or -1 if memory ran out. */
int ws_open(struct exchange *, struct span key);
/* Consume bytes from the agent. Returns how many. */
size_t ws_input(struct exchange *, struct span);
/* Returns true if the WebSocket reads from the agent now. */
bool ws_reads(const struct exchange *);
/*
 * Returns true inside a frame of the agent, or after the agent's close frame.
 */
bool ws_waits(const struct exchange *);

/* request.c: a request on its way to keyd */
/*
 * Returns NULL if memory ran out or all agents together have too many
 * exchanges.
 */
struct exchange *request_new(struct agent *, const struct front *);
/* Begin an admitted request; x->whole and x->left describe the body to come. */
void request_begin(struct exchange *, const struct request *);
/* Process a piece of the body. Returns REFUSE_NONE if it was accepted. */
enum refusal request_body(struct exchange *, struct span);
/* The body is complete: set x->whole. */
void request_body_end(struct exchange *);
/* The agent was silent for `ms` within a request. */
void request_late(struct exchange *, const char *what, unsigned ms);

/* answer1.c: answers over HTTP/1.1; request1.c: requests */
extern const struct front front_http1;
/* The request is over: go on to the next one on this connection. */
void answer1_next(struct exchange *);
/*
 * Begin after the handshake. Returns 0, or -1 if there is no exchange to be
 * had.
 */
int request1_open(struct agent *);
/* Consume bytes from the agent. Returns how many. */
size_t request1_input(struct agent *, struct span);
/*
 * Returns the place for the rest of a held body, `*n` bytes, so that it can be
 * read there without a copy; NULL if all input must go to request1_input().
 */
uint8_t *request1_place(struct exchange *, size_t *n);
void request1_placed(struct exchange *, size_t n);

/* h2.c, h2_turn.c, answer2.c, h2_request.c, h2_open.c: HTTP/2 */
void h2_free(struct h2 *);
void h2_input(struct agent *, struct span);
/* Write as much as the connection takes. */
void h2_send(struct agent *);
bool h2_reads(const struct agent *);
/* The connection's timer: it is idle, or stuck within a frame. */
void h2_expired(struct agent *);
/* Begin after the handshake. Returns 0, or -1 if memory ran out. */
int h2_open(struct agent *);

/* connect.c: a connection before its tunnel is open */
void connect_read(struct agent *);
/* Go on with those that wait for a host of this provider, which is open now. */
void connect_opened(const struct provider *);
/* Refuse those that wait for the host. */
int connect_shut(struct chan *, const struct msg_HOST_SHUT_GO *);
/* Nobody has opened the host in time. */
void connect_late(struct agent *);
/* Answer a connection for which there is no struct agent. */
void connect_busy(int fd);

/* input.c: reading a connection, depending on its state */
bool input_reads(const struct agent *);
void input_resume(struct agent *);
void input_ready(struct loop_io *, uint32_t);

/* agents.c: all connections, their deadlines, and fairness among them */
void agents_accept(struct loop_io *, uint32_t);
/* Take over a connection of the agent. */
void agents_take_one(int fd);
/*
 * Messages to other workers can be sent again: connections that waited go on.
 */
void agents_drained(void);
/* Runs after a callback: hand out streams and memory that came free. */
void agents_left(struct loop_turn *);

/* serve.c */
void mitmd_serve(void) __attribute__((noreturn));

#endif
