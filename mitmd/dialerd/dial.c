/* SPDX-License-Identifier: ISC */
/*
 * Connects in the manner of happy eyeballs (RFC 8305), simplified: address
 * families alternate, a new address is tried every 250 ms or when one fails,
 * and the first that connects wins. Addresses come from the resolver and are
 * all screened here before any is used: one forbidden address makes the
 * name unusable.
 */
#include "dialerd/dialerd.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define DIAL_TEXT (INET6_ADDRSTRLEN + 8)

static void dial_late(struct loop_timer *);
static void dial_ready(struct loop_io *, uint32_t);

static void
attempt_end(struct attempt *a)
{
	if (a->fd == -1)
		return;
	loop_del(&dialerd_env.w.loop, &a->io);
	close(a->fd);
	a->fd = -1;
	a->d->running--;
}

static void
dial_end(struct dial *d)
{
	struct dialerd_env *e = &dialerd_env;

	for (unsigned i = 0; i < DIALERD_MAX_ADDRS; i++)
		attempt_end(&d->attempts[i]);
	loop_timer_clear(&e->w.loop, &d->timer);
	if (d->state != DIAL_QUEUED)
		e->active--;
	if (--e->targets[d->key].queued == 0 && d->key >= DIALERD_GUEST)
		resolve_forget(d->key);
	d->dead = true;
	TAILQ_REMOVE(&e->dials, d, entry);
	TAILQ_INSERT_TAIL(&e->dead_dials, d, entry);
}

void
dial_refuse(struct dial *d, enum proto_proxy proxy, const char *why)
{
	const struct target *t = &dialerd_env.targets[d->key];
	struct msg_DIAL_FAIL m = {
	    .id = d->id, .proxy = (uint8_t)proxy, .text = span_str(why)};

	worker_send(&dialerd_env.w, t->role, t->index, MSG_DIAL_FAIL, &m, -1);
	dial_end(d);
}

static void
dial_fail(struct dial *d, const char *why)
{
	const struct target *proxy = &dialerd_env.targets[DIALERD_PROXY];
	char text[257];

	if (d->via != DIALERD_PROXY) {
		dial_refuse(d, PROTO_PROXY_NONE, why);
		return;
	}
	snprintf(text, sizeof(text), "no connection to the proxy %.160s:%u: %s",
	    proxy->host, proxy->port, why);
	dial_refuse(d, PROTO_PROXY_LOST, text);
}

/* Returns the address in the form that keyd receives. */
static struct span
dial_text(const struct dial *d, const union addr *addr, char text[DIAL_TEXT])
{
	char host[INET6_ADDRSTRLEN];
	const void *raw = &addr->in.sin_addr;

	if (addr->sa.sa_family == AF_INET6)
		raw = &addr->in6.sin6_addr;
	if (inet_ntop(addr->sa.sa_family, raw, host, sizeof(host)) == NULL)
		host[0] = '\0';
	snprintf(text, DIAL_TEXT,
	    addr->sa.sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
	    dialerd_env.targets[d->via].port);
	return span_str(text);
}

void
dial_done(struct dial *d, int fd)
{
	const struct target *t = &dialerd_env.targets[d->key];
	struct msg_DIALED m = {.id = d->id};
	char text[DIAL_TEXT];

	m.address = dial_text(d, &d->addrs[d->won], text);
	/* Behind a corporate proxy it is not the address that is at fault. */
	m.more = d->naddrs > 1 && d->via != DIALERD_PROXY;
	worker_send(&dialerd_env.w, t->role, t->index, MSG_DIALED, &m, fd);
	dial_end(d);
}

