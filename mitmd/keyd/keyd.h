/* SPDX-License-Identifier: ISC */
/*
 * keyd's internals. A stream is mitmd's connection to keyd for one agent
 * connection; a transaction is one request on it that auditd released, with its
 * answer, and mitmd's number for it is the exchange; an upstream is a
 * connection to the provider, which serves one transaction at a time. Streams
 * and upstreams that have ended are marked dead at once and freed after the
 * loop's batch, so that no callback is left with a dangling pointer.
 */
#ifndef KEYD_H
#define KEYD_H

#include <sys/queue.h>

#include <openssl/sha.h>
#include <openssl/ssl.h>

#include "common/buf.h"
#include "common/confine/secret.h"
#include "common/ipc/stream.h"
#include "common/ipc/worker.h"
#include "common/trim.h"
#include "keyd/answer.h"
#include "keyd/budget.h"
#include "keyd/head.h"
#include "keyd/login/login.h"
#include "keyd/login/renew.h"
#include "keyd/scrub.h"
#include "keyd/share.h"
#include "provider/provider.h"
#include "wire/tls_out.h"

#define KEYD_MAX_STREAMS 2560U /* twice mitmd's: some are closing */
#define KEYD_MAX_UPS (KEYD_MAX_STREAMS + 8U)
#define KEYD_OTHERS 64U      /* descriptors: channels, files */
#define KEYD_SPARE 8U        /* idle connections kept, per host */
#define KEYD_MAX_HEAD 16384U /* one TLS record */
/*
 * From a provider, at once: four whole records of TLS 1.3, with the 3 bytes
 * that OpenSSL leaves before them. The rest of a record would be read by
 * itself.
 */
#define KEYD_READ (4U * (16384U + 22U) + 3U)
#define KEYD_BATCH (128U << 10) /* for mitmd, at once */
/* bytes for mitmd at which the provider must wait */
#define KEYD_OUT_SOFT (64U << 10)
/* capacity kept */
#define KEYD_OUT_KEEP (128U << 10)
#define KEYD_OUT_MAX (1U << 20) /* hard limit */
#define KEYD_MAX_PLACES 32U     /* hosts at once, in followd */
#define KEYD_MAX_ALARMS 1000U   /* per session */
/* Deadlines, ms. */
/* longer than dialerd's own deadlines */
#define KEYD_DIAL_MS 60000U
#define KEYD_TLS_MS 10000U
#define KEYD_IDLE_MS 15000U
#define KEYD_STALL_MS 600000U
#define KEYD_SILENT_MS 3600000U /* for a WebSocket */
/* plus those for renewals, the share, and the arena's */
#define KEYD_TIMERS (KEYD_MAX_UPS + 11U)

/* Bytes of all bodies that are kept in case they must be sent again. */
#define KEYD_MAX_KEPT (128U << 20)

struct stream;
struct oauth_file;

enum tls_result {
	TLS_OK,
	TLS_AGAIN,
	TLS_EOF, /* close_notify, or the end of plain HTTP */
	TLS_CUT, /* the end without close_notify */
	TLS_ERROR,
};

enum up_state {
	UP_DIALING, /* dialerd is connecting */
	UP_TLS,     /* handshake */
	UP_IDLE,    /* ready; may be a spare */
	UP_BUSY,    /* serves stream->x */
};

struct up {
	TAILQ_ENTRY(up) entry;
	enum up_state state;
	unsigned host; /* index into keyd_env.hosts */
	bool dead;
	uint32_t dial;    /* id of the DIAL */
	char address[65]; /* the address dialerd connected to */
	bool others;      /* the name has further addresses */
	/* addresses at which the handshake failed */
	char tried[PROTO_MAX_AVOID + 1];
	enum keyd_fail fail; /* reason for that, if `tried` is not empty */
	char why[257];
	int fd;
	struct loop_io io;
	struct loop_timer timer;
	SSL *ssl;        /* NULL: plain HTTP */
	bool tls_writes; /* the handshake has to write */
	struct tls_out out;
	bool drained; /* the last read took all the socket had */
	/* the end that followed bytes of the last read; TLS_OK: none did */
	enum tls_result ended;
	bool full;         /* a write waits for room */
	bool more;         /* read again, even if the socket is empty */
	uint64_t progress; /* loop_now() of the latest progress */
	struct stream *s;  /* only in UP_BUSY */
};
TAILQ_HEAD(ups, up);

