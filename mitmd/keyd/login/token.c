/* SPDX-License-Identifier: ISC */
/*
 * One request to a token endpoint, on its own connection, which dialerd made,
 * verified like the provider's and used once. Request and answer
 * (keyd/login/token_answer.h) are in secret memory; the caller gets the
 * complete answer or none.
 */
#include "keyd/keyd.h"

#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "keyd/login/oauth.h"
#include "keyd/login/token_answer.h"

/* Room for the head before the body, which is written first. */
#define TOKEN_HEAD 4096U
#define TOKEN_MAX_REQUEST (4U * OAUTH_MAX_TOKEN + TOKEN_HEAD)
enum token_phase {
	TOKEN_IDLE,
	TOKEN_ROOTS, /* waits for root certificates */
	TOKEN_DIAL,
	TOKEN_TLS,
	TOKEN_SEND,
	TOKEN_READ,
};

static struct token {
	bool set, tls;
	char host[254], path[PROTO_MAX_PLACE + 1];
	uint16_t port;
	uint8_t which;
	bool head_only;
	enum token_phase phase;
	uint32_t dial;
	struct up up; /* only its descriptor and TLS are used */
	struct loop_timer timer;
	struct secret *out; /* NULL: too little memory for a login */
	size_t len, sent;
	struct token_answer in;
	token_done *done;
} token = {.up.fd = -1, .up.io.fd = -1};

static void token_ready(struct loop_io *, uint32_t);
static void token_late(struct loop_timer *);

void
token_prepare(size_t max)
{
	if ((token.out = secret_new(TOKEN_MAX_REQUEST)) == NULL ||
	    token_answer_new(&token.in, max) == -1)
		fatal("secret memory");
}

int
token_place(struct span host, uint16_t port, struct span path, unsigned which)
{
	if (host.len == 0 || port == 0 || path.len == 0 || path.p[0] != '/' ||
	    token.phase != TOKEN_IDLE ||
	    span_copy(host, token.host, sizeof(token.host)) == -1 ||
	    span_copy(path, token.path, sizeof(token.path)) == -1)
		return -1;
	for (size_t i = 0; i < path.len; i++) {
		if (path.p[i] < 0x21 || path.p[i] > 0x7e)
			return -1;
	}
	token.port = port;
	token.which = (uint8_t)which;
	token.tls = token.set = true;
	return 0;
}

bool
token_is_at(struct span url)
{
	char text[sizeof(token.host) + sizeof(token.path) + 16];

	(void)snprintf(text, sizeof(text), "https://%s:%u%s", token.host,
	    (unsigned)token.port, token.path);
	return token.set && span_is(url, text);
}

int
keyd_token(struct chan *c, const struct msg_TOKEN *m)
{
	if (token.set)
		return chan_violation(c, "TOKEN twice");
	if (token_place(m->host, m->port, m->path, PROTO_TARGET_TOKEN) == -1)
		return chan_violation(c, "TOKEN is impossible");
	token.tls = m->tls != 0;
	return 0;
}

static void
token_wipe(void)
{
	size_t cap;
	uint8_t *p;

	p = secret_bytes(token.out, &cap);
	explicit_bzero(p, cap);
}

/*
 * End the request. A status of 0 means that `why` is the reason for the
 * failure.
 */
static void
token_end(unsigned status, const char *why)
{
	struct token *t = &token;
	struct loop *l = &keyd_env.w.loop;

	t->phase = TOKEN_IDLE;
	loop_timer_clear(l, &t->timer);
	loop_del(l, &t->up.io);
	t->up.state = UP_BUSY;
	tls_detach(&t->up);
	if (t->up.fd != -1)
		close(t->up.fd);
	t->up.fd = -1;
	token_wipe();
	t->done(status, token_answer_body(&t->in), why);
	token_answer_begin(&t->in);
}

static void
token_put_field(struct sink *o, struct span name, struct span value)
{
	sink_put(o, name);
	sink_put(o, SPAN(": "));
	sink_put(o, value);
	sink_put(o, SPAN("\r\n"));
}

