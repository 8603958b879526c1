/* SPDX-License-Identifier: ISC */
/*
 * The browser: it is sent to the issuer, and comes back to a port of loopback
 * whose connections mcp-callbackd reads. icctl accepts them and checks that
 * they are the same user's. Without a browser here, the address that it ended
 * at is pasted; it passes through here and is wiped.
 */
#include "icctl/mcp/login/login.h"

#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "common/log.h"
#include "common/net/peer_uid.h"
#include "icctl/browse.h"

#define BROWSER_MS 300000U
#define GRANT_MS 20000U

int
browser_listen(struct login *l)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)client_port(l)),
	    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(in);
	int one = 1;

	l->listener =
	    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->listener == -1 || (l->diag = peer_uid_open()) == -1) {
		warn("socket");
		return -1;
	}
	(void)setsockopt(
	    l->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(l->listener, (struct sockaddr *)&in, sizeof(in)) == -1 ||
	    listen(l->listener, 16) == -1 ||
	    getsockname(l->listener, (struct sockaddr *)&in, &len) == -1) {
		if (errno == EADDRINUSE)
			warnx("port %u of 127.0.0.1 is in use: end what uses "
			      "it, or choose another one with "
			      "--callback-port N",
			    client_port(l));
		else
			warn("127.0.0.1:%u", client_port(l));
		return -1;
	}
	snprintf(l->host, sizeof(l->host), "127.0.0.1:%u", ntohs(in.sin_port));
	snprintf(
	    l->redirect, sizeof(l->redirect), "http://%s/callback", l->host);
	return 0;
}

static void
browser_came(struct loop_io *io, uint32_t events)
{
	static const struct msg_CALLBACK_CONN m;
	struct login *l = io->arg;
	struct sockaddr_in peer, own;
	socklen_t len = sizeof(peer), own_len = sizeof(own);
	uint32_t uid;
	int fd;

	fd = accept4(io->fd, (struct sockaddr *)&peer, &len,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1)
		return;
	if (getsockname(fd, (struct sockaddr *)&own, &own_len) == -1 ||
	    peer_uid(l->diag, &peer, &own, &uid) == -1 || uid != geteuid()) {
		warnx("a connection of another user to %s was closed", l->host);
		close(fd);
		return;
	}
	(void)boxes_send(l, BOX_CALLBACK, MSG_CALLBACK_CONN, &m, fd);
}

/* Pass a pasted line on, and wipe it. */
static void
pasted_line(struct login *l, size_t n)
{
	struct msg_CALLBACK_TEXT m = {.text = span_of(l->pasted, n)};

	if (n != 0)
		(void)boxes_send(l, BOX_CALLBACK, MSG_CALLBACK_TEXT, &m, -1);
	/* Other lines may have come with it. */
	n += n < l->npasted;
	l->npasted -= n;
	memmove(l->pasted, l->pasted + n, l->npasted);
	explicit_bzero(l->pasted + l->npasted, sizeof(l->pasted) - l->npasted);
}

static void
pasted_came(struct loop_io *io, uint32_t events)
{
	struct login *l = io->arg;
	const char *nl;
	ssize_t n;

	n = read(
	    io->fd, l->pasted + l->npasted, sizeof(l->pasted) - 1 - l->npasted);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* A browser on this machine may still come. */
		loop_del(&l->loop, io);
		return;
	}
	l->npasted += (size_t)n;
	while ((nl = memchr(l->pasted, '\n', l->npasted)) != NULL)
		pasted_line(l, (size_t)(nl - l->pasted));
	if (l->npasted == sizeof(l->pasted) - 1)
		pasted_line(l, l->npasted);
}

int
on_challenge(struct chan *c, const struct msg_CHALLENGE *m)
{
	struct login *l = chan_arg(c);

	if (span_copy(m->state, l->state, sizeof(l->state)) == -1 ||
	    span_copy(m->challenge, l->challenge, sizeof(l->challenge)) == -1)
		return chan_violation(c, "CHALLENGE is impossible");
	l->challenged = true;
	return 0;
}

int
on_callback_seen(struct chan *c, const struct msg_CALLBACK_SEEN *m)
{
	struct login *l = chan_arg(c);
	char vis[1200];

	(void)log_vis(m->text, vis, sizeof(vis));
	switch ((enum proto_seen)m->how) {
	case PROTO_SEEN_CODE:
		puts("The answer has come; the token is requested.");
		break;
	case PROTO_SEEN_ERROR:
		snprintf(l->end_why, sizeof(l->end_why), "%.256s", vis);
		l->refused = l->done = true;
		break;
	case PROTO_SEEN_OTHER:
		warnx("what came is not taken: %s", vis);
		break;
	}
	(void)fflush(stdout);
	return 0;
}

