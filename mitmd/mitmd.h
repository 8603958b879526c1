/* SPDX-License-Identifier: ISC */
/*
 * mitmd's inside: one struct agent per connection of the agent, which is read
 * by CONNECT, then TLS, then HTTP/1.1, one request at a time; behind it, once
 * a request was admitted, the stream to its provider's keyd.
 */
#ifndef MITMD_H
#define MITMD_H

#include <sys/queue.h>

#include <openssl/ssl.h>

#include "buf.h"
#include "http1.h"
#include "mitmd_ca.h"
#include "mitmd_refuse.h"
#include "provider.h"
#include "stream.h"
#include "worker.h"

#define MITMD_MAX_AGENTS 128U
#define MITMD_MAX_CONNECT 8192U    /* head of a CONNECT */
#define MITMD_WINDOW (256U << 10)  /* each way, per connection */
#define MITMD_MAX_QUEUE (1U << 20) /* a window and one more read */
#define MITMD_MAX_AHEAD 65536U     /* of requests that wait */
#define MITMD_MAX_IN (HTTP1_MAX_HEAD + 2 * MITMD_MAX_AHEAD)
#define MITMD_MAX_HELD (96U << 20)   /* chunked bodies, all of them */
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
#define MITMD_STREAM_MS 10000U /* keyd's STREAM */
#define MITMD_LINGER_MS 2000U
#define MITMD_PENALTY_MS 30000U

enum agent_state {
	AGENT_CONNECT,  /* reads the head of a CONNECT */
	AGENT_TLS,      /* handshake */
	AGENT_REQUEST,  /* between requests, or reads a head */
	AGENT_HOLD,     /* gathers a chunked body */
	AGENT_OPENING,  /* waits for the stream to keyd */
	AGENT_EXCHANGE, /* request sent: body, answer */
	AGENT_DISCARD,  /* refused: drops the request's body */
	AGENT_PENALTY,  /* too many wrong keys: waits, then refuses */
	AGENT_LINGER,   /* all said: drops input until it closes */
};

/* A request as it was admitted; spans point into `kept` or a scratch buffer. */
struct request {
	unsigned route;
	struct span path, query, headers;
	uint64_t length; /* of the body, once known */
	uint64_t left;   /* not yet read from the agent */
	struct http1_body body;
	bool close; /* the connection ends after the answer */
	bool head;  /* method HEAD: the answer has no body */
	bool expect;
	const char *why; /* constant text: what of it is malformed, or NULL */
};

/* keyd's side of an exchange. */
struct upstream {
	int fd; /* -1: no stream */
	struct loop_io io;
	uint32_t stream; /* 0: none, and none asked for */
	uint32_t exchange;
	bool deaf;         /* takes no more of the body */
	struct buf out;    /* frames that the socket did not take */
	struct buf in;     /* a frame's head, or a HEAD or FAIL, so far */
	uint32_t left;     /* bytes still to come of a BODY frame */
	bool answered;     /* HEAD came */
	bool chunked;      /* to the agent */
	uint64_t promised; /* bytes still to come, when not chunked */
};

struct agent {
	TAILQ_ENTRY(agent) entry;
	unsigned number;
	int fd;
	struct loop_io io;
	struct loop_timer timer;
	enum agent_state state;
	unsigned provider;
	SSL *ssl;
	bool want_write; /* TLS itself waits for room */
	bool drained;    /* TLS had nothing more at the latest look */
	bool shut;       /* close_notify is out */
	bool cut;        /* the answer is incomplete: no close_notify */
	bool dead;       /* freed when its callback returns */
	bool alarmed;
	unsigned busy;
	unsigned bad_keys;
	struct buf in;     /* received, not yet used */
	size_t seen;       /* of it, by http1_request_more */
	struct buf out;    /* for the agent, not yet taken by TLS */
	uint64_t progress; /* loop_now() of the latest byte either way */
	struct request req;
	struct buf kept;      /* path, query, headers of a request that waits */
	struct buf held;      /* chunked body */
	enum refusal refusal; /* AGENT_PENALTY: what will be said */
	uint32_t denied;      /* number of the refusal that is written down */
	struct upstream up;
};
TAILQ_HEAD(agents, agent);

struct mitmd_provider {
	struct provider *p; /* NULL: no such index */
	bool keyed;
	uint8_t sentinel[32]; /* SHA-256 of the sentinel key */
	SSL_CTX *ctx;
};

