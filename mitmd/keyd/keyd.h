/* SPDX-License-Identifier: ISC */
/*
 * keyd's inside.  A stream is mitmd's one connection to us for one agent
 * connection; an exchange is one request on it that auditd released, with its
 * answer; an upstream is one connection to the provider, which serves one
 * exchange at a time.  Streams and upstreams that are over are marked dead at
 * once and freed when the loop's batch is done, so that no callback holds one
 * that is gone.
 */
#ifndef KEYD_H
#define KEYD_H

#include <sys/queue.h>

#include <openssl/sha.h>
#include <openssl/ssl.h>

#include "common/buf.h"
#include "common/confine/secret.h"
#include "common/ipc/worker.h"
#include "common/trim.h"
#include "keyd/answer.h"
#include "keyd/budget.h"
#include "keyd/head.h"
#include "keyd/login/login.h"
#include "keyd/login/renew.h"
#include "keyd/scrub.h"
#include "provider/provider.h"
#include "wire/stream.h"

#define KEYD_MAX_STREAMS	2560U	/* twice mitmd's: closing ones */
#define KEYD_MAX_UPS		(KEYD_MAX_STREAMS + 8U)
#define KEYD_MAX_HEAD		16384U	/* one TLS record */
#define KEYD_OUT_SOFT		(64U << 10)	/* then the provider waits */
#define KEYD_OUT_KEEP		(128U << 10)	/* SOFT, and one more read */
#define KEYD_OUT_MAX		(1U << 20)	/* SOFT and one more read */
#define KEYD_MAX_ALARMS		1000U	/* a session */
/* Deadlines, ms. */
#define KEYD_DIAL_MS		60000U	/* dialerd has its own, shorter ones */
#define KEYD_TLS_MS		10000U
#define KEYD_IDLE_MS		15000U
#define KEYD_STALL_MS		600000U
#define KEYD_SILENT_MS		3600000U	/* of a WebSocket */
#define KEYD_TIMERS		(KEYD_MAX_UPS + 9U)	/* and what renews */

/* Bodies that are kept until it is known that they need not be sent again. */
#define KEYD_MAX_KEPT	(128U << 20)

struct stream;
struct oauth_file;

enum up_state {
	UP_DIALING,		/* dialerd works on it */
	UP_TLS,			/* handshake */
	UP_IDLE,		/* ready; may be a spare */
	UP_BUSY,		/* serves stream->x */
};

struct up {
	TAILQ_ENTRY(up) entry;
	enum up_state state;
	unsigned host;		/* where it leads: of keyd_env.hosts */
	bool dead;
	uint32_t dial;		/* id of the DIAL */
	char address[65];	/* that it was connected to */
	bool others;		/* the name leads to others as well */
	char tried[PROTO_MAX_AVOID + 1]; /* where the handshake failed before */
	enum keyd_fail fail;	/* how, if tried is not empty */
	char why[257];
	int fd;
	struct loop_io io;
	struct loop_timer timer;
	SSL *ssl;		/* NULL: plain HTTP */
	bool tls_writes;	/* the handshake waits to write */
	bool follows;		/* more is written at once after this record */
	bool full;		/* a write waits for room */
	bool more;		/* to be read, though the socket may be empty */
	uint64_t progress;	/* loop_now() of the latest */
	struct stream *s;	/* UP_BUSY */
};
TAILQ_HEAD(ups, up);

struct exchange_kind;

/* A REQUEST_GO, kept until its head was sent. */
struct request {
	uint32_t exchange;
	const struct exchange_kind *kind;
	unsigned route, auth_header, host;
	uint64_t length;
	bool digested;		/* the body must be this one: */
	uint8_t digest[32];
	struct span path, query, refs, headers; /* in mem */
	uint8_t *mem;
	size_t size;
};

enum exchange_state {
	EXCHANGE_NONE,
	EXCHANGE_KEY,		/* for a login that is being renewed */
	EXCHANGE_FORM,		/* its body is read: keyd/capture.c */
	EXCHANGE_ASKED,		/* keyd asks the token endpoint */
	EXCHANGE_WAIT,		/* for an upstream */
	EXCHANGE_ON,		/* has one */
	EXCHANGE_GIVE,		/* what keyd composed goes out: no upstream */
	EXCHANGE_DRAIN,		/* answered; the rest of the body is dropped */
};

