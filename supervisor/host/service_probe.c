/* SPDX-License-Identifier: ISC */
/*
 * Questions to a service, each on a connection of its own and all at the same
 * time: one only listens for a greeting, the others say what their protocol
 * begins with. The first bytes of the answers are compared with known ones, and
 * nothing else is done with them.
 */
#include "host/service_look.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/loop.h"
#include "common/span.h"

#define PROBE_MS 300U     /* for all answers */
#define PROBE_FAR_MS 900U /* the same on another machine */
#define PROBE_ANSWER 1024U

enum probe {
	PROBE_GREETING,
	PROBE_POSTGRES,
	PROBE_REDIS,
	PROBE_DEBUGGER,
	PROBE_ENGINE,
	PROBES = SERVICE_PROBES,
};

/* clang-format off */
static const struct span probe_says[PROBES] = {
	[PROBE_GREETING] = SPAN(""),
	/* SSLRequest */
	[PROBE_POSTGRES] = SPAN("\0\0\0\x08\x04\xd2\x16\x2f"),
	[PROBE_REDIS] = SPAN("PING\r\n"),
	[PROBE_DEBUGGER] = SPAN("GET /json/version HTTP/1.1\r\n"
	    "Host: 127.0.0.1\r\nConnection: close\r\n\r\n"),
	[PROBE_ENGINE] = SPAN("GET /_ping HTTP/1.1\r\n"
	    "Host: 127.0.0.1\r\nConnection: close\r\n\r\n"),
};

/* Answers that show what it is. */
static const struct {
	enum probe probe;
	bool anywhere; /* in the answer; otherwise it begins with it */
	struct span text;
	bool refused;
	const char *kind, *can;
} probe_answers[] = {
	{PROBE_ENGINE, true, SPAN("\r\nApi-Version: "), true,
	    "the API of Docker or Podman, which starts programs as root", NULL},
	{PROBE_ENGINE, true, SPAN("\r\nLibpod-Api-Version: "), true,
	    "the API of Podman, which starts programs", NULL},
	{PROBE_DEBUGGER, true, SPAN("\"webSocketDebuggerUrl\""), true,
	    "a debugger of Chrome or Node, which runs programs", NULL},
	{PROBE_DEBUGGER, true, SPAN("\"Protocol-Version\""), true,
	    "a debugger of Chrome or Node, which runs programs", NULL},
	{PROBE_GREETING, false, SPAN("RFB 00"), true,
	    "a screen (VNC)", NULL},
	{PROBE_GREETING, false, SPAN("SSH-2.0-"), false, "an SSH server",
	    "whoever has a password or key for it runs programs on this "
	    "machine"},
	{PROBE_GREETING, true, SPAN("SMTP"), false, "a mail server",
	    "if it sends mail, the agent can send mail in your name"},
	{PROBE_GREETING, true, SPAN("mysql_native_password"), false,
	    "MySQL or MariaDB",
	    "a user with the right FILE reads and writes files of the "
	    "server's user"},
	{PROBE_GREETING, true, SPAN("caching_sha2_password"), false, "MySQL",
	    "a user with the right FILE reads and writes files of the "
	    "server's user"},
	{PROBE_REDIS, false, SPAN("+PONG"), false, "Redis without a password",
	    "whoever reaches it can make it write files (CONFIG SET dir) and, "
	    "in older versions, load modules, as the server's user"},
	{PROBE_REDIS, false, SPAN("-NOAUTH"), false, "Redis with a password",
	    "a user with the right CONFIG can make it write files as the "
	    "server's user"},
};
/* clang-format on */

struct asked {
	uint8_t answer[PROBE_ANSWER];
	size_t len;
	bool said;
};

