/* SPDX-License-Identifier: ISC */
#include "unit/mitmd/rig.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/x509v3.h>

#include "common/confine/confine.h"
#include "mitmd/provider/provider.h"

static const char rig_provider[] =
    "{\"name\":\"rig\",\"host\":\"" RIG_HOST "\",\"credential\":{"
    "\"env\":\"RIG_KEY\",\"sentinel\":\"sk-rig-\",\"headers\":["
    "{\"name\":\"x-api-key\"},"
    "{\"name\":\"authorization\",\"prefix\":\"Bearer \"}]},"
    "\"requestHeaders\":[\"accept\",\"content-type\",\"x-rig-*\"],"
    "\"responseHeaders\":[\"content-type\",\"request-id\"],"
    "\"routes\":[{\"method\":\"POST\",\"path\":\"/v1/messages\","
    "\"query\":{\"beta\":[\"true\"]},"
    "\"body\":{\"types\":[\"application/json\"],\"max\":1000000}},"
    "{\"method\":\"GET\",\"path\":\"/v1/models/*\"},"
    "{\"method\":\"GET\",\"path\":\"/v1/settings\",\"answer\":404},"
    "{\"method\":\"POST\",\"path\":\"/v1/turns\",\"body\":{"
    "\"types\":[\"application/json\"],\"max\":1000000,"
    "\"dialect\":\"anthropic\"}}]}";

struct rig rig;

static int
on_hello(struct chan *c, const struct msg_HELLO *m)
{
	rig.hello = m->proto == proto_id();
	rig.flags = m->flags;
	return 0;
}

static int
on_ca(struct chan *c, const struct msg_CA *m)
{
	rig.nca = m->der.len;
	memcpy(rig.ca, m->der.p, rig.nca);
	return 0;
}

static int
on_request(struct chan *c, const struct msg_REQUEST *m)
{
	struct rig_request *r = &rig.req;

	r->count++;
	r->stream = m->stream;
	r->exchange = m->exchange;
	r->provider = m->provider;
	r->route = m->route;
	r->length = m->length;
	span_copy(m->path, r->path, sizeof(r->path));
	span_copy(m->query, r->query, sizeof(r->query));
	r->nheaders = m->headers.len < sizeof(r->headers) ? m->headers.len : 0;
	memcpy(r->headers, m->headers.p, r->nheaders);
	return 0;
}

static int
on_alarm(struct chan *c, const struct msg_ALARM *m)
{
	rig.alarms++;
	return 0;
}

static int
on_denied(struct chan *c, const struct msg_DENIED *m)
{
	rig.denied++;
	rig.id = m->id;
	return span_copy(m->code, rig.code, sizeof(rig.code));
}

static int
on_host_ask(struct chan *c, const struct msg_HOST_ASK *m)
{
	rig.wanted++;
	(void)span_copy(m->agent, rig.agent, sizeof(rig.agent));
	return span_copy(m->host, rig.host, sizeof(rig.host));
}

static int
on_usage(struct chan *c, const struct msg_USAGE *m)
{
	rig.usages += m->last;
	return 0;
}

static int
on_stream_open(struct chan *c, const struct msg_STREAM_OPEN *msg)
{
	struct msg_STREAM m = {.stream = msg->stream};
	int pair[2];

	rig.opens++;
	rig.stream_id = m.stream;
	if (msg->digest.len == sizeof(rig.digest))
		memcpy(rig.digest, msg->digest.p,
		    sizeof(rig.digest));
	if (rig.mute)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	    pair) == -1)
		err(1, "socketpair");
	if (rig.stream != -1)
		close(rig.stream);
	rig.stream = pair[0];
	return chan_send(c, MSG_STREAM, &m, pair[1]);
}

static void
on_closed(struct chan *c, const char *why)
{
	rig.ended = true;
	if (why != NULL)
		snprintf(rig.why, sizeof(rig.why), "%s", why);
}

static struct chan *
rig_chan(int fd, enum role self, enum proto_memory memory)
{
	/* clang-format off */
	static const struct chan_handler handlers[] = {
		HANDLER(HELLO,		on_hello),
		HANDLER(CA,		on_ca),
		HANDLER(REQUEST,	on_request),
		HANDLER(ALARM,		on_alarm),
		HANDLER(DENIED,		on_denied),
		HANDLER(STREAM_OPEN,	on_stream_open),
		HANDLER(USAGE,		on_usage),
		HANDLER(HOST_ASK,	on_host_ask),
	};
	/* clang-format on */
	static const struct chan_ops ops = {handlers,
	    nitems(handlers), on_closed};
	struct chan *c;

	if ((c = chan_new(&rig.loop, fd, self, ROLE_MITM, 0, &ops, NULL)) ==
	    NULL || chan_memory_take(c, memory) == -1 || chan_open(c) == -1)
		err(1, "channel");
	return c;
}