static void
dial_won(struct dial *d, struct attempt *a)
{
	int fd = a->fd;

	d->won = a->addr;
	/* Remove the socket from this loop before another process gets it. */
	loop_del(&dialerd_env.w.loop, &a->io);
	a->fd = -1;
	d->running--;
	if (d->via != DIALERD_PROXY) {
		dial_done(d, fd);
		return;
	}
	for (unsigned i = 0; i < DIALERD_MAX_ADDRS; i++)
		attempt_end(&d->attempts[i]);
	d->state = DIAL_TUNNEL;
	loop_timer_set(
	    &dialerd_env.w.loop, &d->timer, DIALERD_TUNNEL_MS, dial_late, d);
	proxy_hand(d, fd);
}

/*
 * Start to connect to the nth address. Returns 0, or -1 with the reason in
 * d->why.
 */
static int
dial_try(struct dial *d, unsigned n)
{
	struct attempt *a = &d->attempts[n];
	const union addr *addr = &d->addrs[n];
	socklen_t len;
	int one = 1;

	len = addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6)
					     : sizeof(addr->in);
	a->fd = socket(
	    addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd == -1) {
		d->why = strerror(errno);
		return -1;
	}
	a->addr = n;
	a->d = d;
	d->running++;
	(void)setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(a->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (connect(a->fd, &addr->sa, len) == -1 && errno != EINPROGRESS) {
		d->why = strerror(errno);
		attempt_end(a);
		return -1;
	}
	if (loop_add(&dialerd_env.w.loop, &a->io, a->fd, EPOLLOUT, dial_ready,
		a) == -1) {
		d->why = strerror(errno);
		attempt_end(a);
		return -1;
	}
	return 0;
}

/* Try the next address. The dial fails if none is left. */
static void
dial_step(struct dial *d)
{
	uint64_t now = loop_now(&dialerd_env.w.loop), wait;

	while (d->next < d->naddrs && dial_try(d, d->next++) == -1)
		;
	if (d->running == 0) {
		dial_fail(d, d->why);
		return;
	}
	wait = d->deadline > now ? d->deadline - now : 0;
	if (d->next < d->naddrs && wait > DIALERD_STAGGER_MS)
		wait = DIALERD_STAGGER_MS;
	loop_timer_set(&dialerd_env.w.loop, &d->timer, wait, dial_late, d);
}

static void
dial_late(struct loop_timer *t)
{
	struct dial *d = t->arg;

	if (d->state == DIAL_TUNNEL)
		dial_refuse(d, PROTO_PROXY_LOST, "tunneld does not answer");
	else if (loop_now(&dialerd_env.w.loop) >= d->deadline)
		dial_fail(d, "no answer within 10 seconds");
	else
		dial_step(d);
	dial_next();
}

static void
dial_ready(struct loop_io *io, uint32_t events)
{
	struct attempt *a = io->arg;
	struct dial *d = a->d;
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &len) == -1)
		error = errno;
	if (error == 0) {
		dial_won(d, a);
	} else {
		d->why = strerror(error);
		attempt_end(a);
		dial_step(d);
	}
	dial_next();
}

static void
dial_begin(struct dial *d)
{
	struct dialerd_env *e = &dialerd_env;

	d->state = DIAL_CONNECTING;
	d->deadline = loop_now(&e->w.loop) + DIALERD_CONNECT_MS;
	e->active++;
	dial_step(d);
}

void
dial_next(void)
{
	struct dialerd_env *e = &dialerd_env;
	struct dial *d, *next;

	for (d = TAILQ_FIRST(&e->dials); d != NULL; d = next) {
		next = TAILQ_NEXT(d, entry);
		if (e->active >= e->max_active)
			return;
		if (d->state == DIAL_QUEUED && d->resolved)
			dial_begin(d);
	}
}

/* Return true if the address is one of those that failed. */
static bool
dial_avoids(const struct dial *d, const union addr *addr)
{
	char text[DIAL_TEXT], line[DIAL_TEXT + 2];

	if (d->avoid == NULL)
		return false;
	(void)dial_text(d, addr, text);
	snprintf(line, sizeof(line), "\n%s\n", text);
	return strstr(d->avoid, line) != NULL;
}

