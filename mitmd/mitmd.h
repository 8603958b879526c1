/* SPDX-License-Identifier: ISC */
/*
 * mitmd's inside.  A struct agent is one connection of the agent, which is
 * read by CONNECT, then TLS, then HTTP.  A struct exchange is one request on
 * it with its answer; behind it, once the request was admitted, stands the
 * stream to its provider's keyd.  A struct front is the protocol that stands
 * between the two: it decodes requests into exchanges and composes answers.
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
#include "common/ipc/worker.h"
#include "common/trim.h"
#include "provider/provider.h"
#include "refuse.h"
#include "wire/git_push.h"
#include "wire/stream.h"
#include "wire/ws.h"

#define MITMD_MAX_AGENTS 1280U
#define MITMD_MAX_EXCHANGES 8192U  /* of all connections */
#define MITMD_MAX_STREAMS 1280U    /* to keyds; further requests wait */
#define MITMD_MAX_CONNECT 8192U    /* head of a CONNECT */
#define MITMD_WINDOW (256U << 10)  /* each way, per connection */
#define MITMD_MAX_QUEUE (1U << 20) /* a window and one more read */
#define MITMD_MAX_AHEAD 65536U     /* of requests that wait */
#define MITMD_MAX_IN (HTTP1_MAX_HEAD + 2 * MITMD_MAX_AHEAD)
#define MITMD_MAX_HELD (128U << 20)  /* bodies held whole, all of them */
#define MITMD_HELD_READ (512U << 10) /* of them, what one wake-up may bring */
#define MITMD_MAX_KEPT (64U << 20)   /* heads of requests that wait, all */
#define MITMD_MAX_PART 65536U        /* a longer message is not held back */
#define MITMD_KEEP (256U << 10)      /* of a buffer that serves each turn */
#define MITMD_MAX_DISCARD (1U << 20) /* body of a refused request */
#define MITMD_MAX_ALARMS 1000U       /* a session */
#define MITMD_MAX_NOTES 2000U        /* log lines an agent may cause */
#define MITMD_MAX_BAD_KEYS 5U        /* per connection, then it waits */

/* Deadlines, ms. */
#define MITMD_CONNECT_MS 15000U
#define MITMD_TLS_MS 10000U
#define MITMD_HEAD_MS 60000U
#define MITMD_IDLE_MS 300000U
#define MITMD_STALL_MS 60000U  /* a body, or an answer not taken */
#define MITMD_QUEUE_MS 60000U  /* for a stream to be free */
#define MITMD_STREAM_MS 10000U /* keyd's STREAM */
#define MITMD_LINGER_MS 2000U
#define MITMD_PENALTY_MS 30000U

struct agent;
struct exchange;
struct h2;
struct ws;

enum agent_state {
	AGENT_CONNECT, /* reads the head of a CONNECT */
	AGENT_TLS,     /* handshake */
	AGENT_OPEN,    /* the front reads requests and writes answers */
	AGENT_PENALTY, /* too many wrong keys: waits, then refuses */
	AGENT_LINGER,  /* all said: drops input until it closes */
};

enum exchange_state {
	EXCHANGE_IDLE,    /* no request; may have a stream for the next one */
	EXCHANGE_HOLD,    /* gathers a body that must be whole */
	EXCHANGE_QUEUED,  /* waits for a stream that another one has */
	EXCHANGE_OPENING, /* waits for keyd to make the stream */
	EXCHANGE_ON,      /* request sent: body, answer */
	EXCHANGE_ANSWER,  /* keyd is done; the agent takes what is left */
	EXCHANGE_DISCARD, /* refused: drops the request's body (HTTP/1.1) */
};

