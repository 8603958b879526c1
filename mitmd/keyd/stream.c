/* SPDX-License-Identifier: ISC */
/*
 * The streams to mitmd: made here, one end passed on.  Body frames are read
 * only while an exchange is open that auditd released, and every one must
 * name it and fit what is still to come; anything else closes the stream.
 * mitmd may be hostile.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "keyd/keyd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "wire/git_push.h"

struct stream *
stream_find(uint32_t id)
{
	struct stream *s;

	LIST_FOREACH (s, &keyd_env.ids[id % KEYD_STREAM_IDS], found) {
		if (s->id == id)
			return s;
	}
	return NULL;
}

void
stream_free(struct stream *s)
{
	struct keyd_env *e = &keyd_env;

	if (s->dead)
		return;
	s->dead = true;
	loop_del(&e->w.loop, &s->io);
	close(s->fd);
	s->fd = -1;
	TAILQ_REMOVE(&e->streams, s, entry);
	LIST_REMOVE(s, found);
	TAILQ_INSERT_TAIL(&e->dead_streams, s, entry);
	e->nstreams--;
	exchange_clear(s);
	buf_free(&s->pend);
	buf_free(&s->out);
}

void
stream_watch(struct stream *s)
{
	uint32_t events = 0;

	if (s->dead)
		return;
	/* With neither, its end is still reported. */
	if (!s->closing && exchange_takes(s))
		events |= EPOLLIN;
	if (s->out.len != 0)
		events |= EPOLLOUT;
	if (loop_mod(&keyd_env.w.loop, &s->io, events) == -1)
		log_warn("epoll_ctl");
}

/* How much of it the socket took, or -1: the stream is gone. */
static ssize_t
stream_write(struct stream *s, struct span p)
{
	size_t done = 0;
	ssize_t n;

	while (done < p.len) {
		if ((n = write(s->fd, p.p + done, p.len - done)) == -1) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				break;
			exchange_abort(s, "mitmd closed the stream");
			return -1;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int
stream_flush(struct stream *s)
{
	ssize_t n;

	if ((n = stream_write(s, buf_span(&s->out))) == -1)
		return -1;
	buf_drain(&s->out, (size_t)n);
	if (s->out.len != 0)
		return 0;
	buf_free(&s->out);
	if (s->closing) {
		stream_free(s);
		return -1;
	}
	return 0;
}

struct buf *
stream_begin(struct stream *s)
{
	struct keyd_env *e = &keyd_env;

	if (s->out.len != 0)
		return &s->out;
	buf_reset(&e->scratch, KEYD_OUT_KEEP);
	return &e->scratch;
}

int
stream_commit(struct stream *s)
{
	struct buf *b = &keyd_env.scratch;
	struct span left;
	ssize_t n = 0;

	if (s->out.len == 0) {
		if ((n = stream_write(s, buf_span(b))) == -1)
			return -1;
		left = buf_span(b);
		left = span_of(left.p + n, left.len - (size_t)n);
		if (left.len != 0 && buf_addspan(&s->out, left) == -1) {
			exchange_abort(s, "out of memory");
			return -1;
		}
		buf_reset(b, KEYD_OUT_KEEP);
	}
	if (stream_flush(s) == -1)
		return -1;
	stream_watch(s);
	return 0;
}

int
stream_violation(struct stream *s, const char *detail)
{
	keyd_alarm("stream-mismatch", detail);
	exchange_fail(s, KEYD_FAIL_BODY, detail);
	return -1;
}

static const char *
stream_check(const struct stream *s, struct stream_frame *f)
{
	const struct exchange *x = &s->x;

	if (stream_unpack(s->fhead, f) == -1 || f->type != STREAM_BODY)
		return "not a body frame";
	if (f->exchange != x->req.exchange)
		return "frame of another exchange";
	if (f->len == 0)
		return "empty body frame";
	if (f->len > x->req.length - x->counted)
		return "more body than was announced";
	return NULL;
}

int
stream_sum_begin(struct stream *s)
{
	if ((s->x.sum = malloc(sizeof(*s->x.sum))) == NULL)
		return -1;
	SHA256_Init(s->x.sum);
	return 0;
}

/* Before the last bytes go on: are they, with all before, what was announced?
 */
static bool
stream_sum_ok(struct stream *s, const uint8_t *p, size_t n)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	if (s->x.sum == NULL)
		return true;
	SHA256_Update(s->x.sum, p, n);
	if (s->x.counted + n < s->x.req.length)
		return true;
	SHA256_Final(digest, s->x.sum);
	return memcmp(digest, s->x.req.digest, sizeof(digest)) == 0;
}

/* Heads are collected, bodies appended to `pend` or dropped. */
static int
stream_take(struct stream *s, struct span in)
{
	bool drop = s->x.state == EXCHANGE_DRAIN;
	struct stream_frame f;
	const char *bad;
	size_t n;

	while (in.len != 0) {
		if (s->fleft == 0) {
			if (s->x.counted == s->x.req.length)
				return stream_violation(
				    s, "more body than was announced");
			n = STREAM_HEADER - s->fhave;
			n = n < in.len ? n : in.len;
			memcpy(s->fhead + s->fhave, in.p, n);
			s->fhave += n;
			in = span_of(in.p + n, in.len - n);
			if (s->fhave < STREAM_HEADER)
				break;
			s->fhave = 0;
			if ((bad = stream_check(s, &f)) != NULL)
				return stream_violation(s, bad);
			s->fleft = f.len;
			continue;
		}
		n = s->fleft < in.len ? s->fleft : in.len;
		if (!drop && !stream_sum_ok(s, in.p, n))
			return stream_violation(
			    s, "not the body that was announced");
		if (!drop && s->x.listing) {
			if (push_take(s, span_of(in.p, n), &bad) == -1)
				return stream_violation(s, bad);
		} else if (!drop && buf_add(&s->pend, in.p, n) == -1) {
			exchange_fail(s, KEYD_FAIL_INTERNAL, "out of memory");
			return -1;
		}
		if (!drop)
			exchange_keep(s, in.p, n);
		/* Ours: stream_read's buffer, and copied by now. */
		if (message_count(s, (uint8_t *)(uintptr_t)in.p, n) == -1)
			return -1;
		s->fleft -= (uint32_t)n;
		s->x.counted += n;
		in = span_of(in.p + n, in.len - n);
	}
	return 1;
}

int
stream_read(struct stream *s)
{
	static uint8_t in[STREAM_HEADER + STREAM_MAX_FRAME];
	size_t cap = sizeof(in);
	ssize_t n;

	/* Behind a body that is dropped the next one may stand already. */
	if (s->x.state == EXCHANGE_DRAIN)
		cap = s->fleft != 0 ? s->fleft : STREAM_HEADER - s->fhave;
	do {
		n = read(s->fd, in, cap);
	} while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		exchange_abort(s, "given up by the agent");
		return -1;
	}
	return stream_take(s, span_of(in, (size_t)n));
}

