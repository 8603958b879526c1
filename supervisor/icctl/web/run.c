/* SPDX-License-Identifier: ISC */
/*
 * Runs a command of icctl for the page, with its output in a pipe, and gives
 * the object that it prints to whoever began it.
 */
#include "icctl/web/run.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"

/* Bytes of output; what a page takes is less. */
#define RUN_OUT (PROTO_MAX_PAGE + (1U << 20))

void
web_run_end(struct web_run *r)
{
	if (r->io.fd != -1) {
		loop_del(&r->w->loop, &r->io);
		close(r->io.fd);
	}
	spawn_stop(&r->sp, 0);
	r->w->runs[r->place] = NULL;
	buf_free(&r->out);
	free(r);
}

/* Returns the object in its output, or NULL. */
static json_object *
run_reply(struct web_run *r)
{
	struct span all = buf_span(&r->out), line;
	json_object *o = NULL;
	char *text;

	while (o == NULL && span_line(&all, &line)) {
		if (line.len == 0 || line.p[0] != '{' ||
		    (text = span_dup(line)) == NULL)
			continue;
		o = json_tokener_parse(text);
		free(text);
	}
	return o;
}

void
web_run_refuse(struct web_run *r, const char *otherwise)
{
	static const char prefix[] = "icctl: ";
	struct span all = buf_span(&r->out), line = {NULL, 0};
	json_object *o = json_object_new_object();
	char *text = NULL;

	while (span_line(&all, &line))
		if (span_starts(line, SPAN(prefix)))
			break;
	if (span_starts(line, SPAN(prefix)))
		text = span_dup(span_of(line.p + sizeof(prefix) - 1,
		    line.len - (sizeof(prefix) - 1)));
	json_object_object_add(
	    o, "error", state_vis(text != NULL ? text : otherwise));
	free(text);
	send_answer(r->w, r->n, 409, o);
}

static void
run_done(struct web_run *r)
{
	int code = 0, status = 0;
	bool good;

	(void)spawn_reap(r->sp.pidfd, true, &code, &status);
	close(r->sp.pidfd);
	r->sp.pidfd = -1;
	good = spawn_status(code, status) == 0;
	r->done(r, good, run_reply(r));
	web_run_end(r);
}

static void
run_read(struct loop_io *io, uint32_t events)
{
	struct web_run *r = io->arg;
	uint8_t *room = buf_room(&r->out, 1U << 16);
	ssize_t n;

	(void)events;
	/* It is more than a page can show, and none of it is shown. */
	if (room == NULL) {
		send_refuse(r->w, r->n, 507, "it is too long for this page");
		web_run_end(r);
		return;
	}
	n = read(io->fd, room, 1U << 16);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		r->out.len += (size_t)n;
	else
		run_done(r);
}

/* Start it. Returns 0 or -1. */
static int
run_spawn(struct web_run *r, struct wordlist *words)
{
	char program[PATH_MAX];
	struct spawn s = {.path = program, .envp = environ, .nfds = 3};
	int out[2], rv = -1;

	if ((s.argv = wordlist_end(words)) == NULL ||
	    icctl_program("icctl", program, sizeof(program)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1)
		return -1;
	s.fds[0] = -1;
	s.fds[1] = s.fds[2] = out[1];
	s.session = true;
	/* It does not stop halfway if we die. */
	s.tie = r->acts ? SPAWN_APART : SPAWN_KILLED;
	if (spawn_start(&s, &r->sp) == 0 && spawn_check(&r->sp) == 0 &&
	    fcntl(out[0], F_SETFL, O_NONBLOCK) != -1 &&
	    loop_add(&r->w->loop, &r->io, out[0], EPOLLIN, run_read, r) == 0)
		rv = 0;
	else
		close(out[0]);
	close(out[1]);
	return rv;
}

void
web_run_start(struct web_run *r, struct wordlist *words)
{
	if (run_spawn(r, words) == 0)
		return;
	send_refuse(r->w, r->n, 503, "icctl cannot be started");
	web_run_end(r);
}

struct web_run *
web_run_new(struct web *w, uint64_t n,
    void (*done)(struct web_run *, bool, json_object *))
{
	struct web_run *r;

	for (unsigned i = 0; i < WEB_RUNS; i++) {
		if (w->runs[i] != NULL)
			continue;
		if ((r = calloc(1, sizeof(*r))) == NULL)
			return NULL;
		r->w = w;
		r->place = i;
		r->n = n;
		r->done = done;
		r->sp = (struct spawned)SPAWNED_INIT;
		r->io.fd = -1;
		buf_init(&r->out, RUN_OUT);
		w->runs[i] = r;
		return r;
	}
	return NULL;
}

/* Let one that acts come to its end; its answer goes to the terminal. */
static void
run_wait(struct web_run *r)
{
	uint8_t text[4096];
	ssize_t n;

	if (!r->acts || r->io.fd == -1)
		return;
	warnx("what the page was told to do is still being done: icctl web "
	      "ends after it");
	(void)fcntl(r->io.fd, F_SETFL, 0);
	do
		n = read(r->io.fd, text, sizeof(text));
	while (n > 0 || (n == -1 && errno == EINTR));
	warnx(spawn_wait(&r->sp) == 0 ? "it is done"
				      : "not all of it was done: look at the "
					"session's log");
}

void
web_run_free(struct web *w)
{
	for (unsigned i = 0; i < WEB_RUNS; i++)
		if (w->runs[i] != NULL) {
			run_wait(w->runs[i]);
			web_run_end(w->runs[i]);
		}
}