struct txn_kind;

/* A REQUEST_GO, kept until its head has been sent. */
struct request {
	uint32_t exchange;
	const struct txn_kind *kind;
	unsigned route, auth_header, host;
	uint64_t length;
	uint64_t most; /* tokens of the answer, as mitmd has it */
	bool digested; /* the body must have this digest */
	uint8_t digest[32];
	struct span path, query, refs, headers; /* point into `mem` */
	uint8_t *mem;
	size_t size;
};

enum txn_state {
	TXN_NONE,
	TXN_SHARE, /* waits for a part of the budget */
	TXN_KEY,   /* waits for a login's renewal */
	TXN_FORM,  /* reads the body of a login: keyd/capture.c */
	TXN_ASKED, /* waits for the token endpoint */
	TXN_WAIT,  /* waits for an upstream */
	TXN_ON,    /* has an upstream */
	/* sends an answer composed by keyd; no upstream */
	TXN_GIVE,
	TXN_DRAIN, /* answered; discards the rest of the body */
};

struct txn {
	enum txn_state state;
	struct request req;
	uint64_t until; /* loop_now() when TXN_SHARE ends */
	struct reserved *reserved;
	uint32_t messages; /* so many, on a WebSocket */
	uint64_t counted;  /* body bytes received from mitmd */
	SHA256_CTX *sum;   /* their digest, if one was announced */
	bool listing;      /* collects the front of a push in `list` */
	struct buf list;
	uint64_t sent;   /* body bytes taken by the upstream */
	uint64_t unsent; /* those left when the answer was complete */
	size_t head_sent;
	bool head_done;
	bool write_closed; /* the upstream takes no more, but may answer */
	bool answered;     /* the answer has begun */
	/* the request was sent completely before the answer began */
	bool sent_whole;
	bool retried;
	struct keyset *key; /* the keyset used for its head */
	bool keeping;       /* `keep` has all of the body so far */
	bool renewed;       /* was sent again with another token ... */
	bool moved;         /* ... or to another path */
	struct buf keep;
	size_t again;            /* bytes of `keep` that were sent again */
	char ws_key[WS_KEY + 1]; /* WebSocket handshake */
	char date[SIGV4_DATE];   /* date of the head's signature */
	struct ws_parser said;   /* frames from the agent */
	struct up *up;
	struct reply reply;
	struct package *package; /* a registry's: keyd/package.c */
	/* a batch of git-lfs, or an answer of a forge: keyd/lfs.c, forge.c */
	struct reply_hold *batch;
	struct reply_take
	    *place; /* a place, for files of a forge: keyd/forge.c */
};

/*
 * The differences between kinds of transactions. A function that is NULL means
 * the default: send the request as it is, and pass on the provider's answer.
 */
struct txn_kind {
	/* Begin: the request was accepted. */
	void (*begin)(struct stream *);
	/* TXN_FORM: bytes of the body have arrived. */
	void (*body)(struct stream *);
	/* A credential is available; the request need not be sent. */
	void (*ready)(struct stream *);
	/* Change the head to be sent; may be called more than once. */
	void (*head)(const struct txn *, struct keyd_head *);
	/*
	 * The answer is complete. Returns true if the transaction goes on; if
	 * `again`, its connection may be reused.
	 */
	bool (*answered)(struct stream *, bool again);
	/* TXN_GIVE: mitmd takes more. */
	void (*writable)(struct stream *);
	/* Returns the text of KEYD_FAIL_PACKAGE: "403 ...". */
	const char *(*refusal)(const struct stream *);
	/* Returns what to keep of the head of the answer, or NULL. */
	struct reply_take *(*take)(const struct stream *);
	/* Returns true if a 307 or 308 leads to another path of the server. */
	bool (*moved)(const struct http1_head *);
	/* Read the head of a 403. */
	void (*forbidden)(const struct http1_head *);
	/* The transaction is over: release what this kind owns. */
	void (*release)(struct stream *);
	/* Report no failure to a person, and renew no login. */
	bool quiet;
};