/* A request as it was admitted; spans point into `kept` or a scratch buffer. */
struct request {
	unsigned route;
	struct span path, query, headers;
	bool sized;      /* the agent says how long the body is */
	uint64_t length; /* of the body, once known */
	enum decode_coding coding;
	bool close; /* HTTP/1.1: the connection ends after the answer */
	bool head;  /* method HEAD: the answer has no body */
	uint8_t digest[32]; /* of the body, where the route wants one */
	bool expect;
	bool websocket;     /* asks for one, on a route that has it */
	struct span ws_key; /* its Sec-WebSocket-Key */
	const char *why; /* constant text: what of it is malformed, or NULL */
};

/* keyd's side of an exchange. */
struct upstream {
	int fd; /* -1: no stream */
	struct loop_io io;
	uint32_t stream; /* 0: none, and none asked for */
	uint32_t exchange;
	bool write_closed; /* takes no more of the body */
	struct buf out;    /* frames that the socket did not take */
	struct buf in;     /* a frame's head, or a HEAD or FAIL, so far */
	uint32_t left;     /* bytes still to come of a BODY frame */
	bool answered;     /* HEAD came */
	bool sized;        /* it said how long the body is */
	uint64_t promised; /* bytes still to come, when sized */
};

/*
 * How an exchange speaks to its agent.  Those that return int: -1 when the
 * connection is broken; the caller closes it.
 */
struct front {
	/* The answer's head; headers as in REQUEST, checked. */
	int (*head)(struct exchange *, unsigned status, struct span headers,
	    bool sized, uint64_t length);
	int (*body)(struct exchange *, struct span);
	/* What head and body made goes out. */
	int (*flush)(struct exchange *);
	/* The answer is whole: goes out, and the exchange is over. */
	void (*end)(struct exchange *);
	/*
	 * An answer of our own.  known: the request's framing is, so that its
	 * body can be dropped and the connection stay.
	 */
	void (*refuse)(
	    struct exchange *, enum refusal, const char *detail, bool known);
	/* The answer ends here, and the agent can see that it is not whole. */
	void (*cut)(struct exchange *, bool now);
	/*
	 * The budget ends the answer: say so where the agent can read it, and
	 * end it.  Returns false if it can only be cut.
	 */
	bool (*farewell)(struct exchange *, enum refusal, const char *detail);
	/* Bytes of the answer that the agent has not taken. */
	size_t (*waiting)(const struct exchange *);
	/* keyd's side took all that there was of the body. */
	void (*drained)(struct exchange *);
	size_t window; /* beyond that many waiting bytes keyd waits */
	bool frames;   /* a WebSocket: body is frames, which it meters */
};

/* The part of an exchange that its timer and its stream call. */
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
	bool gone;   /* freed when its agent's callback returns */
	struct loop_timer timer;
	uint64_t progress; /* loop_now() of its latest byte either way */
	struct request req;
	uint64_t left;    /* of a sized body: bytes that have not come */
	bool whole;       /* the body has come */
	struct buf kept;  /* path, query, headers of a request that waits */
	struct hold held; /* body that is held whole, then what is unsent */
	size_t reserved; /* of mitmd_env.held, for that */
	TAILQ_ENTRY(exchange) hold_entry; /* mitmd_env.holding */
	bool holding;
	uint32_t ask;    /* policyd asks a person about it; 0: no */
	bool probe;      /* a push that says nothing yet */
	struct git_push_list push;
	uint32_t denied; /* number of the refusal that is written down */
	struct meter meter;         /* METER_NONE: the answer costs nothing */
	struct meter_usage usage;   /* as it was told last */
	struct meter_usage before;  /* a WebSocket: what its turns cost */
	char model[METER_MAX_MODEL + 1]; /* that the path names, where none
					  * of the answer's says it */
	uint64_t usage_at;          /* loop_now() of that */
	struct buf part;            /* of an event stream: half a message */
	uint32_t usage_stream, usage_exchange;
	struct upstream up;
	struct http1_body body; /* how the request's comes */
	bool gathers;           /* held is no whole message of it yet */
	struct ws *ws;          /* NULL: no WebSocket */
	/* HTTP/2 */
	int32_t id;        /* of the agent's stream */
	struct buf answer; /* what its window does not let go yet */
	bool ended;        /* all of the answer is in there */
	bool malformed;    /* its stream is reset once it is answered */
	size_t dropped;    /* bytes of the body, after the answer */
	size_t owed;       /* bytes of the body, not given back yet */
};
TAILQ_HEAD(exchanges, exchange);

