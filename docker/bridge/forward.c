/* SPDX-License-Identifier: ISC */
/*
 * The sidecar. The agent's container has no network, and shares with this one
 * only a directory of sockets; this one reaches gated over TCP. Nothing of the
 * agent runs here, and its bytes are only copied. The first connection goes to
 * icsupervisor, which asks what else can be reached from here, and ends the
 * sidecar when it closes it.
 */
#include "bridge.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/gate_ways.h"

#define FORWARD_CONNECT_MS 5000
#define FORWARD_TRY_MS 500

static struct {
	uint8_t token[GATE_TOKEN];
	int session;
	struct {
		int listener;
		struct sockaddr_in to;
		bool once;
	} ways[GATE_WAYS];
	unsigned nways;
	struct pollfd polls[1 + GATE_WAYS + PAIRS_POLLS];
} forward_env;

/* Find the name in /etc/hosts, where the engine adds names of the host. */
static bool
forward_host(const char *name, struct in_addr *address)
{
	char line[512], text[64], host[128];
	bool found = false;
	FILE *f;

	if (inet_pton(AF_INET, name, address) == 1)
		return true;
	if ((f = fopen("/etc/hosts", "re")) == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, "%63s %127s", text, host) == 2 &&
			strcmp(host, name) == 0 &&
			inet_pton(AF_INET, text, address) == 1;
	fclose(f);
	return found;
}