struct exchange {
	enum exchange_state state;
	struct request req;
	uint64_t counted;	/* body bytes that mitmd sent */
	SHA256_CTX *sum;	/* of them, while a digest was announced */
	bool listing;		/* the front of a push, so far in list */
	struct buf list;
	uint64_t sent;		/* of them, taken by the upstream */
	size_t head_sent;
	bool head_done;
	bool write_closed;	/* upstream takes no more, but may answer */
	bool answered;		/* a byte of the answer came */
	bool sent_whole;	/* before that the request was complete */
	bool retried;
	struct keyset *key;	/* of its head */
	bool keeping;		/* the body in `keep`, all that came */
	bool renewed;		/* sent again, with another token */
	struct buf keep;
	size_t again;		/* bytes of `keep` that went out again */
	char ws_key[WS_KEY + 1];	/* of a WebSocket's handshake */
	char date[SIGV4_DATE];		/* when its head was signed */
	struct ws_parser said;	/* its frames of the agent */
	struct up *up;
	struct reply reply;
	struct package *package;	/* of a registry: keyd/package.c */
};

/*
 * How an exchange of some routes differs from one that is sent as it is and
 * answered as the provider answers: the functions that are not NULL take the
 * place of what else would be done.
 */
struct exchange_kind {
	/* Begin: the request was taken. */
	void (*begin)(struct stream *);
	/* EXCHANGE_FORM: bytes of the body are there. */
	void (*body)(struct stream *);
	/* There is a credential, and it need not be sent. */
	void (*ready)(struct stream *);
	/* Change the head that is sent; it may be sent more than once. */
	void (*head)(const struct exchange *, struct keyd_head *);
	/*
	 * The answer is complete.  Returns true if the exchange goes on; if
	 * `again`, its connection may be reused.
	 */
	bool (*answered)(struct stream *, bool again);
	/* EXCHANGE_GIVE: mitmd takes more. */
	void (*writable)(struct stream *);
	/* The text of KEYD_FAIL_PACKAGE: "403 ...". */
	const char *(*refusal)(const struct stream *);
	/* The exchange is over: release what this kind holds of it. */
	void (*release)(struct stream *);
};

/* The exchange's part, which its connection to the provider calls. */
struct up_ops {
	/* The connection that was wanted is there. */
	void (*ready)(struct stream *, struct up *);
	void (*writable)(struct stream *);
	void (*readable)(struct stream *);
	/* There is none, or it is silent. */
	void (*failed)(struct stream *, enum keyd_fail, const char *detail);
};

struct stream {
	TAILQ_ENTRY(stream) entry;
	LIST_ENTRY(stream) found;	/* by its id */
	TAILQ_ENTRY(stream) wait;	/* EXCHANGE_WAIT, _KEY */
	uint32_t id;
	bool dead;
	bool closing;		/* FAIL said: closes when `out` is empty */
	int fd;
	struct loop_io io;
	const struct up_ops *ops;
	uint32_t last;		/* exchange */
	uint8_t fhead[STREAM_HEADER];
	size_t fhave;
	uint32_t fleft;		/* of a BODY frame */
	struct buf pend;	/* body not yet taken by the upstream */
	struct buf out;		/* frames not yet taken by mitmd */
	struct exchange x;
	bool has_next;		/* while it drains */
	struct request next;
};
TAILQ_HEAD(streams, stream);
LIST_HEAD(stream_ids, stream);
#define KEYD_STREAM_IDS	1024U	/* they rise one by one */

/* A host of the provider: where it is, and how it is spoken to. */
struct keyd_host {
	char name[254], prefix[1025];
	uint16_t port;
	bool tls, reuse;
	SSL_SESSION *session;	/* the latest that it gave */
	unsigned nups, nbusy;	/* connections; UP_BUSY among them */
};