/* The part of a connection that reads it and knows its protocols. */
struct agent_ops {
	/* Returns true if the state wants bytes of it. */
	bool (*reads)(const struct agent *);
	/* A request is over: take what the agent sent meanwhile. */
	void (*resume)(struct agent *);
	/* The deadline of its state has passed. */
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
	unsigned provider, host; /* which of the provider's */
	SSL *ssl;
	bool want_write; /* TLS itself waits for room */
	bool drained;    /* TLS had nothing more at the latest look */
	bool shut;       /* close_notify is out */
	bool cut;        /* the answer is incomplete: no close_notify */
	bool dead;       /* freed when its callback returns */
	bool alarmed;
	unsigned busy;
	unsigned bad_keys;
	struct buf in;      /* received, not yet used */
	size_t seen;        /* of it, by http1_request_more */
	struct buf out;     /* for the agent, not yet taken by TLS */
	uint64_t progress;  /* loop_now() of the latest byte either way */
	struct h2 *h2;      /* NULL: HTTP/1.1 */
	struct exchange *x; /* HTTP/1.1: the only one */
	struct exchanges exchanges; /* with a request; HTTP/1.1: x */
	struct exchanges parked;    /* HTTP/2: without one, with a stream */
	struct exchanges gone;
	struct exchange *penalized; /* AGENT_PENALTY: refused then */
	enum refusal refusal;   /* and with what */
};
TAILQ_HEAD(agents, agent);

struct mitmd_provider {
	struct provider *p; /* NULL: no such index */
	bool dropped;       /* added, and taken off the list again */
	bool keyed;
	uint8_t sentinel[32]; /* SHA-256 of the sentinel key */
	SSL_CTX *ctx[PROTO_MAX_HOSTS];
};

struct mitmd_env {
	struct worker w;
	struct mitmd_provider providers[PROTO_MAX_PROVIDERS];
	bool sealed;
	bool open;          /* web hosts may be added still */
	struct mitmd_ca ca; /* where it is */
	int listener;
	struct loop_io accept;
	bool full; /* nobody is accepted for want of a descriptor */
	struct agents agents;
	unsigned nagents;
	struct trim trim;
	unsigned last_agent;
	uint32_t last_refusal, last_ask;
	unsigned asks; /* requests that wait for a person */
	unsigned nexchanges;
	struct exchange *streams[MITMD_MAX_STREAMS]; /* by number's low bits */
	unsigned nstreams;
	uint32_t last_stream;
	struct exchanges queued, spare;
	struct exchanges holding; /* in EXCHANGE_HOLD, the oldest first */
	size_t held;              /* bytes of all bodies that are held */
	size_t max_held;
	bool starved; /* for want of room somebody is not read */
	bool freed;   /* there may be room since */
	struct loop_turn left; /* an agent's callback has returned */
	size_t kept;  /* bytes of all heads that wait */
	unsigned alarms, notes;
};

extern struct mitmd_env mitmd_env;

/* The host that the agent's tunnel leads to; NUL-terminated. */
static inline struct span
mitmd_host(const struct agent *a)
{
	return mitmd_env.providers[a->provider].p->hosts[a->host];
}

/*
 * The files, from the bottom up: each calls only those above it on this list
 * (and refuse.h, ca.h, tls.h, which know of no exchange).
 */