static void
stream_ready(struct loop_io *io, uint32_t events)
{
	struct stream *s = io->arg;

	if ((events & EPOLLOUT) != 0) {
		if (stream_flush(s) == -1)
			return;
		stream_watch(s);
		if (s->x.state == EXCHANGE_GIVE)
			package_give(s);
		else if (s->x.state == EXCHANGE_ON && s->x.up != NULL &&
			 s->out.len < KEYD_OUT_SOFT)
			exchange_pull(s);
	} else if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		exchange_abort(s, "given up by the agent");
		return;
	}
	if (s->dead || (events & EPOLLIN) == 0 || !exchange_takes(s))
		return;
	if (s->x.state == EXCHANGE_FORM) {
		capture_read(s);
		return;
	}
	if (s->x.state == EXCHANGE_DRAIN) {
		if (stream_read(s) == 1 && s->x.counted == s->x.req.length)
			exchange_drained(s);
		stream_watch(s);
		return;
	}
	exchange_push(s);
}

static struct stream *
stream_new(uint32_t id, int fd)
{
	struct keyd_env *e = &keyd_env;
	struct stream *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return NULL;
	s->id = id;
	s->fd = fd;
	s->io.fd = -1;
	buf_init(
	    &s->pend, STREAM_HEADER + STREAM_MAX_FRAME + GIT_PUSH_MAX_LIST);
	buf_init(&s->out, KEYD_OUT_MAX);
	if (loop_add(&e->w.loop, &s->io, fd, 0, stream_ready, s) == -1) {
		free(s);
		return NULL;
	}
	TAILQ_INSERT_HEAD(&e->streams, s, entry);
	LIST_INSERT_HEAD(&e->ids[id % KEYD_STREAM_IDS], s, found);
	e->nstreams++;
	return s;
}

int
keyd_stream_open(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_STREAM_OPEN *m = &msg->STREAM_OPEN;
	struct keyd_env *e = &keyd_env;
	struct msg_STREAM reply = {.stream = m->stream};
	int pair[2];

	(void)fd;
	if (!span_eq(m->digest,
		span_of(e->provider->digest, sizeof(e->provider->digest))))
		return chan_violation(c, "the provider files differ");
	if (stream_find(m->stream) != NULL)
		return chan_violation(c, "stream %u is open", m->stream);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) == -1) {
		log_warn("socketpair");
		return 0;
	}
	/* One too many is told so by an end that is closed. */
	if (e->nstreams >= KEYD_MAX_STREAMS ||
	    stream_new(m->stream, pair[0]) == NULL)
		close(pair[0]);
	worker_send(&e->w, ROLE_MITM, 0, MSG_STREAM, &reply, pair[1]);
	return 0;
}