/* Same order of headers as in requests to providers (keyd/head.h). */
static int
token_compose(const struct token_how *how, size_t len)
{
	struct token *t = &token;
	bool literal = strchr(t->host, ':') != NULL;
	char line[300], length[32];
	struct sink o = {.cap = TOKEN_HEAD};
	size_t cap;
	uint8_t *p;

	o.p = p = secret_bytes(t->out, &cap);
	sink_put(&o, how->type == NULL ? SPAN("GET ") : SPAN("POST "));
	sink_put(&o, span_str(t->path));
	sink_put(&o, SPAN(" HTTP/1.1\r\n"));
	snprintf(line, sizeof(line), t->port == 443 ? "%s%s%s" : "%s%s%s:%u",
	    literal ? "[" : "", t->host, literal ? "]" : "", (unsigned)t->port);
	token_put_field(&o, SPAN("host"), span_str(line));
	if (how->authorization.len != 0)
		token_put_field(&o, SPAN("authorization"), how->authorization);
	token_put_field(&o, SPAN("accept"),
	    how->accept != NULL ? span_str(how->accept)
				: SPAN("application/json"));
	token_put_field(&o, SPAN("accept-encoding"), SPAN("identity"));
	if (how->type != NULL) {
		snprintf(length, sizeof(length), "%zu", len);
		token_put_field(&o, SPAN("content-type"), span_str(how->type));
		token_put_field(&o, SPAN("content-length"), span_str(length));
	}
	token_put_field(&o, SPAN("connection"), SPAN("close"));
	for (unsigned i = 0; how->login != NULL && i < how->login->nadds; i++)
		if (how->login->adds[i].value.len != 0)
			token_put_field(&o, how->login->adds[i].name,
			    how->login->adds[i].value);
	sink_put(&o, SPAN("\r\n"));
	if (sink_end(&o, &t->len) == -1)
		return -1;
	memmove(p + t->len, p + TOKEN_HEAD, len);
	t->len += len;
	return 0;
}

static void
token_dial(void)
{
	struct keyd_env *e = &keyd_env;
	struct msg_DIAL m;

	token.phase = TOKEN_DIAL;
	token.dial = ++e->dial;
	m = (struct msg_DIAL){.id = token.dial, .which = token.which};
	worker_send(&e->w, ROLE_DIAL, 0, MSG_DIAL, &m, -1);
}

uint8_t *
token_room(size_t *cap)
{
	uint8_t *p;

	if (!token.set || token.phase != TOKEN_IDLE || token.out == NULL)
		return NULL;
	p = secret_bytes(token.out, cap);
	*cap -= TOKEN_HEAD;
	return p + TOKEN_HEAD;
}

int
token_send_body(const struct provider_login *l, bool json, size_t len,
    token_done *done, const char **why)
{
	const struct token_how how = {
	    .login = l, .type = json ? "application/json" : TOKEN_FORM};

	return token_send(&how, len, done, why);
}

int
token_send(
    const struct token_how *how, size_t len, token_done *done, const char **why)
{
	struct token *t = &token;

	*why = "the headers of that login are too long";
	if (token_compose(how, len) == -1) {
		token_wipe();
		return -1;
	}
	t->head_only = how->head_only;
	t->sent = 0;
	t->done = done;
	token_answer_begin(&t->in);
	loop_timer_set(
	    &keyd_env.w.loop, &t->timer, KEYD_TOKEN_MS, token_late, NULL);
	t->phase = TOKEN_ROOTS;
	if (!t->tls || keyd_env.have_roots)
		token_dial();
	return 0;
}

void
token_rooted(void)
{
	if (token.phase == TOKEN_ROOTS)
		token_dial();
}

struct span
token_answer_head(void)
{
	size_t cap;

	return span_of(secret_bytes(token.in.mem, &cap), token.in.head);
}

static void
token_late(struct loop_timer *timer)
{
	switch (token.phase) {
	case TOKEN_ROOTS:
		token_end(0, "no root certificates for the token endpoint");
		return;
	case TOKEN_DIAL:
	case TOKEN_TLS:
		token_end(0, "the token endpoint cannot be reached in time");
		return;
	case TOKEN_SEND:
	case TOKEN_READ:
		token_end(0, "the token endpoint does not answer in time");
		return;
	case TOKEN_IDLE:
		break;
	}
}

