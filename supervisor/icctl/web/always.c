/* SPDX-License-Identifier: ISC */
/*
 * "Always": `icctl always` makes a rule of a call that the page has shown, and
 * prints it; the page shows it; on a second yes, to exactly this rule, another
 * `icctl always` adds it. This process waits for neither.
 */
#include "icctl/web/priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/wordlist.h"

#define ALWAYS_OUT (4U << 20)

/* An `icctl always` that runs. */
struct web_always {
	struct web *w;
	unsigned place;	     /* in w->rules */
	uint64_t n;	     /* the request */
	struct web_seen was; /* the call as it was shown */
	bool add;
	struct spawned sp;
	struct loop_io io;
	struct buf out; /* its output and its errors */
};

static void
always_end(struct web_always *a)
{
	if (a->io.fd != -1) {
		loop_del(&a->w->loop, &a->io);
		close(a->io.fd);
	}
	spawn_stop(&a->sp, 0);
	a->w->rules[a->place] = NULL;
	buf_free(&a->out);
	free(a);
}

/* Returns the reply in its output, or NULL. */
static json_object *
always_reply(struct web_always *a)
{
	struct span all = buf_span(&a->out), line;
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

/* Tell the page why there is no rule, in the words of `icctl always`. */
static void
always_refuse(struct web_always *a)
{
	static const char prefix[] = "icctl: ";
	struct span all = buf_span(&a->out), line = {NULL, 0};
	json_object *o = json_object_new_object();
	char *text = NULL;

	while (span_line(&all, &line))
		if (span_starts(line, SPAN(prefix)))
			break;
	if (span_starts(line, SPAN(prefix)))
		text = span_dup(span_of(line.p + sizeof(prefix) - 1,
		    line.len - (sizeof(prefix) - 1)));
	json_object_object_add(o, "error",
	    state_vis(text != NULL ? text : "icctl always has failed"));
	free(text);
	send_answer(a->w, a->n, 409, o);
}

/* Note that the login has been sent this rule now, unless it has been. */
static void
always_note(struct web_always *a, const char *rule)
{
	struct web_seen *seen;

	for (size_t i = 0; i < WEB_SEEN; i++) {
		seen = &a->w->seen[i];
		if (seen->at == 0 || seen->at != a->was.at ||
		    seen->login != a->was.login ||
		    strcmp(seen->session, a->was.session) != 0 ||
		    strcmp(seen->call, a->was.call) != 0 ||
		    strcmp(seen->digest, a->was.digest) != 0 ||
		    strcmp(seen->rule, rule) == 0)
			continue;
		(void)strlcpy(seen->rule, rule, sizeof(seen->rule));
		seen->rule_at = loop_now(&a->w->loop);
	}
}

static void
always_done(struct web_always *a)
{
	int code = 0, status = 0;
	json_object *o;

	(void)spawn_reap(a->sp.pidfd, true, &code, &status);
	close(a->sp.pidfd);
	a->sp.pidfd = -1;
	o = spawn_status(code, status) == 0 ? always_reply(a) : NULL;
	if (o == NULL) {
		always_refuse(a);
	} else if (a->add) {
		send_answer(a->w, a->n, 200, o);
	} else {
		always_note(a, icctl_text(o, "rule"));
		send_answer(a->w, a->n, 200, o);
	}
	always_end(a);
}

static void
always_read(struct loop_io *io, uint32_t events)
{
	struct web_always *a = io->arg;
	uint8_t *room = buf_room(&a->out, 4096);
	ssize_t n;

	(void)events;
	/* More than a page can show: the rest is left out. */
	if (room == NULL) {
		buf_reset(&a->out, 4096);
		return;
	}
	n = read(io->fd, room, 4096);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		a->out.len += (size_t)n;
	else
		always_done(a);
}

/* Start `icctl always` with its output in a pipe. Returns 0 or -1. */
static int
always_start(struct web_always *a, const char *dir, const char *rule)
{
	char program[PATH_MAX];
	const char *list[12];
	struct wordlist words = WORDLIST_IN(list);
	struct spawn s = {.path = program, .envp = environ, .nfds = 3};
	int out[2], r = -1;

	wordlist_all(&words, (const char *const[]){"icctl", "--json",
				 "--session", dir, "always", NULL});
	if (rule != NULL)
		wordlist_all(
		    &words, (const char *const[]){"--rule", rule, NULL});
	wordlist_add(&words, a->was.call);
	if ((s.argv = wordlist_end(&words)) == NULL ||
	    icctl_program("icctl", program, sizeof(program)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1)
		return -1;
	s.fds[0] = -1;
	s.fds[1] = s.fds[2] = out[1];
	s.session = true;
	if (spawn_start(&s, &a->sp) == 0 && spawn_check(&a->sp) == 0 &&
	    fcntl(out[0], F_SETFL, O_NONBLOCK) != -1 &&
	    loop_add(&a->w->loop, &a->io, out[0], EPOLLIN, always_read, a) ==
		0)
		r = 0;
	else
		close(out[0]);
	close(out[1]);
	return r;
}

/* Find a free place. Returns NULL if too many are at work. */
static struct web_always *
always_new(struct web *w, const struct web_seen *seen, uint64_t n)
{
	struct web_always *a;

	for (unsigned i = 0; i < WEB_RULES; i++) {
		if (w->rules[i] != NULL)
			continue;
		if ((a = calloc(1, sizeof(*a))) == NULL)
			return NULL;
		a->w = w;
		a->place = i;
		a->n = n;
		a->was = *seen;
		a->sp = (struct spawned)SPAWNED_INIT;
		a->io.fd = -1;
		buf_init(&a->out, ALWAYS_OUT);
		w->rules[i] = a;
		return a;
	}
	return NULL;
}

void
always_ask(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login)
{
	struct web_seen *seen = verdict_seen(w, m, login);
	struct live_session *s;
	struct web_always *a;
	bool add = m->grant.len != 0;

	if (seen == NULL)
		return;
	if (add && (seen->rule[0] == '\0' || !span_is(m->grant, seen->rule) ||
		       loop_now(&w->loop) - seen->rule_at < WEB_LOOK_MS)) {
		send_refuse(w, m->n, 409,
		    "this rule has not been shown for a second: look at it "
		    "first");
		return;
	}
	s = live_find(w->live, seen->session);
	if (s != NULL && s->far != NULL) {
		send_refuse(w, m->n, 409, web_elsewhere);
		return;
	}
	if (s == NULL ||
	    (a = always_new(w, seen, m->n)) == NULL) {
		send_refuse(w, m->n, 503, "too many rules are being made");
		return;
	}
	a->add = add;
	if (always_start(a, s->dir, add ? seen->rule : NULL) == -1) {
		send_refuse(w, m->n, 503, "icctl always cannot be started");
		always_end(a);
	}
}

void
always_free(struct web *w)
{
	for (unsigned i = 0; i < WEB_RULES; i++)
		if (w->rules[i] != NULL)
			always_end(w->rules[i]);
}
