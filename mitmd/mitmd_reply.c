/* SPDX-License-Identifier: ISC */
/*
 * What keyd sends: frames, from which the agent's answer is composed anew.
 * Only a status, headers of the provider's list and body bytes come through;
 * the framing is our own.  All that one read gave goes out with one write,
 * and nothing waits for more.  The provider is behind keyd: whatever does not
 * fit ends the stream and, if its answer had begun, the connection.
 */
#include "mitmd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

#define REPLY_READS 4 /* per wake-up */
#define REPLY_READ (128U << 10)
#define REPLY_HEAD 11U /* status, framing, length */

/* One connection at a time: what was read, and what is to be written. */
static uint8_t reply_in[REPLY_READ];
static struct buf reply_out = {.max = MITMD_MAX_QUEUE};

static void
reply_headers(struct agent *a, struct span headers, bool *bad)
{
	const struct provider *p = mitmd_env.providers[a->provider].p;
	struct span name, value;
	unsigned n = 0;
	int more;

	while ((more = provider_unpack(&headers, &name, &value)) == 1) {
		if (++n > PROVIDER_MAX_HEADERS || !provider_name_ok(name) ||
		    !provider_value_ok(value) ||
		    !provider_listed(&p->response, name)) {
			*bad = true;
			return;
		}
		buf_addspan(&reply_out, name);
		buf_add(&reply_out, ": ", 2);
		buf_addspan(&reply_out, value);
		buf_add(&reply_out, "\r\n", 2);
	}
	*bad = more == -1;
}

/* "content-length: 5" and the end of the head. */
static void
reply_framing(
    struct agent *a, unsigned status, unsigned framing, uint64_t length)
{
	struct buf *b = &reply_out;
	bool bodyless = status == 204 || status == 304 || a->req.head;

	a->up.chunked = framing == 2 && !bodyless;
	a->up.promised = framing == 1 && !bodyless ? length : 0;
	if (a->up.chunked) {
		buf_adds(b, "transfer-encoding: chunked\r\n");
	} else if (!bodyless) {
		buf_adds(b, "content-length: ");
		buf_addu64(b, a->up.promised);
		buf_add(b, "\r\n", 2);
	}
	/* An answer before the end of its request is the last one. */
	if (a->req.left != 0)
		a->req.close = true;
	if (a->req.close)
		buf_adds(b, "connection: close\r\n");
	buf_add(b, "\r\n", 2);
}

static int
reply_head(struct agent *a, struct span s)
{
	unsigned status, framing;
	uint64_t length = 0;
	bool bad;

	if (s.len < REPLY_HEAD || a->up.answered)
		return -1;
	status = (unsigned)s.p[0] | (unsigned)s.p[1] << 8;
	framing = s.p[2];
	for (unsigned i = 0; i < 8; i++)
		length |= (uint64_t)s.p[3 + i] << (8 * i);
	if (status < 200 || status > 599 || framing > 2 || length > INT64_MAX ||
	    (framing != 1 && length != 0))
		return -1;
	buf_adds(&reply_out, "HTTP/1.1 ");
	buf_addu64(&reply_out, status);
	buf_addc(&reply_out, ' ');
	buf_adds(&reply_out, refuse_phrase(status));
	buf_add(&reply_out, "\r\n", 2);
	reply_headers(a, span_of(s.p + REPLY_HEAD, s.len - REPLY_HEAD), &bad);
	if (bad)
		return -1;
	reply_framing(a, status, framing, length);
	a->up.answered = true;
	return reply_out.failed ? -1 : 0;
}

static int
reply_body(struct agent *a, struct span s)
{
	char size[24];
	int n;

	if (s.len == 0)
		return 0;
	if (!a->up.chunked) {
		if (s.len > a->up.promised)
			return -1;
		a->up.promised -= s.len;
		return buf_addspan(&reply_out, s);
	}
	n = snprintf(size, sizeof(size), "%zx\r\n", s.len);
	buf_add(&reply_out, size, (size_t)n);
	buf_addspan(&reply_out, s);
	return buf_add(&reply_out, "\r\n", 2);
}

/* The exchange is whole: the next request, or the end. */
static void
reply_end(struct agent *a)
{
	bool close = a->req.close;

	if (a->up.chunked)
		buf_adds(&reply_out, "0\r\n\r\n");
	if (reply_out.failed || mitmd_tls_put(a, buf_span(&reply_out)) == -1) {
		agent_close(a);
		return;
	}
	buf_reset(&reply_out, REPLY_READ * 2);
	if (a->req.left != 0 || a->up.out.len != 0 || a->held.len != 0)
		upstream_close(a);
	body_end(a);
	if (close)
		agent_linger(a);
	else
		agent_enter(a, AGENT_REQUEST, MITMD_IDLE_MS);
}

static void
reply_bad(struct agent *a, const char *what)
{
	char detail[64];

	snprintf(detail, sizeof(detail), "keyd sent %s.", what);
	buf_reset(&reply_out, REPLY_READ * 2);
	deny_exchange(a, REFUSE_PROVIDER, detail);
}

