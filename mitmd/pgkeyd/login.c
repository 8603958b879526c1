/* SPDX-License-Identifier: ISC */
/*
 * One login after the other, each a few messages of a fixed order. Messages are
 * taken from the socket one by one, so that what the server sends behind its
 * last one stays there, for the client. The server is not trusted: what it
 * sends is bounded in bytes and time, and only a proof that it knows the
 * password makes it the right one. Nothing of the client is in here but the
 * values of pg_parameters, which are checked again.
 */
#include "pgkeyd/pgkeyd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/http/base64.h"
#include "common/log.h"

#define LOGIN_WHY 400U
#define NONCE_BYTES 18U

static void login_ready(struct loop_io *, uint32_t);
static void login_late(struct loop_timer *);

static struct login *
login_find(uint32_t dial)
{
	struct login *l;

	TAILQ_FOREACH (l, &pgkeyd_env.logins, entry)
		if (l->dial == dial && l->state == LOGIN_DIAL && !l->dead)
			return l;
	return NULL;
}

static void
login_end(struct login *l)
{
	struct pgkeyd_env *e = &pgkeyd_env;

	loop_timer_clear(&e->w.loop, &l->timer);
	loop_del(&e->w.loop, &l->io);
	if (l->fd != -1)
		close(l->fd);
	l->fd = -1;
	l->dead = true;
	e->nlogins--;
	TAILQ_REMOVE(&e->logins, l, entry);
	TAILQ_INSERT_TAIL(&e->dead, l, entry);
}

static void
login_tell(uint32_t id, const char *why)
{
	const struct msg_LOGIN_FAIL m = {.id = id, .text = span_str(why)};

	worker_send(
	    &pgkeyd_env.w, ROLE_EGRESS, PROTO_SERVICES, MSG_LOGIN_FAIL, &m, -1);
}

static void __attribute__((format(printf, 2, 3)))
login_fail(struct login *l, const char *fmt, ...)
{
	char why[LOGIN_WHY];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	login_tell(l->id, why);
	login_end(l);
}

static void
login_late(struct loop_timer *t)
{
	struct login *l = t->arg;

	if (l->state == LOGIN_CANCEL)
		login_fail(l, "%s", "");
	else
		login_fail(l,
		    "the database did not finish the login within %u seconds",
		    PGKEYD_LOGIN_MS / 1000);
}

/* A fresh connection takes these few bytes at once. */
static void
login_send(struct login *l, struct buf *b)
{
	const struct span out = buf_span(b);
	ssize_t n = -1;

	if (!b->failed)
		n = send(l->fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1 || (size_t)n != out.len)
		login_fail(l, "the database closed the connection");
}

static void
login_startup(struct login *l)
{
	const struct pgkeyd_env *e = &pgkeyd_env;
	struct buf b;
	size_t at;

	buf_init(&b, PGKEYD_MAX_OUT);
	at = pg_begin(&b, 0);
	pg_put_u32(&b, PG_PROTOCOL);
	pg_put_text(&b, SPAN("user"));
	pg_put_text(&b, span_str(e->user));
	pg_put_text(&b, SPAN("database"));
	pg_put_text(&b, span_str(e->database));
	for (size_t i = 0; i < PG_PARAMETERS; i++) {
		if (l->values[i][0] == '\0')
			continue;
		pg_put_text(&b, span_str(pg_parameters[i].name));
		pg_put_text(&b, span_str(l->values[i]));
	}
	buf_addc(&b, 0);
	pg_end(&b, at);
	l->state = LOGIN_BEGUN;
	login_send(l, &b);
	buf_free(&b);
}

static void
login_sasl(struct login *l, struct span mechanisms)
{
	uint8_t raw[NONCE_BYTES];
	char nonce[BASE64_LEN(NONCE_BYTES) + 1] = {0};
	const char *bare;
	struct buf b;
	size_t at;

	if (!message_has_mechanism(mechanisms, "SCRAM-SHA-256")) {
		login_fail(l, "the database does not offer SCRAM-SHA-256");
		return;
	}
	arc4random_buf(raw, sizeof(raw));
	base64_put((uint8_t *)nonce, span_of(raw, sizeof(raw)));
	bare = scram_begin(&l->scram, "", nonce);
	buf_init(&b, PGKEYD_MAX_OUT);
	at = pg_begin(&b, 'p');
	pg_put_text(&b, SPAN("SCRAM-SHA-256"));
	pg_put_u32(&b, (uint32_t)(strlen(bare) + 3));
	buf_adds(&b, "n,,");
	buf_adds(&b, bare);
	pg_end(&b, at);
	l->state = LOGIN_PROOF;
	login_send(l, &b);
	buf_free(&b);
}

