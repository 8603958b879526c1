/* SPDX-License-Identifier: ISC */
/*
 * Makes what gated gets, and passes on what gated has proven. The token and the
 * ports are new for each session.
 */
#include "box/containers/gate.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <netinet/tcp.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/close_keep.h"
#include "base/json_put.h"
#include "box/bridge.h"
#include "common/http/base64.h"
#include "core/sup.h"

/* clang-format off */
static const struct {
	const char *name;
	enum role owner;
} gate_ways[GATE_WAYS] = {
	[GATE_CHECK] =	{NULL,			ROLE_SUP},
	[GATE_BRIDGE] =	{"bridge.sock",		ROLE_SUP},
	[GATE_PROXY] =	{"proxy.sock",		ROLE_PROXY},
	[GATE_MITM] =	{"mitm-proxy.sock",	ROLE_MITM},
	[GATE_TERM] =	{"terminal.sock",	ROLE_TERM},
	[GATE_PORTS] =	{"publish.sock",	ROLE_PORT},
	[GATE_SERVICES] = {"services.sock",	ROLE_EGRESS},
};
/* clang-format on */

static struct {
	uint8_t token[GATE_TOKEN];
	int fds[GATE_WAYS];
	uint16_t ports[GATE_WAYS];
	uint32_t address;
	void (*checked)(int);
	struct msg_GATE_REFUSED refused;
} gate_env;

static int
gate_make_token(void)
{
	uint8_t bits[32], *p = gate_env.token;

	_Static_assert(BASE64_LEN(sizeof(bits)) == GATE_TOKEN, "token");
	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return -1;
	base64_put(p, span_of(bits, sizeof(bits)));
	explicit_bzero(bits, sizeof(bits));
	for (size_t i = 0; i < GATE_TOKEN; i++)
		if (p[i] == '+')
			p[i] = '-';
		else if (p[i] == '/')
			p[i] = '_';
	/* In place of the padding. */
	p[GATE_TOKEN - 1] = '\n';
	return 0;
}

static int
gate_socket(uint32_t address, uint16_t *port)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
	    .sin_addr = {.s_addr = htonl(address)}};
	socklen_t len = sizeof(in);
	const int one = 1;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	/* Accepted connections inherit both options. */
	if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) == 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
	    bind(fd, (const struct sockaddr *)&in, sizeof(in)) == 0 &&
	    listen(fd, 256) == 0 &&
	    getsockname(fd, (struct sockaddr *)&in, &len) == 0) {
		*port = ntohs(in.sin_port);
		return fd;
	}
	return close_keep(fd);
}

int
gate_listen(uint32_t address, void (*checked)(int fd))
{
	if (gate_make_token() == -1)
		return -1;
	gate_env.address = address;
	gate_env.checked = checked;
	for (unsigned i = 0; i < GATE_WAYS; i++) {
		gate_env.fds[i] = -1;
		if ((i == GATE_PORTS && sup.opt.npublish == 0) ||
		    (i == GATE_SERVICES && !sup.services))
			continue;
		gate_env.fds[i] = gate_socket(address, &gate_env.ports[i]);
		if (gate_env.fds[i] == -1)
			return -1;
	}
	return 0;
}

struct span
gate_token(void)
{
	return span_of(gate_env.token, GATE_TOKEN);
}

const char *
gate_name(enum gate_way way)
{
	return gate_ways[way].name;
}

uint16_t
gate_port(enum gate_way way)
{
	return gate_env.ports[way];
}

void
gate_setup(void)
{
	struct msg_GATE m = {.token = gate_token()};
	struct msg_GATE_LISTEN listen_msg;

	if (sup.opt.transport != TRANSPORT_TCP)
		return;
	child_send(ROLE_GATE, 0, MSG_GATE, &m, -1);
	for (unsigned i = 0; i < GATE_WAYS; i++) {
		if (gate_env.fds[i] == -1)
			continue;
		listen_msg.way = (uint8_t)i;
		child_send(ROLE_GATE, 0, MSG_GATE_LISTEN, &listen_msg,
		    gate_env.fds[i]);
		gate_env.fds[i] = -1;
	}
	explicit_bzero(gate_env.token, sizeof(gate_env.token));
}

void
gate_opened(enum gate_way way, int fd)
{
	static const struct msg_CONNECTION m;

	if (sup.ending)
		close(fd);
	else if (way == GATE_CHECK)
		gate_env.checked(fd);
	else if (way == GATE_BRIDGE)
		bridge_take(fd);
	else
		child_send(way == GATE_TERM && sup.opt.acp
			       ? ROLE_ACP
			       : gate_ways[way].owner,
		    way == GATE_SERVICES ? PROTO_SERVICES : 0, MSG_CONNECTION,
		    &m, fd);
}

void
gate_refused(const struct msg_GATE_REFUSED *m)
{
	struct msg_ALARM alarm = {.kind = SPAN("gate")};
	char text[256];

	if (gate_env.refused.wrong + gate_env.refused.late == 0 &&
	    m->wrong + m->late != 0) {
		snprintf(text, sizeof(text),
		    "something else than the sandbox connected to the "
		    "session's ports, without their token; it was refused");
		alarm.text = span_str(text);
		child_send(ROLE_AUDIT, 0, MSG_ALARM, &alarm, -1);
	}
	gate_env.refused = *m;
}

struct json_object *
gate_json(void)
{
	struct json_object *o;
	char address[16];

	if (sup.opt.transport != TRANSPORT_TCP)
		return NULL;
	o = json_object_new_object();
	snprintf(address, sizeof(address), "%u.%u.%u.%u",
	    gate_env.address >> 24, gate_env.address >> 16 & 255,
	    gate_env.address >> 8 & 255, gate_env.address & 255);
	put_str(o, "address", address);
	put_int(o, "wrongToken", (int64_t)gate_env.refused.wrong);
	put_int(o, "noToken", (int64_t)gate_env.refused.late);
	put_int(o, "tooMany", (int64_t)gate_env.refused.over);
	return o;
}
