/* SPDX-License-Identifier: ISC */
/*
 * Resolves names. libc's resolver needs files, modules and sockets that our
 * filter forbids, so resolvers do it: forked before dialerd confines itself,
 * with a filter and a view of their own and no secrets. They are told the names
 * once and answer by index. Answers of name servers are not trusted: addresses
 * are screened in dial.c, and keyd checks the name in the certificate.
 */
#include "dialerd/dialerd.h"

#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/ipc/sibling.h"
#include "common/log.h"
#include "dialerd/resolver.h"

static struct resolver *
resolver_of(unsigned target)
{
	return &dialerd_env.resolvers[target >= DIALERD_GUEST ? 1 : 0];
}

/* Close a resolver that has no names to resolve; it then exits. */
static void
resolve_close(struct resolver *r)
{
	loop_del(&dialerd_env.w.loop, &r->io);
	close(r->fd);
	r->fd = -1;
}

/*
 * A resolver's death ends dialerd, and with it the session: it parses the
 * answers of name servers, so its death may be an attack, and behind the filter
 * no new one can be forked.
 */
static void __attribute__((noreturn)) resolve_lost(void)
{
	log_warnx("the resolver, which reads name servers' answers, has ended");
	worker_exit(&dialerd_env.w, 1);
}

static void
resolve_late(struct loop_timer *t)
{
	struct target *target = t->arg;

	target->asking = false;
	dialerd_env.resolved((unsigned)(target - dialerd_env.targets), NULL, 0,
	    "name servers do not answer");
}

static void
resolve_send(struct resolver *r, const struct resolver_ask *ask)
{
	if (r->fd != -1 && send(r->fd, ask, sizeof(*ask), MSG_NOSIGNAL) == -1)
		resolve_lost();
}

/* Returns how long the worker of a target has to wait for its turn. */
static unsigned
resolve_rank(const struct resolver *r, const struct target *t)
{
	return (t->index + PROTO_MAX_PEERS - r->turn - 1) % PROTO_MAX_PEERS;
}

/*
 * Returns the target to resolve next, or NULL. The workers take turns; a
 * worker's own questions go by age.
 */
static struct target *
resolve_choose(struct resolver *r)
{
	struct target *best = NULL, *t = dialerd_env.targets;
	unsigned rank;

	for (unsigned i = 0; i < DIALERD_TARGETS; i++, t++) {
		if (!t->asking || t->sent || resolver_of(i) != r)
			continue;
		rank = best == NULL ? UINT_MAX : resolve_rank(r, best);
		if (resolve_rank(r, t) < rank ||
		    (resolve_rank(r, t) == rank && t->serial < best->serial))
			best = t;
	}
	return best;
}

/*
 * Ask for one name at a time: names that nobody answers for must not stand in
 * line before another worker's, nor those that are no longer needed.
 */
static void
resolve_next(struct resolver *r)
{
	struct resolver_ask ask = {.index = 0};
	struct target *t;

	if (r->busy || r->fd == -1 || (t = resolve_choose(r)) == NULL)
		return;
	ask.index = (uint32_t)(t - dialerd_env.targets);
	ask.serial = t->serial;
	if (ask.index >= DIALERD_GUEST)
		memcpy(ask.name, t->host, sizeof(ask.name));
	t->sent = r->busy = true;
	r->serial = t->serial;
	r->turn = t->index;
	resolve_send(r, &ask);
}

void
resolve_ask(unsigned target)
{
	struct dialerd_env *e = &dialerd_env;
	struct resolver *r = resolver_of(target);
	struct target *t = &e->targets[target];
	static char text[128]; /* valid until the next call */
	const char *why;

	if (t->asking)
		return;
	why = screen_name(span_str(t->host), t->private_ok);
	if (why != NULL) {
		snprintf(text, sizeof(text),
		    "the name is one of %s, which is not allowed", why);
		why = text;
	} else if (r->fd == -1) {
		why = "the resolver has ended";
	}
	if (why != NULL) {
		dialerd_env.resolved(target, NULL, 0, why);
		return;
	}
	t->asking = true;
	t->sent = false;
	t->serial = ++e->serial;
	loop_timer_set(
	    &e->w.loop, &t->timer, DIALERD_RESOLVE_MS, resolve_late, t);
	resolve_next(r);
}

void
resolve_forget(unsigned target)
{
	struct target *t = &dialerd_env.targets[target];

	loop_timer_clear(&dialerd_env.w.loop, &t->timer);
	t->asking = t->set = false;
}

