/* SPDX-License-Identifier: ISC */
/*
 * Turns a provider's answer into frames for mitmd: the head is parsed and
 * reduced to the provider file's response headers, the body is decoded, and
 * everything is searched for the credential. No byte of the provider's framing
 * is passed on. Parsed strictly: the provider may know the credential, but is
 * otherwise untrusted.
 */
#ifndef KEYD_REPLY_H
#define KEYD_REPLY_H

#include "common/buf.h"
#include "common/http/http1.h"
#include "common/ipc/arena.h"
#include "common/ipc/proto.h"
#include "keyd/scrub.h"
#include "provider/provider.h"
#include "wire/ws.h"

/*
 * Why a transaction failed. The text is for the agent: a status, a space and
 * the reason, the same for every provider.
 */
/* clang-format off */
#define KEYD_FAILS(F)							\
	F(NONE, "")							\
	F(NO_KEY, "403 no credential is loaded for this provider")	\
	F(NO_LOGIN, "403 nobody is logged in to this provider yet; log in " \
	    "with the agent's own login here in the session, or the user "	\
	    "can: icctl login")						\
	F(LOCKED, "403 this provider is locked, because its credential " \
	    "came back in an answer; the user can run: icctl unlock")	\
	F(BUDGET, "402 the session's budget is used up")		\
	F(RESERVED, "429 Other requests that are being answered have "	\
	    "reserved the rest of the session's budget. Send this one "	\
	    "again when they have ended.")				\
	F(MISMATCH, "403 the request does not fit its route")		\
	F(TOO_LARGE, "431 the request's headers are too large")		\
	F(BODY, "400 the request's body is not what was announced")	\
	F(BUSY, "503 too many connections to the provider")		\
	F(DIAL, "502 the provider cannot be reached")			\
	F(PROXY_LOST, "502 the corporate proxy cannot be reached, or does " \
	    "not answer")						\
	F(PROXY_AUTH, "502 the corporate proxy wants a credential, or does " \
	    "not accept the one that it was given; the user can look "	\
	    "with: icctl status")					\
	F(PROXY_DENIED, "502 the corporate proxy forbids the provider's " \
	    "host")							\
	F(PROXY_FAILED, "502 the corporate proxy cannot reach the "	\
	    "provider")							\
	F(PROXY_BROKEN, "502 the corporate proxy's answer makes no sense") \
	F(TLS, "502 no trusted TLS connection to the provider")		\
	F(SEND, "502 the connection to the provider broke")		\
	F(SILENT, "502 the provider closed the connection without an "	\
	    "answer")							\
	F(MALFORMED, "502 the provider's answer is malformed")		\
	F(INTERIM, "502 the provider sent too many interim answers")	\
	F(REDIRECT, "502 the provider redirects, which is not "		\
	    "followed")							\
	F(MOVED, "502 the provider redirects, which is not followed again") \
	F(FOLLOW, "502 the forge redirects for this, which is not followed") \
	F(RIGHTS, "403 the token of this forge can do more than a session " \
	    "needs: GitLab showed it the token of the project's runners. "	\
	    "The user can make a project token with the role Developer: "	\
	    "icctl setup --forge")						\
	F(CODED, "502 the provider's answer has a coding that was not "	\
	    "asked for; whoever runs the upstream must turn off its "	\
	    "compression")						\
	F(REFLECTED, "502 the provider's answer held the credential; "	\
	    "this provider is locked until the user runs: icctl unlock") \
	F(CUT, "502 the provider's answer ended too early")		\
	F(REPLY, "502 the answer is larger than this destination may "	\
	    "send")							\
	F(METADATA, "502 the registry's metadata of this package cannot " \
	    "be read")							\
	F(PACKAGE, "403 this package may not be installed")		\
	F(STALLED, "504 the provider does not answer")			\
	F(RENEW, "502 the login of this provider cannot be renewed just "	\
	    "now; send the request again")				\
	F(EXPIRED, "502 the credential of this provider was renewed; send " \
	    "the request again")					\
	F(TOKEN, "502 the provider's token endpoint did not answer as it " \
	    "should; nothing of its answer is passed on")		\
	F(LOGIN, "403 the login of this provider is not accepted any "	\
	    "more; the user can log in again: icctl login")		\
	F(INTERNAL, "500 IronCurtain itself could not go on with this "	\
	    "request")
/* clang-format on */

#define KEYD_FAIL_ENUM(name, text) KEYD_FAIL_##name,
enum keyd_fail {
	KEYD_FAILS(KEYD_FAIL_ENUM) KEYD_FAIL_COUNT
};
#undef KEYD_FAIL_ENUM

const char *keyd_fail_text(enum keyd_fail);

enum reply_result {
	REPLY_MORE,
	REPLY_DONE,
	REPLY_FAIL, /* see reply->fail and, for the audit log, reply->detail */
};

/* keyd/ws.c: the answer to a handshake, and the frames after it. */
struct reply_ws {
	bool wanted; /* a WebSocket was requested */
	bool up;     /* a correct 101 was received */
	char accept[WS_ACCEPT + 1];
	struct ws_parser parser;
	bool begun; /* a part of the message was passed on */
	bool told;  /* its last part was passed on */
	uint8_t control[WS_MAX_CONTROL];
	size_t ncontrol;
	struct scrub_state scrub; /* control frames, as one text */
};

