/* SPDX-License-Identifier: ISC */
/*
 * Decides about hosts on no list: which are asked about, and what a person's
 * answer means. The first event ends a question; any later one is too late.
 * Each list has a limit, because a program of the sandbox makes it grow.
 */
#include "approval/host_holds.h"

#include <stdio.h>

#include "policyd.h"

/* Two names and the texts around them. */
#define HOST_TEXT 4096U

static void hosts_arm(struct policyd_env *);

static void
host_shut(struct policyd_env *env, const struct host_ask *k,
    enum proto_hold how, enum proto_shut why)
{
	const struct msg_HOST_SHUT m = {.id = k->id,
	    .hold = (uint8_t)how,
	    .reason = (uint8_t)why,
	    .host = span_str(k->host)};

	env->send(env, ROLE_AUDIT, MSG_HOST_SHUT, &m);
}

/* Release those that wait for any of these hosts, without a question. */
static void
hosts_shut(
    struct policyd_env *env, const struct known_host *k, enum proto_shut why)
{
	struct msg_HOST_SHUT m = {.reason = (uint8_t)why};

	for (unsigned i = 0; i < k->n; i++) {
		m.host = span_str(k->hosts[i]);
		env->send(env, ROLE_AUDIT, MSG_HOST_SHUT, &m);
	}
}

static void
host_bar(struct hosts *h, const struct known_host *k, enum proto_shut why)
{
	/* Each was asked about first, so that there is room. */
	if (h->nbarred == HOSTS_MAX_ASKED)
		return;
	h->barred[h->nbarred].why = why;
	h->barred[h->nbarred++].known = *k;
}

static struct host_ask *
host_find(struct hosts *h, uint64_t id)
{
	for (unsigned i = 0; i < PROTO_MAX_HOST_ASKS; i++)
		if (h->asks[i].id == id)
			return &h->asks[i];
	return NULL;
}

/* End a question without opening the host. */
static void
host_refuse(struct policyd_env *env, struct host_ask *k, enum proto_hold how,
    enum proto_shut why)
{
	struct hosts *h = &env->hosts;
	struct known_host known = k->known;

	if (why == PROTO_SHUT_DENIED)
		host_bar(h, &known, why);
	host_shut(env, k, how, why);
	explicit_bzero(k, sizeof(*k));
	/* Somebody may wait for the other host of the same registry. */
	if (known.n > 1)
		hosts_shut(env, &known, why);
}

static void
host_open(struct policyd_env *env, struct host_ask *k)
{
	struct hosts *h = &env->hosts;
	struct msg_GRANT g = {.id = k->id, .state = PROTO_GRANT_MADE};
	const struct msg_HOST_OPEN m = {.id = k->id,
	    .kind = (uint8_t)k->known.kind,
	    .host = span_str(k->host)};
	struct host_opened *o;
	struct buf text;

	if (h->nopened == PROTO_MAX_OPENED) {
		host_refuse(env, k, PROTO_HOLD_CANCELLED, PROTO_SHUT_FULL);
		return;
	}
	buf_init(&text, GRANT_TEXT);
	host_grant(&k->known, &text);
	if (text.failed) {
		buf_free(&text);
		host_refuse(env, k, PROTO_HOLD_CANCELLED, PROTO_SHUT_FAILED);
		return;
	}
	o = &h->opened[h->nopened++];
	o->id = k->id;
	o->known = k->known;
	/* The grant takes its short name from the question: it comes first. */
	g.text = buf_span(&text);
	env->send(env, ROLE_AUDIT, MSG_GRANT, &g);
	env->send(env, ROLE_AUDIT, MSG_HOST_OPEN, &m);
	explicit_bzero(k, sizeof(*k));
	buf_free(&text);
}

static void
hosts_due(struct loop_timer *t)
{
	hosts_arm(t->arg);
}

/* End expired questions and set the timer for the next. */
static void
hosts_arm(struct policyd_env *env)
{
	uint64_t now = loop_now(env->loop), next = UINT64_MAX;
	struct host_ask *k;

	for (unsigned i = 0; i < PROTO_MAX_HOST_ASKS; i++) {
		k = &env->hosts.asks[i];
		if (k->id == 0)
			continue;
		if (k->expires <= now)
			host_refuse(
			    env, k, PROTO_HOLD_EXPIRED, PROTO_SHUT_EXPIRED);
		else if (k->expires < next)
			next = k->expires;
	}
	if (next == UINT64_MAX)
		loop_timer_clear(env->loop, &env->hosts.timer);
	else
		loop_timer_set(
		    env->loop, &env->hosts.timer, next - now, hosts_due, env);
}

/* Show the question. Returns 0, or -1 if it cannot be shown. */
static int
host_show(struct policyd_env *env, struct host_ask *k, struct span agent)
{
	struct msg_HOLD m = {.id = k->id,
	    .server = PROTO_NO_SERVER,
	    .server_name = SPAN("host"),
	    .rule = SPAN("open-host"),
	    .ms = env->engine.hold_ms,
	    .session = SPAN("")};
	struct buf effect, reason, text;
	char tool[HOSTS_MAX_NAME + 16];
	int rv = -1;

	buf_init(&effect, 2048);
	buf_init(&reason, 2048);
	buf_init(&text, HOST_TEXT);
	snprintf(tool, sizeof(tool), "open %s:443", k->host);
	host_effect(&k->known, &effect);
	host_reason(agent, &reason);
	host_args(&k->known, &text);
	m.tool = span_str(tool);
	m.args = (uint32_t)text.len;
	if (effect.failed || reason.failed || text.failed ||
	    hold_digest(m.server_name, m.tool, buf_span(&text),
		span_of(NULL, 0), k->digest) == -1)
		goto out;
	host_details(&k->known, buf_span(&reason), &text);
	if (text.failed)
		goto out;
	m.digest = span_of(k->digest, sizeof(k->digest));
	m.effect = buf_span(&effect);
	m.reason = buf_span(&reason);
	m.preview = buf_span(&text);
	env->send(env, ROLE_AUDIT, MSG_HOLD, &m);
	rv = 0;
out:
	buf_free(&effect);
	buf_free(&reason);
	buf_free(&text);
	return rv;
}

