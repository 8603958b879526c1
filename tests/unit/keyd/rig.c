/* SPDX-License-Identifier: ISC */
/* The peers of keyd, played by the test. */
#include "unit/keyd/rig.h"

#include <sys/socket.h>

#include <openssl/sha.h>

#include <err.h>
#include <errno.h>

#include "common/http/approved.h"
#include "mitmd/provider/provider.h"

#define WAIT_US 30000000U

static struct rig *rig;

static int
on_state(struct chan *c, const struct msg_KEY_STATE *m)
{
	rig->nstates++;
	rig->state = m->state;
	rig->length = m->length;
	return span_copy(m->text, rig->state_text, sizeof(rig->state_text));
}

static int
on_spent(struct chan *c, const struct msg_SPENT *m)
{
	rig->spent = *m;
	return 0;
}

static int
on_alarm(struct chan *c, const struct msg_ALARM *m)
{
	rig->nalarms++;
	return span_copy(m->kind, rig->alarm, sizeof(rig->alarm));
}

static int
on_end(struct chan *c, const struct msg_EXCHANGE_END *e)
{
	rig->nends++;
	rig->end = (struct rig_end){.stream = e->stream,
	    .exchange = e->exchange,
	    .status = e->status,
	    .sent = e->sent,
	    .unsent = e->unsent,
	    .received = e->received};
	return span_copy(e->error, rig->end.error, sizeof(rig->end.error));
}

static int
on_stream(struct chan *c, const struct msg_STREAM *m, int fd)
{
	rig->stream_fd = fd;
	return 0;
}

static int
on_dial(struct chan *c, const struct msg_DIAL *m)
{
	struct msg_DIALED ok = {.id = m->id, .address = SPAN("127.0.0.1")};
	struct msg_DIAL_FAIL bad = {.id = m->id};

	rig->ndials++;
	rig->dialed = m->which;
	if (rig->first_port != 0 && m->avoid.len == 0) {
		ok.more = 1;
		ok.address = SPAN("127.0.0.1:1");
		return chan_send(
		    c, MSG_DIALED, &ok, worker_rig_connect(rig->first_port));
	}
	if (rig->first_port != 0)
		(void)span_copy(m->avoid, rig->avoided, sizeof(rig->avoided));
	if (rig->dial_error != NULL) {
		bad.text = span_str(rig->dial_error);
		return chan_send(c, MSG_DIAL_FAIL, &bad, -1);
	}
	return chan_send(c, MSG_DIALED, &ok, worker_rig_connect(rig->port));
}

/* TROUBLE, the reason why the provider fails. */
static int
on_trouble(struct chan *c, const struct msg_TROUBLE *m)
{
	rig->ntroubles++;
	return span_copy(m->text, rig->trouble, sizeof(rig->trouble));
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(KEY_STATE,	on_state),
	HANDLER(ALARM,		on_alarm),
	HANDLER(SPENT,		on_spent),
	HANDLER(TROUBLE,	on_trouble),
	HANDLER(EXCHANGE_END,	on_end),
	HANDLER(STREAM,		on_stream),
	HANDLER(DIAL,		on_dial),
};
/* clang-format on */
static const struct chan_ops ops = {
    handlers, nitems(handlers), worker_rig_closed};

static void
secret(struct rig *r, const char *key)
{
	worker_rig_secret(&r->worker, key, 0);
	if (!rig_until(r, &r->nstates, r->nstates + 1))
		errx(1, "no KEY_STATE");
}

void
rig_start(struct rig *r, const char *program, const struct rig_upstream *u,
    const char *key)
{
	struct msg_PROVIDER provider = {.name = SPAN("t")};
	struct msg_UPSTREAM up = {.host = span_str(u->host),
	    .port = u->port,
	    .tls = u->tls,
	    .prefix = span_str(u->prefix),
	    .reuse = u->reuse};
	struct msg_ROOTS roots = {.pem = span_str(u->roots)};
	struct msg_START start = {.proto_pad_ = 0};
	const char *text = r->provider;

	*r = (struct rig){.provider = text, .port = u->port, .stream_fd = -1};
	rig = r;
	SHA256((const uint8_t *)text, strlen(text), r->digest);
	worker_rig_start(&r->worker, program, ROLE_KEY, &ops);
	r->mitm = getenv(RIG_ARENA) == NULL
		      ? worker_rig_peer(&r->worker, ROLE_MITM, 0)
		      : worker_rig_arena(&r->worker, ROLE_MITM, 0);
	r->audit = worker_rig_peer(&r->worker, ROLE_AUDIT, 0);
	r->dial = worker_rig_peer(&r->worker, ROLE_DIAL, 0);
	provider.json = span_str(text);
	if (chan_send(r->worker.sup, MSG_PROVIDER, &provider, -1) == -1)
		err(1, "configuration");
	for (; up.which <= u->more; up.which++)
		if (chan_send(r->worker.sup, MSG_UPSTREAM, &up, -1) == -1)
			err(1, "configuration");
	if (key != NULL)
		secret(r, key);
	if (chan_send(r->worker.sup, MSG_START, &start, -1) == -1)
		err(1, "START");
	chan_phase(r->worker.sup, PHASE_RUN);
	chan_phase(r->mitm, PHASE_RUN);
	chan_phase(r->audit, PHASE_RUN);
	chan_phase(r->dial, PHASE_RUN);
	/* After READY, like icsupervisor. */
	if (u->tls && chan_send(r->worker.sup, MSG_ROOTS, &roots, -1) == -1)
		err(1, "ROOTS");
}