struct keyd_env {
	struct worker w;
	/* configuration */
	struct provider *provider;
	unsigned index;
	struct keyd_host hosts[PROTO_MAX_HOSTS];
	unsigned nhosts;	/* that are configured */
	uint8_t *roots;		/* PEM, until it is needed */
	size_t roots_len;
	bool have_roots;	/* they came */
	SSL_CTX *ctx;
	/* the credential */
	struct secret *file, *head;	/* what is read; what is composed */
	size_t cap;		/* of a credential */
	struct keyset keysets[KEYD_MAX_KEYSETS];
	struct keyset *now;	/* NULL: none */
	unsigned login;		/* in use, + 1; 0: a key */
	bool again;		/* a key that can be had anew by asking */
	int key_fd;
	struct loop_io key_io;
	bool locked;
	bool capturing;		/* a login may begin in the box */
	uint64_t loaded_at, used_at;	/* loop_now(); 0: never */
	uint64_t requests;
	uint32_t renewals;
	struct renew renew;
	/* There may be a credential now: requests that wait go on, or end. */
	void (*login_changed)(void);
	/* Its memory is needed: no more of an answer to it is passed on. */
	void (*keyset_outdated)(const struct keyset *);
	/* work */
	struct streams streams, waiting, key_waiters, dead_streams;
	struct stream_ids ids[KEYD_STREAM_IDS];
	size_t kept;		/* bytes of bodies */
	struct ups ups, dead_ups;
	unsigned nstreams, nups, alarms;
	struct trim trim;
	uint32_t dial;		/* last id */
	struct budget budget;
	struct buf scratch;	/* frames of this turn */
};

extern struct keyd_env keyd_env;

/*
 * The files, from the bottom up: each calls only those above it on this list,
 * those in keyd/login/, and the parts that need no connection (keyd/answer.h,
 * keyd/head.h, keyd/scrub.h).
 */

/* keyd/trouble.c: tells the user why the provider fails. */
void trouble_failed(enum keyd_fail, const char *detail);
/* The status of an answer that is passed on: is the credential refused? */
void trouble_status(unsigned status);

/* keyd/report.c: to auditd */
void keyd_alarm(const char *kind, const char *text);
/* How the exchange ended; `error` is empty if it ended well. */
void exchange_report(struct stream *, const char *error);
/* The same for an exchange that came to nothing. */
void exchange_report_refused(
    uint32_t stream, uint32_t exchange, const char *error);

/* keyd/released.c */
/* A copy that outlives its message. -1 ENOMEM. */
int request_copy(struct request *, const struct msg_REQUEST_GO *,
    unsigned auth_header);
void request_free(struct request *);
/* Returns the content type among these headers; p is NULL if there is none. */
struct span request_type(struct span headers);

/* keyd/tls.c */
enum tls_result {
	TLS_OK,
	TLS_AGAIN,
	TLS_EOF,		/* said goodbye, or plain */
	TLS_CUT,		/* did not */
	TLS_ERROR,
};

void tls_warm(void);			/* before lock-down */
/*
 * Makes up->ssl for up->fd; resume: with that host's latest session, or NULL.
 * -1: *why, constant text.
 */
int tls_attach(struct up *, const char *host, struct keyd_host *resume,
    const char **why);
/* Returns true if what dialerd handed over is a TCP connection. */
bool up_is_tcp(int fd);
enum tls_result tls_handshake(struct up *, const char **why);
enum tls_result tls_read(struct up *, uint8_t *, size_t cap, size_t *n);
enum tls_result tls_write(struct up *, const uint8_t *, size_t len, size_t *n);
/* Returns true if it took bytes from the socket that were not read yet. */
bool tls_pending(const struct up *);
void tls_detach(struct up *);

/* keyd/body.c */
/* Returns true if body bytes may be read from the stream now. */
bool exchange_takes(const struct stream *);
/* More of the body came: keep it, as it may have to be sent again. */
void exchange_keep(struct stream *, const uint8_t *, size_t);
/* The body need not be sent again. */
void exchange_keep_end(struct stream *);
/* The bytes of the body that are here and were not sent. */
struct span exchange_pending(const struct stream *);
/* So many of them were sent. */
void exchange_consume(struct stream *, size_t);

/* keyd/stream.c */
struct stream *stream_new(uint32_t id, int fd,
    void (*ready)(struct loop_io *, uint32_t), const struct up_ops *);
struct stream *stream_find(uint32_t id);
/* Close it; its exchange is left as it is. */
void stream_free(struct stream *);
void stream_watch(struct stream *);
/* Write what waits for mitmd.  -1: the stream is over, for the reason *why. */
int stream_flush(struct stream *, const char **why);
/* Frames of this turn go here; stream_commit sends them. */
struct buf *stream_begin(struct stream *);
/* As stream_flush. */
int stream_commit(struct stream *, const char **why);

