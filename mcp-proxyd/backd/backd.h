/* SPDX-License-Identifier: ISC */
/*
 * Shared by the modules of mcp-backd: the two pipes of one MCP server, or the
 * streams with its answers, and their state.
 */
#ifndef BACKD_H
#define BACKD_H

#include <sys/queue.h>

#include "common/bucket.h"
#include "common/ipc/worker.h"
#include "common/mask/mask.h"
#include "mcp/idscan.h"
#include "mcp/jsonrpc.h"
#include "mcp/reader.h"

#define BACKD_MAX_STRAY 20U                /* lines that are not messages */
#define BACKD_MAX_SKIP ((size_t)256 << 20) /* bytes of an over-long line */
#define BACKD_MAX_STDERR 1024U             /* per line; the rest is cut off */
/* Bytes behind it that are read, so that a secret is known although it is cut.
 */
#define BACKD_MORE_STDERR 512U
/* Unrequested answers beyond the burst are allowed at one per this many ms. */
#define BACKD_UNASKED_MS 5U
#define BACKD_PAUSE_MS 1000U /* longest time without reading the server */
#define BACKD_TIMERS 6U
/*
 * Finished calls are reported to auditd in groups, so that it wakes once for
 * all: with the next one that ends BACKD_DONE_US or more after the first of a
 * group, at once if one failed, and after BACKD_DONE_MS if none follows. A
 * time below the period of the scheduler's tick is not a timer, because each
 * wait with such a timer sets the processor's clock twice, which costs more
 * than the rest of the wait on a virtual machine.
 */
#define BACKD_DONE PROTO_MAX_DONES
#define BACKD_DONE_US 1000U
#define BACKD_DONE_MS 6U

/* Open subscriptions to resources whose end is noticed. */
#define BACKD_OPEN 64U

/* Bytes of a line that is shown because it is no message. */
#define BACKD_MAX_LAST 128U

struct backd;
struct remote;

/* The streams of a remote server, which lie above the rest: remote.c. */
struct backd_afar {
	/* Watch the streams if they may be read now, else stop. */
	void (*watch)(struct backd *);
	/*
	 * An answer has this id. Returns false if it is not an answer to the
	 * message that was posted, or not the first one.
	 */
	bool (*answers)(struct backd *, const struct jsonrpc_id *);
	/* The message just read is none: fail the request that it answers. */
	void (*refused)(struct backd *, const char *why);
	/* Close all streams. */
	void (*end)(struct backd *);
};

struct backd {
	struct worker w;
	int fd[2]; /* stdout, stderr; -1: none */
	bool seen[2];
	struct loop_io io[2];
	struct mcp_reader out;
	struct idscan scan; /* for an over-long line */
	uint8_t
	    err[BACKD_MAX_STDERR + BACKD_MORE_STDERR]; /* an incomplete line */
	size_t err_len;
	bool gone;
	bool died;   /* the server closed its output */
	bool modern; /* it has said that it speaks JSONRPC_MODERN ... */
	bool old;    /* ... or answered `initialize`: whichever came first */
	unsigned status; /* the last HTTP answer that failed had it, or 0 */
	bool sandboxed;
	bool mask;                /* show its text without secrets */
	char name[65];            /* the name of a remote server */
	unsigned in_key;          /* more lines that a private key may have */
	struct mask_known *known; /* secrets of the session, or NULL */
	loop_io_fn *readable;     /* reads from stdout */
	struct loop_timer pause;  /* while armed, stdout is not read */
	struct loop_timer relist; /* a list_changed that has to wait */
	struct value_pool *pool;
	struct buf tree;
	const struct backd_afar *afar; /* a remote server; NULL: it has pipes */
	LIST_HEAD(remotes, remote) remotes;
	struct remote *from; /* the stream that is being read, or NULL */
	unsigned nremotes;
	size_t held; /* bytes of incomplete answers */
	unsigned stray;
	char last[BACKD_MAX_LAST]; /* the last line that is no message */
	uint64_t dropped;
	bool again;      /* the remote server could not be reached */
	bool denied;     /* it says no to a revision that it names */
	uint8_t changed; /* the lists that it is about: bits of proto_changed */
	struct bucket requests, changes, progress, complaints, unasked, answers;
	struct bucket notices, updates, wanted;
	uint64_t silenced; /* stderr lines not logged */
	struct msg_DONE done[BACKD_DONE];
	uint64_t done_at[BACKD_DONE]; /* clock_mono_us */
	unsigned ndone;
	struct loop_timer done_timer;
	/* The calls answered last, as many as can be in flight; 0: none. */
	uint64_t answered[PROTO_MAX_SERVER_CALLS];
	unsigned nanswered;
	uint64_t open[BACKD_OPEN]; /* the subscriptions to resources; 0: none */
	unsigned nopen;
};