struct mitmd_env {
	struct worker w;
	struct mitmd_provider providers[PROTO_MAX_PROVIDERS];
	bool sealed;
	int listener;
	struct loop_io accept;
	struct agents agents;
	unsigned nagents;
	unsigned last_agent;
	uint32_t last_stream;
	uint32_t last_refusal;
	size_t held; /* bytes of all chunked bodies */
	unsigned alarms, notes;
};

extern struct mitmd_env mitmd_env;

/* mitmd_serve.c */
void mitmd_serve(void) __attribute__((noreturn));
/* A line in the session's log that an agent caused: counted, then no more. */
void mitmd_note(const struct agent *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* For the audit log: counted too. */
void mitmd_alarm(const char *kind, const char *text);
/*
 * Writes down, there and in the session's log, that this request is refused;
 * a->denied is the number that the answer will name. status 0: the reason's.
 * a->req.why says more in the log.
 */
void mitmd_denied(struct agent *, enum refusal, unsigned status,
    struct span method, struct span target);
/* That number, or a new one; used up. */
uint32_t mitmd_denied_id(struct agent *);

/* mitmd_tls.c */
/* SHA-256 without looking the algorithm up each time. */
void mitmd_sha256(struct span, uint8_t out[32]);
/* All that OpenSSL loads and opens, before lock-down. */
void mitmd_warm(void);
/* NULL when OpenSSL fails. host lives as long as the context. */
SSL_CTX *mitmd_tls_ctx(const struct mitmd_leaf *, const struct span *host);
int mitmd_tls_begin(struct agent *);
/* 1: done, 0: not yet, -1: failed. */
int mitmd_tls_handshake(struct agent *);
/* Bytes read, 0: none now, -1: closed or broken. */
ssize_t mitmd_tls_read(struct agent *, uint8_t *, size_t);
/* For the agent: written, or queued. -1: broken, or it takes nothing. */
int mitmd_tls_put(struct agent *, struct span);
int mitmd_tls_flush(struct agent *);
const char *mitmd_tls_error(void);

/* mitmd_agent.c: connections, their input and their end */
void agent_accept(struct loop_io *, uint32_t);
/* Closes now; freed when the callback that runs returns. */
void agent_close(struct agent *);
/* Says what is queued, then drops input until the agent closes. */
void agent_linger(struct agent *);
void agent_enter(struct agent *, enum agent_state, uint64_t ms);
/* A request is over: takes what the agent sent meanwhile. */
void agent_resume(struct agent *);
/* What the sockets are watched for, from the state and the queues. */
void agent_watch(struct agent *);
/* Around a callback of an agent's; leave may free it. */
void agent_hold(struct agent *);
void agent_leave(struct agent *);

/* mitmd_connect.c: until the tunnel is up */
void connect_read(struct agent *);
/* Answers a connection that no struct agent is made for. */
void connect_busy(int fd);

/* mitmd_http.c: checks of request heads */
/* Uses bytes from the agent from the front; how many. */
size_t http_input(struct agent *, struct span);

/* mitmd_body.c: a request's way to keyd */
/* Begins what was admitted. */
void body_begin(struct agent *, const struct request *);
/* Uses bytes of the body; 0: none are wanted now. */
size_t body_take(struct agent *, struct span);
/* keyd's end of the stream that was asked for. Takes fd. */
void body_stream(struct agent *, int fd);
/* Forgets the request: it is over. */
void body_end(struct agent *);

/* mitmd_deny.c: answers of our own */
/*
 * Answers with a refusal. known: the request's framing is known (a->req), so
 * that its body can be dropped and the connection stay.
 */
void deny_request(struct agent *, enum refusal, bool known);
/* keyd, auditd or the provider failed: 502, 503, or a cut. */
void deny_exchange(struct agent *, enum refusal, const char *detail);
/* The wait for a connection with too many wrong keys is over. */
void deny_after_penalty(struct agent *);

/* mitmd_upstream.c: the stream to keyd */
int upstream_open(struct agent *, int fd);
void upstream_close(struct agent *);
/* Frames of the request's body; queued when the socket is full. */
int upstream_put(struct agent *, struct span);
void upstream_flush(struct agent *);

/* mitmd_reply.c: what keyd sends */
void reply_ready(struct loop_io *, uint32_t);

#endif