/* The functions of a transaction that its connection to the provider calls. */
struct up_ops {
	/* The connection is ready. */
	void (*ready)(struct stream *, struct up *);
	void (*writable)(struct stream *);
	void (*readable)(struct stream *);
	/* There is no connection, or it is silent. */
	void (*failed)(struct stream *, enum keyd_fail, const char *detail);
};

struct stream {
	TAILQ_ENTRY(stream) entry;
	LIST_ENTRY(stream) found; /* by its id */
	TAILQ_ENTRY(stream) wait; /* TXN_WAIT, TXN_KEY, TXN_SHARE */
	uint32_t id;
	bool dead;
	bool closing; /* FAIL was sent: closes when `out` is empty */
	int fd;
	struct loop_io io;
	const struct up_ops *ops;
	uint32_t last; /* number of the last transaction */
	uint8_t fhead[STREAM_HEADER + STREAM_AT_LEN];
	size_t fhave;
	uint32_t fleft;        /* bytes left of a BODY frame */
	struct arena_piece at; /* named by an AT frame; len 0: none */
	uint32_t at_done;      /* bytes of it that were copied out */
	struct buf ahead;      /* bytes of the socket that follow it */
	struct buf pend;       /* body bytes that the upstream has not taken */
	/* the same, still in stream_read()'s buffer; `pend` is empty */
	struct span fresh;
	struct buf out; /* frames that mitmd has not taken */
	bool starved;   /* waits until mitmd has given slots back */
	struct txn x;
	bool has_next; /* a request that came during TXN_DRAIN */
	struct request next;
};
TAILQ_HEAD(streams, stream);
LIST_HEAD(stream_ids, stream);
#define KEYD_STREAM_IDS 1024U /* ids are consecutive */

/* A host of the provider: its name, and how to connect to it. */
struct keyd_host {
	char name[254], prefix[1025];
	uint16_t port;
	bool tls, reuse;
	SSL_SESSION *session; /* latest TLS session */
	unsigned nups, nbusy; /* connections, and those in UP_BUSY */
};

struct keyd_env {
	struct worker w;
	/* configuration */
	struct provider *provider;
	unsigned index;
	struct keyd_host hosts[KEYD_MAX_PLACES];
	unsigned nhosts; /* number of configured hosts */
	/*
	 * followd: its hosts come with its requests, and this dials one. It has
	 * no credential, and reports nothing to icsupervisor. NULL: keyd.
	 */
	void (*dial_place)(uint32_t id, const char *host);
	/* PEM, until parsed: for the server; more, for where one logs in */
	struct keyd_roots {
		uint8_t *p;
		size_t len;
	} roots[2];
	X509_STORE *issuers; /* both, or NULL: there are no more */
	bool have_roots;     /* the roots were received */
	SSL_CTX *ctx;
	/* the credential */
	/* memory for reading a file, and for composing a head */
	struct secret *file, *head;
	size_t cap; /* limit of a credential's length */
	struct keyset keysets[KEYD_MAX_KEYSETS];
	struct keyset *now; /* the current one; NULL: none */
	/* index of the login in use, plus 1; 0: a key */
	unsigned login;
	bool again; /* a key that can be fetched again */
	int key_fd;
	struct loop_io key_io;
	bool locked;
	bool capturing;              /* a login may begin in the sandbox */
	uint64_t loaded_at, used_at; /* loop_now(); 0: never */
	uint64_t requests;
	uint32_t renewals;
	struct renew renew;
	/* A credential may be available now: waiting requests go on, or end. */
	void (*login_changed)(void);
	/* The keyset's memory is needed: stop passing on answers to it. */
	void (*keyset_outdated)(const struct keyset *);
	/* streams and connections */
	struct streams streams, waiting, key_waiters, dead_streams;
	struct stream_ids ids[KEYD_STREAM_IDS];
	size_t kept; /* bytes of all kept bodies */
	struct ups ups, dead_ups;
	unsigned nstreams, nups, alarms;
	unsigned max_streams, max_ups; /* there are descriptors for these */
	struct trim trim;
	uint32_t dial; /* id of the last DIAL */
	struct budget budget;
	struct share share;
	struct buf scratch;       /* frames of this turn */
	struct reply_parts parts; /* pieces between them */
};

