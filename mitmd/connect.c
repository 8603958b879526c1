/* SPDX-License-Identifier: ISC */
/*
 * The start of a connection: one CONNECT to exactly host:443 of a provider, and
 * no further byte before its answer. Where a person may be asked, a CONNECT to
 * another host waits for the answer: no byte of TLS is read, and no name is
 * looked up, before the host is open.
 */
#include "mitmd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/http/hostname.h"
#include "common/log.h"
#include "loopback.h"
#include "tls.h"

#define CONNECT_PORT ":443"
/* hosts listed in the refusal of another */
#define CONNECT_HOSTS 32U

/* Write an answer small enough for any socket buffer; a failure is ignored. */
static void
connect_write(int fd, struct span s)
{
	ssize_t n;

	do {
		n = write(fd, s.p, s.len);
	} while (n == -1 && errno == EINTR);
}

/* Returns the provider with this index, or NULL if none is listed. */
static const struct provider *
connect_listed(unsigned i)
{
	const struct mitmd_provider *pv = &mitmd_env.providers[i];

	return pv->dropped ? NULL : pv->p;
}

/* Write "Allowed: a:443, b:443.", or nothing if no host is on the list. */
static const char *
connect_hosts(char *dst, size_t cap)
{
	struct buf b;
	const struct provider *p;
	struct span s;
	unsigned n = 0;

	buf_init(&b, cap - 1);
	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS; i++) {
		p = connect_listed(i);
		for (unsigned k = 0; p != NULL && k < p->nhosts; k++) {
			if (n++ >= CONNECT_HOSTS)
				continue;
			buf_adds(&b, n == 1 ? "Allowed: " : ", ");
			buf_addspan(&b, p->hosts[k]);
			buf_adds(&b, CONNECT_PORT);
		}
	}
	if (n != 0)
		buf_adds(&b, n > CONNECT_HOSTS ? " and others." : ".");
	s = buf_span(&b);
	if (b.failed || span_copy(s, dst, cap) == -1)
		dst[0] = '\0';
	buf_free(&b);
	return dst;
}

/*
 * Name the host that is refused, and the key of config.json that would allow
 * it.  Returns NULL if the target is not NAME:443.
 */
static const char *
connect_named(enum refusal r, struct span target, char *dst, size_t cap)
{
	struct span port = SPAN(CONNECT_PORT);
	char name[HOSTNAME_MAX + 1], hosts[CONNECT_HOSTS * 264];
	const char *why;

	if (target.len <= port.len ||
	    !span_eq(span_of(target.p + target.len - port.len, port.len), port))
		return NULL;
	target.len -= port.len;
	if (hostname_read(target, name, &why) == -1)
		return NULL;
	snprintf(dst, cap,
	    r == REFUSE_HOST
		? "%s is not in \"destinations\" of config.json. Do not retry. "
		  "The user can add it there, for the next session.%s%s"
	    : r == REFUSE_HOST_UNASKED
		? "%s is a host that the agent's program asks for by itself, "
		  "so the user was not asked. Go on without it. Do not retry. "
		  "The user can add it to \"destinations\" in config.json, for "
		  "the next session.%s%s"
		: "%s is not a host of this session. Ask for it with the tool "
		  "proxy__add_proxy_domain of the session's MCP server: the "
		  "user decides, and it can then be read (GET, HEAD). For "
		  "more, the user can add it to \"destinations\" in "
		  "config.json. Until then: Do not retry.%s%s",
	    name, *connect_hosts(hosts, sizeof(hosts)) == '\0' ? "" : " ",
	    hosts);
	return dst;
}

/* Return what is said beside the reason's text, or in place of it. */
static const char *
connect_detail(
    enum refusal r, struct span target, const char *why, char *dst, size_t cap)
{
	if (r >= REFUSE_HOST && r <= REFUSE_HOST_UNASKED)
		return connect_named(r, target, dst, cap);
	if (r == REFUSE_PROXY)
		return connect_hosts(dst, cap);
	return refuse_why(why, dst, cap);
}

static void
connect_answer(struct agent *a, enum refusal r, uint32_t id, const char *detail)
{
	struct buf b;

	buf_init(&b, 16384);
	if (refuse_compose(&b, r, 0, id, detail, REFUSE_AS_TEXT, true) == 0)
		connect_write(a->fd, buf_span(&b));
	buf_free(&b);
	agent_linger(a);
}

static void
connect_refuse(struct agent *a, enum refusal r, struct span method,
    struct span target, const char *why)
{
	char more[CONNECT_HOSTS * 264 + 1024];
	uint32_t id;

	id = mitmd_denied(a, r, 0, method, target, why);
	connect_answer(
	    a, r, id, connect_detail(r, target, why, more, sizeof(more)));
}

/* Refuse a connection that waits for its host. */
static void
connect_unopened(struct agent *a, enum refusal r)
{
	char target[HOSTNAME_MAX + 8], more[1024];
	uint32_t id;

	snprintf(target, sizeof(target), "%s" CONNECT_PORT, a->wanted);
	id = mitmd_denied(a, r, 0, SPAN("CONNECT"), span_str(target), NULL);
	connect_answer(
	    a, r, id, unlisted_detail(r, a->wanted, more, sizeof(more)));
}

void
connect_busy(int fd)
{
	struct buf b;

	buf_init(&b, 4096);
	if (refuse_compose(&b, REFUSE_BUSY, 0, ++mitmd_env.last_refusal, NULL,
		REFUSE_AS_TEXT, true) == 0)
		connect_write(fd, buf_span(&b));
	buf_free(&b);
}