bool
token_dial_failed(uint32_t id, const char *why)
{
	static char text[256];

	if (token.phase != TOKEN_DIAL || token.dial != id)
		return false;
	snprintf(text, sizeof(text), "the token endpoint cannot be reached: %s",
	    why);
	token_end(0, text);
	return true;
}

bool
token_dialed(uint32_t id, int fd)
{
	struct token *t = &token;
	/* mcp-logind reads documents of the server itself, too: target 0. */
	const bool issuer = keyd_env.w.role != ROLE_META || t->which != 0;
	const char *why = "";

	if (t->phase != TOKEN_DIAL || t->dial != id)
		return false;
	t->up.fd = fd;
	if (!up_is_tcp(fd) || loop_add(&keyd_env.w.loop, &t->up.io, fd,
				  EPOLLOUT, token_ready, NULL) == -1) {
		token_end(0, "the token endpoint closed the connection");
		return true;
	}
	t->phase = t->tls ? TOKEN_TLS : TOKEN_SEND;
	t->up.state = UP_TLS;
	if (t->tls && tls_attach(&t->up, t->host, NULL, issuer, &why) == -1)
		token_end(0, why);
	return true;
}

static void
token_watch(uint32_t events)
{
	(void)loop_mod(&keyd_env.w.loop, &token.up.io, events);
}

static void
token_handshake(void)
{
	struct token *t = &token;
	const char *why = "";
	static char text[256];

	switch (tls_handshake(&t->up, &why)) {
	case TLS_OK:
		t->phase = TOKEN_SEND;
		token_watch(EPOLLOUT);
		return;
	case TLS_AGAIN:
		token_watch(t->up.tls_writes ? EPOLLOUT : EPOLLIN);
		return;
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	snprintf(text, sizeof(text),
	    "no trusted TLS connection to the token endpoint: %s", why);
	token_end(0, text);
}

static void
token_push(void)
{
	struct token *t = &token;
	size_t cap, n = 0;
	uint8_t *p;

	p = secret_bytes(t->out, &cap);
	switch (tls_write(&t->up, p + t->sent, t->len - t->sent, &n)) {
	case TLS_OK:
		t->sent += n;
		if (t->sent < t->len)
			return;
		t->phase = TOKEN_READ;
		token_watch(EPOLLIN);
		return;
	case TLS_AGAIN:
		return;
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	token_end(0, "the connection to the token endpoint broke");
}

static void
token_take(size_t n)
{
	static char text[160];
	const char *bad;
	bool done;

	bad = token_answer_take(&token.in, n, &done);
	/* The body may never end. */
	done = done || (bad == NULL && token.head_only && token.in.headed);
	if (bad != NULL) {
		snprintf(text, sizeof(text),
		    "the token endpoint's answer is malformed: %s", bad);
		token_end(0, text);
	} else if (done) {
		token_end(token.in.status, "");
	}
}

static void
token_read(void)
{
	struct token *t = &token;
	size_t room, n = 0;
	uint8_t *p = token_answer_room(&t->in, &room);
	enum tls_result r;

	if (room == 0) {
		token_end(0, "the token endpoint's answer is too large");
		return;
	}
	r = tls_read(&t->up, p, room, &n);
	switch (r) {
	case TLS_OK:
		token_take(n);
		return;
	case TLS_AGAIN:
		return;
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	if (r == TLS_EOF && token_answer_ends(&t->in))
		token_end(t->in.status, "");
	else
		token_end(0, "the token endpoint's answer ended too early");
}

static void
token_ready(struct loop_io *io, uint32_t events)
{
	switch (token.phase) {
	case TOKEN_TLS:
		token_handshake();
		return;
	case TOKEN_SEND:
		token_push();
		break;
	case TOKEN_READ:
		token_read();
		break;
	case TOKEN_IDLE:
	case TOKEN_ROOTS:
	case TOKEN_DIAL:
		return;
	}
	/* Bytes that TLS has taken from the socket do not make it readable. */
	while (token.phase == TOKEN_READ && tls_pending(&token.up))
		token_read();
}