static struct chan *
rig_peer(enum role role)
{
	struct msg_PEER m = {.role = (uint8_t)role};
	int pair[2];

	if (role == ROLE_KEY && getenv(RIG_ARENA) != NULL)
		m.memory = PROTO_MEMORY_ARENA;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, pair) == -1 ||
	    chan_memory_give(pair, (enum proto_memory)m.memory) == -1)
		err(1, "socketpair");
	chan_send(rig.sup, MSG_PEER, &m, pair[1]);
	return rig_chan(pair[0], role, (enum proto_memory)m.memory);
}

void
rig_turn(int ms)
{
	if (loop_once(&rig.loop, ms) == -1)
		err(1, "loop");
}

bool
rig_until(const bool *flag)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;

	while (!*flag && !rig.ended && clock_mono_us() < end)
		rig_turn(20);
	return *flag;
}

bool
rig_alive(void)
{
	rig_turn(0);
	return !rig.ended;
}

static void
rig_spawn(const char *program)
{
	int pair[2], null;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, pair) == -1)
		err(1, "socketpair");
	if ((rig.pid = fork()) == -1)
		err(1, "fork");
	if (rig.pid == 0) {
		char *argv[] = {(char *)"mitmd", NULL}, *envp[] = {NULL};

		null = open("/dev/null", O_RDONLY);
		dup2(null, 0);
		dup2(2, 1);
		dup2(pair[1], 3);
		fcntl(3, F_SETFD, 0);
		if (rig_nofile != 0 && setrlimit(RLIMIT_NOFILE,
		    &(struct rlimit){rig_nofile, rig_nofile}) == -1)
			err(1, "setrlimit");
		execve(program, argv, envp);
		err(1, "%s", program);
	}
	close(pair[1]);
	rig.sup = rig_chan(pair[0], ROLE_SUP, PROTO_MEMORY_NONE);
}

static void
rig_listen(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct msg_LISTEN m = {0};
	char dir[] = "/tmp/mitm-rig-XXXXXX";
	int fd;

	if (mkdtemp(dir) == NULL)
		err(1, "mkdtemp");
	snprintf(rig.path, sizeof(rig.path), "%s/s", dir);
	memcpy(sa.sun_path, rig.path, strlen(rig.path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == -1 ||
	    listen(fd, 128) == -1)
		err(1, "listen");
	chan_send(rig.sup, MSG_LISTEN, &m, fd);
}

/* Make the agent trust the session's CA and no other. */
static void
rig_trust(void)
{
	const uint8_t *p = rig.ca;
	X509 *ca;

	if ((ca = d2i_X509(NULL, &p, (long)rig.nca)) == NULL ||
	    (rig.client = SSL_CTX_new(TLS_client_method())) == NULL ||
	    X509_STORE_add_cert(SSL_CTX_get_cert_store(rig.client), ca) != 1)
		errx(1, "the CA is none");
	X509_free(ca);
	SSL_CTX_set_verify(rig.client, SSL_VERIFY_PEER, NULL);
}

bool rig_open, rig_asks;
const char *rig_unasked = "";
unsigned rig_nofile;

void
rig_start(const char *program)
{
	struct msg_PROVIDER provider = {.name = SPAN("rig"),
	    .json = SPAN(rig_provider)};
	struct msg_SENTINEL sentinel = {.key = SPAN(RIG_KEY)};
	struct msg_SEAL seal = {.open = rig_open,
	    .ask = rig_asks,
	    .unasked = span_str(rig_unasked)};
	struct msg_START start = {0};
	bool ready;

	signal(SIGPIPE, SIG_IGN);
	rig.stream = -1;
	if (loop_init(&rig.loop, 4) == -1)
		err(1, "loop");
	rig_spawn(program);
	if (!rig_until(&rig.hello))
		errx(1, "no HELLO");
	rig.audit = rig_peer(ROLE_AUDIT);
	rig.key = rig_peer(ROLE_KEY);
	if (rig_asks)
		rig.policy = rig_peer(ROLE_POLICY);
	chan_send(rig.sup, MSG_PROVIDER, &provider, -1);
	chan_send(rig.sup, MSG_SENTINEL, &sentinel, -1);
	chan_send(rig.sup, MSG_SEAL, &seal, -1);
	rig_listen();
	do {
		rig_turn(20);
		ready = rig.nca != 0;
	} while (!ready && !rig.ended);
	if (!ready)
		errx(1, "no CA: %s", rig.why);
	rig_trust();
	chan_send(rig.sup, MSG_START, &start, -1);
	chan_phase(rig.sup, PHASE_RUN);
	chan_phase(rig.audit, PHASE_RUN);
	chan_phase(rig.key, PHASE_RUN);
	if (rig_asks)
		chan_phase(rig.policy, PHASE_RUN);
}

void
rig_stop(void)
{
	char *slash;

	if (rig.pid > 0) {
		kill(rig.pid, SIGKILL);
		waitpid(rig.pid, NULL, 0);
	}
	unlink(rig.path);
	if ((slash = strrchr(rig.path, '/')) != NULL) {
		*slash = '\0';
		rmdir(rig.path);
	}
	chan_free(rig.sup);
	chan_free(rig.audit);
	chan_free(rig.key);
	chan_free(rig.policy);
	SSL_CTX_free(rig.client);
	if (rig.stream != -1)
		close(rig.stream);
	loop_free(&rig.loop);
}

bool
rig_counted(const unsigned *what, unsigned count)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;

	while (*what < count && !rig.ended && clock_mono_us() < end)
		rig_turn(20);
	return *what == count;
}

