/* SPDX-License-Identifier: ISC */
/*
 * Names to addresses.  libc's resolver needs files, modules and sockets that
 * no filter of ours allows, so a child does it: forked before dialerd locks
 * itself, with a filter and a view of its own, and nothing to hold.  It is
 * told the names once, answers by index, and trusts what name servers say as
 * little as dialerd trusts it: addresses are screened there, and keyd checks
 * the name in the certificate.
 */
#include "dialerd.h"

#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

#include "confine.h"
#include "log.h"
#include "unveil.h"
#include "dialerd_resolver.h"

static void
resolve_lost(void)
{
	struct dialerd_env *e = &dialerd_env;

	loop_del(&e->w.loop, &e->resolver_io);
	close(e->resolver);
	e->resolver = -1;
	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS; i++) {
		if (!e->targets[i].asking)
			continue;
		e->targets[i].asking = false;
		loop_timer_clear(&e->w.loop, &e->targets[i].timer);
		dial_resolved(i, NULL, 0, "the resolver has ended");
	}
}

static void
resolve_late(struct loop_timer *t)
{
	struct target *target = t->arg;

	target->asking = false;
	dial_resolved((unsigned)(target - dialerd_env.targets), NULL, 0,
	    "name servers do not answer");
}

static void
resolve_send(const struct resolver_ask *ask)
{
	if (send(dialerd_env.resolver, ask, sizeof(*ask),
		MSG_DONTWAIT | MSG_NOSIGNAL) == -1) {
		log_warn("resolver");
		resolve_lost();
	}
}

void
resolve_ask(unsigned target)
{
	struct resolver_ask ask = {.index = target};
	struct dialerd_env *e = &dialerd_env;
	struct target *t = &e->targets[target];
	const char *why;

	if (t->asking)
		return;
	why = screen_name(span_str(t->host), t->private_ok);
	if (why != NULL || e->resolver == -1) {
		dial_resolved(target, NULL, 0,
		    why != NULL ? why : "the resolver has ended");
		return;
	}
	t->asking = true;
	loop_timer_set(
	    &e->w.loop, &t->timer, DIALERD_RESOLVE_MS, resolve_late, t);
	resolve_send(&ask);
}

/* Addresses of one target, or -1: not an answer that makes sense. */
static int
resolve_take(const struct resolver_answer *a)
{
	union addr addrs[DIALERD_MAX_ADDRS] = {{.in6 = {0}}};
	struct target *t;

	if (a->index >= PROTO_MAX_PROVIDERS || a->n > DIALERD_MAX_ADDRS)
		return -1;
	t = &dialerd_env.targets[a->index];
	if (!t->set || t->literal)
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
	/* Too late: who waited was told. */
	if (!t->asking)
		return 0;
	t->asking = false;
	loop_timer_clear(&dialerd_env.w.loop, &t->timer);
	dial_resolved(a->index, addrs, a->n, "the name does not resolve");
	return 0;
}

static void
resolve_ready(struct loop_io *io, uint32_t events)
{
	struct resolver_answer a;
	ssize_t n;

	(void)io;
	(void)events;
	n = recv(dialerd_env.resolver, &a, sizeof(a), MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(a) || resolve_take(&a) == -1) {
		log_warnx("the resolver has ended");
		resolve_lost();
	}
}

void
resolve_fork(void)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1 ||
	    (pid = fork()) == -1)
		fatal("resolver");
	if (pid == 0) {
		close(pair[0]);
		resolver_run(pair[1]);
	}
	close(pair[1]);
	dialerd_env.resolver = pair[0];
	dialerd_env.resolver_io.fd = -1;
}

void
resolve_start(void)
{
	struct dialerd_env *e = &dialerd_env;
	struct resolver_ask ask;
	bool names = false;

	if (loop_add(&e->w.loop, &e->resolver_io, e->resolver, EPOLLIN,
		resolve_ready, NULL) == -1)
		fatal("resolver");
	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS && e->resolver != -1;
	     i++) {
		if (!e->targets[i].set || e->targets[i].literal)
			continue;
		ask = (struct resolver_ask){.index = i};
		memcpy(ask.name, e->targets[i].host, sizeof(ask.name));
		resolve_send(&ask);
		names = true;
	}
	/* Without names there is nothing for it to do. */
	if (!names && e->resolver != -1)
		resolve_lost();
}
