/* SPDX-License-Identifier: ISC */
/*
 * Answers clients of PostgreSQL until they have their connection. They need no
 * password, and any name but the listed ones is refused. TLS and GSSAPI are
 * declined: the connection does not leave this machine. A client gets a key of
 * ours for cancelling its queries, so that it cannot cancel those of others.
 */
#include "egressd/front.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "egressd/egressd.h"
#include "egressd/startup.h"
#include "wire/pg.h"

static struct {
	char user[PROTO_MAX_LOGIN + 1], database[PROTO_MAX_LOGIN + 1];
} front_rows[PROTO_MAX_SERVICES];

int
front_add(unsigned service, const struct msg_DOOR *m)
{
	if (span_copy(m->user, front_rows[service].user,
		sizeof(front_rows[service].user)) == -1 ||
	    span_copy(m->database, front_rows[service].database,
		sizeof(front_rows[service].database)) == -1)
		return -1;
	egressd_env.logins[service] = true;
	return 0;
}

void
front_stop(struct tunnel *t, const char *why)
{
	struct buf b;
	size_t at;

	buf_init(&b, 1024);
	at = pg_begin(&b, 'E');
	pg_put_text(&b, SPAN("SFATAL"));
	pg_put_text(&b, SPAN("VFATAL"));
	pg_put_text(&b, SPAN("C28000"));
	buf_adds(&b, "MIronCurtain: ");
	pg_put_text(&b, span_str(why));
	buf_addc(&b, 0);
	pg_end(&b, at);
	tunnel_stop(t, b.failed ? span_of(NULL, 0) : buf_span(&b), why);
	buf_free(&b);
}

/* Refuse a client that has not been recorded yet. */
static void
front_refuse(struct tunnel *t, const char *why)
{
	service_deny(t, "login", egressd_env.names[t->service]);
	t->dead = false;
	front_stop(t, why);
}

/* Decline encryption once of each kind; then the client goes on without. */
static void
front_decline(struct tunnel *t, enum startup_kind kind, size_t rest)
{
	bool *asked = kind == STARTUP_SSL ? &t->ssl : &t->gss;

	if (rest != 0 || *asked) {
		front_refuse(t, "a request for encryption came out of turn");
		return;
	}
	*asked = true;
	buf_reset(&t->up.out, EGRESSD_MAX_HEAD);
	if (send(t->in.fd, "N", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		t->dead = true;
}

/* Have the login recorded. */
static void
front_ask(struct tunnel *t, struct msg_LOGIN *m)
{
	struct egressd_env *e = &egressd_env;

	t->id = ++e->last;
	t->state = TUNNEL_DIAL;
	m->id = t->id;
	m->host = span_str(t->host);
	m->port = t->port;
	worker_send(&e->w, ROLE_AUDIT, 0, MSG_LOGIN, m, -1);
	buf_reset(&t->up.out, 0);
}

/* Returns true if the client names this one, or none. */
static bool
front_named(struct span named, const char *listed)
{
	return named.len == 0 || span_is(named, listed);
}

static void
front_login(struct tunnel *t, struct startup *s, size_t rest)
{
	const char *user = front_rows[t->service].user;
	const char *database = front_rows[t->service].database;
	char why[STARTUP_WHY];

	if (rest != 0) {
		front_refuse(t, "bytes came before the login");
	} else if (!front_named(s->user, user) ||
		   !front_named(s->database, database)) {
		snprintf(why, sizeof(why),
		    "this port is the database %s as user %s, and no other "
		    "one: name these two, or none",
		    database, user);
		front_refuse(t, why);
	} else if (service_full(t->service)) {
		front_refuse(t, "too many connections to this service are "
				"open: close some");
	} else {
		t->newer = s->newer;
		front_ask(t, &s->values);
	}
}

/* Compare two keys in a time that tells nothing of them. */
static bool
front_same(const uint8_t a[4], const uint8_t b[4])
{
	uint8_t differ = 0;

	for (size_t i = 0; i < 4; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

/* Returns the open connection that this key belongs to, or NULL. */
static struct tunnel *
front_keyed(const struct tunnel *by, const struct startup *s)
{
	struct tunnel *t;

	TAILQ_FOREACH (t, &egressd_env.tunnels, entry)
		if (t->front && t->state == TUNNEL_OPEN && !t->dead &&
		    t->id == s->pid && t->service == by->service &&
		    front_same(t->key, s->key))
			return t;
	return NULL;
}

/* A server answers nothing to a CancelRequest, whatever becomes of it. */
static void
front_cancel(struct tunnel *t, struct startup *s)
{
	const struct tunnel *of = front_keyed(t, s);

	if (of == NULL) {
		service_deny(t, "cancel", egressd_env.names[t->service]);
		return;
	}
	s->values.cancel = of->id;
	t->cancels = true;
	front_ask(t, &s->values);
}

void
front_read(struct tunnel *t)
{
	struct buf *b = &t->up.out;
	enum startup_kind kind;
	struct startup s;
	uint8_t *room;
	ssize_t n;

	if ((room = buf_room(b, STARTUP_MAX)) == NULL)
		fatal("startup");
	n = read(t->in.fd, room, STARTUP_MAX);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		t->dead = true;
		return;
	}
	buf_grow(b, (size_t)n);
	kind = startup_read(buf_span(b), &s);
	switch (kind) {
	case STARTUP_MORE:
		break;
	case STARTUP_SSL:
	case STARTUP_GSS:
		front_decline(t, kind, b->len - s.size);
		break;
	case STARTUP_CANCEL:
		front_cancel(t, &s);
		break;
	case STARTUP_LOGIN:
		front_login(t, &s, b->len - s.size);
		break;
	case STARTUP_BAD:
		front_refuse(t, s.why);
		break;
	}
}

/* Compose a ParameterStatus of each pair. */
static int
front_status(struct buf *b, struct span rest)
{
	struct span name, value;
	size_t at;

	while (rest.len != 0) {
		if (!pg_take_text(&rest, &name) || !pg_take_text(&rest, &value))
			return -1;
		at = pg_begin(b, 'S');
		pg_put_text(b, name);
		pg_put_text(b, value);
		pg_end(b, at);
	}
	return 0;
}

/* Everything that a server says between the startup and the first query. */
static int
front_greet(struct tunnel *t, struct span parameters)
{
	struct buf *b = &t->in.out;
	size_t at = pg_begin(b, 'R');

	pg_put_u32(b, 0);
	pg_end(b, at);
	if (t->newer) {
		at = pg_begin(b, 'v');
		pg_put_u32(b, PG_PROTOCOL);
		pg_put_u32(b, 0);
		pg_end(b, at);
	}
	if (front_status(b, parameters) == -1)
		return -1;
	at = pg_begin(b, 'K');
	pg_put_u32(b, t->id);
	buf_add(b, t->key, sizeof(t->key));
	pg_end(b, at);
	at = pg_begin(b, 'Z');
	buf_addc(b, 'I');
	pg_end(b, at);
	return b->failed ? -1 : 0;
}

int
front_open(struct tunnel *t, struct span parameters, int fd)
{
	arc4random_buf(t->key, sizeof(t->key));
	if (front_greet(t, parameters) == -1) {
		close(fd);
		return -1;
	}
	/* The greeting does not count as received bytes. */
	t->in.taken -= t->in.out.len;
	tunnel_open(t, fd);
	return 0;
}