extern struct keyd_env keyd_env;

/*
 * The source files, from the bottom up: each calls only those above it in this
 * list, those in keyd/login/, and the parts that need no connection
 * (keyd/answer.h, keyd/head.h, keyd/scrub.h).
 */

/* keyd/trouble.c: reports to icsupervisor why the provider fails */
void trouble_failed(enum keyd_fail, const char *detail);
/*
 * Note an answer that is passed on: the credential may be refused. `model`: it
 * answers a model request, and may say that the provider is overloaded, or when
 * to try again.
 */
void trouble_status(const struct reply *, bool model);

/* keyd/report.c: reports to auditd */
void keyd_alarm(const char *kind, const char *text);
/* Report the end of a transaction; `error` is empty if it succeeded. */
void txn_report(struct stream *, const char *error);
/* Report a transaction that was refused before it began. */
void txn_report_refused(uint32_t stream, uint32_t exchange, const char *error);

/* keyd/share.c, keyd/admit.c: see keyd/share.h */

/* keyd/released.c */
/* Copy the message. Returns 0, or -1 with ENOMEM. */
int request_copy(
    struct request *, const struct msg_REQUEST_GO *, unsigned auth_header);
void request_free(struct request *);
/* Returns the content type among these headers; p is NULL if there is none. */
struct span request_type(struct span headers);

/* keyd/tls.c */
void tls_warm(void); /* before confinement */
int tls_roots(struct chan *, const struct msg_ROOTS *);
/*
 * Create up->ssl for up->fd. `resume` is the host whose latest session to
 * resume, or NULL; `issuer`: it is a server that one logs in at. Returns 0, or
 * -1 with `*why`, a constant text.
 */
int tls_attach(struct up *, const char *host, struct keyd_host *resume,
    bool issuer, const char **why);
/* Returns true if the descriptor from dialerd is a TCP connection. */
bool up_is_tcp(int fd);
enum tls_result tls_handshake(struct up *, const char **why);
/* Read as many records as fit and have arrived. */
enum tls_result tls_read(struct up *, uint8_t *, size_t cap, size_t *n);
enum tls_result tls_write(struct up *, const uint8_t *, size_t len, size_t *n);
/*
 * Returns true if the next tls_read() has something to return without an event
 * of the socket: bytes that TLS has taken from it, or the connection's end.
 */
bool tls_pending(const struct up *);
void tls_detach(struct up *);

/* keyd/body.c */
/* Returns true if body bytes may be read from the stream now. */
bool txn_takes(const struct stream *);
/* Keep a piece of the body, as it may have to be sent again. */
void txn_keep(struct stream *, const uint8_t *, size_t);
/* Stop keeping the body: it need not be sent again. */
void txn_keep_end(struct stream *);
/* Returns the body bytes that are here and were not sent. */
struct span txn_pending(const struct stream *);
/* Drop `n` body bytes, which were sent. */
void txn_consume(struct stream *, size_t);
/* Drop all body bytes that were not sent. */
void txn_forget(struct stream *);