bool
rig_requested(unsigned count)
{
	return rig_counted(&rig.req.count, count);
}

/*
 * Read exactly `want` bytes of the stream, or fewer if it closes or 30 s pass.
 */
static size_t
rig_stream_read(uint8_t *dst, size_t want)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	size_t len = 0;
	ssize_t n;

	while (len < want && clock_mono_us() < end) {
		n = read(rig.stream, dst + len, want - len);
		if (n == 0 || (n == -1 && errno != EAGAIN))
			break;
		if (n > 0)
			len += (size_t)n;
		else
			rig_turn(5);
	}
	return len;
}

/* Returns the number of bytes in the slot that the rest of a frame names. */
static size_t
rig_piece(uint8_t *dst, size_t len)
{
	uint8_t frame[STREAM_AT_LEN];
	struct arena *a = chan_arena(rig.key);
	struct arena_piece p;

	if (rig_stream_read(frame, sizeof(frame)) != sizeof(frame) ||
	    stream_at_unpack(frame, &p) == -1 || p.len > len || a == NULL ||
	    !arena_copy(a, &p, 0, dst, p.len))
		return 0;
	arena_done(a, &p);
	return p.len;
}

size_t
rig_body(uint8_t *dst, size_t len)
{
	uint8_t head[STREAM_HEADER];
	struct stream_frame f;
	size_t done = 0, n;

	while (done < len) {
		if (rig_stream_read(head, sizeof(head)) != sizeof(head) ||
		    stream_unpack(head, &f) == -1 ||
		    f.exchange != rig.req.exchange)
			break;
		if (f.type == STREAM_AT) {
			if ((n = rig_piece(dst + done, len - done)) == 0)
				break;
			rig.pieces++;
			done += n;
			continue;
		}
		if (f.type != STREAM_BODY || f.len > len - done)
			break;
		n = rig_stream_read(dst + done, f.len);
		done += n;
		if (n != f.len)
			break;
	}
	return done;
}

/* Put bytes of a body in a slot. Returns the length of `frame`, 0 if all are taken. */
static size_t
rig_at(uint8_t *frame, const void *p, size_t len)
{
	struct arena *a = chan_arena(rig.key);
	struct arena_piece piece;
	uint8_t *at;

	if (a == NULL || len == 0 ||
	    (at = arena_take(a, rig.stream_id, &piece)) == NULL)
		return 0;
	memcpy(at, p, len);
	piece.len = (uint32_t)len;
	stream_at_pack(frame, rig.req.exchange, &piece);
	rig.pieces++;
	return STREAM_HEADER + STREAM_AT_LEN;
}

void
rig_frame(enum stream_type type, const void *p, size_t len)
{
	struct stream_frame f = {rig.req.exchange, type, (uint32_t)len};
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	static uint8_t bytes[STREAM_HEADER + STREAM_MAX_FRAME];
	size_t done = 0, all = 0;
	ssize_t n;

	if (type == STREAM_BODY)
		all = rig_at(bytes, p, len);
	if (all == 0) {
		stream_pack(bytes, &f);
		if (len != 0)
			memcpy(bytes + STREAM_HEADER, p, len);
		all = STREAM_HEADER + len;
	}
	while (done < all && clock_mono_us() < end) {
		n = write(rig.stream, bytes + done, all - done);
		if (n > 0)
			done += (size_t)n;
		else
			rig_turn(5);
	}
}

void
rig_head(unsigned status, unsigned framing, uint64_t length)
{
	rig_head_of("text/event-stream", status, framing, length);
}

void
rig_head_of(const char *type, unsigned status, unsigned framing,
    uint64_t length)
{
	struct buf b;
	uint8_t head[11] = {(uint8_t)status, (uint8_t)(status >> 8),
	    (uint8_t)framing};

	for (unsigned i = 0; i < 8; i++)
		head[3 + i] = (uint8_t)(length >> (8 * i));
	buf_init(&b, 4096);
	buf_add(&b, head, sizeof(head));
	provider_pack(&b, SPAN("content-type"), span_str(type));
	rig_frame(STREAM_HEAD, buf_span(&b).p, b.len);
	buf_free(&b);
}
