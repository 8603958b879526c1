/* SPDX-License-Identifier: ISC */
/*
 * The messages of pgkeyd: who logs in where, and the password, before START;
 * then one LOGIN_GO after another. To icsupervisor pgkeyd is a keyd: messages
 * about requests to a model, which it never makes, are read and have no effect.
 */
#include "pgkeyd/pgkeyd.h"

#include "common/log.h"

static int
serve_door(struct chan *c, const struct msg_DOOR *m)
{
	struct pgkeyd_env *e = &pgkeyd_env;

	if (e->user[0] != '\0')
		return chan_violation(c, "DOOR twice");
	if (m->server != PROTO_SERVICES || m->user.len == 0 ||
	    m->database.len == 0 ||
	    span_copy(m->user, e->user, sizeof(e->user)) == -1 ||
	    span_copy(m->database, e->database, sizeof(e->database)) == -1)
		return chan_violation(c, "DOOR without a user and a database");
	e->superuser = (m->login & PROTO_LOGIN_SUPERUSER) != 0;
	e->tls = (m->login & PROTO_LOGIN_TLS) != 0;
	e->ca = (m->login & PROTO_LOGIN_CA) != 0;
	return 0;
}

/* Returns how long ago that was, in ms; UINT64_MAX: never. */
static uint64_t
serve_ago(uint64_t at)
{
	return at == 0 ? UINT64_MAX : loop_now(&pgkeyd_env.w.loop) - at;
}

static int
serve_ask(struct chan *c, const struct msg_KEY_ASK *ask)
{
	const struct pgkeyd_env *e = &pgkeyd_env;
	const struct msg_KEY_TELL m = {.loaded = serve_ago(e->loaded_at),
	    .used = serve_ago(e->used_at),
	    .requests = e->requests};

	(void)c;
	(void)ask;
	worker_send(&pgkeyd_env.w, ROLE_SUP, 0, MSG_KEY_TELL, &m, -1);
	return 0;
}

#define IGNORED(name)                                                          \
	static int ignore_##name(struct chan *c, const struct msg_##name *m)   \
	{                                                                      \
		(void)c;                                                       \
		(void)m;                                                       \
		return 0;                                                      \
	}

IGNORED(PROVIDER)
IGNORED(UPSTREAM)
IGNORED(BUDGET)
IGNORED(SHARE)
IGNORED(SETTLED)
IGNORED(UNLOCK)

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(DOOR,		serve_door),
	HANDLER(SECRET,		pgkeyd_secret),
	HANDLER(KEY_ASK,	serve_ask),
	HANDLER(LOGIN_GO,	login_begin),
	HANDLER(DIALED,		login_dialed),
	HANDLER(DIAL_FAIL,	login_dial_fail),
	HANDLER(PROVIDER,	ignore_PROVIDER),
	HANDLER(UPSTREAM,	ignore_UPSTREAM),
	HANDLER(ROOTS,		tls_take_roots),
	HANDLER(BUDGET,		ignore_BUDGET),
	HANDLER(SHARE,		ignore_SHARE),
	HANDLER(SETTLED,	ignore_SETTLED),
	HANDLER(UNLOCK,		ignore_UNLOCK),
};
/* clang-format on */

static void
serve_after(void *arg)
{
	(void)arg;
	login_reap();
}

void
pgkeyd_serve(void)
{
	struct pgkeyd_env *e = &pgkeyd_env;

	TAILQ_INIT(&e->logins);
	TAILQ_INIT(&e->dead);
	e->secured = login_secured;
	e->insecure = login_insecure;
	e->w.start = tls_start;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
