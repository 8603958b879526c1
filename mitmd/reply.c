/* SPDX-License-Identifier: ISC */
/*
 * Frames from keyd, from which the agent's answer is composed. Only a status,
 * headers on the provider's list and body bytes are used; the framing is the
 * front's. The output of one read is sent at once, and nothing waits for more.
 * The provider is behind keyd: anything unexpected ends the stream and, if the
 * answer had begun, cuts it. Bytes in an arena are copied out, a piece at a
 * time, before anything reads them.
 */
#include "mitmd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "provider/forge.h"
#include "usage.h"

#define REPLY_READS 4 /* per wake-up */
#define REPLY_READ (128U << 10)
#define REPLY_HEAD 11U     /* status, framing, length */
#define REPLY_PIECE 16384U /* one TLS record */

/* One stream is read at a time. */
static uint8_t reply_in[REPLY_READ];
static unsigned reply_slots; /* AT frames in it */

/* Returns true if the provider's answers may have these headers. */
static bool
reply_headers_ok(const struct exchange *x, struct span headers)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct span name, value;
	unsigned n = 0;
	int more;

	while ((more = provider_unpack(&headers, &name, &value)) == 1) {
		if (++n > PROVIDER_MAX_HEADERS || !provider_name_ok(name) ||
		    !provider_value_ok(value) ||
		    !provider_listed(&p->response, name))
			return false;
	}
	return more == 0;
}

static int
reply_head(struct exchange *x, struct span s)
{
	struct upstream *up = &x->up;
	unsigned status, framing;
	uint64_t length = 0;
	bool bodyless;

	if (s.len < REPLY_HEAD || up->answered)
		return -1;
	status = (unsigned)s.p[0] | (unsigned)s.p[1] << 8;
	framing = s.p[2];
	for (unsigned i = 0; i < 8; i++)
		length |= (uint64_t)s.p[3 + i] << (8 * i);
	s = span_of(s.p + REPLY_HEAD, s.len - REPLY_HEAD);
	if (status == 101 ? !x->req.websocket || framing != 2 : status < 200)
		return -1;
	if (status > 599 || framing > 2 || length > INT64_MAX ||
	    (framing != 1 && length != 0) || !reply_headers_ok(x, s))
		return -1;
	bodyless = status == 204 || status == 304 || x->req.head;
	up->sized = framing != 2 || bodyless;
	up->promised = bodyless ? 0 : length;
	up->answered = true;
	up->status = status;
	usage_begin(x, s);
	return x->front->head(x, status, s, up->sized, up->promised);
}

static int
reply_body(struct exchange *x, struct span s)
{
	if (s.len == 0)
		return 0;
	if (x->up.sized) {
		if (s.len > x->up.promised)
			return -1;
		x->up.promised -= s.len;
	}
	if (x->front->frames)
		return x->front->body(x, s);
	usage_feed(x, s);
	return usage_pass(x, s);
}

/* Process the bytes of an AT frame. */
static int
reply_at(struct exchange *x, const uint8_t frame[STREAM_AT_LEN])
{
	static uint8_t bytes[REPLY_PIECE];
	struct arena *a = upstream_arena(x);
	struct arena_piece p;
	uint32_t done, n = 0;
	int r = 0;

	/*
	 * keyd has no more slots for one stream, and gets none back meanwhile.
	 */
	if (a == NULL || !x->up.answered || x->up.followed ||
	    ++reply_slots > ARENA_STREAM || stream_at_unpack(frame, &p) == -1)
		return -1;
	for (done = 0; r == 0 && done < p.len; done += n) {
		n = p.len - done < sizeof(bytes) ? p.len - done
						 : (uint32_t)sizeof(bytes);
		if (!arena_copy(a, &p, done, bytes, n))
			r = -1;
		else
			r = reply_body(x, span_of(bytes, n));
	}
	arena_done(a, &p);
	return r;
}