/* keyd/upstream.c */
/* The connection that was dialed under this number, or why there is none. */
void up_dialed(const struct msg_DIALED *, int fd);
void up_dial_failed(uint32_t dial, enum proto_proxy, const char *detail);
/* Get a connection for this stream: now, or when there is one. */
void up_want(struct stream *);
void up_unwant(struct stream *);
/* The exchange is over; if `again`, the connection may serve another one. */
void up_release(struct up *, bool again);
void up_watch(struct up *);
/* Dial what is needed; fail the exchanges that cannot be served. */
void up_balance(void);

/* keyd/push.c: the second check of a push */
/* Returns NULL if it is approved as its route wants it, or what is wrong. */
const char *push_check(
    const struct provider_route *, const struct msg_REQUEST_GO *);
void push_begin(struct exchange *);
/*
 * While x->listing: take the next bytes of the body.  They are in s->pend once
 * the list is the one that was approved.  -1: *why.
 */
int push_take(struct stream *, struct span, const char **why);

/* keyd/end.c */
/* Send what was framed.  -1: mitmd is gone, and so is the stream. */
int exchange_commit(struct stream *);
void exchange_fail(struct stream *, enum keyd_fail, const char *detail);
/* A mitmd that keeps to the protocol never sends this.  Returns -1. */
int exchange_violation(struct stream *, const char *detail);
/* mitmd closed the stream. */
void exchange_abort(struct stream *, const char *detail);
/* Answer it here, with JSON.  `error` is for the log, or empty. */
void exchange_answer(struct stream *, unsigned status, struct span body,
    const char *error);
/* Release everything it owns.  If `again`, its connection may be reused. */
void exchange_release(struct stream *, bool again);
/* The answer has been relayed completely, whoever composed it. */
void exchange_end(struct stream *);

/* keyd/limit.c: see keyd/budget.h */

/* keyd/message.c */
/*
 * Body bytes that go to the provider, which are written to: count the messages
 * of a WebSocket among them.  -1: the stream is gone.
 */
int message_count(struct stream *, uint8_t *, size_t);

/* keyd/frames.c */
/* Read body frames: 1 some, 0 none there, -1 the stream is gone. */
int stream_read(struct stream *);
/* The body that comes must have the digest that was announced. -1 ENOMEM. */
int stream_sum_begin(struct stream *);

/* keyd/resend.c */
/* Send it to the provider as soon as there is a token and a connection. */
void exchange_go(struct stream *);
/* Give the connection back: the exchange will ask again, or otherwise. */
void exchange_reset(struct stream *, bool again);
/*
 * 401: send the same request again, once, with another token.  Nothing of the
 * answer was passed on.
 */
void exchange_renew(struct stream *);
/* A write failed: returns true if it is tried on another connection. */
bool exchange_retry(struct stream *);
/* The exchanges that wait for a login go on, or end. */
void exchange_login_changed(void);
/* No answer to what was sent with this keyset is passed on any more. */
void exchange_outdated(const struct keyset *);

/* keyd/send.c */
void exchange_push(struct stream *);	/* request, towards the provider */

/* keyd/exchange.c */
extern const struct exchange_kind exchange_plain;
/* Take the request. */
void exchange_begin(struct stream *, struct request *);
/* It has a connection. */
void exchange_connected(struct stream *, struct up *);
void exchange_pull(struct stream *);	/* answer, towards mitmd */
/* The rest of a dropped body is through. */
void exchange_drained(struct stream *);

/* keyd/open.c */
int keyd_stream_open(struct chan *, const union proto_any *, int fd);

/* keyd/package.c: requests to a package registry */
extern const struct exchange_kind package_kind;

/* keyd/capture.c: a login that begins in the sandbox */
extern const struct exchange_kind capture_kind;
int keyd_sentinel(struct chan *, const union proto_any *, int fd);

/* keyd/request.c: the second check */
int keyd_request(struct chan *, const union proto_any *, int fd);

/* keyd/serve.c */
void keyd_serve(void) __attribute__((noreturn));

#endif
