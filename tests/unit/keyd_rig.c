/* SPDX-License-Identifier: ISC */
/* The played peers of keyd. */
#include "keyd_rig.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <openssl/sha.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "provider.h"
#include "worker.h"

#define WAIT_MS 20000U

static struct rig *rig;

static int
on_hello(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	rig->hello = true;
	rig->flags = m->HELLO.flags;
	return 0;
}

static int
on_state(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	rig->nstates++;
	rig->state = m->KEY_STATE.state;
	rig->length = m->KEY_STATE.length;
	return span_copy(m->KEY_STATE.text, rig->state_text,
	    sizeof(rig->state_text));
}

static int
on_spent(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	rig->spent = m->SPENT;
	return 0;
}

static int
on_alarm(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)fd;
	rig->nalarms++;
	return span_copy(m->ALARM.kind, rig->alarm, sizeof(rig->alarm));
}

static int
on_end(struct chan *c, const union proto_any *m, int fd)
{
	const struct msg_EXCHANGE_END *e = &m->EXCHANGE_END;

	(void)c;
	(void)fd;
	rig->nends++;
	rig->end = (struct rig_end){.stream = e->stream,
	    .exchange = e->exchange, .status = e->status, .sent = e->sent,
	    .received = e->received};
	return span_copy(e->error, rig->end.error, sizeof(rig->end.error));
}

static int
on_stream(struct chan *c, const union proto_any *m, int fd)
{
	(void)c;
	(void)m;
	rig->stream_fd = fd;
	return 0;
}

static int
on_dial(struct chan *c, const union proto_any *m, int fd)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons(rig->port)};
	struct msg_DIALED ok = {.id = m->DIAL.id, .address = SPAN("127.0.0.1")};
	struct msg_DIAL_FAIL bad = {.id = m->DIAL.id};

	(void)fd;
	rig->ndials++;
	rig->dialed = m->DIAL.which;
	if (rig->dial_error != NULL) {
		bad.text = span_str(rig->dial_error);
		return chan_send(c, MSG_DIAL_FAIL, &bad, -1);
	}
	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) == -1)
		err(1, "dial");
	return chan_send(c, MSG_DIALED, &ok, fd);
}

static void
on_closed(struct chan *c, const char *why)
{
	if (why != NULL)
		errx(1, "keyd broke the protocol: %s", why);
	(void)c;
	rig->lost = true;
}

static const struct chan_handler handlers[] = {
    {MSG_HELLO, on_hello}, {MSG_KEY_STATE, on_state}, {MSG_ALARM, on_alarm},
    {MSG_SPENT, on_spent},
    {MSG_EXCHANGE_END, on_end}, {MSG_STREAM, on_stream}, {MSG_DIAL, on_dial}};
static const struct chan_ops ops = {handlers,
    sizeof(handlers) / sizeof(handlers[0]), on_closed};

static struct chan *
end(enum role self, int fd)
{
	struct chan *c;

	if ((c = chan_new(&rig->loop, fd, self, ROLE_KEY, 0, &ops, NULL)) ==
	    NULL || chan_open(c) == -1)
		err(1, "chan");
	return c;
}

static void
pair(int fds[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, fds) == -1)
		err(1, "socketpair");
}

static struct chan *
peer(enum role role)
{
	struct msg_PEER m = {.role = (uint8_t)role};
	struct chan *c;
	int fds[2];

	pair(fds);
	c = end(role, fds[0]);
	if (chan_send(rig->sup, MSG_PEER, &m, fds[1]) == -1)
		err(1, "PEER");
	return c;
}

static void
spawn(const char *program)
{
	static char *const none[] = {NULL};
	char *argv[] = {(char *)(uintptr_t)"keyd", NULL};
	int fds[2];

	pair(fds);
	if ((rig->pid = fork()) == -1)
		err(1, "fork");
	if (rig->pid == 0) {
		/* A log in a file would meet its RLIMIT_FSIZE. */
		if (dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 2) == -1)
			_exit(127);
		if (dup2(fds[1], WORKER_FD) == -1 || close_range(4, ~0U, 0))
			_exit(127);
		execve(program, argv, none);
		_exit(127);
	}
	close(fds[1]);
	rig->sup = end(ROLE_SUP, fds[0]);
}

/* Slowly, as a command would write it. */
static void
secret(const char *key)
{
	struct msg_SECRET m = {.proto_pad_ = 0};
	size_t half = strlen(key) / 2;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) == -1 ||
	    fcntl(fds[0], F_SETFL, O_NONBLOCK) == -1)
		err(1, "pipe");
	if (chan_send(rig->sup, MSG_SECRET, &m, fds[0]) == -1)
		err(1, "SECRET");
	for (int i = 0; i < 3; i++)
		rig_turn(rig);
	if (write(fds[1], key, half) != (ssize_t)half)
		err(1, "pipe");
	for (int i = 0; i < 3; i++)
		rig_turn(rig);
	if (write(fds[1], key + half, strlen(key) - half) !=
	    (ssize_t)(strlen(key) - half))
		err(1, "pipe");
	close(fds[1]);
	if (!rig_until(rig, &rig->nstates, rig->nstates + 1))
		errx(1, "no KEY_STATE");
}