/* Pass on the addresses of a target. Returns -1 if the answer is malformed. */
static int
resolve_take(struct resolver *r, const struct resolver_answer *a)
{
	union addr addrs[DIALERD_MAX_ADDRS] = {{.in6 = {0}}};
	struct target *t;

	if (a->index >= DIALERD_TARGETS || a->n > DIALERD_MAX_ADDRS ||
	    resolver_of(a->index) != r || !r->busy || a->serial != r->serial)
		return -1;
	r->busy = false;
	t = &dialerd_env.targets[a->index];
	if (a->index < DIALERD_GUEST && (!t->set || t->literal))
		return -1;
	for (unsigned i = 0; i < a->n; i++) {
		if (a->family[i] == AF_INET) {
			addrs[i].in.sin_family = AF_INET;
			addrs[i].in.sin_port = htons(t->port);
			memcpy(&addrs[i].in.sin_addr, a->addr[i], 4);
		} else if (a->family[i] == AF_INET6) {
			addrs[i].in6.sin6_family = AF_INET6;
			addrs[i].in6.sin6_port = htons(t->port);
			memcpy(&addrs[i].in6.sin6_addr, a->addr[i], 16);
		} else {
			return -1;
		}
	}
	/*
	 * Too late: the dial has failed, and the target may have another one
	 * now.
	 */
	if (!t->asking || t->serial != a->serial)
		return 0;
	t->asking = false;
	loop_timer_clear(&dialerd_env.w.loop, &t->timer);
	dialerd_env.resolved(
	    a->index, addrs, a->n, "the name does not resolve");
	return 0;
}

static void
resolve_ready(struct loop_io *io, uint32_t events)
{
	struct resolver *r = io->arg;
	struct resolver_answer a;
	ssize_t n;

	n = recv(r->fd, &a, sizeof(a), MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(a) || resolve_take(r, &a) == -1)
		resolve_lost();
	resolve_next(r);
}

static void
resolve_fork_one(struct resolver *r)
{
	int fd;
	const pid_t pid = sibling_fork(&fd);

	if (pid == -1)
		fatal("resolver");
	if (pid == 0)
		resolver_run(fd);
	r->fd = fd;
	r->io.fd = -1;
}

void
resolve_fork(void)
{
	resolve_fork_one(&dialerd_env.resolvers[0]);
	/* A server's slow names must not delay a provider's. */
	resolve_fork_one(&dialerd_env.resolvers[1]);
}

/* Returns true if the target has a name that is resolved here. */
static bool
resolve_wants(unsigned target)
{
	const struct target *t = &dialerd_env.targets[target];

	/* The proxy resolves the hosts that it serves. */
	return t->set && !t->literal &&
	       (target == DIALERD_PROXY || !proxy_serves(t));
}

void
resolve_declare(unsigned target)
{
	struct resolver_ask ask = {.index = target};

	if (!resolve_wants(target))
		return;
	memcpy(ask.name, dialerd_env.targets[target].host, sizeof(ask.name));
	resolve_send(resolver_of(target), &ask);
}

/* Declare all names. Returns true if there are any, or may be later. */
static bool
resolve_declare_keys(void)
{
	bool any = dialerd_env.open;

	for (unsigned i = 0; i < DIALERD_GUEST; i++) {
		resolve_declare(i);
		any = any || resolve_wants(i);
	}
	return any;
}

static bool
resolve_declare_doors(struct resolver *r)
{
	struct resolver_ask ask;
	bool any = false;

	for (unsigned i = 0; i < nitems(dialerd_env.doors); i++) {
		if (!dialerd_env.door_set[i])
			continue;
		for (unsigned k = 0; k < dialerd_env.doors[i].n; k++) {
			const struct egress_row *row =
			    &dialerd_env.doors[i].rows[k];

			if (row->denied)
				continue;
			ask = (struct resolver_ask){.index = RESOLVER_PATTERN};
			memcpy(ask.name, row->host, sizeof(ask.name));
			resolve_send(r, &ask);
			any = true;
		}
	}
	return any;
}

void
resolve_start(void)
{
	struct resolver *r = dialerd_env.resolvers;
	bool any[2];

	for (unsigned i = 0; i < 2; i++)
		if (loop_add(&dialerd_env.w.loop, &r[i].io, r[i].fd, EPOLLIN,
			resolve_ready, &r[i]) == -1)
			fatal("resolver");
	any[0] = resolve_declare_keys();
	any[1] = resolve_declare_doors(&r[1]);
	/* A resolver without names has nothing to do. */
	for (unsigned i = 0; i < 2; i++)
		if (!any[i])
			resolve_close(&r[i]);
}