static void
login_proof(struct login *l, struct span first)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	char out[SCRAM_MAX_TEXT];
	struct buf b;
	size_t at, len;

	len = scram_answer(
	    &l->scram, first, secret_span(e->password), pgkeyd_kept(), out);
	if (len == 0) {
		login_fail(
		    l, "the database is not logged in to: %s", l->scram.why);
		return;
	}
	buf_init(&b, PGKEYD_MAX_OUT);
	at = pg_begin(&b, 'p');
	buf_add(&b, out, len);
	pg_end(&b, at);
	l->state = LOGIN_VERIFY;
	login_send(l, &b);
	buf_free(&b);
}

/* Only SCRAM keeps the password here and proves who the server is. */
static void
login_auth(struct login *l, struct span body)
{
	struct span rest;
	uint32_t auth;

	if (message_auth(body, &auth, &rest) == -1)
		login_fail(l, "the database's request is malformed");
	else if (auth == MESSAGE_AUTH_SASL && l->state == LOGIN_BEGUN)
		login_sasl(l, rest);
	else if (auth == MESSAGE_AUTH_CONTINUE && l->state == LOGIN_PROOF)
		login_proof(l, rest);
	else if (auth == MESSAGE_AUTH_FINAL && l->state == LOGIN_VERIFY &&
		 scram_verify(&l->scram, rest))
		l->state = LOGIN_PROVEN;
	else if (auth == MESSAGE_AUTH_FINAL && l->state == LOGIN_VERIFY)
		login_fail(
		    l, "the database is not logged in to: %s", l->scram.why);
	else if (auth == MESSAGE_AUTH_OK && l->state == LOGIN_PROVEN)
		l->state = LOGIN_TOLD;
	else if (auth == MESSAGE_AUTH_OK && l->state == LOGIN_BEGUN)
		login_fail(l,
		    "the database lets %s in without a password, and so "
		    "everybody. Its pg_hba.conf must have, before any line "
		    "with trust or peer: host %s %s 127.0.0.1/32 "
		    "scram-sha-256",
		    pgkeyd_env.user, pgkeyd_env.database, pgkeyd_env.user);
	else if (auth == MESSAGE_AUTH_MD5 || auth == MESSAGE_AUTH_CLEARTEXT)
		login_fail(l,
		    "the database wants the password %s: its pg_hba.conf must "
		    "say scram-sha-256, and the password must be set again "
		    "under password_encryption = scram-sha-256",
		    auth == MESSAGE_AUTH_MD5 ? "as md5" : "in clear text");
	else
		login_fail(l,
		    "the database wants a login of another kind (%u) than "
		    "scram-sha-256, or out of turn",
		    auth);
}

static void
login_ask(struct login *l)
{
	struct buf b;
	size_t at;

	if (!l->keyed) {
		login_fail(l, "the database has sent no key for cancelling");
		return;
	}
	buf_init(&b, PGKEYD_MAX_OUT);
	at = pg_begin(&b, 'Q');
	pg_put_text(&b, span_str(roles_query));
	pg_end(&b, at);
	l->state = LOGIN_ROLES;
	login_send(l, &b);
	buf_free(&b);
}

/* Hand the connection on. */
static void
login_done(struct login *l)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	const struct msg_LOGGED_IN m = {
	    .id = l->id, .parameters = buf_span(&l->parameters)};
	const int fd = l->fd;

	handed_add(l->id, l->pid, l->key);
	/* Remove the socket from this loop before another process gets it. */
	loop_del(&e->w.loop, &l->io);
	l->fd = -1;
	e->requests++;
	e->used_at = loop_now(&e->w.loop);
	worker_send(&e->w, ROLE_EGRESS, PROTO_SERVICES, MSG_LOGGED_IN, &m, fd);
	login_end(l);
}