/* note.c */
/* A line in the session's log that an agent caused: counted, then no more. */
void mitmd_note(const struct agent *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* For the audit log: counted too. */
void mitmd_alarm(const char *kind, const char *text);
/*
 * Writes down, there and in the session's log, that a request is refused; the
 * number that the answer will name. status 0: the reason's. why: more for the
 * log, or NULL.
 */
uint32_t mitmd_denied(const struct agent *, enum refusal, unsigned status,
    struct span method, struct span target, const char *why);

/* deny_text.c: what a refusal says of its provider */
/* Returns what else the answer says: in dst, or detail, or NULL. */
const char *deny_detail(const struct exchange *, enum refusal,
    const char *detail, char *dst, size_t cap);
/* Returns its status if it is not the reason's own, else 0. */
unsigned deny_status(const struct exchange *, enum refusal);
/* Returns the form in which this provider's clients read errors. */
enum refuse_form deny_form(const struct exchange *);

/* ask.c: requests that a person must approve */
bool ask_wanted(const struct exchange *);
/* The body of x is complete: read what it asks for. */
enum refusal ask_look(struct exchange *, struct span body);
/* Send policyd what would go to auditd.  Returns false if too many wait. */
bool ask_send(struct exchange *, const struct msg_REQUEST *);
/* Stop waiting for approval; if `cancel`, tell policyd. */
void ask_over(struct exchange *, bool cancel);

/* body.c: see body.h */

/* upstream.c: the stream to keyd */
int upstream_open(struct exchange *, int fd);
void upstream_close(struct exchange *);
/* Frames of the request's body; queued when the socket is full. */
int upstream_put(struct exchange *, struct span);
/* -1: out of memory. */
int upstream_flush(struct exchange *);

/* usage.c: see usage.h */

/* exchange.c: what an exchange owns, and its end */
/* Take it off its lists; freed, with its stream, when the callback returns. */
void exchange_free(struct exchange *);
/* Free those of an agent for which no callback runs. */
void exchange_reap(struct agent *);
/* Nothing more goes to keyd or is held, whatever was under way. */
void exchange_abandon(struct exchange *);
/* Forget the request, which is over.  A stream that is clean stays. */
void exchange_end(struct exchange *);
void exchange_enter(struct exchange *, enum exchange_state, uint64_t ms);
void exchange_watch(struct exchange *);
/* Returns the number of its refusal, or a new one; used up. */
uint32_t exchange_denied_id(struct exchange *);
/* Move the spans of a request that waits into x->kept. -1: no room. */
int exchange_keep(struct exchange *);

/* agent.c: a connection and its end */
/* Close it now; it is freed when the callback that runs returns. */
void agent_close(struct agent *);
/* Send what is queued, then drop input until the agent closes. */
void agent_linger(struct agent *);
void agent_enter(struct agent *, enum agent_state, uint64_t ms);
/* Watch the socket as the state and the queues want it. */
void agent_watch(struct agent *);
/* Around a callback of an agent's; leave may free it. */
void agent_hold(struct agent *);
void agent_leave(struct agent *);
/* A request is over: take what the agent sent meanwhile. */
void agent_resume(struct agent *);
/* Returns true if TLS took bytes from the socket that are still to be read. */
bool agent_pending(const struct agent *);

/* added.c: hosts that come and go in a session */
/* Make a leaf for it and put it on the list. -1: it may not be. */
int added_take(struct mitmd_provider *, struct provider *);
int added_drop(struct chan *, const union proto_any *, int fd);

/* deny.c: refused requests and failed exchanges */
/* Answer with a refusal; wrong keys are counted. known: see struct front. */
void deny_request(struct exchange *, enum refusal, bool known);
/* keyd, auditd or the provider failed: 502, 503, or a cut. */
void deny_exchange(struct exchange *, enum refusal, const char *detail);
/* The wait for a connection with too many wrong keys is over. */
void deny_after_penalty(struct agent *);
/* A person, or the lack of one, refused it: answer. */
void deny_asked(struct exchange *, enum refusal);

/* reply.c: what keyd sends */
void reply_ready(struct loop_io *, uint32_t);

/* streams.c: streams to keyd, and the queue for one */
/* The length is known: send it over a stream that is there, or ask for one. */
void exchange_launch(struct exchange *);
/* keyd's end of the stream that was asked for. Takes fd. */
void exchange_stream(struct exchange *, int fd);
/* The exchange that this stream was opened for, or NULL. */
struct exchange *exchange_find(uint32_t stream);
/* Give streams that came free to the exchanges that wait for one. */
void exchange_dequeue(void);

/* check.c: the first check */
/*
 * A decoded request against the provider of its connection.  REFUSE_NONE: *r
 * is a request of this turn, its spans die with the next check. *known: its
 * framing is known, so that a refused one's body can be read over.
 */
enum refusal check_request(const struct agent *, const struct http1_head *,
    struct http1_body *, struct request *r, bool *known);

/* ws_answer.c: messages of a WebSocket for the agent; ws.c: those of it */
extern const struct front front_ws;
/* The provider agreed: compose the answer's head, and take over. */
int ws_begin(struct exchange *, struct span headers);
/* A handshake was admitted. -1: out of memory. */
int ws_open(struct exchange *, struct span key);
/* Use bytes from the agent.  Returns how many. */
size_t ws_input(struct exchange *, struct span);
/* Returns true if any are wanted now. */
bool ws_reads(const struct exchange *);
/* Returns true in the middle of a frame, or after it said goodbye. */
bool ws_waits(const struct exchange *);

/* request.c: a request on its way to keyd */
/* NULL: out of memory, or there are too many of all agents. */
struct exchange *request_new(struct agent *, const struct front *);
/* Take what was admitted: x->whole, x->left say what comes of the body. */
void request_begin(struct exchange *, const struct request *);
/* Bytes of its body. REFUSE_NONE: taken. */
enum refusal request_body(struct exchange *, struct span);
/* No more of it comes: x->whole is set. */
void request_body_end(struct exchange *);
/* Its agent was silent for ms in the middle of a request. */
void request_late(struct exchange *, const char *what, unsigned ms);

/* answer1.c: answers over HTTP/1.1; request1.c: requests */
extern const struct front front_http1;
/* The request is over: the next one, on the same connection. */
void answer1_next(struct exchange *);
/* Begin after the handshake. -1: no exchange to be had. */
int request1_open(struct agent *);
/* Use bytes from the agent, from the front.  Returns how many. */
size_t request1_input(struct agent *, struct span);
/*
 * Where the rest of a body goes, *n bytes of it, while it is held whole: read
 * there, it is copied no more.  NULL: all that comes is for request1_input.
 */
uint8_t *request1_place(struct exchange *, size_t *n);
void request1_placed(struct exchange *, size_t n);

/* h2.c, answer2.c, h2_request.c, h2_open.c: connections over HTTP/2 */
void h2_free(struct h2 *);
void h2_input(struct agent *, struct span);
/* Write what there is, as far as the connection takes it. */
void h2_send(struct agent *);
bool h2_reads(const struct agent *);
/* The connection's timer: idle, or stuck in the middle of a frame. */
void h2_expired(struct agent *);
/* Begin after the handshake. -1: out of memory. */
int h2_open(struct agent *);

/* connect.c: until the tunnel is up */
void connect_read(struct agent *);
/* Answer a connection that no struct agent is made for. */
void connect_busy(int fd);

/* input.c: a connection's bytes, as its state wants them */
bool input_reads(const struct agent *);
void input_resume(struct agent *);
void input_ready(struct loop_io *, uint32_t);

/* agents.c: all connections, their deadlines, and their turns */
void agents_accept(struct loop_io *, uint32_t);
/* Peers take again what we send: connections that waited for it go on. */
void agents_caught_up(void);
/* A callback has returned: give out streams and room that came free. */
void agents_left(struct loop_turn *);

/* serve.c */
void mitmd_serve(void) __attribute__((noreturn));

#endif
