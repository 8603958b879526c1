/* SPDX-License-Identifier: ISC */
/*
 * The programs of a login: dialerd, mcp-logind, mcp-grantd and mcp-callbackd,
 * each confined before it is told anything. icctl is their supervisor: it says
 * which hosts may be reached, one at a time, and passes checked texts.
 */
#include "icctl/mcp/login/login.h"

#include <sys/socket.h>

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "files/roots.h"

#define BOX_HELLO_MS 20000U

#ifdef IC_SANITIZED
#define BOX_LAYERS (CONFINE_DUMPABLE0 | CONFINE_NNP)
#else
#define BOX_LAYERS                                                             \
	(CONFINE_DUMPABLE0 | CONFINE_NNP | CONFINE_SECCOMP | CONFINE_LANDLOCK)
#endif

static const struct {
	enum role role;
	unsigned index; /* as dialerd knows it */
} kinds[BOX_COUNT] = {
    [BOX_DIAL] = {ROLE_DIAL, 0},
    [BOX_META] = {ROLE_META, PROTO_META_INDEX},
    [BOX_GRANT] = {ROLE_GRANT, PROTO_GRANT_INDEX},
    [BOX_CALLBACK] = {ROLE_CALLBACK, 0},
    [BOX_TUNNEL] = {ROLE_TUNNEL, 0},
};

unsigned
boxes_number(const struct login *l)
{
	return l->proxy.set ? BOX_COUNT : BOX_TUNNEL;
}

static struct box *
box_of(struct chan *c)
{
	struct login *l = chan_arg(c);

	for (unsigned i = 0; i < BOX_COUNT; i++)
		if (l->boxes[i].chan == c)
			return &l->boxes[i];
	return NULL;
}

int
box_on_hello(struct chan *c, const struct msg_HELLO *m)
{
	struct box *b = box_of(c);

	if (b == NULL || m->proto != proto_id() ||
	    m->role != kinds[b->kind].role)
		return chan_violation(c, "it is not of this version");
	if ((m->flags & BOX_LAYERS) != BOX_LAYERS)
		return chan_violation(c, "it is not confined");
	b->hello = true;
	return 0;
}

/* Print the lines that the programs wrote. */
static void
boxes_said(const struct login *l)
{
	char text[2048], vis[4200];
	ssize_t n;

	/* More than that is the trouble of a program that says too much. */
	n = read(l->said[0], text, sizeof(text));
	if (n > 0) {
		(void)log_vis(span_of(text, (size_t)n), vis, sizeof(vis));
		warnx("they said: %s", vis);
	}
}

static void
box_closed(struct chan *c, const char *why)
{
	struct login *l = chan_arg(c);
	struct box *b = box_of(c);

	if (!l->lost) {
		warnx("%s has ended%s%s",
		    b == NULL ? "a program" : role_name(kinds[b->kind].role),
		    why != NULL ? ": " : "", why != NULL ? why : "");
		boxes_said(l);
	}
	l->lost = true;
	if (b != NULL)
		b->chan = NULL;
	chan_free(c);
}

static struct chan_ops ops = {.closed = box_closed};

static int
box_run(struct login *l, struct box *b, int sock)
{
	const char *name = role_name(kinds[b->kind].role);
	char program[PATH_MAX], tail[64];
	char *argv[] = {(char *)(uintptr_t)name, NULL}, *envp[] = {NULL};
	struct spawn s = {.path = program,
	    .argv = argv,
	    .envp = envp,
	    .fds = {-1, -1, l->said[1], sock},
	    .nfds = 4,
	    .session = true,
	    .worker = true};

	snprintf(tail, sizeof(tail), "../libexec/ironcurtain/%s", name);
	if (icctl_program(tail, program, sizeof(program)) == -1 ||
	    spawn_start(&s, &b->sp) == -1 || spawn_check(&b->sp) == -1) {
		warn("%s%s", name, spawn_step());
		return -1;
	}
	return 0;
}