/* The server is ready for a query: for ours, and then for the client's. */
static void
login_idle(struct login *l, struct span body)
{
	if (body.len != 1 || body.p[0] != 'I')
		login_fail(l, "the database is in a transaction of its own");
	else if (l->state == LOGIN_TOLD)
		login_ask(l);
	else
		login_done(l);
}

static void
login_parameter(struct login *l, struct span body)
{
	struct span name, value;

	if (message_parameter(body, &name, &value) == -1) {
		login_fail(l, "a parameter of the database is malformed");
		return;
	}
	pg_put_text(&l->parameters, name);
	pg_put_text(&l->parameters, value);
	if (l->parameters.failed)
		login_fail(l, "the database has too many parameters");
}

static void
login_key(struct login *l, struct span body)
{
	if (body.len != 8 || l->keyed) {
		login_fail(l, "the database's key is malformed");
		return;
	}
	l->pid = pg_u32(body.p);
	memcpy(l->key, body.p + 4, sizeof(l->key));
	l->keyed = true;
}

/* A row names a role that leads out of the database. */
static void
login_role(struct login *l, struct span body)
{
	char vis[80];
	struct span role;

	if (message_column(body, &role) == -1) {
		login_fail(l, "the database's answer about roles is malformed");
		return;
	}
	if (!pgkeyd_env.superuser)
		login_fail(l,
		    "the user %s is, or can become, %s, and so a superuser or "
		    "one who reads files or runs programs on the database's "
		    "machine. Use a role without that, or write \"superuser\": "
		    "true in this login",
		    pgkeyd_env.user, log_vis(role, vis, sizeof(vis)));
}

/* Returns true if there is no rule for a connection without TLS. */
static bool
login_wants_tls(struct span body)
{
	return message_has_code(body, "28000") &&
	       span_find(body, SPAN("no pg_hba.conf entry")) != NULL;
}

static void
login_error(struct login *l, struct span body)
{
	char text[MESSAGE_TEXT];

	if (message_has_code(body, "28P01"))
		login_fail(l,
		    "the database does not take the password of user %s. "
		    "Correct the credential of this login, then: icctl keys "
		    "reload",
		    pgkeyd_env.user);
	else if (login_wants_tls(body))
		login_fail(l,
		    "the database takes no connection of user %s without TLS, "
		    "which a login cannot use. Its pg_hba.conf must have: host "
		    "%s %s 127.0.0.1/32 scram-sha-256",
		    pgkeyd_env.user, pgkeyd_env.database, pgkeyd_env.user);
	else
		login_fail(
		    l, "the database says: %s", message_error(body, text));
}

/* A message that may come once the login has succeeded. */
static void
login_told(struct login *l, uint8_t type, struct span body)
{
	const bool roles = l->state == LOGIN_ROLES;

	if (type == 'S')
		login_parameter(l, body);
	else if (type == 'K' && !roles)
		login_key(l, body);
	else if (type == 'Z')
		login_idle(l, body);
	else if (type == 'D' && roles)
		login_role(l, body);
	else if ((type != 'T' && type != 'C') || !roles)
		login_fail(l, "the database sent a message out of turn");
}

static void
login_message(struct login *l)
{
	const uint8_t type = l->in[0];
	const struct span body =
	    span_of(l->in + MESSAGE_HEAD, l->nin - MESSAGE_HEAD);

	l->nin = 0;
	if (type == 'N')
		return;
	if (type == 'E')
		login_error(l, body);
	else if (type == 'R')
		login_auth(l, body);
	else if (l->state >= LOGIN_TOLD)
		login_told(l, type, body);
	else
		login_fail(l, "the database sent a message before its login");
}

/*
 * Read no more than this message. Returns false if there is nothing to read, or
 * the login has ended.
 */
