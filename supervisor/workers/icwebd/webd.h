/* SPDX-License-Identifier: ISC */
/*
 * Internals of icwebd. http.c: libmicrohttpd and its connections; route.c: what
 * may be asked, and by whom; body.c: what a request says; serve.c: messages.
 */
#ifndef WEBD_H
#define WEBD_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/ipc/worker.h"
#include "common/json/value.h"

#define WEBD_TIMERS 1
#define WEBD_CONNS 32U
#define WEBD_CONN_BYTES 32768U
#define WEBD_IDLE_S 10U
#define WEBD_BODY 16384U

/* A file of the page, which is compiled in. */
struct web_file {
	const char *path, *type;
	const uint8_t *bytes;
	size_t len;
};
extern const struct web_file web_files[];
extern const size_t web_nfiles;

/* The target of a path: a file, or a request to icctl. */
struct web_route {
	const struct web_file *file; /* or NULL */
	enum proto_web route;
};

/* The heads of a request that decide whether it is answered. */
struct web_head {
	const char *host, *origin, *site, *type, *token; /* or NULL: absent */
	bool twice; /* one of them is there more than once */
};

struct web_request {
	TAILQ_ENTRY(web_request) entry;
	struct MHD_Connection *conn;
	struct web_route to;
	struct msg_WEB_REQUEST ask; /* its texts are in `texts` */
	struct buf body;
	unsigned status; /* the answer's; 0: there is none yet */
	bool asked;
	uint8_t *json; /* the answer, allocated */
	size_t len;
};

struct webd_env {
	struct worker w;
	struct MHD_Daemon *http;
	struct loop_io io;
	struct loop_timer timer;
	struct value_pool *pool;
	char hosts[PROTO_MAX_SITE + 1];
	uint64_t n; /* the latest request's number */
	TAILQ_HEAD(, web_request) asked; /* that wait for an answer */
};
extern struct webd_env webd_env;

/* http.c */
/* Make the server; called before the process is confined. */
void http_warm(void);
void http_start(void);
/* Take over a connection. */
void http_take(int fd);
/* Give requests their turn. */
void http_run(void);
/* The request has an answer. */
void http_answer(struct web_request *, unsigned status, struct span json);

/*
 * route.c
 * Find what the method and the path lead to. Returns 0, or the status of a
 * refusal with its reason.
 */
unsigned route_find(const char *method, const char *path, struct web_route *,
    const char **why);
/*
 * Check the heads of a request for `to`. Returns 0, or the status of a refusal
 * with its reason.
 */
unsigned route_check(const struct web_route *to, const struct web_head *,
    const char *hosts, const char **why);
/* Returns what Sec-Fetch-Site says. */
enum proto_from route_from(const char *site);
/* Decode 64 hexadecimal digits. Returns 0, or -1. */
int route_token(struct span hex, uint8_t token[32]);

/*
 * body.c: Read a body into `ask`, whose texts are those of the pool. Returns 0,
 * or -1 with the reason in `why`.
 */
int body_read(struct value_pool *, struct span json,
    struct msg_WEB_REQUEST *ask, char *why, size_t cap);

/* serve.c */
void webd_serve(void) __attribute__((noreturn));

#endif
