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

/* A REQUEST_GO, kept until its head was sent. */
struct request {
	uint32_t exchange;
	unsigned route, kind, host;
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
	EXCHANGE_FORM,		/* its body is read: keyd/login/capture.c */
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
	bool deaf;		/* upstream takes no more, but may answer */
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

struct stream {
	TAILQ_ENTRY(stream) entry;
	LIST_ENTRY(stream) found;	/* by its id */
	TAILQ_ENTRY(stream) wait;	/* EXCHANGE_WAIT, _KEY */
	uint32_t id;
	bool dead;
	bool closing;		/* FAIL said: closes when `out` is empty */
	int fd;
	struct loop_io io;
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
	unsigned kind;		/* of SECRET: 0, or number of the login */
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
	struct streams streams, waiting, keyless, dead_streams;
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

/* keyd/serve.c */
void keyd_serve(void) __attribute__((noreturn));

/* keyd/report.c: to auditd */
void keyd_alarm(const char *kind, const char *text);
/* How the exchange ended; `error` is empty if it ended well. */
void exchange_report(struct stream *, const char *error);
/* The same for an exchange that came to nothing. */
void exchange_never(uint32_t stream, uint32_t exchange, const char *error);

/* keyd/released.c */
/* A copy that outlives its message. -1 ENOMEM. */
int request_copy(struct request *, const struct msg_REQUEST_GO *,
    unsigned kind);
void request_free(struct request *);
/* Returns the content type among these headers; p is NULL if there is none. */
struct span request_type(struct span headers);

/* keyd/login/capture.c: a login that begins in the sandbox */
int keyd_sentinel(struct chan *, const union proto_any *, int fd);
/* Take a request for a token endpoint. */
void capture_begin(struct stream *);
/* More of its body came. */
void capture_read(struct stream *);
/* The request asked to renew, and there is a token. */
void capture_renewed(struct stream *);
/* The agent that began this login is gone. */
void capture_gone(const struct stream *);

/* keyd/stream.c */
int keyd_stream_open(struct chan *, const union proto_any *, int fd);
struct stream *stream_find(uint32_t id);
void stream_free(struct stream *);
void stream_watch(struct stream *);
/* What waits for mitmd; -1: the stream is gone. */
int stream_flush(struct stream *);
/* Frames of this turn go here; stream_commit sends them. */
struct buf *stream_begin(struct stream *);
int stream_commit(struct stream *);
/* Takes body frames: 1 some, 0 none there, -1 the stream is gone. */
int stream_read(struct stream *);
/* The body that comes must have the digest that was announced. -1 ENOMEM. */
int stream_sum_begin(struct stream *);
/* What a mitmd that keeps to the protocol never sends; -1. */
int stream_violation(struct stream *, const char *detail);

/* keyd/message.c */
/*
 * Body bytes that go to the provider, which are written to: counts what of a
 * WebSocket they are. -1: the stream is gone.
 */
int message_count(struct stream *, uint8_t *, size_t);

/* keyd/request.c: the second lock */
int keyd_request(struct chan *, const union proto_any *, int fd);

/* keyd/push.c: the second lock of a push */
/* Approved as its route wants it? NULL, or what does not fit. */
const char *push_check(
    const struct provider_route *, const struct msg_REQUEST_GO *);
void push_begin(struct exchange *);
/*
 * While x->listing: the next bytes of the body. They are in s->pend once the
 * list is the one that was approved. -1: *why.
 */
int push_take(struct stream *, struct span, const char **why);

/* keyd/exchange.c */
/* keyd answers this one itself: JSON. error: for the log, or empty. */
void exchange_answer(struct stream *, unsigned status, struct span body,
    const char *error);
/* Takes the request. */
void exchange_begin(struct stream *, struct request *);
void exchange_on(struct stream *, struct up *);
/* keyd/send.c: request, towards the provider */
void exchange_push(struct stream *);
void exchange_pull(struct stream *);	/* answer, towards mitmd */
void exchange_fail(struct stream *, enum keyd_fail, const char *detail);
/* mitmd closed the stream. */
void exchange_abort(struct stream *, const char *detail);
/* The rest of a dropped body is through. */
void exchange_drained(struct stream *);
/* May body bytes be read from the stream now? */
bool exchange_takes(const struct stream *);
/* The stream goes: everything that hangs on it. */
void exchange_clear(struct stream *);

/* The answer is through, by whatever way. */
void exchange_end(struct stream *);

/* keyd/package.c: requests to a package registry */
/* In place of exchange_go. */
void package_begin(struct stream *);
/* What is asked for instead of what was. */
void package_head(const struct exchange *, struct keyd_head *);
/*
 * The answer is complete. true: it was for us, and the exchange went on.
 * again: its connection is good.
 */
bool package_done(struct stream *, bool again);
/* EXCHANGE_GIVE: mitmd takes more. */
void package_give(struct stream *);
/* "403 ...": of KEYD_FAIL_PACKAGE. */
const char *package_text(const struct exchange *);
void package_free(struct exchange *);

/* keyd/resend.c */
/* The connection is given back; the exchange will ask again, or otherwise. */
void exchange_reset(struct stream *, bool again);
/* To the provider, as soon as there is a token and a connection. */
void exchange_go(struct stream *);
/* More of the body came; it may have to be sent again. */
void exchange_keep(struct stream *, const uint8_t *, size_t);
void exchange_unkeep(struct stream *);
/* What is there of the body and was not sent; so much of it was. */
struct span exchange_pending(const struct stream *);
void exchange_consume(struct stream *, size_t);
/*
 * 401: the same request again, once, with another token.  Nothing of the
 * answer was passed on.
 */
void exchange_renew(struct stream *);
/* After a write failed: true when it is tried on another connection. */
bool exchange_retry(struct stream *);
/* What goes along with a login, at most PROVIDER_MAX_ADDS. How many. */
unsigned exchange_adds(const struct keyset *, struct keyd_head_add *);
/* Those that wait for a login go on, or end. */
void exchange_keyed(void);
/* No answer to what was sent with this keyset is passed any more. */
void exchange_outdated(const struct keyset *);

/* keyd/upstream.c */
int keyd_dialed(struct chan *, const union proto_any *, int fd);
int keyd_dial_fail(struct chan *, const union proto_any *, int fd);
/* An upstream for s now, or when there is one. */
void up_want(struct stream *);
void up_unwant(struct stream *);
/* The exchange is over; again: it may serve another one. */
void up_release(struct up *, bool again);
void up_watch(struct up *);
/* Dials what is needed; fails who cannot be served. */
void up_balance(void);

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
/* Is it a TCP connection?  Of what dialerd hands over. */
bool up_is_tcp(int fd);
enum tls_result tls_handshake(struct up *, const char **why);
enum tls_result tls_read(struct up *, uint8_t *, size_t cap, size_t *n);
enum tls_result tls_write(struct up *, const uint8_t *, size_t len, size_t *n);
/* Has it taken bytes from the socket that were not read yet? */
bool tls_pending(const struct up *);
void tls_detach(struct up *);

/* keyd/trouble.c: for the person, why the provider fails. */
void trouble_failed(enum keyd_fail, const char *detail);
/* The status of an answer that is passed on: is the credential refused? */
void trouble_status(unsigned status);

#endif