static int
box_start(struct login *l, enum box_kind kind)
{
	struct box *b = &l->boxes[kind];
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1) {
		warn("socketpair");
		return -1;
	}
	r = box_run(l, b, pair[1]);
	close(pair[1]);
	if (r == -1) {
		close(pair[0]);
		return -1;
	}
	b->chan = chan_new(&l->loop, pair[0], ROLE_SUP, kinds[kind].role,
	    kinds[kind].index, &ops, l);
	if (b->chan == NULL || chan_open(b->chan) == -1) {
		warn("%s", role_name(kinds[kind].role));
		return -1;
	}
	return 0;
}

int
boxes_send(struct login *l, enum box_kind kind, enum msg_type type,
    const void *msg, int fd)
{
	if (l->boxes[kind].chan != NULL &&
	    chan_send(l->boxes[kind].chan, type, msg, fd) == 0)
		return 0;
	if (l->boxes[kind].chan == NULL && fd != -1)
		close(fd);
	warnx("%s does not answer", role_name(kinds[kind].role));
	return -1;
}

static int
box_pair(struct login *l, enum box_kind a, enum box_kind b)
{
	struct msg_PEER to_a = {
	    .role = (uint8_t)kinds[b].role, .index = (uint16_t)kinds[b].index};
	struct msg_PEER to_b = {
	    .role = (uint8_t)kinds[a].role, .index = (uint16_t)kinds[a].index};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1) {
		warn("socketpair");
		return -1;
	}
	if (boxes_send(l, a, MSG_PEER, &to_a, pair[0]) == -1) {
		close(pair[1]);
		return -1;
	}
	return boxes_send(l, b, MSG_PEER, &to_b, pair[1]);
}

/* Returns the certificates of the system, or those that the entry names. */
static char *
boxes_roots(const struct login *l, bool own, size_t *len)
{
	struct fault fault = {""};
	struct stat st;
	char *text, path[4400];

	if (own) {
		snprintf(path, sizeof(path), "%s%s",
		    strncmp(l->ca, "~/", 2) == 0 ? l->own.paths.user_home : "",
		    l->ca + (l->ca[0] == '~'));
		if ((text = jsonfile_text(path, len, &st, &fault)) == NULL)
			warnx("%s", fault.text);
		return text;
	}
	text = roots_system(l->proxy.ca, l->proxy.ca_len, len);
	if (text == NULL && l->ca == NULL)
		warnx("no root certificates: apt install ca-certificates");
	return text;
}

/*
 * Send root certificates: the entry's own, or the system's. Returns 0, or -1
 * after the reason was printed.
 */
static int
boxes_roots_tell(struct login *l, bool own)
{
	struct msg_ROOTS m;
	size_t len = 0;
	char *text = boxes_roots(l, own, &len);
	int rv;

	if (text == NULL)
		return l->ca != NULL && !own ? 0 : -1;
	if (len > 4U << 20) {
		warnx("root certificates: over 4 MiB");
		free(text);
		return -1;
	}
	m = (struct msg_ROOTS){.pem = span_of(text, len)};
	rv = boxes_send(l, BOX_META, MSG_ROOTS, &m, -1);
	if (rv == 0)
		rv = boxes_send(l, BOX_GRANT, MSG_ROOTS, &m, -1);
	free(text);
	return rv;
}

/* Those that the entry names are its server's; the system's come beside them.
 */
static int
boxes_roots_send(struct login *l)
{
	if (boxes_roots_tell(l, l->ca != NULL) == -1)
		return -1;
	return l->ca != NULL ? boxes_roots_tell(l, false) : 0;
}

/* Tell dialerd and tunneld of the corporate proxy. Returns 0, or -1. */
static int
boxes_way(struct login *l)
{
	struct proxy *p = &l->proxy;
	const struct msg_SECRET secret = {.kind = p->escaped};
	const struct msg_VIA_PROXY m = {.host = span_str(p->host),
	    .port = p->port,
	    .direct = span_str(p->direct)};
	int fd = p->cred.fd;

	if (boxes_send(l, BOX_DIAL, MSG_VIA_PROXY, &m, -1) == -1 ||
	    boxes_send(l, BOX_TUNNEL, MSG_VIA_PROXY, &m, -1) == -1)
		return -1;
	p->cred.fd = -1;
	return fd == -1 ? 0
			: boxes_send(l, BOX_TUNNEL, MSG_SECRET, &secret, fd);
}