void
rig_stop(struct rig *r)
{
	chan_free(r->mitm);
	chan_free(r->audit);
	chan_free(r->dial);
	worker_rig_stop(&r->worker);
}

void
rig_turn(struct rig *r)
{
	rig = r;
	worker_rig_turn(&r->worker);
}

bool
rig_until(struct rig *r, const unsigned *what, unsigned n)
{
	rig = r;
	return worker_rig_until(&r->worker, what, n);
}

bool
rig_until_true(struct rig *r, const bool *what)
{
	rig = r;
	return worker_rig_until_true(&r->worker, what);
}

int
rig_stream(struct rig *r, uint32_t stream)
{
	struct msg_STREAM_OPEN m = {
	    .stream = stream, .digest = span_of(r->digest, sizeof(r->digest))};
	uint64_t end_at = clock_mono_us() + WAIT_US;

	r->stream_fd = -1;
	if (chan_send(r->mitm, MSG_STREAM_OPEN, &m, -1) == -1)
		err(1, "STREAM_OPEN");
	while (
	    r->stream_fd == -1 && !r->worker.lost && clock_mono_us() < end_at)
		rig_turn(r);
	return r->stream_fd;
}

/* Compute the digest that policyd would show for the request. */
static void
shown_digest(const struct rig *r, const struct msg_REQUEST_GO *m,
    uint8_t digest[SHA256_DIGEST_LENGTH])
{
	const struct approved a = {.name = span_str(r->shown_name),
	    .host = span_str(r->shown_host),
	    .method = span_str(r->shown_method),
	    .path = m->path,
	    .query = m->query,
	    .headers = m->headers,
	    .length = m->length,
	    .body = m->body,
	    .refs = m->refs};
	struct buf b;

	buf_init(&b, 65536);
	if (approved_bound(&a, &b) == -1)
		err(1, "digest");
	SHA256(buf_span(&b).p, buf_span(&b).len, digest);
	buf_free(&b);
}

void
rig_request(struct rig *r, uint32_t stream, uint32_t exchange, unsigned route,
    const char *path, const char *query, uint64_t length)
{
	struct msg_REQUEST_GO m = {.stream = stream,
	    .exchange = exchange,
	    .route = (uint16_t)route,
	    .path = span_str(path),
	    .query = span_str(query),
	    .length = length,
	    .host = (uint8_t)r->host,
	    .body = r->digest_of_body,
	    .asked = r->asked,
	    .refs = r->refs,
	    .most = r->most};
	uint8_t shown[SHA256_DIGEST_LENGTH];
	struct buf b;

	buf_init(&b, 4096);
	if (strstr(r->provider, "\"credential\"") != NULL)
		provider_pack(&b, SPAN(":credential"), SPAN("0"));
	provider_pack(&b, SPAN("accept"), SPAN("*/*"));
	if (length != 0)
		provider_pack(&b, SPAN("content-type"),
		    r->type != NULL ? span_str(r->type)
				    : SPAN("application/json; charset=utf-8"));
	m.headers = buf_span(&b);
	if (r->asked) {
		shown_digest(r, &m, shown);
		m.digest = span_of(shown, sizeof(shown));
	}
	if (chan_send(r->audit, MSG_REQUEST_GO, &m, -1) == -1)
		err(1, "REQUEST_GO");
	buf_free(&b);
}

static void
write_all(struct rig *r, int fd, const void *p, size_t n)
{
	ssize_t k;

	while (n > 0) {
		if ((k = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL)) == -1) {
			if (errno != EAGAIN)
				return;
			rig_turn(r);
			continue;
		}
		p = (const uint8_t *)p + k;
		n -= (size_t)k;
	}
}

