/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl driver`. One process reads requests and writes events;
 * for each running request it forks a worker, which starts a session, runs its
 * turns, and ends it. A worker prints the lines that `icctl send --json` does,
 * and this process composes the driver's own of them.
 */
#ifndef DRIVER_PRIV_H
#define DRIVER_PRIV_H

#include <sys/queue.h>

#include "base/fault.h"
#include "common/buf.h"
#include "icctl/icctl.h"
#include "icctl/talk/wanted.h"

#define DRIVER_LINE (64U << 20) /* bytes of a line of input */
#define DRIVER_OPEN 4096U       /* requests that run or wait */
#define DRIVER_WORKERS 1000U
#define DRIVER_OUT (8U << 20) /* unwritten output that stops our reading */
#define DRIVER_ID 128U        /* bytes of an id */
#define DRIVER_WHY 1024U
#define DRIVER_SAID 2048U /* the end of what a worker said to people */
#define DRIVER_OPTIONS 250U
#define DRIVER_TOOLS 256U /* names in `allowed_tools` */

/* How a request may fail; fail.c has their codes and statuses. */
enum fail {
	FAIL_NONE,
	FAIL_EMPTY_PROMPT,
	FAIL_MALFORMED,
	FAIL_BAD_REQUEST,
	FAIL_TOO_LONG,
	FAIL_BUSY,
	FAIL_INIT,
	FAIL_SCHEMA,
	FAIL_AGENT_EXIT,
	FAIL_GONE,
	FAIL_PROVIDER,
	FAIL_AUTHENTICATION,
	FAIL_BUDGET,
	FAIL_QUOTA,
	FAIL_CANCELLED,
	FAIL_NO_RESULT,
	FAIL_BAD_OUTPUT,
};

const char *fail_code(enum fail);
/* Returns the exit status of `icctl driver --once`. */
int fail_status(enum fail);

/*
 * ident.c: finds the id of a request in the bytes of its line as they come, for
 * lines that are no JSON or that are too long to be kept.
 */
struct ident {
	unsigned depth;
	bool string, escape, key, value, want, done;
	char name[8];
	size_t nname;
	char text[DRIVER_ID + 8];
	size_t ntext;
};
void ident_feed(struct ident *, const char *p, size_t n);
/* Returns the id as JSON, or NULL if there is none; the caller owns it. */
json_object *ident_take(const struct ident *);

/* ask.c: a request, as it was read. */
struct ask {
	json_object *id; /* a string or a whole number */
	bool generate;
	bool again;  /* `continue` */
	bool narrow; /* `allowed_tools` says which tools there are */
	char *message, *model, *cwd, *workflow;
	char *tools[DRIVER_TOOLS];
	size_t ntools;
	struct wanted *wanted; /* the `schema`, or NULL */
};
enum ask_kind {
	ASK_REQUEST,
	ASK_TEARDOWN, /* the workflow ask->workflow */
	ASK_CANCEL,   /* the request ask->id */
	ASK_BAD,      /* *fail and `why` say why */
};
struct driver;
enum ask_kind ask_read(const struct driver *, struct span line, struct ask *,
    enum fail *, char why[DRIVER_WHY]);
void ask_free(struct ask *);

/* A request that runs or waits for a worker. */
struct request {
	TAILQ_ENTRY(request) entry;
	struct ask ask;
	bool runs, cancelled, lost;
	pid_t pid;
	int out, err;     /* the worker's output: lines, and texts for people */
	uint64_t kill_at; /* ms: it is killed then; 0: never */
	struct buf line;  /* the unread rest of `out` */
	char said[DRIVER_SAID];
	size_t nsaid;
	char session[96], policy[4300],
	    config[4400]; /* "": the session's own */
	char dir[4300];
	/* The rest is taken from its lines. */
	struct buf text;    /* the agent's words in the latest turn */
	struct buf pieces;  /* a line of it that is not whole yet: lines.c */
	json_object *reply; /* the result that a worker printed, or NULL */
	json_object *calls; /* names of tools that were called, by number */
	json_object *base;  /* the budget before it, with `continue`, or NULL */
	json_object *budget, *result, *answer, *reported;
	enum fail fail;
	char why[DRIVER_WHY];
	json_object *failure; /* members for the `error` event, or NULL */
	uint64_t began;       /* ms */
	unsigned turns;
};
TAILQ_HEAD(requests, request);

struct driver {
	struct icctl *ctl;
	bool amelia, once;
	unsigned workers;
	const char *options[DRIVER_OPTIONS + 2]; /* those of `icctl start` */
	size_t noptions;
	char **command; /* behind "--", or NULL */
	struct requests open;
	unsigned nopen, nrunning;
	struct buf in, out;
	struct ident ident;
	bool dropping; /* the rest of a line that is too long */
	bool ended;    /* no further request is read */
	int status;    /* that of the first request that failed */
};

/* Returns the value of this option of `icctl start`, or NULL. */
const char *driver_option(const struct driver *, const char *name);
/* Milliseconds of the monotonic clock. */
uint64_t driver_now(void);

/* work.c: Fork the worker of a request. Returns 0, or -1 with the reason. */
int work_start(struct driver *, struct request *);
/*
 * Set a workflow's clone aside: it stays, under the name that is written to
 * `kept`, or "" if there was none. Returns 0, or -1 with the reason.
 */
int work_teardown(const struct driver *, const char *workflow, char kept[128],
    char why[DRIVER_WHY]);
/* End it, within 5 s. */
void work_cancel(struct request *);

/* narrow.c: Make a policy without the tools that the request does not name. */
int narrow_policy(const struct driver *, struct request *, struct fault *);
void narrow_remove(struct request *);

/* heard.c: Take a line that the worker printed. */
void heard_line(struct driver *, struct request *, struct span line);
/* Tell how the request ended, by the worker's exit status. */
void heard_end(struct driver *, struct request *, int status);
/* tell.c: Write an event; `o` is taken. `id` may be NULL. */
void driver_tell(struct driver *, json_object *id, json_object *o);
void tell_fail(struct driver *, json_object *id, enum fail, const char *why,
    json_object *more);
/* Returns our meters' usage of the request. */
json_object *tell_usage(const struct request *);
/* amelia.c: Write an event in the founding text's form. */
void amelia_event(struct driver *, struct request *, json_object *event);
/* Do so with the usage at the end, and the result. */
void amelia_usage(struct driver *, struct request *);
void amelia_result(
    struct driver *, struct request *, bool bad, const char *content);

/* lines.c: Take what a worker of the orchestrator's own printed. */
void worker_lines_take(struct driver *, struct request *, const char *text);
/* Its turn is over: decide how it went. */
void worker_lines_end(struct driver *, struct request *);
/* Returns true if the sessions' agent is such a worker. */
static inline bool
worker_lines_are(const struct driver *d)
{
	return d->amelia && d->command != NULL;
}

/* plain.c */
/*
 * Read a file that a request names: no link leads to it, it is a plain file of
 * this user, and no agent of a session can have written it. Returns its text
 * with a NUL, which the caller frees; or NULL with the reason in `why`.
 */
char *plain_read(
    const struct driver *, const char *path, size_t max, char why[DRIVER_WHY]);

#endif
