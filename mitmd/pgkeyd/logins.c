/* SPDX-License-Identifier: ISC */
/* The logins that are being made: their list, their ends, and what is sent. */
#include "pgkeyd/pgkeyd.h"

#include <sys/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOGIN_WHY 400U

struct login *
login_find(uint32_t dial, enum login_state state)
{
	struct login *l;

	TAILQ_FOREACH (l, &pgkeyd_env.logins, entry)
		if (l->dial == dial && l->state == state && !l->dead)
			return l;
	return NULL;
}

void
logins_end(struct login *l)
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

void
login_tell(uint32_t id, const char *why)
{
	const struct msg_LOGIN_FAIL m = {.id = id, .text = span_str(why)};

	worker_send(
	    &pgkeyd_env.w, ROLE_EGRESS, PROTO_SERVICES, MSG_LOGIN_FAIL, &m, -1);
}

void
login_fail(struct login *l, const char *fmt, ...)
{
	char why[LOGIN_WHY];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	login_tell(l->id, why);
	logins_end(l);
}

void
login_send(struct login *l, struct buf *b)
{
	const struct span out = buf_span(b);
	ssize_t n = -1;

	if (!b->failed)
		n = send(l->fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1 || (size_t)n != out.len)
		login_fail(l, "the database closed the connection");
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