/* Find the provider and host for this exact "host:443". */
static bool
connect_find(struct agent *a, struct span target)
{
	struct span port = SPAN(CONNECT_PORT), host;
	const struct provider *p;

	if (target.len <= port.len)
		return false;
	host = span_of(target.p, target.len - port.len);
	if (!span_eq(span_of(host.p + host.len, port.len), port))
		return false;
	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS; i++) {
		p = connect_listed(i);
		for (unsigned k = 0; p != NULL && k < p->nhosts; k++) {
			if (!span_ieq(p->hosts[k], host))
				continue;
			a->provider = i;
			a->host = k;
			return true;
		}
	}
	return false;
}

/* The host is on the list: answer, and begin TLS. */
static void
connect_go(struct agent *a)
{
	buf_reset(&a->in, 0);
	a->seen = 0;
	connect_write(
	    a->fd, SPAN("HTTP/1.1 200 Connection Established\r\n\r\n"));
	if (mitmd_tls_begin(a) == -1) {
		log_warnx("TLS does not begin: %s", mitmd_tls_error());
		agent_close(a);
		return;
	}
	agent_enter(a, AGENT_TLS, MITMD_TLS_MS);
}

/* Refuse a host on no list, unless the connection waits for a person. */
static void
connect_unlisted(struct agent *a, const struct http1_head *h)
{
	enum refusal no;

	if (loopback_target(h->target))
		no = REFUSE_LOOPBACK;
	else if (a->in.len != h->size)
		no = REFUSE_EARLY;
	else if ((no = unlisted_ask(a, h)) == REFUSE_NONE)
		return;
	else if (mitmd_env.open && !mitmd_env.asks_hosts)
		no = REFUSE_HOST_ASK;
	connect_refuse(a, no, h->method, h->target, NULL);
}

/* Go on, from a message, with a connection that waits for its host. */
static void
connect_resume(struct agent *a)
{
	char target[HOSTNAME_MAX + 8];

	snprintf(target, sizeof(target), "%s" CONNECT_PORT, a->wanted);
	agent_hold(a);
	if (connect_find(a, span_str(target)))
		connect_go(a);
	else
		connect_unopened(a, REFUSE_WANTED_FAILED);
	agent_leave(a);
}

void
connect_opened(const struct provider *p)
{
	struct agent *a, *next;

	for (a = TAILQ_FIRST(&mitmd_env.agents); a != NULL; a = next) {
		next = TAILQ_NEXT(a, entry);
		for (unsigned i = 0; i < p->nhosts; i++) {
			if (!unlisted_waits(a, p->hosts[i]))
				continue;
			connect_resume(a);
			break;
		}
	}
}

int
connect_shut(struct chan *c, const struct msg_HOST_SHUT_GO *m)
{
	struct agent *a, *next;

	if (!mitmd_env.asks_hosts)
		return chan_violation(c, "HOST_SHUT_GO, and nobody asks");
	for (a = TAILQ_FIRST(&mitmd_env.agents); a != NULL; a = next) {
		next = TAILQ_NEXT(a, entry);
		if (!unlisted_waits(a, m->host))
			continue;
		agent_hold(a);
		connect_unopened(
		    a, unlisted_refusal((enum proto_shut)m->reason));
		agent_leave(a);
	}
	return 0;
}

void
connect_late(struct agent *a)
{
	connect_unopened(a, REFUSE_WANTED);
}

static void
connect_head(struct agent *a, const struct http1_head *h)
{
	struct http1_body body;

	if (!span_is(h->method, "CONNECT")) {
		connect_refuse(a,
		    loopback_target(h->target) ? REFUSE_LOOPBACK : REFUSE_PROXY,
		    h->method, h->target, NULL);
		return;
	}
	if (http1_request_body(h, &body) != HTTP1_OK || !body.done) {
		connect_refuse(a, REFUSE_MALFORMED, h->method, h->target,
		    body.reason != NULL ? body.reason : "CONNECT with a body");
		return;
	}
	if (!connect_find(a, h->target)) {
		connect_unlisted(a, h);
		return;
	}
	if (a->in.len != h->size) {
		connect_refuse(a, REFUSE_EARLY, h->method, h->target, NULL);
		return;
	}
	connect_go(a);
}

void
connect_read(struct agent *a)
{
	static struct http1_head head;
	uint8_t *room;
	ssize_t n;

	if ((room = buf_room(&a->in, MITMD_MAX_CONNECT - a->in.len)) == NULL) {
		agent_close(a);
		return;
	}
	n = read(a->fd, room, MITMD_MAX_CONNECT - a->in.len);
	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			agent_close(a);
		return;
	}
	buf_grow(&a->in, (size_t)n);
	switch (http1_request_more(buf_span(&a->in), &a->seen, &head)) {
	case HTTP1_OK:
		connect_head(a, &head);
		break;
	case HTTP1_MORE:
		if (a->in.len < MITMD_MAX_CONNECT)
			break;
		connect_refuse(a, REFUSE_HEADERS, SPAN(""), SPAN(""),
		    "the head of a CONNECT is larger than 8 KiB");
		break;
	case HTTP1_BAD:
		connect_refuse(
		    a, REFUSE_MALFORMED, SPAN(""), SPAN(""), head.reason);
		break;
	}
}
