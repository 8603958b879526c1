/* SPDX-License-Identifier: ISC */
/*
 * Tests the door to services: which byte leads to which service, and that no
 * other byte, nor what follows it, leads anywhere; and the first packets of
 * clients of a service with a login.
 */
#include <sys/socket.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "egressd/egressd.h"
#include "egressd/front.h"
#include "tap.h"
#include "wire/pg.h"

struct egressd_env egressd_env;

/* The message that was sent last. */
static struct {
	enum msg_type type;
	uint32_t id;
	char text[256], code[33];
	uint16_t port;
	unsigned n;
	uint32_t cancel;
} sent;

/* The answer that a client got last. */
static char answered[1024];
static size_t nanswered;

void
tunnel_stop(struct tunnel *t, struct span answer, const char *error)
{
	(void)error;
	t->dead = true;
	nanswered = answer.len;
	memcpy(answered, answer.p, answer.len);
}

void
tunnel_open(struct tunnel *t, int fd)
{
	t->up.fd = fd;
	t->state = TUNNEL_OPEN;
}

void
worker_send(struct worker *w, enum role role, unsigned index,
    enum msg_type type, const void *msg, int fd)
{
	const struct msg_CONNECT *c = msg;
	const struct msg_CONNECT_DENIED *d = msg;
	const struct msg_LOGIN *l = msg;

	(void)w;
	(void)index;
	(void)fd;
	if (role != ROLE_AUDIT)
		return;
	sent.type = type;
	sent.n++;
	if (type == MSG_CONNECT) {
		sent.id = c->id;
		sent.port = c->port;
		(void)span_copy(c->host, sent.text, sizeof(sent.text));
	} else if (type == MSG_LOGIN) {
		sent.id = l->id;
		sent.port = l->port;
		sent.cancel = l->cancel;
		(void)span_copy(l->timezone, sent.text, sizeof(sent.text));
	} else if (type == MSG_CONNECT_DENIED) {
		(void)span_copy(d->code, sent.code, sizeof(sent.code));
		(void)span_copy(d->target, sent.text, sizeof(sent.text));
	}
}

static void
list_begin(void)
{
	static const struct {
		const char *host;
		uint16_t port;
		bool off;
	} rows[] = {{"127.0.0.1", 5432, false}, {"::1", 6379, false},
	    {"127.0.0.1", 3306, true}};
	struct egressd_env *e = &egressd_env;

	TAILQ_INIT(&e->tunnels);
	e->services = true;
	for (size_t i = 0; i < nitems(rows); i++) {
		if (egress_add(&e->list, span_str(rows[i].host), rows[i].port,
			rows[i].off) == -1)
			exit(99);
		e->names[i][0] = (char)('a' + (char)i);
	}
}

/* Make a stream that has sent these bytes. Returns the sandbox's end. */
static int
stream(struct tunnel *t, const void *bytes, size_t len)
{
	int pair[2];

	memset(t, 0, sizeof(*t));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == -1 ||
	    (len != 0 && write(pair[1], bytes, len) != (ssize_t)len))
		exit(99);
	t->in.fd = pair[0];
	TAILQ_INSERT_TAIL(&egressd_env.tunnels, t, entry);
	memset(&sent, 0, sizeof(sent));
	return pair[1];
}

static void
stream_end(struct tunnel *t, int fd)
{
	TAILQ_REMOVE(&egressd_env.tunnels, t, entry);
	buf_free(&t->up.out);
	buf_free(&t->in.out);
	close(t->in.fd);
	close(fd);
}

static void
test_listed(void)
{
	char rest[16] = "";
	struct tunnel t;
	int fd = stream(&t, "\1early", 6);

	service_read(&t);
	ok(t.state == TUNNEL_DIAL && !t.dead && t.opaque, "it is dialed");
	ok(sent.n == 1 && sent.type == MSG_CONNECT && sent.id == t.id,
	    "after a record");
	is_str(sent.text, "::1", "of its row's address");
	is_int(sent.port, 6379, "and port");
	ok(read(t.in.fd, rest, sizeof(rest)) == 5 &&
		memcmp(rest, "early", 5) == 0,
	    "what follows is left for the service");
	stream_end(&t, fd);
}

static void
test_not_listed(void)
{
	unsigned bad = 0;
	struct tunnel t;
	int fd;

	for (unsigned n = 2; n <= UINT8_MAX; n++) {
		const uint8_t byte = (uint8_t)n;

		fd = stream(&t, &byte, 1);
		service_read(&t);
		bad += !t.dead || t.state != TUNNEL_HEAD || sent.n != 1 ||
		       sent.type != MSG_CONNECT_DENIED || t.id != 0 ||
		       strcmp(sent.code, n == 2 ? "off" : "index") != 0;
		stream_end(&t, fd);
	}
	is_int(bad, 0, "no other byte leads anywhere, and each is recorded");
	is_str(sent.text, "255", "by its number");
}

static void
test_none(void)
{
	struct tunnel t;
	int fd = stream(&t, "", 0);

	service_read(&t);
	ok(!t.dead && sent.n == 0, "without a byte it waits");
	if (shutdown(fd, SHUT_WR) == -1)
		exit(99);
	service_read(&t);
	ok(t.dead && sent.n == 0, "and ends with the stream");
	stream_end(&t, fd);
}