static bool
login_read(struct login *l)
{
	size_t want = MESSAGE_HEAD;
	ssize_t n;

	if (l->nin >= MESSAGE_HEAD && (want = message_size(l->in)) == 0) {
		login_fail(l, "the other side speaks another protocol than "
			      "PostgreSQL's, or sends messages that are too "
			      "long");
		return false;
	}
	if (l->nin == want) {
		login_message(l);
		return !l->dead;
	}
	n = recv(l->fd, l->in + l->nin, want - l->nin, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		login_fail(l, "the database closed the connection");
		return false;
	}
	l->nin += (size_t)n;
	l->bytes += (size_t)n;
	if (l->bytes > PGKEYD_MAX_BYTES) {
		login_fail(l, "the database sends too much before it is ready");
		return false;
	}
	return true;
}

/* The server answers a cancel with nothing but the end. */
static void
cancel_read(struct login *l)
{
	uint8_t c;
	const ssize_t n = recv(l->fd, &c, 1, MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	login_fail(l, "%s", "");
}

static void
login_ready(struct loop_io *io, uint32_t events)
{
	struct login *l = io->arg;

	(void)events;
	if (l->state == LOGIN_CANCEL)
		cancel_read(l);
	else
		while (login_read(l))
			;
}

static void
login_cancel(struct login *l)
{
	struct buf b;

	buf_init(&b, PGKEYD_MAX_OUT);
	l->state = LOGIN_CANCEL;
	if (handed_cancel(l->cancel, &b))
		login_send(l, &b);
	else
		login_fail(l, "the connection is too old to be cancelled");
	buf_free(&b);
}

static struct login *
login_new(const struct msg_LOGIN_GO *m)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	struct login *l;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		fatal("calloc");
	l->state = LOGIN_DIAL;
	l->id = m->id;
	l->dial = ++e->dial;
	l->cancel = m->cancel;
	l->fd = -1;
	l->io.fd = -1;
	buf_init(&l->parameters, PGKEYD_MAX_PARAMETERS);
	TAILQ_INSERT_TAIL(&e->logins, l, entry);
	e->nlogins++;
	return l;
}

/* Copy the client's values. Returns -1 if one has what egressd refuses. */
static int
login_values(struct login *l, const struct msg_LOGIN_GO *m)
{
	struct span s;

	for (size_t i = 0; i < PG_PARAMETERS; i++) {
		memcpy(&s, (const uint8_t *)m + pg_parameters[i].at, sizeof(s));
		if (!pg_value_ok(s) ||
		    span_copy(s, l->values[i], sizeof(l->values[i])) == -1)
			return -1;
	}
	return 0;
}

int
login_begin(struct chan *c, const struct msg_LOGIN_GO *m)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	struct msg_DIAL dial = {.which = 0};
	struct login *l;

	if (m->id <= e->last)
		return chan_violation(c, "LOGIN_GO %u repeated", m->id);
	e->last = m->id;
	if (e->nlogins == PGKEYD_MAX_LOGINS) {
		login_tell(m->id, "too many logins are being made at once");
		return 0;
	}
	l = login_new(m);
	if (login_values(l, m) == -1) {
		login_end(l);
		return chan_violation(c, "LOGIN_GO with an impossible value");
	}
	dial.id = l->dial;
	worker_send(&e->w, ROLE_DIAL, 0, MSG_DIAL, &dial, -1);
	return 0;
}

int
login_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	struct login *l = login_find(m->id);

	if (l == NULL) {
		close(fd);
		return chan_violation(c, "DIALED %u was not asked for", m->id);
	}
	l->fd = fd;
	if (loop_add(&e->w.loop, &l->io, fd, EPOLLIN, login_ready, l) == -1)
		fatal("epoll");
	loop_timer_set(&e->w.loop, &l->timer, PGKEYD_LOGIN_MS, login_late, l);
	if (l->cancel != 0)
		login_cancel(l);
	else
		login_startup(l);
	return 0;
}

int
login_dial_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	struct login *l = login_find(m->id);

	if (l == NULL)
		return chan_violation(
		    c, "DIAL_FAIL %u was not asked for", m->id);
	login_fail(l, "there is no connection to the database: %.*s",
	    (int)m->text.len, (const char *)m->text.p);
	return 0;
}

void
login_reap(void)
{
	struct login *l;

	while ((l = TAILQ_FIRST(&pgkeyd_env.dead)) != NULL) {
		TAILQ_REMOVE(&pgkeyd_env.dead, l, entry);
		buf_free(&l->parameters);
		freezero(l, sizeof(*l));
	}
}