static bool
boxes_hello(const struct login *l)
{
	for (unsigned i = 0; i < boxes_number(l); i++)
		if (!l->boxes[i].hello)
			return false;
	return true;
}

static int
boxes_run(struct login *l)
{
	static const struct msg_START start;
	const struct msg_SEAL seal = {.open = 1};

	if (box_pair(l, BOX_META, BOX_DIAL) == -1 ||
	    box_pair(l, BOX_GRANT, BOX_DIAL) == -1 ||
	    box_pair(l, BOX_CALLBACK, BOX_GRANT) == -1 ||
	    (l->proxy.set && (box_pair(l, BOX_DIAL, BOX_TUNNEL) == -1 ||
				 boxes_way(l) == -1)) ||
	    boxes_send(l, BOX_DIAL, MSG_SEAL, &seal, -1) == -1 ||
	    boxes_roots_send(l) == -1)
		return -1;
	for (unsigned i = 0; i < boxes_number(l); i++) {
		if (boxes_send(l, (enum box_kind)i, MSG_START, &start, -1) ==
		    -1)
			return -1;
		chan_phase(l->boxes[i].chan, PHASE_RUN);
	}
	return 0;
}

int
boxes_start(struct login *l, const struct chan_handler *handlers, size_t n)
{
	uint64_t until = clock_mono_us() / 1000 + BOX_HELLO_MS;

	ops.handlers = handlers;
	ops.nhandlers = n;
	/* A pipe: the programs may write to no file. */
	if (pipe2(l->said, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    loop_init(&l->loop, 4) == -1 || spawn_init() == -1) {
		warn("the programs of a login");
		return -1;
	}
	for (unsigned i = 0; i < boxes_number(l); i++)
		if (box_start(l, (enum box_kind)i) == -1)
			return -1;
	while (!l->lost && !boxes_hello(l)) {
		if (loop_once(&l->loop, 100) == -1 ||
		    clock_mono_us() / 1000 >= until) {
			warnx("the programs of a login do not start");
			boxes_said(l);
			return -1;
		}
	}
	return l->lost ? -1 : boxes_run(l);
}

void
boxes_stop(struct login *l)
{
	l->lost = true;
	for (unsigned i = 0; i < BOX_COUNT; i++) {
		struct box *b = &l->boxes[i];

		chan_free(b->chan);
		b->chan = NULL;
		spawn_stop(&b->sp, 0);
	}
	for (unsigned i = 0; i < nitems(l->said); i++) {
		if (l->said[i] != -1)
			close(l->said[i]);
		l->said[i] = -1;
	}
}

int
boxes_wait(struct login *l, const bool *flag, uint64_t ms)
{
	uint64_t until = clock_mono_us() / 1000 + ms, now;

	while (!*flag) {
		now = clock_mono_us() / 1000;
		if (l->lost)
			return -1;
		if (now >= until) {
			warnx("nothing has come within %llu seconds",
			    (unsigned long long)(ms / 1000));
			return -1;
		}
		if (loop_once(&l->loop,
			until - now > 1000 ? 1000 : (int)(until - now)) == -1) {
			warn("epoll");
			return -1;
		}
	}
	return 0;
}

int
box_target(struct login *l, enum box_kind kind, unsigned which,
    const struct place *p, bool private_ok)
{
	const struct msg_TARGET m = {.index = (uint16_t)kinds[kind].index,
	    .host = span_str(p->host),
	    .port = p->port,
	    .private_ok = private_ok,
	    .which = (uint8_t)which};

	/* tunneld first, because dialerd asks it. */
	if (l->proxy.set && boxes_send(l, BOX_TUNNEL, MSG_TARGET, &m, -1) == -1)
		return -1;
	return boxes_send(l, BOX_DIAL, MSG_TARGET, &m, -1);
}