/*
 * Check the message: an honest mitmd asks only for public names, in their one
 * spelling, and shortens what the program calls itself. Returns NULL, or the
 * reason.
 */
static const char *
host_check(const struct msg_HOST_ASK *m, char host[HOSTNAME_MAX + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *why;

	if (m->host.len > HOSTS_MAX_NAME ||
	    hostname_read(m->host, host, &why) == -1 ||
	    hostname_public(host, &why) == -1 ||
	    !span_eq(m->host, span_str(host)))
		return "a name that is not asked about";
	for (size_t i = 0; i < m->agent.len; i++)
		if (m->agent.p[i] == '\0' ||
		    strchr(letters, m->agent.p[i]) == NULL)
			return "the program's name";
	return NULL;
}

/* Returns true if the host is asked about or opened already. */
static bool
host_begun(const struct hosts *h, const char *host)
{
	for (unsigned i = 0; i < PROTO_MAX_HOST_ASKS; i++)
		if (h->asks[i].id != 0 &&
		    known_host_has(&h->asks[i].known, host))
			return true;
	for (unsigned i = 0; i < h->nopened; i++)
		if (!h->opened[i].closed &&
		    known_host_has(&h->opened[i].known, host))
			return true;
	return false;
}

/*
 * Returns true if the host may not be asked about, with the reason in *why.
 */
static bool
host_barred(
    const struct hosts *h, const struct host_ask *k, enum proto_shut *why)
{
	for (unsigned i = 0; i < h->nbarred; i++) {
		if (!known_host_has(&h->barred[i].known, k->host))
			continue;
		*why = h->barred[i].why;
		return true;
	}
	*why = PROTO_SHUT_PACKAGES;
	if (h->mode == PROTO_HOSTS_ASK_UNPACKED &&
	    known_host_registry(k->known.kind) != NULL)
		return true;
	*why = PROTO_SHUT_FULL;
	if (h->nopened == PROTO_MAX_OPENED)
		return true;
	*why = PROTO_SHUT_OFTEN;
	return h->asked == HOSTS_MAX_ASKED;
}

int
hosts_take(
    struct policyd_env *env, const struct msg_HOST_ASK *m, const char **why)
{
	struct hosts *h = &env->hosts;
	struct host_ask k = {.id = 0}, *slot;
	enum proto_shut shut;

	*why = "nobody is asked about hosts";
	if (h->mode == PROTO_HOSTS_OFF)
		return -1;
	if ((*why = host_check(m, k.host)) != NULL)
		return -1;
	hosts_arm(env);
	if (host_begun(h, k.host))
		return 0;
	known_host(k.host, &k.known);
	if (host_barred(h, &k, &shut)) {
		host_shut(env, &k, PROTO_HOLD_NONE, shut);
		return 0;
	}
	if ((slot = host_find(h, 0)) == NULL) {
		host_shut(env, &k, PROTO_HOLD_NONE, PROTO_SHUT_BUSY);
		return 0;
	}
	k.id = PROTO_ASK_ID | PROTO_HOST_ID | ++h->asked;
	k.expires = loop_now(env->loop) + env->engine.hold_ms;
	if (host_show(env, &k, m->agent) == -1) {
		k.id = 0;
		host_shut(env, &k, PROTO_HOLD_NONE, PROTO_SHUT_FAILED);
		return 0;
	}
	*slot = k;
	hosts_arm(env);
	return 0;
}

void
hosts_verdict(struct policyd_env *env, const struct msg_VERDICT_GO *m)
{
	struct msg_LATE late = {.id = m->id};
	struct host_ask *k;

	hosts_arm(env);
	k = host_find(&env->hosts, m->id);
	/* The verdict must be about what was shown; it grants nothing else. */
	if (k == NULL || m->session.len != 0 || m->times != 0 ||
	    m->automatic != 0 ||
	    !span_eq(m->digest, span_of(k->digest, sizeof(k->digest))))
		env->send(env, ROLE_AUDIT, MSG_LATE, &late);
	else if (m->approve)
		host_open(env, k);
	else
		host_refuse(env, k, PROTO_HOLD_DENIED, PROTO_SHUT_DENIED);
	hosts_arm(env);
}

void
hosts_revoke(struct policyd_env *env, uint64_t id)
{
	const struct msg_GRANT g = {.id = id,
	    .state = PROTO_GRANT_ENDED,
	    .text = SPAN("the host was closed")};
	struct hosts *h = &env->hosts;

	for (unsigned i = 0; i < h->nopened; i++) {
		if (h->opened[i].id != id || h->opened[i].closed)
			continue;
		h->opened[i].closed = true;
		host_bar(h, &h->opened[i].known, PROTO_SHUT_CLOSED);
		env->send(env, ROLE_AUDIT, MSG_GRANT, &g);
		hosts_shut(env, &h->opened[i].known, PROTO_SHUT_CLOSED);
	}
}