/* Alternate the families, beginning with the resolver's first choice. */
static void
dial_order(struct dial *d, const union addr *addrs, unsigned n)
{
	sa_family_t want = addrs[0].sa.sa_family;
	bool taken[DIALERD_MAX_ADDRS] = {false};
	unsigned pick;

	for (unsigned i = 0; i < n; i++) {
		pick = n;
		for (unsigned j = 0; j < n; j++) {
			if (taken[j])
				continue;
			if (pick == n || (addrs[j].sa.sa_family == want &&
					     addrs[pick].sa.sa_family != want))
				pick = j;
		}
		taken[pick] = true;
		d->addrs[i] = addrs[pick];
		want = addrs[pick].sa.sa_family == AF_INET ? AF_INET6 : AF_INET;
	}
	for (unsigned i = 0; i < n; i++)
		if (!dial_avoids(d, &d->addrs[i]))
			d->addrs[d->naddrs++] = d->addrs[i];
	d->resolved = true;
}

/*
 * Returns NULL, or the reason why these addresses are not used, in static
 * memory.
 */
static const char *
dial_screen(const struct target *t, const union addr *addrs, unsigned n)
{
	static char text[128];
	const char *what;

	for (unsigned i = 0; i < n; i++) {
		what = screen_address(&addrs[i].sa, t->private_ok);
		if (what == NULL)
			continue;
		snprintf(text, sizeof(text),
		    "the name leads to %s, which is not allowed", what);
		return text;
	}
	return NULL;
}

void
dial_resolved(
    unsigned target, const union addr *addrs, unsigned n, const char *why)
{
	struct dialerd_env *e = &dialerd_env;
	struct dial *d, *next;

	if (n != 0)
		why = dial_screen(&e->targets[target], addrs, n);
	for (d = TAILQ_FIRST(&e->dials); d != NULL; d = next) {
		next = TAILQ_NEXT(d, entry);
		if (d->via != target || d->resolved)
			continue;
		if (why != NULL)
			dial_fail(d, why);
		else
			dial_order(d, addrs, n);
	}
	dial_next();
}

static void
dial_new(unsigned target, uint32_t id, struct span avoid)
{
	struct dialerd_env *e = &dialerd_env;
	struct target *t = &e->targets[target];
	const char *why = NULL;
	struct dial *d;

	if ((d = calloc(1, sizeof(*d))) == NULL)
		fatal("calloc");
	d->key = d->via = target;
	d->id = id;
	d->why = avoid.len != 0 ? "no other address" : "no address";
	if (avoid.len != 0 && asprintf(&d->avoid, "\n%.*s", (int)avoid.len,
				  (const char *)avoid.p) == -1)
		fatal("asprintf");
	for (unsigned i = 0; i < DIALERD_MAX_ADDRS; i++) {
		d->attempts[i].fd = -1;
		d->attempts[i].io.fd = -1;
	}
	t->queued++;
	TAILQ_INSERT_TAIL(&e->dials, d, entry);
	if (proxy_serves(t)) {
		if ((why = proxy_screen(t)) != NULL) {
			dial_refuse(d, PROTO_PROXY_NONE, why);
			return;
		}
		d->via = DIALERD_PROXY;
		t = &e->targets[d->via];
	}
	if (t->literal)
		dial_resolved(d->via, &t->addr, 1, NULL);
	else
		resolve_ask(d->via);
}

unsigned
dial_target(unsigned key, unsigned which)
{
	return key * (PROTO_TARGET_LAST + 1) + which;
}

bool
dial_has_target(unsigned key, unsigned which, enum role role)
{
	const struct target *t;

	if (key >= PROTO_MAX_PROVIDERS)
		return false;
	t = &dialerd_env.targets[dial_target(key, which)];
	return t->set && t->role == role;
}

