/* SPDX-License-Identifier: ISC */
/*
 * keyd's messages: configuration, the table of handlers, and the loss of a
 * peer. Peers are other IronCurtain processes, possibly compromised by those
 * they serve; each can send only what the protocol table permits.
 */
#include "keyd/keyd.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

static int
on_provider(struct chan *c, const struct msg_PROVIDER *m)
{
	struct keyd_env *e = &keyd_env;
	char err[512];

	if (e->provider != NULL)
		return chan_violation(c, "PROVIDER twice");
	if ((e->provider = provider_parse(m->json, err, sizeof(err))) == NULL)
		return chan_violation(c, "provider file: %s", err);
	e->index = m->index;
	return 0;
}

/* A base path: empty, or /a/b without a trailing slash. */
static bool
serve_prefix_ok(struct span s)
{
	if (s.len == 0)
		return true;
	if (s.p[0] != '/' || s.p[s.len - 1] == '/')
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < 0x21 || s.p[i] > 0x7e || s.p[i] == '?' ||
		    s.p[i] == '#')
			return false;
	}
	return true;
}

static int
on_upstream(struct chan *c, const struct msg_UPSTREAM *m)
{
	struct keyd_host *h = &keyd_env.hosts[m->which];

	if (m->which != keyd_env.nhosts)
		return chan_violation(c, "UPSTREAM twice, or out of turn");
	if (m->host.len == 0 || m->port == 0 || !serve_prefix_ok(m->prefix) ||
	    span_copy(m->host, h->name, sizeof(h->name)) == -1 ||
	    span_copy(m->prefix, h->prefix, sizeof(h->prefix)) == -1)
		return chan_violation(c, "UPSTREAM is impossible");
	h->port = m->port;
	h->tls = m->tls != 0;
	h->reuse = m->reuse != 0;
	keyd_env.nhosts++;
	return 0;
}

static int
on_roots(struct chan *c, const struct msg_ROOTS *m)
{
	if (tls_roots(c, m) == -1)
		return -1;
	if (keyd_env.w.started)
		up_balance();
	token_rooted();
	return 0;
}

/* A connection for a request or for the token endpoint. */
static int
on_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	uint32_t id = m->id;

	if (id == 0 || id > keyd_env.dial) {
		close(fd);
		return chan_violation(c, "DIALED %u was not asked for", id);
	}
	if (!token_dialed(id, fd))
		up_dialed(m, fd);
	return 0;
}

static int
on_dial_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	char detail[257];

	if (m->id == 0 || m->id > keyd_env.dial)
		return chan_violation(
		    c, "DIAL_FAIL %u was not asked for", m->id);
	(void)span_copy(m->text, detail, sizeof(detail));
	if (!token_dial_failed(m->id, detail))
		up_dial_failed(m->id, (enum proto_proxy)m->proxy, detail);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(PROVIDER,	on_provider),
	HANDLER(UPSTREAM,	on_upstream),
	HANDLER(SENTINEL,	keyd_sentinel),
	HANDLER(SECRET,		keyd_secret),
	HANDLER(ROOTS,		on_roots),
	HANDLER(UNLOCK,		keyd_unlock),
	HANDLER(RELOCK,	keyd_lock_again),
	HANDLER(BUDGET,		keyd_budget),
	HANDLER(SHARE,		admit_share),
	HANDLER(SETTLED,	admit_settled),
	HANDLER(TOKEN,		keyd_token),
	HANDLER(SECRET_OUT,	renew_out),
	HANDLER(SECRET_NONE,	renew_none),
	HANDLER(KEY_ASK,	keyd_ask),
	HANDLER(SERVER_IN,	post_in),
	HANDLER(STREAM_OPEN,	keyd_stream_open),
	HANDLER(ROOM,		keyd_room),
	HANDLER(REQUEST_GO,	keyd_request),
	HANDLER(FORGE_LOOK_GO,	keyd_forge_look),
	HANDLER(VERDICT_GO,	keyd_verdict),
	HANDLER(DIALED,		on_dialed),
	HANDLER(DIAL_FAIL,	on_dial_fail),
};
/* clang-format on */

static void
serve_start(void)
{
	const struct provider *p = keyd_env.provider;

	if (p == NULL || keyd_env.nhosts != p->nhosts)
		fatalx("START without PROVIDER and UPSTREAM of each host");
	keyd_tell();
}

/*
 * icsupervisor names the process that is gone and ends the session, or ends it
 * anyway; do nothing more until then.
 */
static void
serve_lost(enum role role, unsigned index)
{
	streams_abort("a process of the session is gone");
}

/*
 * The provider's host was removed from the list, or the session ends: report
 * the running transactions, and exit when a remote server has been told.
 */
static void
serve_stop(void)
{
	streams_abort("the host was taken off the list");
	post_stop();
}

static void
serve_after(void *arg)
{
	struct keyd_env *e = arg;
	unsigned freed = streams_reap();

	for (unsigned left = e->nstreams + e->nups; freed > 0; freed--)
		trim_freed(&e->trim, left + freed - 1);
	post_turn();
}

void
keyd_serve(void)
{
	struct keyd_env *e = &keyd_env;

	streams_init();
	e->budget.max_turns = e->budget.until = UINT64_MAX;
	admit_init();
	e->login_changed = txn_login_changed;
	e->keyset_outdated = txn_outdated;
	e->w.start = serve_start;
	e->w.lost = serve_lost;
	e->w.stop = serve_stop;
	e->w.loop.after = serve_after;
	e->w.loop.after_arg = e;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
