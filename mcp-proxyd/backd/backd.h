/* SPDX-License-Identifier: ISC */
/*
 * What the modules of mcp-backd share: one MCP server's two pipes and what is
 * known of them.
 */
#ifndef BACKD_H
#define BACKD_H

#include "common/bucket.h"
#include "common/ipc/worker.h"
#include "mcp/idscan.h"
#include "mcp/jsonrpc.h"
#include "mcp/lines.h"

#define BACKD_MAX_STRAY 20U    /* lines that are no messages */
#define BACKD_MAX_SKIP ((size_t)256 << 20) /* of a line that is too long */
#define BACKD_MAX_STDERR 1024U /* of a line; the rest is cut */
/* Answers to nothing that was asked: beyond so many, one every so many ms. */
#define BACKD_UNASKED_MS 5U
#define BACKD_PAUSE_MS 1000U /* the longest that a server is not read */
#define BACKD_TIMERS 5U
/* Ends of calls that auditd is told together: it is woken once for them. */
#define BACKD_DONE 8U
#define BACKD_DONE_MS 1U

struct backd {
	struct worker w;
	int fd[2]; /* stdout, stderr; -1: none */
	bool seen[2];
	struct loop_io io[2];
	struct lines out;
	struct idscan scan; /* of a line that is too long */
	uint8_t err[BACKD_MAX_STDERR]; /* a line that has not ended */
	size_t err_len;
	bool gone;
	loop_io_fn *readable;     /* reads stdout */
	struct loop_timer pause;  /* while armed stdout is not read */
	struct loop_timer relist; /* a list_changed that had to wait */
	struct value_pool *pool;
	struct buf tree;
	unsigned stray;
	uint64_t dropped;
	struct bucket requests, changes, progress, complaints, unasked, answers;
	uint64_t silenced; /* stderr lines not logged */
	struct msg_DONE done[BACKD_DONE];
	uint64_t done_at[BACKD_DONE]; /* clock_mono_us */
	unsigned ndone;
	struct loop_timer done_timer;
};

extern struct backd backd_env;

/* backd/serve.c */
void backd_serve(void) __attribute__((noreturn));
void backd_init(struct backd *);
/* Reads stdout (0) or stderr (1) from now on, if it has come. */
void backd_start(struct backd *, unsigned which);
extern const struct chan_handler backd_handlers[];
extern const size_t backd_nhandlers;

/* backd/flow.c */
/* Closes stdout (0) or stderr (1). */
void backd_close(struct backd *, unsigned which);
/* Watches stdout, if it may be read now. */
void backd_watch(struct backd *);
/* Does not read stdout for so long. */
void backd_pause(struct backd *, uint64_t ms);
/* Counts answers to nothing; too many of them, and the server must wait. */
void backd_unasked(struct backd *, uint32_t n);
bool backd_may(struct backd *, struct bucket *);
/* Counts, and logs at 1, 10, 100, ... */
void backd_drop(struct backd *, const char *what);

/* backd/server.c */
/* The server is over: everyone is told why, once. */
void backd_gone(struct backd *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* One line of the server's stdout. */
void server_line(struct backd *, struct span);
/* b->scan has seen a whole one that is too long. */
void server_long(struct backd *);
/* Tells auditd of the calls that ended and were not told yet. */
void server_done(struct backd *);

/* backd/session.c: what concerns the session, for policyd. */
void session_answer(struct backd *, const struct jsonrpc *);
void session_request(struct backd *, const struct jsonrpc *);
void session_changed(struct backd *);

#endif