int
on_login_done(struct chan *c, const struct msg_LOGIN_DONE *m)
{
	struct login *l = chan_arg(c);

	l->end = *m;
	if (span_copy(m->why, l->end_why, sizeof(l->end_why)) == -1)
		l->end_why[0] = '\0';
	if (span_copy(m->scopes, l->granted, sizeof(l->granted)) == -1)
		l->granted[0] = '\0';
	l->done = true;
	return 0;
}

/* Show the address, or open it. */
static void
browser_show(struct login *l, const char *url)
{
	if (!l->no_browser && browse_may() && browse(url) == 0) {
		printf("Your browser opens this address; if it does not, open "
		       "it yourself:\n\n%s\n\n",
		    url);
	} else {
		printf("Open this address in a browser:\n\n%s\n\n", url);
		printf(
		    "If that browser runs on another machine, it ends at an "
		    "address that begins with\n%s and cannot be shown there. "
		    "Copy that whole address, and paste it here:\n",
		    l->redirect);
		if (loop_add(&l->loop, &l->stdin_io, STDIN_FILENO, EPOLLIN,
			pasted_came, l) == -1 &&
		    errno != EPERM)
			warn("standard input");
	}
	(void)fflush(stdout);
}

static int
browser_begin(struct login *l, const struct place *token, int fd)
{
	const struct msg_LOGIN_BEGIN m = {.host = span_str(token->host),
	    .port = token->port,
	    .path = span_str(token->path),
	    .client = span_str(l->client),
	    .auth = (uint8_t)l->auth,
	    .redirect = span_str(l->redirect),
	    .resource = span_str(l->resource),
	    .issuer = span_str(l->issuer),
	    .iss = (l->server.flags & PROTO_SERVER_ISS) != 0};
	struct msg_CALLBACK_WAIT w = {.host = span_str(l->host),
	    .issuer = span_str(l->issuer),
	    .iss = m.iss};

	if (box_target(l, BOX_GRANT, 1, token, false) == -1 ||
	    boxes_send(l, BOX_GRANT, MSG_LOGIN_BEGIN, &m, fd) == -1)
		return -1;
	while (!l->challenged && !l->done)
		if (loop_once(&l->loop, 1000) == -1 || l->lost)
			return -1;
	if (l->done)
		return 0;
	w.state = span_str(l->state);
	return boxes_send(l, BOX_CALLBACK, MSG_CALLBACK_WAIT, &w, -1);
}

static int
browser_send(struct login *l)
{
	const struct plan_request r = {.endpoint = l->server.authorization,
	    .client = l->client,
	    .redirect = l->redirect,
	    .state = l->state,
	    .challenge = l->challenge,
	    .resource = l->resource,
	    .scopes = l->wanted};
	const char *why = "";
	struct buf b;
	int rv = -1;

	buf_init(&b, PLAN_AUTHORIZE);
	if (plan_authorize(&r, &b, &why) == -1) {
		warnx("%s: its authorization_endpoint %s", l->name, why);
	} else if (loop_add(&l->loop, &l->listen_io, l->listener, EPOLLIN,
		       browser_came, l) == -1) {
		warn("epoll");
	} else {
		buf_addc(&b, '\0');
		browser_show(l, (const char *)buf_span(&b).p);
		rv = boxes_wait(l, &l->done, BROWSER_MS);
	}
	buf_free(&b);
	return rv;
}

int
browser_go(struct login *l)
{
	char temp[4500], vis[1100];
	const char *why = "";
	struct place token;
	int fd, copy, rv = -1;

	if (plan_place(l->server.token, &token, &why) == -1) {
		warnx("%s: its token_endpoint %s", l->name, why);
		return -1;
	}
	if ((fd = files_temp(l, temp, sizeof(temp))) == -1)
		return -1;
	if ((copy = fcntl(fd, F_DUPFD_CLOEXEC, 0)) != -1 &&
	    browser_begin(l, &token, copy) == 0)
		rv = l->done ? 0 : browser_send(l);
	loop_del(&l->loop, &l->stdin_io);
	loop_del(&l->loop, &l->listen_io);
	if (rv == 0 && (l->refused || !l->end.good)) {
		warnx("%s: %s: %s", l->name,
		    l->refused ? "the login was refused" : "there is no token",
		    log_vis(span_str(l->end_why), vis, sizeof(vis)));
		rv = -1;
	}
	if (rv == 0)
		rv = files_place(l, temp, fd);
	(void)unlink(temp);
	close(fd);
	return rv;
}