/* keyd/stream.c */
struct stream *stream_new(uint32_t id, int fd,
    void (*ready)(struct loop_io *, uint32_t), const struct up_ops *);
struct stream *stream_find(uint32_t id);
/* Returns true if there is more to read although the socket may be empty. */
bool stream_has_more(const struct stream *);
/* Count the rest of a slot's piece without reading it. */
void stream_skip(struct stream *);
/* Close the stream; the caller takes care of its transaction. */
void stream_free(struct stream *);
void stream_watch(struct stream *);
/* Returns true while mitmd takes nothing: the provider must wait. */
static inline bool
stream_is_full(const struct stream *s)
{
	return s->out.len >= KEYD_OUT_SOFT || s->starved;
}
/* Returns the arena shared with mitmd; NULL: the stream has none. */
struct arena *stream_arena(const struct stream *);
/*
 * Write the queue for mitmd. Returns 0, or -1 with `*why` if the stream is
 * over.
 */
int stream_flush(struct stream *, const char **why);
/* Returns the buffer for frames of this turn; stream_commit() sends them. */
struct buf *stream_begin(struct stream *);
/* Send the frames. Returns as stream_flush(). */
int stream_commit(struct stream *, const char **why);

/* keyd/upstream.c */
/* Use the connection that was dialed under this number. */
void up_dialed(const struct msg_DIALED *, int fd);
void up_dial_failed(uint32_t dial, enum proto_proxy, const char *detail);
/* Request a connection for this stream; ops->ready() is called now or later. */
void up_want(struct stream *);
void up_unwant(struct stream *);
/* End the use of a connection; if `again`, it may be reused. */
void up_release(struct up *, bool again);
void up_watch(struct up *);
/* Dial the connections needed; fail transactions that cannot be served. */
void up_balance(void);

/* keyd/end.c */
/*
 * Send the composed frames. Returns 0, or -1 if mitmd is gone; then the stream
 * is closed.
 */
int txn_commit(struct stream *);
void txn_fail(struct stream *, enum keyd_fail, const char *detail);
/* `pend` and `fresh`: the name for txn_full() */
#define TXN_PEND "the queue of the request's body"
/* Fail the transaction because this buffer took no more. Returns -1. */
int txn_full(struct stream *, const struct buf *, const char *name);
/*
 * Fail the transaction for a protocol violation, which only a compromised mitmd
 * commits. Returns -1.
 */
int txn_violation(struct stream *, const char *detail);
/* mitmd closed the stream. */
void txn_abort(struct stream *, const char *detail);
/* Empty the lists of streams and of upstreams, before the first of them. */
void streams_init(void);
/*
 * Report and end the transaction of each stream, but for the end of a remote
 * server's session.
 */
void streams_abort(const char *why);
/*
 * Free the streams and upstreams that have ended: no callback of this batch
 * refers to them any more. Returns how many there were.
 */
unsigned streams_reap(void);
/*
 * Answer the request with keyd's own JSON, at most TXN_MAX_ANSWER bytes.
 * `error` is for the log, or empty.
 */
#define TXN_MAX_ANSWER (512U << 10)
void txn_answer(
    struct stream *, unsigned status, struct span body, const char *error);
/*
 * Release everything the transaction owns. If `again`, its connection may be
 * reused.
 */
void txn_release(struct stream *, bool again);
/* The answer has been relayed completely. */
void txn_end(struct stream *);

/* keyd/push.c: keyd's check of a git push */
/*
 * Returns NULL if the push has the approval that its route requires, or the
 * error.
 */
const char *push_check(
    const struct provider_route *, const struct msg_REQUEST_GO *);
void push_begin(struct txn *);
/*
 * Take the next bytes of the body while x->listing. They move to s->pend once
 * the list is known to be the approved one. Returns 0, or -1 with `*why`,
 * which is NULL if the transaction has failed already.
 */
