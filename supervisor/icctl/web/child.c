/* SPDX-License-Identifier: ISC */
/*
 * icwebd, which parses what browsers send. icctl is its supervisor: it gives it
 * the page's names and connections, and takes decoded requests. If it dies, it
 * is started again, three times a minute at most; logins are kept here.
 */
#include "icctl/web/priv.h"

#include <sys/socket.h>

#include <err.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/confine.h"

#define CHILD_WINDOW_MS 60000U

#ifdef IC_SANITIZED
#define CHILD_LAYERS (CONFINE_DUMPABLE0 | CONFINE_NNP)
#else
#define CHILD_LAYERS                                                           \
	(CONFINE_DUMPABLE0 | CONFINE_NNP | CONFINE_SECCOMP | CONFINE_LANDLOCK)
#endif

static int
on_hello(struct chan *c, const struct msg_HELLO *m)
{
	static const struct msg_START start;
	struct web *w = chan_arg(c);
	struct msg_WEB_SITE site = {.hosts = span_str(w->site)};

	if (m->proto != proto_id() || m->role != ROLE_WEB)
		return chan_violation(c, "it is not of this version");
	if ((m->flags & CHILD_LAYERS) != CHILD_LAYERS)
		return chan_violation(c, "it is not confined");
	if (chan_send(c, MSG_WEB_SITE, &site, -1) == -1 ||
	    chan_send(c, MSG_START, &start, -1) == -1)
		return -1;
	chan_phase(c, PHASE_RUN);
	w->ready = true;
	w->serving(w);
	return 0;
}

/* clang-format off */
static const struct chan_handler child_handlers[] = {
	HANDLER(HELLO,		on_hello),
	HANDLER(WEB_REQUEST,	web_request_take),
};
/* clang-format on */

static void
child_again(struct web *w, const char *why)
{
	uint64_t now = loop_now(&w->loop);

	child_stop(w);
	(void)listen_accept(w, false);
	state_forget(w);
	if (w->started[0] != 0 && now - w->started[0] < CHILD_WINDOW_MS) {
		warnx("icwebd %s, again and again: the page ends", why);
		w->status = ICCTL_FAILED;
		w->quit = true;
		return;
	}
	warnx("icwebd %s and is started again", why);
	if (web_child_start(w) == -1) {
		w->status = ICCTL_FAILED;
		w->quit = true;
	}
}

static void
child_closed(struct chan *c, const char *why)
{
	/* Its end follows; one that broke the protocol is ended here. */
	if (why != NULL)
		child_again(chan_arg(c), why);
}

static const struct chan_ops child_ops = {
    .handlers = child_handlers,
    .nhandlers = nitems(child_handlers),
    .closed = child_closed,
};

static void
child_ended(struct loop_io *io, uint32_t events)
{
	struct web *w = io->arg;
	int code = 0, status = 0;
	char text[128];

	(void)events;
	if (spawn_reap(w->sp.pidfd, false, &code, &status) != 1)
		return;
	child_again(w, spawn_describe(code, status, text, sizeof(text)));
}

/* Start the program with the socket as descriptor 3. */
static int
child_run(struct web *w, int sock)
{
	char program[PATH_MAX], name[] = "icwebd", *argv[] = {name, NULL},
	     *envp[] = {NULL};
	struct spawn s = {.path = program,
	    .argv = argv,
	    .envp = envp,
	    .fds = {-1, -1, STDERR_FILENO, sock},
	    .nfds = 4,
	    .session = true,
	    .worker = true};

	if (icctl_program("../libexec/ironcurtain/icwebd", program,
		sizeof(program)) == -1 ||
	    spawn_start(&s, &w->sp) == -1 || spawn_check(&w->sp) == -1) {
		warn("icwebd%s", spawn_step());
		return -1;
	}
	return 0;
}

int
web_child_start(struct web *w)
{
	int pair[2], r;

	memmove(w->started, w->started + 1, 2 * sizeof(w->started[0]));
	w->started[2] = loop_now(&w->loop);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1) {
		warn("socketpair");
		return -1;
	}
	r = child_run(w, pair[1]);
	close(pair[1]);
	if (r == -1) {
		close(pair[0]);
		return -1;
	}
	w->webd = chan_new(
	    &w->loop, pair[0], ROLE_SUP, ROLE_WEB, 0, &child_ops, w);
	if (w->webd == NULL || chan_open(w->webd) == -1 ||
	    loop_add(&w->loop, &w->ended, w->sp.pidfd, EPOLLIN, child_ended,
		w) == -1) {
		warn("icwebd");
		return -1;
	}
	return 0;
}

void
child_stop(struct web *w)
{
	w->ready = false;
	chan_free(w->webd);
	w->webd = NULL;
	loop_del(&w->loop, &w->ended);
	/* It ends with its channel; one that does not is killed. */
	spawn_stop(&w->sp, 0);
}