/* Parse ADDRESS:PORT or NAME:PORT. */
static bool
forward_address(const char *text, struct sockaddr_in *in)
{
	const char *colon = strrchr(text, ':');
	char host[64], *end;
	long port;

	if (colon == NULL || (size_t)(colon - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	port = strtol(colon + 1, &end, 10);
	*in = (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	return end != colon + 1 && *end == '\0' && port > 0 && port < 65536 &&
	       forward_host(host, &in->sin_addr);
}

static void
forward_token(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char more;

	if (fd == -1 ||
	    !unix_whole(fd, forward_env.token, GATE_TOKEN, true) ||
	    read(fd, &more, 1) != 0)
		bridge_die("the token");
	close(fd);
}

/* Begin to connect. Returns -1 with errno set on failure. */
static int
forward_dial(const struct sockaddr_in *to)
{
	int fd, one = 1, save;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 ||
	    errno == EINPROGRESS)
		return fd;
	save = errno;
	close(fd);
	errno = save;
	return -1;
}

/* Returns true if the connection is made within the time. */
static bool
forward_made(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int error = ETIMEDOUT;

	if (poll(&p, 1, ms) == 1)
		(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	errno = error;
	return error == 0;
}

static void
forward_connect(const char *where)
{
	struct sockaddr_in to;
	int fd;

	errno = EINVAL;
	if (!forward_address(where, &to) || (fd = forward_dial(&to)) == -1 ||
	    !forward_made(fd, FORWARD_CONNECT_MS))
		bridge_die(where);
	/* The little that follows may block. */
	if (fcntl(fd, F_SETFL, 0) == -1 ||
	    !unix_whole(fd, forward_env.token, GATE_TOKEN, false))
		bridge_die(where);
	forward_env.session = fd;
}

static bool
is_zero(const char *hex)
{
	return hex[strspn(hex, "0")] == '\0';
}

/* Write the default routes; see common/gate_ways.h. */
static void
forward_routes(uint8_t said[GATE_ROUTES_SIZE])
{
	char line[512], to[64], mask[64], device[64];
	unsigned via;
	FILE *f;

	memset(said, 0, GATE_ROUTES_SIZE);
	said[0] = 1;
	if ((f = fopen("/proc/net/ipv6_route", "re")) != NULL) {
		while (fgets(line, sizeof(line), f) != NULL)
			if (sscanf(line,
				"%63s %63s %*s %*s %*s %*s %*s %*s %*s %63s",
				to, mask, device) == 3 &&
			    is_zero(to) && is_zero(mask) &&
			    strcmp(device, "lo") != 0)
				said[0] = 0;
		fclose(f);
	}
	if ((f = fopen("/proc/net/route", "re")) == NULL)
		return;
	/* The address is a number of this machine's byte order. */
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*s %63s %x %*s %*s %*s %*s %63s", to, &via,
			mask) == 3 &&
		    is_zero(to) && is_zero(mask))
			memcpy(said + 1, &via, sizeof(via));
	fclose(f);
}

static void
forward_place(const char *dir, uint8_t said[GATE_PLACE_SIZE])
{
	uint64_t dev, ino;
	struct stat st;

	if (stat(dir, &st) == -1)
		bridge_die(dir);
	dev = st.st_dev;
	ino = st.st_ino;
	memcpy(said, &dev, sizeof(dev));
	memcpy(said + sizeof(dev), &ino, sizeof(ino));
}

/* Answer what can be reached; see common/gate_ways.h. */
static void
forward_check(const char *dir)
{
	uint8_t n, asked[GATE_MAX_TRIES][GATE_TRY_SIZE];
	uint8_t said[GATE_ANSWER_SIZE(GATE_MAX_TRIES)];
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fds[GATE_MAX_TRIES], left = FORWARD_TRY_MS;

	if (!unix_whole(forward_env.session, &n, 1, true) ||
	    n > GATE_MAX_TRIES ||
	    !unix_whole(forward_env.session, asked, n * GATE_TRY_SIZE, true))
		_exit(BRIDGE_EXIT_SESSION);
	for (uint8_t i = 0; i < n; i++) {
		memcpy(&to.sin_addr, asked[i], 4);
		memcpy(&to.sin_port, asked[i] + 4, 2);
		fds[i] = forward_dial(&to);
	}
	for (uint8_t i = 0; i < n; i++) {
		said[i] = fds[i] != -1 && forward_made(fds[i], left) ? 0 : 1;
		/* The others have had the same time by then. */
		if (errno == ETIMEDOUT)
			left = 0;
		if (fds[i] != -1)
			close(fds[i]);
	}
	forward_routes(said + n);
	forward_place(dir, said + n + GATE_ROUTES_SIZE);
	if (!unix_whole(
		forward_env.session, said, GATE_ANSWER_SIZE(n), false))
		_exit(BRIDGE_EXIT_SESSION);
}

/* Make the socket of "NAME=ADDRESS:PORT" in the directory. */
static void
forward_listen(const char *dir, const char *way)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const char *eq = strchr(way, '=');
	unsigned i = forward_env.nways++;
	int n, fd;

	errno = EINVAL;
	if (eq == NULL || i == GATE_WAYS ||
	    !forward_address(eq + 1, &forward_env.ways[i].to))
		bridge_die(way);
	n = snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%.*s", dir,
	    (int)(eq - way), way);
	if (n < 0 || (size_t)n >= sizeof(sun.sun_path))
		bridge_die(way);
	(void)unlink(sun.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 ||
	    bind(fd, (const struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    chmod(sun.sun_path, 0666) == -1 || listen(fd, 128) == -1)
		bridge_die(sun.sun_path);
	forward_env.ways[i].listener = fd;
	forward_env.ways[i].once = strncmp(way, "bridge.sock=", 12) == 0;
}

static void
forward_accept(unsigned i)
{
	int in = accept4(forward_env.ways[i].listener, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (in == -1)
		return;
	pairs_add(in, forward_dial(&forward_env.ways[i].to), forward_env.token,
	    GATE_TOKEN);
	/*
	 * The first process of the sandbox makes it before the agent is there.
	 */
	if (forward_env.ways[i].once) {
		close(forward_env.ways[i].listener);
		forward_env.ways[i].listener = -1;
	}
}

int
forward_run(int argc, char **argv)
{
	struct pollfd *p = forward_env.polls;
	nfds_t n;

	signal(SIGPIPE, SIG_IGN);
	forward_token(argv[0]);
	forward_connect(argv[1]);
	/* The sockets are there before icsupervisor learns that all is well. */
	for (int i = 3; i < argc; i++)
		forward_listen(argv[2], argv[i]);
	forward_check(argv[2]);
	for (;;) {
		p[0] = (struct pollfd){
		    .fd = forward_env.session, .events = POLLIN};
		for (n = 1; n <= forward_env.nways; n++)
			p[n] = (struct pollfd){
			    .fd = forward_env.ways[n - 1].listener,
			    .events = POLLIN};
		n += pairs_poll(p, n);
		if (poll(p, n, -1) == -1) {
			if (errno != EINTR)
				bridge_die("poll");
			continue;
		}
		/* Nothing more is sent on it: it has ended. */
		if (p[0].revents != 0)
			return 0;
		pairs_move(p);
		for (unsigned i = 0; i < forward_env.nways; i++)
			if (p[i + 1].revents != 0)
				forward_accept(i);
	}
}