int
dial_start(unsigned target, uint32_t id, struct span avoid)
{
	struct target *t = &dialerd_env.targets[target];

	if (id <= t->last || t->queued >= DIALERD_MAX_QUEUED)
		return -1;
	t->last = id;
	dial_new(target, id, avoid);
	return 0;
}

/* Returns a free target for a server's connection, or NULL. */
static struct target *
target_guest(void)
{
	for (unsigned i = DIALERD_GUEST; i < DIALERD_TARGETS; i++)
		if (!dialerd_env.targets[i].set)
			return &dialerd_env.targets[i];
	return NULL;
}

/* Dial the host for a worker that keeps no target. */
static void
guest_dial(enum role role, unsigned index, const char *host, uint16_t port,
    uint32_t id)
{
	struct dialerd_env *e = &dialerd_env;
	const unsigned door = role == ROLE_FOLLOW ? PROTO_FOLLOWS : index;
	struct msg_DIAL_FAIL busy = {.id = id,
	    .text = SPAN("too many connections are being made at once")};
	struct target *t;

	if ((t = target_guest()) == NULL) {
		worker_send(&e->w, role, index, MSG_DIAL_FAIL, &busy, -1);
		return;
	}
	*t = (struct target){.set = true,
	    .role = role,
	    .index = index,
	    .port = port,
	    .private_ok = e->doors[door].private_ok,
	    .direct = door == PROTO_SERVICES};
	(void)strlcpy(t->host, host, sizeof(t->host));
	t->literal = target_literal(t);
	dial_new((unsigned)(t - e->targets), id, span_of(NULL, 0));
}

/* The second check: a host that egressd allowed must also be on this list. */
int
dialerd_connect(struct chan *c, const struct msg_CONNECT_GO *m)
{
	struct dialerd_env *e = &dialerd_env;
	char host[EGRESS_MAX_HOST + 1];

	if (m->id <= e->last[m->server])
		return chan_violation(c, "CONNECT_GO %u repeated", m->id);
	e->last[m->server] = m->id;
	if (egress_host(m->host, host) == -1)
		return chan_violation(c, "CONNECT_GO to no host");
	if (m->server == PROTO_SERVICES && own_dial(host, m->port, m->id))
		return 0;
	if (!egress_allows(&e->doors[m->server], host, m->port))
		return chan_violation(c, "CONNECT_GO to a host off the list");
	guest_dial(ROLE_EGRESS, m->server, host, m->port, m->id);
	return 0;
}

/* keyd has checked the host against the table of its own forge. */
int
dialerd_follow(struct chan *c, const struct msg_FOLLOW_DIAL *m)
{
	struct dialerd_env *e = &dialerd_env;
	char host[EGRESS_MAX_HOST + 1];

	if (m->id <= e->last[PROTO_FOLLOWS])
		return chan_violation(c, "FOLLOW_DIAL %u repeated", m->id);
	e->last[PROTO_FOLLOWS] = m->id;
	if (egress_host(m->host, host) == -1 ||
	    !egress_allows(&e->doors[PROTO_FOLLOWS], host, 443))
		return chan_violation(c, "FOLLOW_DIAL to a host off the list");
	guest_dial(ROLE_FOLLOW, 0, host, 443, m->id);
	return 0;
}

void
dial_drop(enum role role, unsigned index)
{
	const struct target *t;
	struct dial *d, *next;

	for (d = TAILQ_FIRST(&dialerd_env.dials); d != NULL; d = next) {
		next = TAILQ_NEXT(d, entry);
		t = &dialerd_env.targets[d->key];
		if (t->role == role && t->index == index)
			dial_end(d);
	}
}

void
dial_reap(void)
{
	struct dial *d;

	while ((d = TAILQ_FIRST(&dialerd_env.dead_dials)) != NULL) {
		TAILQ_REMOVE(&dialerd_env.dead_dials, d, entry);
		free(d->avoid);
		free(d);
	}
}