static void
reply_failed(struct agent *a, struct span text)
{
	enum refusal no = REFUSE_PROVIDER;
	char vis[256];

	if (span_starts(text, SPAN("403 ")))
		no = REFUSE_CREDENTIAL;
	/* What is for the agent comes after keyd's number; see stream.h. */
	if (text.len > 4 && text.p[3] == ' ')
		text = span_of(text.p + 4, text.len - 4);
	if (reply_out.len != 0 &&
	    mitmd_tls_put(a, buf_span(&reply_out)) == -1) {
		agent_close(a);
		return;
	}
	buf_reset(&reply_out, REPLY_READ * 2);
	deny_exchange(a, no, log_vis(text, vis, sizeof(vis)));
}

/*
 * One step at the front of s: bytes used, 0 when it needs more of them, -1
 * when the exchange is over or failed.
 */
static ssize_t
reply_step(struct agent *a, struct span s)
{
	struct upstream *up = &a->up;
	struct stream_frame f;

	if (up->left != 0) {
		if (s.len > up->left)
			s.len = up->left;
		if (reply_body(a, s) == -1)
			goto bad;
		up->left -= (uint32_t)s.len;
		return (ssize_t)s.len;
	}
	if (s.len < STREAM_HEADER)
		return 0;
	if (stream_unpack(s.p, &f) == -1 || f.exchange != up->exchange)
		goto bad;
	if (f.type == STREAM_BODY) {
		if (!up->answered)
			goto bad;
		up->left = f.len;
		return STREAM_HEADER;
	}
	if (s.len - STREAM_HEADER < f.len)
		return 0;
	s = span_of(s.p + STREAM_HEADER, f.len);
	if (f.type == STREAM_HEAD && reply_head(a, s) == 0)
		return (ssize_t)(STREAM_HEADER + f.len);
	if (f.type == STREAM_FAIL) {
		reply_failed(a, s);
		return -1;
	}
	if (f.type == STREAM_END && f.len == 0 && up->answered &&
	    up->promised == 0) {
		reply_end(a);
		return -1;
	}
bad:
	reply_bad(a, "what does not fit");
	return -1;
}

/* Bytes before a request or after an END are nobody's. */
static void
reply_stray(struct agent *a)
{
	mitmd_alarm("stream", "keyd sent bytes outside of an exchange");
	upstream_close(a);
}

/* All of s; a part of a frame that must be whole waits in up->in. */
static void
reply_take(struct agent *a, struct span s)
{
	struct upstream *up = &a->up;
	bool waited = up->in.len != 0;
	size_t used = 0;
	ssize_t n = 1;

	if (waited) {
		if (buf_addspan(&up->in, s) == -1) {
			reply_bad(a, "too much");
			return;
		}
		s = buf_span(&up->in);
	}
	while (used < s.len && n > 0) {
		n = reply_step(a, span_of(s.p + used, s.len - used));
		if (n > 0)
			used += (size_t)n;
	}
	if (n == -1) {
		if (up->fd != -1 && used + STREAM_HEADER != s.len)
			reply_stray(a);
		buf_reset(&up->in, 0);
		return;
	}
	if (waited) {
		buf_drain(&up->in, used);
		if (up->in.len == 0)
			buf_reset(&up->in, 0);
	} else if (used != s.len &&
		   buf_add(&up->in, s.p + used, s.len - used) == -1) {
		reply_bad(a, "too much");
		return;
	}
	if (reply_out.len != 0 && mitmd_tls_put(a, buf_span(&reply_out)) == -1)
		agent_close(a);
	buf_reset(&reply_out, REPLY_READ * 2);
}

static void
reply_read(struct agent *a)
{
	ssize_t n;
	int fd;

	for (int i = 0; i < REPLY_READS; i++) {
		fd = a->up.fd;
		if ((n = read(fd, reply_in, sizeof(reply_in))) == -1) {
			if (errno != EAGAIN && errno != EINTR)
				n = 0;
			else
				return;
		}
		if (a->state != AGENT_EXCHANGE) {
			if (n != 0)
				reply_stray(a);
			else
				upstream_close(a);
			return;
		}
		if (n == 0) {
			deny_exchange(
			    a, REFUSE_PROVIDER, "The stream ended early.");
			return;
		}
		reply_take(a, span_of(reply_in, (size_t)n));
		if (a->dead || a->state != AGENT_EXCHANGE ||
		    a->out.len >= MITMD_WINDOW || n < (ssize_t)sizeof(reply_in))
			return;
	}
}

void
reply_ready(struct loop_io *io, uint32_t events)
{
	struct agent *a = io->arg;

	agent_hold(a);
	if ((events & EPOLLOUT) != 0)
		upstream_flush(a);
	if (!a->dead && a->up.fd != -1 &&
	    (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
		reply_read(a);
		if (a->state == AGENT_REQUEST)
			agent_resume(a);
	}
	agent_leave(a);
}
