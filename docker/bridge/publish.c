/* SPDX-License-Identifier: ISC */
/*
 * Published ports: some idle connections to portd, because nothing outside may
 * connect into the sandbox.  When one of them brings the number of a port, this
 * connects to the port, says whether something listens there, and copies
 * bytes.  Everything here is as untrusted as the program that listens.
 *
 * `ic-bridge serve` does the same for a service, with dialerd in portd's place.
 * Then the first connections wait until the service listens, and the session
 * has ended when nobody takes connections any more.
 */
#include "bridge.h"

#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/publish_stream.h"

#define PUBLISH_AGAIN_MS 1000
#define PUBLISH_LATER_MS 30 /* while a service starts */

enum stream_state {
	STREAM_IDLE,	/* waits for the number of a port */
	STREAM_FIRST,	/* connects to 127.0.0.1 */
	STREAM_SECOND,	/* connects to ::1 */
	STREAM_LATER,	/* the service does not listen yet */
	STREAM_OPEN,
};

struct stream {
	enum stream_state state;
	int box, tcp;
	uint16_t port;
	size_t at;		/* index of its first poll entry; 0: none yet */
	struct flow *in, *out;	/* from the browser, and to it */
};

static struct {
	uint16_t ports[PUBLISH_MAX_PORTS];
	unsigned nports;
	char target[BRIDGE_PATH];
	struct stream *streams[PUBLISH_STREAMS];
	unsigned idle;
	int64_t again; /* when to connect again, in ms; 0: at once */
	bool awaits;   /* a service has not begun to listen */
	bool later;    /* there are streams in STREAM_LATER */
	int64_t retry; /* and when they connect again, in ms */
	bool lost;     /* nobody takes connections */
} publish_env;

static int64_t
publish_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool
bridge_publish_ports(const char *text)
{
	return ports_read(
	    text, publish_env.ports, PUBLISH_MAX_PORTS, &publish_env.nports);
}

int
publish_target(const char *socket)
{
	if (strlen(socket) >= sizeof(publish_env.target)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(publish_env.target, socket, strlen(socket) + 1);
	return 0;
}

void
publish_await(void)
{
	publish_env.awaits = true;
}

bool
publish_lost(void)
{
	return publish_env.lost;
}

static void
stream_close(size_t i)
{
	struct stream *s = publish_env.streams[i];

	if (s->state == STREAM_IDLE)
		publish_env.idle--;
	close(s->box);
	if (s->tcp != -1)
		close(s->tcp);
	free(s->in);
	free(s->out);
	free(s);
	publish_env.streams[i] = NULL;
}

/* Add an idle connection.  Returns false if that is impossible now. */
static bool
stream_add(size_t i)
{
	struct stream *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return false;
	s->tcp = -1;
	if ((s->box = unix_connect(publish_env.target, SOCK_NONBLOCK)) == -1) {
		publish_env.lost = errno == ECONNREFUSED || errno == ENOENT;
		free(s);
		return false;
	}
	publish_env.streams[i] = s;
	publish_env.idle++;
	return true;
}

static void
publish_fill(void)
{
	if (publish_env.nports == 0 ||
	    (publish_env.again != 0 && publish_now() < publish_env.again))
		return;
	publish_env.again = 0;
	for (size_t i = 0;
	     i < PUBLISH_STREAMS && publish_env.idle < PUBLISH_IDLE; i++)
		if (publish_env.streams[i] == NULL && !stream_add(i)) {
			publish_env.again = publish_now() + PUBLISH_AGAIN_MS;
			return;
		}
}

int
publish_timeout(void)
{
	int64_t ms;

	if (publish_env.later)
		return PUBLISH_LATER_MS;
	if (publish_env.again == 0)
		return -1;
	ms = publish_env.again - publish_now();
	return ms < 0 ? 0 : (int)ms;
}

/* Begin to connect to the port.  Returns -1 with errno set if that failed. */
static int
stream_dial(struct stream *s, enum stream_state state)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET,
	    .sin_port = htons(s->port),
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
	    .sin6_port = htons(s->port),
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool first = state == STREAM_FIRST;
	int one = 1;

	if (s->tcp != -1)
		close(s->tcp);
	s->state = state;
	s->tcp = socket(first ? AF_INET : AF_INET6,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->tcp == -1)
		return -1;
	setsockopt(s->tcp, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(s->tcp,
		first ? (struct sockaddr *)&in4 : (struct sockaddr *)&in6,
		first ? sizeof(in4) : sizeof(in6)) == -1 &&
	    errno != EINPROGRESS)
		return -1;
	return 0;
}