void
rig_body(struct rig *r, int fd, uint32_t exchange, const void *p, size_t n)
{
	struct stream_frame f = {exchange, STREAM_BODY, (uint32_t)n};
	uint8_t head[STREAM_HEADER + STREAM_AT_LEN], *at = NULL;
	struct arena *a = chan_arena(r->mitm);
	struct arena_piece piece;

	if (a != NULL && n != 0 && n <= ARENA_SLOT)
		at = arena_take(a, 1, &piece);
	if (at != NULL) {
		memcpy(at, p, n);
		piece.len = (uint32_t)n;
		stream_at_pack(head, exchange, &piece);
		write_all(r, fd, head, sizeof(head));
		return;
	}
	stream_pack(head, &f);
	write_all(r, fd, head, STREAM_HEADER);
	write_all(r, fd, p, n);
}

static int
read_all(struct rig *r, int fd, uint8_t *p, size_t n)
{
	uint64_t end_at = clock_mono_us() + WAIT_US;
	ssize_t k;

	while (n > 0) {
		if ((k = recv(fd, p, n, MSG_DONTWAIT)) == -1) {
			if (errno != EAGAIN || clock_mono_us() > end_at)
				return -1;
			rig_turn(r);
			continue;
		}
		if (k == 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* The next part of a piece in the arena becomes a BODY frame. */
static int
frame_of_piece(struct rig *r, struct stream_frame *f, uint8_t *out)
{
	struct arena *a = chan_arena(r->mitm);
	struct msg_ROOM room = {0};
	uint32_t n = r->piece.len - r->piece_done;

	n = n < STREAM_MAX_FRAME ? n : STREAM_MAX_FRAME;
	f->type = STREAM_BODY;
	f->len = n;
	if (!arena_copy(a, &r->piece, r->piece_done, out, n))
		errx(1, "a slot was taken back");
	r->piece_done += n;
	if (r->piece_done < r->piece.len)
		return 0;
	arena_done(a, &r->piece);
	r->piece.len = 0;
	if (arena_wakes(a) && chan_send(r->mitm, MSG_ROOM, &room, -1) == -1)
		err(1, "ROOM");
	return 0;
}

int
rig_frame(struct rig *r, int fd, struct stream_frame *f, uint8_t *out)
{
	static struct stream_frame last;
	uint8_t head[STREAM_HEADER];

	*f = last;
	if (r->piece.len != 0)
		return frame_of_piece(r, f, out);
	if (read_all(r, fd, head, sizeof(head)) == -1 ||
	    stream_unpack(head, f) == -1)
		return -1;
	if (read_all(r, fd, out, f->len) == -1)
		return -1;
	if (f->type != STREAM_AT)
		return 0;
	last = *f;
	r->piece_done = 0;
	if (chan_arena(r->mitm) == NULL ||
	    stream_at_unpack(out, &r->piece) == -1)
		errx(1, "an AT frame of no piece");
	return frame_of_piece(r, f, out);
}

static void
answer_take(
    struct rig_answer *a, const struct stream_frame *f, const uint8_t *p)
{
	size_t n;

	switch (f->type) {
	case STREAM_HEAD:
		a->headed = true;
		a->status = p[0] | (unsigned)p[1] << 8;
		memcpy(a->head, p, f->len);
		a->head_len = f->len;
		break;
	case STREAM_BODY:
		for (n = 0; n < f->len && a->len + n < sizeof(a->body); n++)
			a->body[a->len + n] = p[n];
		a->sum = server_sum(a->sum, p, f->len);
		a->len += f->len;
		break;
	case STREAM_AT: /* rig_frame() returns none */
	case STREAM_FOLLOW:
		break;
	case STREAM_END:
		a->ended = true;
		break;
	case STREAM_FAIL:
		if (f->len == 0)
			errx(1, "a failure without its first byte");
		a->fail_sent = p[0] == STREAM_SENT;
		n = f->len - 1 < 256 ? f->len - 1 : 256;
		memcpy(a->fail, p + 1, n);
		a->fail[n] = '\0';
		break;
	}
}

void
rig_answer(struct rig *r, int fd, uint32_t exchange, struct rig_answer *a)
{
	static uint8_t payload[STREAM_MAX_FRAME];
	struct stream_frame f;

	*a = (struct rig_answer){.status = 0};
	while (!a->ended) {
		if (rig_frame(r, fd, &f, payload) == -1) {
			a->closed = true;
			return;
		}
		if (f.exchange != exchange)
			errx(1, "frame of exchange %u", f.exchange);
		answer_take(a, &f, payload);
	}
}
