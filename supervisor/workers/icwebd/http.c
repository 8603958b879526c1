/* SPDX-License-Identifier: ISC */
/*
 * Connections of browsers, which libmicrohttpd reads. Its own descriptor is one
 * of our loop. A request that icctl must answer is suspended until it has.
 */
#include "workers/icwebd/webd.h"

#include <sys/socket.h>

#include <netinet/in.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"

static const char *const http_heads[][2] = {
    {"Content-Security-Policy",
	"default-src 'none'; script-src 'self'; style-src 'self'; "
	"connect-src 'self'; img-src 'self'; base-uri 'none'; "
	"form-action 'none'; frame-ancestors 'none'; "
	"require-trusted-types-for 'script'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Cache-Control", "no-store"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
};

static enum MHD_Result
http_send(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
    const char *type)
{
	enum MHD_Result rv = MHD_NO;

	if (r == NULL)
		return MHD_NO;
	if (MHD_add_response_header(r, "Content-Type", type) == MHD_YES) {
		rv = MHD_YES;
		for (size_t i = 0; i < nitems(http_heads); i++)
			if (MHD_add_response_header(r, http_heads[i][0],
				http_heads[i][1]) != MHD_YES)
				rv = MHD_NO;
		if (status == 405)
			(void)MHD_add_response_header(r, "Allow", "GET, POST");
	}
	if (rv == MHD_YES)
		rv = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rv;
}

static enum MHD_Result
http_file(struct MHD_Connection *c, const struct web_file *f)
{
	return http_send(c, 200,
	    MHD_create_response_from_buffer(f->len,
		(void *)(uintptr_t)f->bytes, MHD_RESPMEM_PERSISTENT),
	    f->type);
}

/* Refuse with a reason, of which only ASCII is kept, and no quote. */
static enum MHD_Result
http_refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
	char json[256];
	int n = snprintf(json, sizeof(json), "{\"error\":\"%.200s\"}", why);

	for (int i = 10; i < n - 2; i++)
		if (json[i] == '"' || json[i] == '\\' ||
		    (uint8_t)json[i] < ' ' || (uint8_t)json[i] > '~')
			json[i] = '\'';
	return http_send(c, status,
	    MHD_create_response_from_buffer(
		(size_t)n, json, MHD_RESPMEM_MUST_COPY),
	    "application/json");
}

static enum MHD_Result
http_head(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct web_head *h = arg;
	const struct {
		const char *name;
		const char **to;
	} heads[] = {
	    {"Host", &h->host},
	    {"Origin", &h->origin},
	    {"Sec-Fetch-Site", &h->site},
	    {"Content-Type", &h->type},
	    {"X-IronCurtain", &h->token},
	};

	(void)kind;
	for (size_t i = 0; i < nitems(heads); i++) {
		if (strcasecmp(heads[i].name, key) != 0)
			continue;
		h->twice = h->twice || *heads[i].to != NULL;
		*heads[i].to = value == NULL ? "" : value;
	}
	return MHD_YES;
}

/* The first part of a request: its method, its path and its heads. */
static enum MHD_Result
http_begin(struct MHD_Connection *c, const char *method, const char *path,
    void **arg)
{
	struct web_head h = {.host = NULL};
	struct web_request *r;
	struct web_route to;
	const char *why;
	unsigned status;

	(void)MHD_get_connection_values(c, MHD_HEADER_KIND, http_head, &h);
	if ((status = route_find(method, path, &to, &why)) != 0 ||
	    (status = route_check(&to, &h, webd_env.hosts, &why)) != 0)
		return http_refuse(c, status, why);
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return MHD_NO;
	r->conn = c;
	r->to = to;
	buf_init(&r->body, WEBD_BODY);
	*arg = r;
	return MHD_YES;
}

/* Send the request to icctl. */
static void
http_ask(struct web_request *r)
{
	r->ask.n = ++webd_env.n;
	TAILQ_INSERT_TAIL(&webd_env.asked, r, entry);
	worker_send(&webd_env.w, ROLE_SUP, 0, MSG_WEB_REQUEST, &r->ask, -1);
}

/* All of the request has come: decode it, and ask icctl. */
static enum MHD_Result
http_whole(struct web_request *r)
{
	struct web_head h = {.host = NULL};
	uint8_t token[32];
	char why[128];

	(void)MHD_get_connection_values(
	    r->conn, MHD_HEADER_KIND, http_head, &h);
	r->ask = (struct msg_WEB_REQUEST){.route = (uint8_t)r->to.route,
	    .from = (uint8_t)route_from(h.site),
	    .host = span_str(h.host),
	    .origin = span_str(h.origin)};
	if (r->ask.host.len > 255 || r->ask.origin.len > 255)
		return http_refuse(r->conn, 400, "a header is too long");
	if (h.token != NULL) {
		if (route_token(span_str(h.token), token) == -1)
			return http_refuse(
			    r->conn, 401, "the login is not understood");
		r->ask.token = span_of(token, sizeof(token));
	}
	value_pool_reset(webd_env.pool);
	if (body_read(webd_env.pool, buf_span(&r->body), &r->ask, why,
		sizeof(why)) == -1)
		return http_refuse(r->conn, 400, why);
	r->asked = true;
	/* The answer comes from the loop, so that it never precedes this. */
	MHD_suspend_connection(r->conn);
	http_ask(r);
	return MHD_YES;
}