/* The connection exists: report that, and copy from now on. */
static bool
stream_open(struct stream *s)
{
	if ((s->in = calloc(1, sizeof(*s->in))) == NULL ||
	    (s->out = calloc(1, sizeof(*s->out))) == NULL)
		return false;
	s->in->from = s->out->to = s->box;
	s->in->to = s->out->from = s->tcp;
	s->out->bytes[0] = PUBLISH_YES;
	s->out->len = 1;
	s->state = STREAM_OPEN;
	publish_env.awaits = false;
	return true;
}

/*
 * Nothing listens on the port: wait for a service that starts; otherwise say
 * so. Returns false to close the stream.
 */
static bool
stream_refused(struct stream *s)
{
	static const uint8_t no = PUBLISH_NO;

	if (publish_env.awaits) {
		s->state = STREAM_LATER;
		publish_env.later = true;
		return true;
	}
	(void)send(s->box, &no, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return false;
}

/* Returns false if nothing listens on the port, after it has said so. */
static bool
stream_dialed(struct stream *s)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(s->tcp, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
	    error == 0)
		return stream_open(s);
	if (s->state == STREAM_FIRST && stream_dial(s, STREAM_SECOND) == 0)
		return true;
	return stream_refused(s);
}

/* A number of a port has come, or the end.  Returns false to close it. */
static bool
stream_asked(struct stream *s)
{
	uint8_t n;
	ssize_t got = recv(s->box, &n, 1, 0);

	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got != 1) {
		/* portd wants no more of them at the moment. */
		publish_env.again = publish_now() + PUBLISH_AGAIN_MS;
		return false;
	}
	if (n >= publish_env.nports)
		return false;
	s->port = publish_env.ports[n];
	publish_env.idle--;
	if (publish_env.awaits && !health_ok())
		return stream_refused(s);
	if (stream_dial(s, STREAM_FIRST) == 0 ||
	    stream_dial(s, STREAM_SECOND) == 0)
		return true;
	return stream_refused(s);
}

/* Try those again whose service did not listen yet. */
static void
publish_late(void)
{
	const int64_t now = publish_now();

	if (!publish_env.later || now < publish_env.retry || !health_ok())
		return;
	publish_env.later = false;
	publish_env.retry = now + PUBLISH_LATER_MS;
	for (size_t i = 0; i < PUBLISH_STREAMS; i++) {
		struct stream *s = publish_env.streams[i];

		if (s != NULL && s->state == STREAM_LATER &&
		    stream_dial(s, STREAM_FIRST) == -1 &&
		    stream_dial(s, STREAM_SECOND) == -1 && !stream_refused(s))
			stream_close(i);
	}
}

nfds_t
publish_poll(struct pollfd *p, nfds_t first)
{
	nfds_t n = first;

	publish_late();
	publish_fill();
	for (size_t i = 0; i < PUBLISH_STREAMS; i++) {
		struct stream *s = publish_env.streams[i];
		bool open = s != NULL && s->state == STREAM_OPEN;

		if (s == NULL)
			continue;
		s->at = n;
		for (int side = 0; side < 2; side++) {
			int fd = side == 0 ? s->box : s->tcp;
			short want = 0;

			if (open)
				want = (short)(flow_wants(s->in, fd) |
					       flow_wants(s->out, fd));
			else if (s->state == STREAM_IDLE ||
				 s->state == STREAM_LATER)
				want = side == 0 ? POLLIN : 0;
			else
				want = side == 1 ? POLLOUT : 0;
			p[n++] = (struct pollfd){
			    .fd = want == 0 ? -1 : fd, .events = want};
		}
	}
	return n - first;
}

/* Returns false if the stream has ended. */
static bool
stream_move(struct stream *s, short box, short tcp)
{
	switch (s->state) {
	case STREAM_IDLE:
		return box == 0 || stream_asked(s);
	case STREAM_FIRST:
	case STREAM_SECOND:
		return tcp == 0 || stream_dialed(s);
	case STREAM_LATER:
		/* Nothing comes before PUBLISH_YES but the end. */
		return box == 0;
	case STREAM_OPEN:
		break;
	}
	return (!flow_ready(box, tcp) || flow_move(s->in)) &&
	       (!flow_ready(tcp, box) || flow_move(s->out)) &&
	       !(s->in->done && s->out->done);
}

void
publish_move(const struct pollfd *p)
{
	for (size_t i = 0; i < PUBLISH_STREAMS; i++) {
		struct stream *s = publish_env.streams[i];

		if (s != NULL && s->at != 0 &&
		    !stream_move(s, p[s->at].revents, p[s->at + 1].revents))
			stream_close(i);
	}
}
