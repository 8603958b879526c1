/* SPDX-License-Identifier: ISC */
/*
 * Judges the first bytes of a tunnel before one of them is passed on. A server
 * that may reach one customer of a large host must not reach all others there
 * by naming one of them in TLS, and other protocols need "opaque" in its list.
 */
#include "egressd/egressd.h"

#include <sys/socket.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "egressd/hello.h"

/* A name in a message, shortened so that two of them have room. */
#define FIRST_NAME "%.160s%s"
#define FIRST_CUT(s) (s), strlen(s) > 160 ? "..." : ""

/* Tell the person once of each kind; the log has all of them. */
static void
first_alarm(const char *kind, unsigned bit, const char *text)
{
	struct msg_ALARM m = {.kind = span_str(kind), .text = span_str(text)};

	if (egressd_env.told & bit)
		return;
	egressd_env.told |= bit;
	worker_send(&egressd_env.w, ROLE_AUDIT, 0, MSG_ALARM, &m, -1);
}

/* Refuse a ClientHello with the alert that a server would send. */
static void
first_alert(struct tunnel *t, uint8_t description, const char *error)
{
	/* alert, TLS 1.2, 2 bytes: fatal */
	const uint8_t alert[] = {21, 3, 3, 0, 2, 2, description};

	first_alarm("tunnel-name", 1, error);
	tunnel_stop(t, span_of(alert, sizeof(alert)), error);
}

/* Returns true if the first line is that of a request of HTTP/1. */
static bool
first_is_http(struct span in)
{
	static const char version[] = " HTTP/1.";
	const uint8_t *end = memchr(in.p, '\n', in.len);

	return end != NULL && memmem(in.p, (size_t)(end - in.p), version,
				  sizeof(version) - 1) != NULL;
}

/* Refuse what is not TLS. A client of HTTP can read why. */
static void
first_other(struct tunnel *t, struct span in)
{
	char error[512], text[700];

	snprintf(error, sizeof(error),
	    "only TLS may go to " FIRST_NAME ":%u, and this is another "
	    "protocol. To allow it, write {\"host\": \"" FIRST_NAME ":%u\", "
	    "\"opaque\": true} in allowedDomains",
	    FIRST_CUT(t->host), t->port, FIRST_CUT(t->host), t->port);
	first_alarm("not-tls", 2, error);
	if (!first_is_http(in)) {
		tunnel_stop(t, SPAN(""), error);
		return;
	}
	snprintf(text, sizeof(text), "%s. Do not retry.", error);
	tunnel_answer_stop(t, 403, text, error);
}

/* The end of a message: what was kept from the host. */
static const char *
first_kept(const struct tunnel *t)
{
	return t->state == TUNNEL_AGAIN
		   ? " (in a second ClientHello, which was not sent there)"
		   : ": nothing was sent there";
}

/* Pass a ClientHello whose name is right. */
static void
first_good(struct tunnel *t, const struct hello *h)
{
	if (t->state == TUNNEL_AGAIN)
		tunnel_pass(t);
	else
		tunnel_pass_hello(t, h->used);
}

static void
first_named(struct tunnel *t, const struct hello *h)
{
	char error[600];

	if (strcmp(h->name, t->host) == 0 ||
	    egress_allows(&egressd_env.list, h->name, t->port)) {
		first_good(t, h);
		return;
	}
	snprintf(error, sizeof(error),
	    "its TLS names " FIRST_NAME ", and its CONNECT named " FIRST_NAME
	    ":%u%s%s",
	    FIRST_CUT(h->name), FIRST_CUT(t->host), t->port,
	    h->ech ? " (with an encrypted ClientHello)" : "", first_kept(t));
	first_alert(t, 112, error); /* unrecognized_name */
}

/* An address has no name in TLS, and a name has one. */
static void
first_nameless(struct tunnel *t, const struct hello *h)
{
	char error[600];

	if (egress_is_address(t->host)) {
		first_good(t, h);
		return;
	}
	snprintf(error, sizeof(error),
	    "its TLS names no host, and its CONNECT named " FIRST_NAME ":%u%s",
	    FIRST_CUT(t->host), t->port, first_kept(t));
	first_alert(t, 112, error);
}

void
first_read(struct tunnel *t)
{
	struct span in = buf_span(&t->up.out);
	enum hello_result r;
	struct hello h;

	if (t->up.eof) {
		tunnel_end(t, "the host closed it before any TLS");
		return;
	}
	r = hello_parse(span_of(in.p + t->may, in.len - t->may), &h);
	/* The first one was TLS. */
	if (r == HELLO_OTHER && t->state == TUNNEL_AGAIN)
		r = HELLO_BAD;
	switch (r) {
	case HELLO_NAMED:
		first_named(t, &h);
		break;
	case HELLO_NAMELESS:
		first_nameless(t, &h);
		break;
	case HELLO_OTHER:
		first_other(t, in);
		break;
	case HELLO_BAD:
		first_alert(t, 50, /* decode_error */
		    "its TLS ClientHello is malformed, or has more than 16 "
		    "KiB");
		break;
	case HELLO_MORE:
		if (t->in.eof)
			tunnel_end(t, "it closed before its TLS ClientHello");
		break;
	}
}

void
first_spoken(struct tunnel *t)
{
	first_other(t, SPAN(""));
}
