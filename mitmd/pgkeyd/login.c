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

#include "common/log.h"

static void login_ready(struct loop_io *, uint32_t);
static void login_late(struct loop_timer *);

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
	logins_end(l);
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
		logins_end(l);
		return chan_violation(c, "LOGIN_GO with an impossible value");
	}
	dial.id = l->dial;
	worker_send(&e->w, ROLE_DIAL, 0, MSG_DIAL, &dial, -1);
	return 0;
}

/* Begin, on a connection that carries what is written as it is. */
static void
login_connected(struct login *l, int fd)
{
	struct pgkeyd_env *e = &pgkeyd_env;

	l->fd = fd;
	if (loop_add(&e->w.loop, &l->io, fd, EPOLLIN, login_ready, l) == -1)
		fatal("epoll");
	if (l->cancel != 0)
		login_cancel(l);
	else
		login_startup(l);
}

int
login_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	struct login *l = login_find(m->id, LOGIN_DIAL);

	if (l == NULL) {
		close(fd);
		return chan_violation(c, "DIALED %u was not asked for", m->id);
	}
	loop_timer_set(&e->w.loop, &l->timer, PGKEYD_LOGIN_MS, login_late, l);
	if (e->tls) {
		l->state = LOGIN_TLS;
		tls_ask(l, fd);
	} else {
		login_connected(l, fd);
	}
	return 0;
}

void
login_secured(uint32_t dial, struct span bound, int fd)
{
	struct login *l = login_find(dial, LOGIN_TLS);

	if (l == NULL) {
		close(fd); /* it was late, or the client has gone */
		return;
	}
	l->nbound = bound.len;
	memcpy(l->bound, bound.p, bound.len);
	login_connected(l, fd);
}

void
login_insecure(uint32_t dial, const char *why)
{
	struct login *l = login_find(dial, LOGIN_TLS);

	if (l != NULL)
		login_fail(l, "%s", l->cancel != 0 ? "" : why);
}

int
login_dial_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	struct login *l = login_find(m->id, LOGIN_DIAL);

	if (l == NULL)
		return chan_violation(
		    c, "DIAL_FAIL %u was not asked for", m->id);
	login_fail(l, "there is no connection to the database: %.*s",
	    (int)m->text.len, (const char *)m->text.p);
	return 0;
}