static void
reply_bad(struct exchange *x, const char *what)
{
	char detail[128];

	if (x->answer.failed)
		(void)buf_why(&x->answer, "the queue of the answer", detail,
		    sizeof(detail));
	else
		snprintf(detail, sizeof(detail), "keyd sent %s.", what);
	deny_exchange(x, REFUSE_PROVIDER, detail);
}

static void
reply_failed(struct exchange *x, struct span text)
{
	enum refusal no = REFUSE_PROVIDER;
	char vis[640];

	if (text.len == 0) {
		reply_bad(x, "a failure without a reason");
		return;
	}
	x->up.failed = text.p[0] == STREAM_UNSENT;
	text = span_of(text.p + 1, text.len - 1);
	if (span_starts(text, SPAN("403 ")))
		no = mitmd_env.providers[x->a->provider].p->registry != NULL
			 ? REFUSE_PACKAGE
			 : REFUSE_CREDENTIAL;
	else if (span_starts(text, SPAN("402 ")) ||
		 span_starts(text, SPAN("429 ")))
		no = refuse_budget(mitmd_env.providers[x->a->provider]
				       .p->routes[x->req.route]
				       .dialect,
		    text.p[2] == '9');
	/* The text for the agent follows keyd's status; see stream.h. */
	if (text.len > 4 && text.p[3] == ' ')
		text = span_of(text.p + 4, text.len - 4);
	if (x->front->flush(x) == -1) {
		agent_close(x->a);
		return;
	}
	deny_exchange(x, no, log_vis(text, vis, sizeof(vis)));
}

/* Returns true if the answer to this request may come from followd. */
static bool
reply_may_follow(const struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	return x->state == EXCHANGE_ON && x->up.fd != -1 && !x->up.answered &&
	       !x->up.followed && p->forge != NULL &&
	       x->req.route == FORGE_ROUTE_FOLLOW;
}

/*
 * Process the next step at the front of `s`. Returns the bytes used, 0 if it
 * needs more, or -1 when the exchange is over or failed.
 */