static enum MHD_Result
http_access(void *cls, struct MHD_Connection *c, const char *path,
    const char *method, const char *version, const char *data, size_t *len,
    void **arg)
{
	struct web_request *r = *arg;
	struct MHD_Response *resp;

	(void)cls;
	(void)version;
	if (r == NULL)
		return http_begin(c, method, path, arg);
	if (*len != 0) {
		buf_add(&r->body, data, *len);
		*len = 0;
		return MHD_YES;
	}
	if (r->to.file != NULL)
		return http_file(c, r->to.file);
	if (buf_check(&r->body) == -1)
		return http_refuse(c, 413, "the body is longer than 16 KiB");
	if (!r->asked)
		return http_whole(r);
	if (r->status == 0)
		return MHD_YES;
	resp = MHD_create_response_from_buffer(
	    r->len, r->json, MHD_RESPMEM_MUST_FREE);
	if (resp != NULL)
		r->json = NULL;
	return http_send(c, r->status, resp, "application/json");
}

static void
http_done(void *cls, struct MHD_Connection *c, void **arg,
    enum MHD_RequestTerminationCode how)
{
	struct web_request *r = *arg;

	(void)cls;
	(void)c;
	(void)how;
	if (r == NULL)
		return;
	*arg = NULL;
	if (r->asked && r->status == 0)
		TAILQ_REMOVE(&webd_env.asked, r, entry);
	buf_free(&r->body);
	free(r->json);
	free(r);
}

void
http_answer(struct web_request *r, unsigned status, struct span json)
{
	TAILQ_REMOVE(&webd_env.asked, r, entry);
	r->status = status;
	r->json = malloc(json.len == 0 ? 1 : json.len);
	if (r->json == NULL)
		r->status = 503;
	else if (json.len != 0)
		memcpy(r->json, json.p, json.len);
	r->len = r->json == NULL ? 0 : json.len;
	MHD_resume_connection(r->conn);
}

static void
http_log(void *arg, const char *fmt, va_list ap)
{
	/* Its messages quote what browsers send. */
	(void)arg;
	(void)fmt;
	(void)ap;
}

void
http_warm(void)
{
	struct webd_env *e = &webd_env;
	time_t now = time(NULL);
	struct tm tm;

	/* libc reads a file on first use: before confinement. */
	(void)gmtime_r(&now, &tm);
	(void)localtime_r(&now, &tm);
	TAILQ_INIT(&e->asked);
	e->io.fd = -1;
	e->http = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
				       MHD_ALLOW_SUSPEND_RESUME |
				       MHD_USE_ERROR_LOG,
	    0, NULL, NULL, http_access, NULL,
	    MHD_OPTION_EXTERNAL_LOGGER, http_log, NULL,
	    MHD_OPTION_NOTIFY_COMPLETED, http_done, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, WEBD_CONNS,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WEBD_CONN_BYTES,
	    MHD_OPTION_CONNECTION_TIMEOUT, WEBD_IDLE_S,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (e->http == NULL ||
	    (e->pool = value_pool_new(1U << 20)) == NULL)
		fatalx("libmicrohttpd does not start");
}

static void
http_ready(struct loop_io *io, uint32_t events)
{
	/* http_run() is called after every batch. */
	(void)io;
	(void)events;
}

static void
http_late(struct loop_timer *t)
{
	(void)t;
}

void
http_run(void)
{
	struct webd_env *e = &webd_env;
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_run(e->http) != MHD_YES)
		fatalx("libmicrohttpd");
	if (MHD_get_timeout(e->http, &ms) == MHD_YES)
		loop_timer_set(&e->w.loop, &e->timer, ms, http_late, NULL);
	else
		loop_timer_clear(&e->w.loop, &e->timer);
}

void
http_start(void)
{
	struct webd_env *e = &webd_env;
	const union MHD_DaemonInfo *info =
	    MHD_get_daemon_info(e->http, MHD_DAEMON_INFO_EPOLL_FD);

	if (info == NULL || loop_add(&e->w.loop, &e->io, info->epoll_fd,
				EPOLLIN, http_ready, NULL) == -1)
		fatal("epoll");
}

void
http_take(int fd)
{
	/* The kernel told icctl who it is; the library only wants a family. */
	const struct sockaddr_in in = {.sin_family = AF_INET,
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};

	/* A connection too many is closed by the library. */
	(void)MHD_add_connection(webd_env.http, fd,
	    (const struct sockaddr *)(const void *)&in, sizeof(in));
}