extern struct backd backd_env;

/* backd/serve.c */
void backd_serve(void) __attribute__((noreturn));
void backd_init(struct backd *);
/* Begin to read stdout (0) or stderr (1), if it has arrived. */
void backd_start(struct backd *, unsigned which);
extern const struct chan_handler backd_handlers[];
extern const size_t backd_nhandlers;

/*
 * Returns at most `max` bytes of `s`, cut between characters; "" if it contains
 * NUL.
 */
struct span backd_cut(struct span s, size_t max);

/* backd/flow.c */
/* Close stdout (0) or stderr (1). */
void backd_close(struct backd *, unsigned which);
/* Watch stdout if it may be read now, else stop watching it. */
void backd_watch(struct backd *);
/* Stop reading stdout for `ms`, at most BACKD_PAUSE_MS. */
void backd_pause(struct backd *, uint64_t ms);
/*
 * Count `n` unrequested answers; beyond the limit the server is not read for a
 * while.
 */
void backd_unasked(struct backd *, uint32_t n);
bool backd_may(struct backd *, struct bucket *);
/* Count a dropped message; log at 1, 10, 100, ... */
void backd_drop(struct backd *, const char *what);

/* backd/server.c */
/* The server has ended: report why to everyone, once. */
void backd_gone(struct backd *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Process one line of the server's stdout. */
void server_line(struct backd *, struct span);
/* Fail the request with this id, whose answer is missing: the server `why`. */
void server_fail(struct backd *, const struct jsonrpc_id *, const char *why);
/* The request's answer is this error, which was read with b->pool. */
void server_error(
    struct backd *, const struct jsonrpc_id *, const struct jsonrpc *);
/* Process an over-long line, all of which b->scan has seen. */
void server_long(struct backd *);
/* Report calls to auditd that have ended and were not reported yet. */
void server_done(struct backd *);

/* backd/shown.c */
/*
 * Write a text of the server as people may see it, as log_vis() does, and
 * without secrets. Returns `dst`.
 */
const char *backd_show(struct backd *, struct span, char *dst, size_t cap);
/* The same for a line of stderr. */
const char *backd_show_line(struct backd *, struct span, char *dst, size_t cap);
int backd_on_known(struct chan *, const struct msg_KNOWN *);

/* backd/blocked.c */
/* Returns true if the text reads like a refusal by the kernel. */
bool blocked_text(struct span);
/* The same for the result of a tool: only for one that is an error. */
bool blocked_result(const struct value *);

/* backd/session.c: messages about the session, for policyd. */
void session_answer(struct backd *, const struct jsonrpc *);
void session_request(struct backd *, const struct jsonrpc *);
void session_changed(struct backd *, enum proto_changed);
void session_updated(struct backd *, const struct jsonrpc *);
/*
 * The request with this id has ended. Returns true if it was a subscription to
 * a resource, which policyd is then told.
 */
bool session_ended(struct backd *, uint64_t id);
/* The server cancels a request, which it may do with a subscription. */
void session_cancelled(struct backd *, const struct jsonrpc *);

/* backd/discover.c */
/* Returns the parts of MCP beside tools that the capabilities declare. */
uint8_t discover_parts(const struct value *capabilities);
/*
 * Append the revisions that a server names, so that a person can see that it is
 * one that we do not speak.
 */
void discover_supported(const struct value *array, char *text, size_t cap);
/* Process the answer to server/discover. */
void discover_answer(struct backd *, const struct jsonrpc *);

/* backd/rounds.c */
/*
 * Process the result of a call: it is an answer, or a question. Returns NULL if
 * it is an answer or was taken, else the reason for refusing it; `*answer`
 * tells which.
 */
const char *rounds_result(
    struct backd *, uint64_t id, const struct value *, bool *answer);
/* Returns the call that a request's id belongs to. */
static inline uint64_t
rounds_call(uint64_t id)
{
	return id & (((uint64_t)1 << PROTO_ROUND_SHIFT) - 1);
}

/* backd/ask.c: questions to the person. */
/* A request of the server that is one. */
void backd_ask_request(struct backd *, const struct jsonrpc *);
/* The error of a call that has some: its data. */
void backd_ask_wanted(struct backd *, uint64_t call, const struct value *data);

/* backd/notice.c: a message that the server logs. */
void notice_take(struct backd *, const struct jsonrpc *);

#endif