void
rig_start(struct rig *r, const char *program, const struct rig_upstream *u,
    const char *key)
{
	struct msg_PROVIDER provider = {.name = SPAN("t")};
	struct msg_UPSTREAM up = {.host = span_str(u->host), .port = u->port,
	    .tls = u->tls, .prefix = span_str(u->prefix), .reuse = u->reuse};
	struct msg_ROOTS roots = {.pem = span_str(u->roots)};
	struct msg_START start = {.proto_pad_ = 0};
	const char *text = r->provider;

	*r = (struct rig){.provider = text, .port = u->port, .stream_fd = -1};
	rig = r;
	if (loop_init(&r->loop, 4) == -1)
		err(1, "loop");
	SHA256((const uint8_t *)text, strlen(text), r->digest);
	spawn(program);
	if (!rig_until_true(r, &r->hello))
		errx(1, "no HELLO");
	r->mitm = peer(ROLE_MITM);
	r->audit = peer(ROLE_AUDIT);
	r->dial = peer(ROLE_DIAL);
	provider.json = span_str(text);
	if (chan_send(r->sup, MSG_PROVIDER, &provider, -1) == -1)
		err(1, "configuration");
	for (; up.which <= u->more; up.which++)
		if (chan_send(r->sup, MSG_UPSTREAM, &up, -1) == -1)
			err(1, "configuration");
	if (key != NULL)
		secret(key);
	if (chan_send(r->sup, MSG_START, &start, -1) == -1)
		err(1, "START");
	chan_phase(r->sup, PHASE_RUN);
	chan_phase(r->mitm, PHASE_RUN);
	chan_phase(r->audit, PHASE_RUN);
	chan_phase(r->dial, PHASE_RUN);
	/* After READY, as icsupervisor does. */
	if (u->tls && chan_send(r->sup, MSG_ROOTS, &roots, -1) == -1)
		err(1, "ROOTS");
}

void
rig_stop(struct rig *r)
{
	chan_free(r->sup);
	chan_free(r->mitm);
	chan_free(r->audit);
	chan_free(r->dial);
	kill(r->pid, SIGKILL);
	(void)waitpid(r->pid, NULL, 0);
	loop_free(&r->loop);
}

void
rig_turn(struct rig *r)
{
	rig = r;
	if (loop_once(&r->loop, 10) == -1)
		err(1, "loop");
}

bool
rig_until(struct rig *r, const unsigned *what, unsigned n)
{
	uint64_t end_at = clock_mono_us() + WAIT_MS * 1000;

	while (*what < n && clock_mono_us() < end_at && !r->lost)
		rig_turn(r);
	return *what >= n;
}

bool
rig_until_true(struct rig *r, const bool *what)
{
	uint64_t end_at = clock_mono_us() + WAIT_MS * 1000;

	while (!*what && clock_mono_us() < end_at &&
	    (!r->lost || what == &r->lost))
		rig_turn(r);
	return *what;
}

int
rig_stream(struct rig *r, uint32_t stream)
{
	struct msg_STREAM_OPEN m = {.stream = stream,
	    .digest = span_of(r->digest, sizeof(r->digest))};

	r->stream_fd = -1;
	if (chan_send(r->mitm, MSG_STREAM_OPEN, &m, -1) == -1)
		err(1, "STREAM_OPEN");
	for (int i = 0; i < 1000 && r->stream_fd == -1 && !r->lost; i++)
		rig_turn(r);
	return r->stream_fd;
}

void
rig_request(struct rig *r, uint32_t stream, uint32_t exchange, unsigned route,
    const char *path, const char *query, uint64_t length)
{
	struct msg_REQUEST_GO m = {.stream = stream, .exchange = exchange,
	    .route = (uint16_t)route, .path = span_str(path),
	    .query = span_str(query), .length = length,
	    .host = (uint8_t)r->host, .body = r->digest_of_body,
	    .asked = r->asked, .refs = r->refs};
	struct buf b;

	buf_init(&b, 4096);
	if (strstr(r->provider, "\"credential\"") != NULL)
		provider_pack(&b, SPAN(":credential"), SPAN("0"));
	provider_pack(&b, SPAN("accept"), SPAN("*/*"));
	if (length != 0)
		provider_pack(&b, SPAN("content-type"),
		    r->type != NULL ? span_str(r->type) :
		    SPAN("application/json; charset=utf-8"));
	m.headers = buf_span(&b);
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
	uint8_t head[STREAM_HEADER];

	stream_pack(head, &f);
	write_all(r, fd, head, sizeof(head));
	write_all(r, fd, p, n);
}

static int
read_all(struct rig *r, int fd, uint8_t *p, size_t n)
{
	uint64_t end_at = clock_mono_us() + WAIT_MS * 1000;
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

int
rig_frame(struct rig *r, int fd, struct stream_frame *f, uint8_t *out)
{
	uint8_t head[STREAM_HEADER];

	if (read_all(r, fd, head, sizeof(head)) == -1 ||
	    stream_unpack(head, f) == -1)
		return -1;
	return read_all(r, fd, out, f->len);
}

static void
answer_take(struct rig_answer *a, const struct stream_frame *f,
    const uint8_t *p)
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
	case STREAM_END:
		a->ended = true;
		break;
	case STREAM_FAIL:
		n = f->len < 256 ? f->len : 256;
		memcpy(a->fail, p, n);
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