/* Begin to connect. Returns -1 if that is impossible. */
static int
probe_connect(const char *address, uint16_t port)
{
	struct sockaddr_in in4 = {
	    .sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {
	    .sin6_family = AF_INET6, .sin6_port = htons(port)};
	const bool four = inet_pton(AF_INET, address, &in4.sin_addr) == 1;
	int fd;

	if (!four && inet_pton(AF_INET6, address, &in6.sin6_addr) != 1)
		return -1;
	fd = socket(four ? AF_INET : AF_INET6,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd != -1 &&
	    connect(fd,
		four ? (const struct sockaddr *)&in4
		     : (const struct sockaddr *)&in6,
		four ? sizeof(in4) : sizeof(in6)) == -1 &&
	    errno != EINPROGRESS) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Say the question, or read. Returns false at the end. */
static bool
probe_move(int fd, enum probe i, struct asked *a)
{
	ssize_t n;

	if (!a->said) {
		a->said = true;
		return probe_says[i].len == 0 ||
		       send(fd, probe_says[i].p, probe_says[i].len,
			   MSG_NOSIGNAL) == (ssize_t)probe_says[i].len;
	}
	n = read(fd, a->answer + a->len, sizeof(a->answer) - a->len);
	if (n == -1)
		return errno == EAGAIN || errno == EINTR;
	a->len += (size_t)n;
	return n != 0 && a->len < sizeof(a->answer);
}

/* Returns true if the answer is one that shows something; then `seen` says. */
static bool
probe_known(enum probe probe, const struct asked *a, struct service_seen *seen)
{
	const struct span answer = span_of(a->answer, a->len);

	/* The answer to SSLRequest is one of these letters alone. */
	if (probe == PROBE_POSTGRES && a->len == 1 &&
	    (a->answer[0] == 'S' || a->answer[0] == 'N')) {
		seen->kind = "PostgreSQL";
		seen->can = "a superuser of it runs programs and reads files "
			    "as the server's user (COPY ... PROGRAM): give the "
			    "agent a role of its own";
		return true;
	}
	for (size_t i = 0; i < nitems(probe_answers); i++) {
		const struct span text = probe_answers[i].text;

		if (probe_answers[i].probe != probe || a->len < text.len ||
		    (probe_answers[i].anywhere ? span_find(answer, text) == NULL
					       : !span_starts(answer, text)))
			continue;
		seen->kind = probe_answers[i].kind;
		seen->can = probe_answers[i].can;
		if (probe_answers[i].refused)
			seen->refused = probe_answers[i].kind;
		return true;
	}
	return false;
}

void
service_connect(struct service_probe *p, const char *address, uint16_t port)
{
	for (unsigned i = 0; i < PROBES; i++)
		p->fds[i] = probe_connect(address, port);
}

void
service_ask(struct service_probe *to, struct service_seen *seen)
{
	const uint64_t until =
	    clock_mono_us() / 1000 + (seen->local ? PROBE_MS : PROBE_FAR_MS);
	static struct asked asked[PROBES];
	struct pollfd p[PROBES];
	struct timespec wait;
	bool known = false;
	unsigned open = 0;
	uint64_t now;

	memset(asked, 0, sizeof(asked));
	for (unsigned i = 0; i < PROBES; i++) {
		p[i].fd = to->fds[i];
		open += p[i].fd != -1;
	}
	while (open != 0 && !known && (now = clock_mono_us() / 1000) < until) {
		for (unsigned i = 0; i < PROBES; i++)
			p[i].events = asked[i].said ? POLLIN : POLLOUT;
		wait = (struct timespec){.tv_nsec = (long)(until - now) * 1000000};
		if (ppoll(p, PROBES, &wait, NULL) == -1 && errno != EINTR)
			break;
		for (unsigned i = 0; i < PROBES; i++) {
			if (p[i].fd == -1 || p[i].revents == 0)
				continue;
			if (!probe_move(p[i].fd, i, &asked[i])) {
				close(p[i].fd);
				p[i].fd = -1;
				open--;
			}
			known = known || probe_known(i, &asked[i], seen);
		}
	}
	for (unsigned i = 0; i < PROBES; i++)
		if (p[i].fd != -1)
			close(p[i].fd);
}