static ssize_t
reply_step(struct exchange *x, struct span s)
{
	struct upstream *up = &x->up;
	struct stream_frame f;

	if (up->left != 0) {
		if (s.len > up->left)
			s.len = up->left;
		if (reply_body(x, s) == -1)
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
	if (f.type == STREAM_HEAD && reply_head(x, s) == 0)
		return (ssize_t)(STREAM_HEADER + f.len);
	if (f.type == STREAM_AT && reply_at(x, s.p) == 0)
		return (ssize_t)(STREAM_HEADER + f.len);
	if (f.type == STREAM_FOLLOW && reply_may_follow(x) && !up->redirected) {
		up->redirected = true;
		return STREAM_HEADER;
	}
	if (f.type == STREAM_FAIL) {
		reply_failed(x, s);
		return -1;
	}
	if (f.type == STREAM_END && f.len == 0 && up->answered &&
	    up->promised == 0 && usage_rest(x) == 0) {
		usage_end(x, true);
		x->front->end(x);
		return -1;
	}
bad:
	reply_bad(x, "what does not fit");
	return -1;
}

/* Bytes before a request or after an END belong to no exchange. */
static void
reply_stray(struct exchange *x)
{
	mitmd_alarm("stream", "keyd sent bytes outside of an exchange");
	upstream_close(x);
}

/* Process all of `s`; an incomplete frame waits in up->in. */
static void
reply_take(struct exchange *x, struct span s)
{
	struct upstream *up = &x->up;
	bool waited = up->in.len != 0;
	size_t used = 0;
	ssize_t n = 1;

	/* keyd has begun: the request was approved. */
	ask_over(x, false);
	reply_slots = 0;
	if (waited) {
		buf_addspan(&up->in, s);
		if (up->in.failed) {
			reply_bad(x, "too much");
			return;
		}
		s = buf_span(&up->in);
	}
	while (used < s.len && n > 0) {
		n = reply_step(x, span_of(s.p + used, s.len - used));
		if (n > 0)
			used += (size_t)n;
	}
	if (n == -1) {
		if (up->fd != -1 && used + STREAM_HEADER != s.len)
			reply_stray(x);
		buf_reset(&up->in, 0);
		return;
	}
	if (waited) {
		buf_drain(&up->in, used);
		if (up->in.len == 0)
			buf_reset(&up->in, 0);
	} else if (used != s.len) {
		buf_add(&up->in, s.p + used, s.len - used);
		if (up->in.failed) {
			reply_bad(x, "too much");
			return;
		}
	}
	if (x->front->flush(x) == -1)
		agent_close(x->a);
}

/* Tell keyd that slots are free, if it waits for one. */
static void
reply_room(struct arena *a, unsigned provider)
{
	struct msg_ROOM m = {0};

	if (arena_wakes(a))
		worker_send(&mitmd_env.w, ROLE_KEY, provider, MSG_ROOM, &m, -1);
}

static void
reply_read(struct exchange *x)
{
	struct arena *a;
	ssize_t n;
	int fd;

	for (int i = 0; i < REPLY_READS; i++) {
		fd = x->up.fd;
		if ((n = read(fd, reply_in, sizeof(reply_in))) == -1) {
			if (errno != EAGAIN && errno != EINTR)
				n = 0;
			else
				return;
		}
		if (x->state != EXCHANGE_ON) {
			if (n != 0)
				reply_stray(x);
			else
				upstream_close(x);
			return;
		}
		if (n == 0) {
			deny_exchange(
			    x, REFUSE_PROVIDER, "The stream ended early.");
			return;
		}
		reply_take(x, span_of(reply_in, (size_t)n));
		if (reply_slots != 0 && (a = upstream_arena(x)) != NULL)
			reply_room(a, x->a->provider);
		if (x->gone || x->state != EXCHANGE_ON ||
		    x->front->waiting(x) >= x->front->window ||
		    n < (ssize_t)sizeof(reply_in))
			return;
	}
}

void
reply_ready(struct loop_io *io, uint32_t events)
{
	struct exchange *x = io->arg;
	struct agent *a = x->a;

	agent_hold(a);
	if ((events & EPOLLOUT) != 0 && upstream_flush(x) == -1)
		agent_close(a);
	if (!x->gone && x->up.fd != -1 &&
	    (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
		reply_read(x);
		if (x->state == EXCHANGE_IDLE)
			agent_resume(a);
	}
	/*
	 * Process the agent's input that arrived while a message was being
	 * sent.
	 */
	if (!x->gone && x->front->frames && a->in.len != 0)
		agent_resume(a);
	agent_leave(a);
}

/* The stream of keyd has ended its part: what follows comes from `fd`. */
static void
reply_switch(struct exchange *x, int fd)
{
	loop_del(&mitmd_env.w.loop, &x->up.io);
	close(x->up.fd);
	x->up.fd = -1;
	buf_reset(&x->up.in, 0);
	buf_reset(&x->up.out, 0);
	x->up.followed = true;
	if (upstream_open(x, fd) == -1)
		deny_exchange(x, REFUSE_GONE, NULL);
}

void
reply_follow(uint32_t stream, int fd)
{
	struct exchange *x = stream != 0 ? exchange_find(stream) : NULL;
	struct agent *a;

	/* The agent may have left meanwhile. */
	if (x == NULL || !reply_may_follow(x)) {
		close(fd);
		return;
	}
	a = x->a;
	agent_hold(a);
	/* keyd's word was sent before auditd's, and may not have been read. */
	if (!x->up.redirected)
		reply_read(x);
	if (x->gone || x->up.stream != stream || !reply_may_follow(x)) {
		close(fd);
	} else if (!x->up.redirected) {
		mitmd_alarm("stream",
		    "followd sent the answer to a request that keyd has not "
		    "redirected");
		close(fd);
	} else {
		reply_switch(x, fd);
	}
	if (x->state == EXCHANGE_IDLE)
		agent_resume(a);
	agent_leave(a);
}
