/* SPDX-License-Identifier: ISC */
/*
 * A compromised icwebd, confined as the real one is: what its browser writes in
 * lines, it sends to icctl as requests, and the answers are lines as well. Each
 * line has the number of the route, that of the verdict, and the token in
 * hexadecimal, session, call and digest; "-" stands for an empty one.
 */
#include "common/confine/confine.h"
#include "common/ipc/worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const enum pledge_promise promises[] = {PLEDGE_STDIO};
static const struct confine rights = {
    .limits = {.nofile = 64, .data = 96U << 20},
    .pledge = {.promises = promises, .npromises = nitems(promises)},
};

static struct {
	struct worker w;
	char host[256], origin[300], in[1024];
	size_t len;
	uint64_t n;
	struct loop_io browser;
} env = {.browser = LOOP_IO_INIT};

static struct span
word(const char *s)
{
	return strcmp(s, "-") == 0 ? span_of(NULL, 0) : span_str(s);
}

static void
ask(const char *line)
{
	char token[65] = "", session[65] = "", call[17] = "", digest[65] = "";
	struct msg_WEB_REQUEST m = {.from = PROTO_FROM_SELF};
	uint8_t bytes[32];
	unsigned route, verdict, b;

	if (sscanf(line, "%u %u %64s %64s %16s %64s", &route, &verdict, token,
		session, call, digest) != 6)
		_exit(9);
	for (size_t i = 0; i < sizeof(bytes) && token[0] != '-'; i++) {
		if (sscanf(token + 2 * i, "%2x", &b) != 1)
			_exit(9);
		bytes[i] = (uint8_t)b;
	}
	m.n = ++env.n;
	m.route = (uint8_t)route;
	m.verdict = (uint8_t)verdict;
	if (token[0] != '-')
		m.token = span_of(bytes, sizeof(bytes));
	m.host = span_str(env.host);
	m.origin = span_str(env.origin);
	m.session = word(session);
	m.call = word(call);
	m.digest = word(digest);
	if (chan_send(env.w.sup, MSG_WEB_REQUEST, &m, -1) == -1)
		_exit(9);
}

static void
browser_read(struct loop_io *io, uint32_t events)
{
	char *nl;
	ssize_t n;

	n = read(io->fd, env.in + env.len, sizeof(env.in) - 1 - env.len);
	if (n <= 0) {
		loop_del(&env.w.loop, io);
		return;
	}
	env.len += (size_t)n;
	env.in[env.len] = '\0';
	if ((nl = strchr(env.in, '\n')) == NULL)
		return;
	*nl = '\0';
	ask(env.in);
	env.len = 0;
}

static int
on_site(struct chan *c, const struct msg_WEB_SITE *m)
{
	const uint8_t *nl = memchr(m->hosts.p, '\n', m->hosts.len);

	if (nl == NULL)
		return -1;
	snprintf(env.host, sizeof(env.host), "%.*s", (int)(nl - m->hosts.p),
	    (const char *)m->hosts.p);
	snprintf(env.origin, sizeof(env.origin), "http://%s", env.host);
	return 0;
}

static int
on_conn(struct chan *c, const struct msg_WEB_CONN *m, int fd)
{
	return loop_add(
	    &env.w.loop, &env.browser, fd, EPOLLIN, browser_read, NULL);
}

static int
on_answer(struct chan *c, const struct msg_WEB_ANSWER *m)
{
	char head[16];
	int n = snprintf(head, sizeof(head), "%u ", m->status);

	if (write(env.browser.fd, head, (size_t)n) == -1 ||
	    span_write(env.browser.fd, m->json) == -1 ||
	    write(env.browser.fd, "\n", 1) == -1)
		return -1;
	return 0;
}

static const struct chan_handler handlers[] = {
    HANDLER(WEB_SITE, on_site),
    HANDLER(WEB_CONN, on_conn),
    HANDLER(WEB_ANSWER, on_answer),
};

int
main(void)
{
	worker_init(&env.w, ROLE_WEB, &rights, NULL, 1);
	worker_serve(&env.w, handlers, nitems(handlers));
}