/* An answer that is collected here instead of going to mitmd. */
struct reply_hold {
	struct buf buf;
	/* bytes held by all transactions together, and their limit */
	size_t *total, max;
	char modified[32]; /* its Last-Modified, or "" */
	struct buf *heads; /* NULL, or takes the headers that pass */
	/*
	 * Nothing of the text is passed on, so that it may have the credential.
	 */
	bool unsearched;
};

/*
 * Long pieces of a body that follow frame headers in a buffer. They are not
 * copied there: each is written after the first `at` bytes of the buffer.
 */
#define REPLY_PARTS 16U
#define REPLY_PART 4096U /* the shortest piece that is not copied */

struct reply_parts {
	struct {
		size_t at;
		struct span s;
	} part[REPLY_PARTS];
	unsigned n;
};

/* A slot of the arena that is being filled with the body. */
struct reply_slot {
	struct arena *arena;
	uint32_t stream;
	uint8_t *at; /* NULL: none is taken */
	struct arena_piece piece;
};

/* The most bytes of a kept header that later requests send back. */
#define REPLY_MAX_KEPT 1024U

/* A header of the answer that keyd keeps for itself, and passes to nobody. */
struct reply_take {
	const char *name; /* lower-case */
	bool redirect;    /* take it from a redirect alone: FOLLOW */
	char value[PROTO_MAX_LOCATION + 300]; /* visible ASCII; "": none */
};

struct reply {
	uint32_t exchange;
	bool nobody; /* the answer to a HEAD */
	bool headed; /* the HEAD frame was written */
	bool done;
	struct buf head; /* an incomplete head */
	size_t seen;
	unsigned interim;
	unsigned status;
	uint32_t retry;     /* seconds until a 429 may be tried again, or 0 */
	bool http10, close; /* the provider will close the connection */
	bool trailing;      /* bytes followed the end */
	enum keyd_fail unauthorized; /* the failure for a 401 (with AWS, a 403);
					NONE: pass it on */
	enum http1_framing framing;
	struct http1_body body;
	struct scrub_state scrub;
	uint64_t received; /* bytes of the decoded body */
	uint64_t max;      /* limit of `received`; 0: none */
	bool stay;         /* a redirect is an error */
	struct reply_ws ws;
	struct reply_take *take; /* NULL: no header is kept */
	/*
	 * Reads the head of a 307 or 308, or NULL: returns true if the request
	 * is to be sent to another path of the same server.
	 */
	bool (*moved)(const struct http1_head *);
	/* Reads the head of a 403, or NULL. */
	void (*forbidden)(const struct http1_head *);
	struct reply_hold *hold;   /* takes the body; no frames are made */
	struct reply_parts *parts; /* NULL: everything is copied */
	struct reply_slot *slot;   /* NULL: nothing is put in the arena */
	enum keyd_fail fail;
	const char *detail;
};

void reply_init(struct reply *, uint32_t exchange, bool nobody);
void reply_free(struct reply *);
/* Process bytes from the connection; append frames, finally END, to `out`. */
enum reply_result reply_feed(struct reply *, const struct provider *,
    const struct scrub *, struct span in, struct buf *out);
/* The connection ended; `clean` means with close_notify. */
enum reply_result reply_eof(struct reply *, bool clean, struct buf *out);
/* keyd/ws.c */
/*
 * A handshake will be sent with this key; an empty key is replaced by a random
 * one. Returns 0, or -1 if there are no random bytes.
 */
int reply_ws_init(struct reply *, char key[WS_KEY + 1]);
/*
 * Returns true if the body may be sent: until the provider agrees to a
 * WebSocket, it would read it as a request.
 */
static inline bool
reply_ws_ready(const struct reply *r)
{
	return !r->ws.wanted || r->ws.up;
}
/* Check the provider's 101. Returns NULL, or the error. */
const char *reply_ws_switch(struct reply *, const struct http1_head *);
/*
 * Process frames after the 101, like reply_feed(). Never returns REPLY_DONE:
 * the connection ends.
 */
enum reply_result reply_ws_feed(
    struct reply *, const struct scrub *, struct span in, struct buf *out);
/* keyd/answer_put.c */
enum reply_result reply_fail(struct reply *, enum keyd_fail, const char *);
/*
 * Returns why a buffer took no more, as KEYD_FAIL_INTERNAL's detail, which is
 * valid until the next call. `name` says what the buffer has.
 */
const char *reply_full(const struct buf *, const char *name);
/* Fail because `out`, or the held answer, took no more. */
enum reply_result reply_fail_full(struct reply *, const struct buf *out);
/*
 * Append as many BODY and AT frames as needed; the last AT frame is appended by
 * reply_slot_end(). Returns 0, or -1 if `out` is full.
 */
int reply_put_body(struct reply *, struct span, struct buf *out);
/* Append the AT frame of a slot that is being filled. Returns likewise. */
int reply_slot_end(struct reply *, struct buf *out);

/*
 * Append one frame of at most STREAM_MAX_FRAME bytes. Returns 0, or -1 if `out`
 * is full.
 */
int reply_frame(struct buf *out, uint32_t exchange, unsigned type, struct span);

/* Everything that decides whether a connection may be reused. */
struct keyd_reuse {
	bool allowed;    /* upstream.reuse */
	bool sent_whole; /* the request was sent before the answer began */
	bool reads;      /* a 2xx of this route proves that the body was read */
	unsigned status;
	bool done;
	enum http1_framing framing;
	bool http10, close, trailing;
};
bool keyd_reuse_ok(const struct keyd_reuse *);

#endif
