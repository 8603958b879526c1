/* SPDX-License-Identifier: ISC */
/* Internals of the live set. */
#ifndef LIVE_PRIV_H
#define LIVE_PRIV_H

#include "common/buf.h"
#include "common/json/value.h"
#include "icctl/live/live.h"

#define LIVE_ASKS 64U

struct live_ask {
	const char *op;
	char id[LIVE_ID];
	uint64_t token;
	bool signs; /* has signatures, which takes long to check */
};

struct live_conn {
	int dir;   /* the session's directory, O_PATH */
	int watch; /* inotify's number of it, or -1 */
	struct loop_io io;
	struct loop_timer retry, soon;
	struct buf in, out;
	unsigned tries;
	bool over; /* its end was announced */
	bool gone; /* its link was removed */
	bool died; /* without a word: nobody holds its lock */
	bool asked_status;
	struct live_ask asks[LIVE_ASKS]; /* open requests, oldest first */
	unsigned nasks;
	/* tail.c */
	int log;
	int64_t at;
	bool skip; /* to the end of the line */
	bool next; /* there is another audit.jsonl, still without records */
};

struct live {
	struct loop *loop;
	char *home, *dir;
	unsigned flags;
	const struct live_ops *ops;
	void *arg;
	int run; /* HOME/run, or -1 */
	int notify;
	int watch_run, watch_home;
	struct loop_io io;
	struct loop_timer look; /* armed if the kernel refused a watch */
	struct live_session **all;
	unsigned n, max;
	struct live_far far; /* without ask: sessions run here */
	bool more;
	struct value_pool *pool;
	/* Upwards, from a connection. */
	bool (*message)(struct live_session *, json_object *);
	void (*over)(struct live_session *, const char *why);
};

/* list.c */
/* Make room by dropping the oldest sessions that have ended. */
void live_trim(struct live *);
/* Returns the session, which is new or known; NULL if there are too many. */
struct live_session *live_add(struct live *, const char *id);
void live_drop(struct live *, struct live_session *);
void live_session_free(struct live_session *);
/* Put a session in its place; there is room for it. */
void live_insert(struct live *, struct live_session *);
/* The session has ended. */
void live_over(struct live_session *, const char *why);
/* The link is gone: once the connection ends, so does the session. */
void live_gone(struct live_session *);

/* conn.c */
void conn_open(struct live_session *);
void conn_close(struct live_session *);
/* Close for good, and tell about requests that will not be answered. */
void conn_shut(struct live_session *);
/* Queue a request, which it takes. Returns 0, or -1 with errno set. */
int conn_ask(struct live_session *, json_object *request, const char *op,
    const char *id, uint64_t token);
/* A reply has come: expect the next one, if there is one. */
void conn_answered(struct live_session *);
/* Ask for the status in a moment, once however often this is called. */
void conn_status(struct live_session *);

/* died.c */
/* Returns true if the session runs no longer, and has not ended either. */
bool died_is(const struct live_session *);
/* Say so, and how to go on. Returns `dst`. */
const char *died_why(const struct live_session *, char dst[LIVE_TEXT]);

/* starting.c */
/* Show the session as one that is starting, and its options. */
void starting_take(struct live_session *);
/* It has begun, or does not answer any more. */
void starting_over(struct live_session *);

/* take.c: Handle a reply, or an event. Returns false if it makes no sense. */
bool take_message(struct live_session *, json_object *);
void take_clear(struct live_session *);
/*
 * Add the call, or replace what is known of it, and say in `*is_new` which.
 * Returns false if it makes no sense.
 */
bool take_hold_add(struct live_session *, json_object *hold, bool *is_new);
/* Forget the call. Returns false if there is none. */
bool take_hold_drop(struct live_session *, const char *id);
/* Copy a text in its visible form. */
void take_vis(struct live_session *, char *dst, size_t cap, const char *text);

/* activity.c */
void live_tell(struct live_session *, enum live_change);
void activity_add(struct live_session *, enum live_kind, uint64_t us,
    const char *id, const char *state, struct span text);
void activity_printf(struct live_session *, enum live_kind, const char *id,
    const char *state, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Add text in its visible form. */
void activity_vis(const struct live *, struct buf *, struct span);

/* tail.c: the session's audit log. */
void tail_open(struct live_session *);
void tail_close(struct live_session *);
/* Read what was added. */
void tail_read(struct live_session *);
/* The file audit.jsonl has changed, or is a new one. */
void tail_changed(struct live_session *, bool is_new);
/* Find out whether it has: nothing tells. */
void tail_look(struct live_session *);
/* Add the record of a line. */
void tail_line(struct live_session *, struct span line);

/* scan.c: the directory of running sessions. */
int scan_open(struct live *);
void scan_close(struct live *);

#endif