static void
test_limits(void)
{
	static struct tunnel all[PROTO_MAX_STREAMS_EACH + 1];
	static int fds[PROTO_MAX_STREAMS_EACH + 1];
	struct tunnel other;
	unsigned i;
	int fd;

	for (i = 0; i < PROTO_MAX_STREAMS_EACH; i++) {
		if (i == EGRESSD_MAX_DIALS)
			ok(!service_takes(), "so many dials at once");
		fds[i] = stream(&all[i], "\0", 1);
		service_read(&all[i]);
		if (all[i].state != TUNNEL_DIAL)
			break;
	}
	is_int(i, PROTO_MAX_STREAMS_EACH, "so many streams to one service");
	fds[i] = stream(&all[i], "\0", 1);
	service_read(&all[i]);
	ok(all[i].dead && strcmp(sent.code, "limit") == 0, "and no more");
	is_str(sent.text, "a", "and the record names it");
	fd = stream(&other, "\1", 1);
	service_read(&other);
	ok(other.state == TUNNEL_DIAL, "another service is still reached");
	stream_end(&other, fd);
	for (i = 0; i <= PROTO_MAX_STREAMS_EACH; i++) {
		if (i < PROTO_MAX_STREAMS_EACH)
			all[i].state = TUNNEL_OPEN;
		if (i == 0)
			egressd_env.ntunnels = PROTO_MAX_STREAMS;
		stream_end(&all[i], fds[i]);
	}
	ok(!service_takes(), "so many streams in all");
	egressd_env.ntunnels = 0;
	ok(service_takes(), "and others when they have ended");
}

/* Make a stream to the service with a login, whose client sends this. */
static int
client(struct tunnel *t, const void *bytes, size_t len)
{
	int fd = stream(t, "\1", 1);

	buf_init(&t->up.out, EGRESSD_WINDOW);
	buf_init(&t->in.out, EGRESSD_WINDOW);
	service_read(t);
	nanswered = 0;
	if (write(fd, bytes, len) != (ssize_t)len)
		exit(99);
	service_read(t);
	return fd;
}

static bool
told(const char *words)
{
	return span_find(span_of(answered, nanswered), span_str(words)) != NULL;
}

#define LOGIN                                                                  \
	"\0\0\0\64\0\3\0\0user\0app\0database\0shop\0TimeZone\0Asia/Tokyo\0\0"

static void
test_front(void)
{
	static const char other[] = "\0\0\0\27\0\3\0\0user\0postgres\0";
	const struct msg_DOOR door = {
	    .user = SPAN("app"), .database = SPAN("shop")};
	uint8_t cancel[16] = "\0\0\0\20\4\322\26.";
	struct tunnel t, k;
	char got[2];
	int fd, kfd;

	egressd_env.client = front_read;
	is_int(front_add(1, &door), 0, "the service gets a login");
	fd = client(&t, LOGIN, sizeof(LOGIN) - 1);
	ok(t.state == TUNNEL_DIAL && sent.type == MSG_LOGIN && sent.n == 1 &&
		sent.port == 6379,
	    "a login is recorded");
	is_str(sent.text, "Asia/Tokyo", "with the client's values");
	ok(front_open(&t, SPAN("a\0b"), -1) == -1, "parameters without an end");
	buf_reset(&t.in.out, 0);
	ok(front_open(&t, SPAN("a\0b\0"), -1) == 0 && t.state == TUNNEL_OPEN,
	    "it is open");
	is_mem(t.in.out.p + t.in.out.off, t.in.out.len - 11,
	    "R\0\0\0\10\0\0\0\0S\0\0\0\10a\0b\0K\0\0\0\14\0\0\0", 26,
	    "the greeting");
	ok(t.in.taken + t.in.out.len == 0, "which counts no bytes");
	cancel[11] = (uint8_t)t.id;
	memcpy(cancel + 12, t.key, 4);
	kfd = client(&k, cancel, sizeof(cancel));
	ok(sent.type == MSG_LOGIN && sent.cancel == t.id && k.cancels,
	    "its key cancels its query");
	stream_end(&k, kfd);
	cancel[15] ^= 1;
	kfd = client(&k, cancel, sizeof(cancel));
	ok(sent.type == MSG_CONNECT_DENIED && k.dead &&
		strcmp(sent.code, "cancel") == 0,
	    "no other key does");
	stream_end(&k, kfd);
	stream_end(&t, fd);
	fd = client(&t, other, sizeof(other));
	ok(t.dead && strcmp(sent.code, "login") == 0, "another user is refused");
	ok(told("the database shop as user app"), "and told which one to name");
	stream_end(&t, fd);
	fd = client(&t, "\0\0\0\10\4\322\26/", 8);
	ok(read(fd, got, 2) == 1 && got[0] == 'N' && !t.dead && sent.n == 0,
	    "TLS is declined, and the client may go on");
	if (write(fd, LOGIN, sizeof(LOGIN) - 1) == -1)
		exit(99);
	service_read(&t);
	ok(sent.type == MSG_LOGIN, "and does");
	stream_end(&t, fd);
}

int
main(void)
{
	list_begin();
	test_listed();
	test_not_listed();
	test_none();
	test_limits();
	test_front();
	return tap_done();
}