int push_take(struct stream *, struct span, const char **why);

/* keyd/limit.c: see keyd/budget.h */

/* keyd/message.c */
/*
 * Count the messages of a WebSocket in body bytes for the provider, which are
 * unmasked in place. Returns 0, or -1 if the stream is gone.
 */
int message_count(struct stream *, uint8_t *, size_t);

/* keyd/frames.c */
/*
 * Read body frames. Returns 1 if there were any, 0 if not, -1 if the stream is
 * gone.
 */
int stream_read(struct stream *);
/*
 * Compute the digest of the body in order to compare it with the announced one.
 * Returns 0, or -1 with ENOMEM.
 */
int stream_sum_begin(struct stream *);

/* keyd/resend.c */
/* Send the request as soon as there is a token and a connection. */
void txn_go(struct stream *);
/*
 * Release the connection: the transaction is sent again, or ends otherwise.
 */
void txn_reset(struct stream *, bool again);
/*
 * The provider answered 401, which was not passed on: send the same request
 * once more with another token.
 */
void txn_renew(struct stream *);
/* The server redirects it: send the same request once more, to its new path. */
void txn_moved(struct stream *);
/*
 * A write failed. Returns true if the request is tried on another connection.
 */
bool txn_retry(struct stream *);
/* Transactions that wait for a login go on, or end. */
void txn_login_changed(void);
/* Stop passing on answers to requests that used this keyset. */
void txn_outdated(const struct keyset *);

/* keyd/send.c */
void txn_push(struct stream *); /* send the request to the provider */

/* keyd/txn.c */
extern const struct txn_kind txn_plain;
/* Begin the request. */
void txn_begin(struct stream *, struct request *);
/* The connection is ready. */
void txn_connected(struct stream *, struct up *);
void txn_pull(struct stream *); /* relay the answer to mitmd */
/* mitmd has given slots of the arena back. */
int keyd_room(struct chan *, const struct msg_ROOM *);
/* The rest of a discarded body was read. */
void txn_drained(struct stream *);

/* keyd/open.c */
/*
 * Open a stream with that number. Returns the other end, or -1. `*s` is NULL if
 * there are too many: then the other end reads its end at once.
 */
int open_stream(uint32_t id, struct stream **s);
int keyd_stream_open(struct chan *, const struct msg_STREAM_OPEN *);

/* keyd/package.c: requests to a package registry */
extern const struct txn_kind package_kind;

/* keyd/forge.c: answers of forges, without their secrets */
extern const struct txn_kind forge_kind;

/*
 * keyd/follow.c: the answer redirects, and nothing of it was passed on. Tell
 * followd through auditd, and end the transaction; or fail it.
 */
void follow_answer(struct stream *);

/* keyd/lfs.c: where objects of git-lfs are */
extern const struct txn_kind lfs_kind;

/* keyd/lookup.c: what an id in a request to a forge stands for */
int keyd_forge_look(struct chan *, const struct msg_FORGE_LOOK_GO *);

/* keyd/post.c: messages to a remote MCP server */
extern const struct txn_kind post_kind;
/* The end of the session there, which nobody waits for but post_stop(). */
extern const struct txn_kind post_end_kind;
int post_in(struct chan *, const struct msg_SERVER_IN *, int fd);
/* Streams may have ended: go on with messages that waited for that. */
void post_turn(void);
/* Send no more messages, and exit when the server's session has ended. */
void post_stop(void);

/* keyd/capture.c: a login that begins in the sandbox */
extern const struct txn_kind capture_kind;
int keyd_sentinel(struct chan *, const struct msg_SENTINEL *);

/* keyd/request.c: keyd's check of requests */
int keyd_request(struct chan *, const struct msg_REQUEST_GO *);

/* keyd/serve.c */
void keyd_serve(void) __attribute__((noreturn));

#endif
