/* SPDX-License-Identifier: ISC */
/*
 * The TCP listener: every connection to it is paired with a new one to the
 * session's proxy socket, and bytes are copied between the two.
 */
#include "bridge.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pair {
	size_t at; /* index of its two poll entries; 0: none yet */
	struct flow a, b;
};

static struct {
	struct pair *pairs[BRIDGE_PAIRS_MAX];
	char target[BRIDGE_PATH];
} pairs_env;

int
pairs_target(const char *socket)
{
	if (strlen(socket) >= sizeof(pairs_env.target)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(pairs_env.target, socket, strlen(socket) + 1);
	return 0;
}

int
pairs_listen(const char *where)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	const char *colon = strrchr(where, ':');
	char host[64];
	int fd, one = 1;
	long port;

	if (colon == NULL || (size_t)(colon - where) >= sizeof(host) ||
	    (port = strtol(colon + 1, NULL, 10)) <= 0 || port > 65535) {
		errno = EINVAL;
		return -1;
	}
	memcpy(host, where, (size_t)(colon - where));
	host[colon - where] = '\0';
	sin.sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1) {
		errno = EINVAL;
		return -1;
	}
	if ((fd = socket(
		 AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) == -1)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 64) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

static void
pair_close(size_t i)
{
	struct pair *p = pairs_env.pairs[i];

	close(p->a.from);
	close(p->a.to);
	free(p);
	pairs_env.pairs[i] = NULL;
}

void
pairs_add(int in, int out, const void *first, size_t len)
{
	struct pair *p = NULL;
	size_t i;

	for (i = 0; i < BRIDGE_PAIRS_MAX && pairs_env.pairs[i] != NULL; i++)
		continue;
	if (i == BRIDGE_PAIRS_MAX || out == -1 ||
	    (p = calloc(1, sizeof(*p))) == NULL) {
		close(in);
		if (out != -1)
			close(out);
		return;
	}
	p->a.from = p->b.to = in;
	p->a.to = p->b.from = out;
	p->a.len = len;
	if (len != 0)
		memcpy(p->a.bytes, first, len);
	pairs_env.pairs[i] = p;
}

/* Accept an agent's connection to the proxy and pair it with one to mitmd. */
void
pairs_accept(int listener)
{
	int in, one = 1;

	if ((in = accept4(
		 listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) == -1)
		return;
	setsockopt(in, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	pairs_add(in, unix_connect(pairs_env.target, SOCK_NONBLOCK), NULL, 0);
}

nfds_t
pairs_poll(struct pollfd *p, nfds_t first)
{
	nfds_t n = first;

	for (size_t i = 0; i < BRIDGE_PAIRS_MAX; i++) {
		struct pair *c = pairs_env.pairs[i];

		if (c == NULL)
			continue;
		c->at = n;
		for (int side = 0; side < 2; side++) {
			int fd = side == 0 ? c->a.from : c->a.to;
			short want = (short)(flow_wants(&c->a, fd) |
					     flow_wants(&c->b, fd));

			/*
			 * poll() would keep reporting a side that has closed.
			 */
			p[n++] = (struct pollfd){
			    .fd = want == 0 ? -1 : fd, .events = want};
		}
	}
	return n - first;
}

void
pairs_move(const struct pollfd *polls)
{
	for (size_t i = 0; i < BRIDGE_PAIRS_MAX; i++) {
		struct pair *p = pairs_env.pairs[i];
		short in, out;

		if (p == NULL || p->at == 0)
			continue;
		in = polls[p->at].revents;
		out = polls[p->at + 1].revents;
		if ((flow_ready(in, out) && !flow_move(&p->a)) ||
		    (flow_ready(out, in) && !flow_move(&p->b)) ||
		    (p->a.done && p->b.done))
			pair_close(i);
	}
}
