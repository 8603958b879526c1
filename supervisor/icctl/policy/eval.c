/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy eval`: one line of output for each line of input, in order. It
 * is fast because many questions are open at once. Answers are written before
 * it waits for anything.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"

#define OPEN_MAX_LINES 512U
#define OPEN_MAX_BYTES ((size_t)16 << 20)
#define LINE_MAX_BYTES PROTO_MAX_LINE
#define POOL_MAX ((size_t)48 << 20)
#define READ_STEP ((size_t)1 << 18)

struct eval {
	struct policyd *pd;
	struct value_pool *pool;
	struct buf in, out, wire;
	bool eof, skip; /* skip the rest of a line that is too long */
	/*
	 * Errors of lines without a question, and how many answers come before
	 * each.
	 */
	char *errors[OPEN_MAX_LINES];
	unsigned after[OPEN_MAX_LINES];
	unsigned nerrors;
	int status;
};

static void
put_error(struct eval *e, const char *why)
{
	buf_addc(&e->out, '{');
	policy_put_member(&e->out, "error", span_str(why));
	buf_adds(&e->out, "}\n");
}

/* Report an error in its place: after the answers that are still missing. */
static void
bad_line(struct eval *e, const char *why)
{
	if (policyd_asked(e->pd) == 0) {
		put_error(e, why);
		return;
	}
	if ((e->errors[e->nerrors] = strdup(why)) == NULL)
		err(ICCTL_FAILED, "memory");
	e->after[e->nerrors++] = policyd_asked(e->pd);
}

static void
on_answer(void *arg, const struct msg_EVALUATED *m)
{
	struct eval *e = arg;
	unsigned n = 0;

	buf_addc(&e->out, '{');
	policy_put_decision(&e->out, m);
	buf_adds(&e->out, "}\n");
	for (unsigned i = 0; i < e->nerrors; i++)
		e->after[i]--;
	while (n < e->nerrors && e->after[n] == 0) {
		put_error(e, e->errors[n]);
		free(e->errors[n++]);
	}
	e->nerrors -= n;
	memmove(e->errors, e->errors + n, e->nerrors * sizeof(e->errors[0]));
	memmove(e->after, e->after + n, e->nerrors * sizeof(e->after[0]));
}

static int
take_line(struct eval *e, struct span line)
{
	struct msg_EVAL m = {.whole = 0};
	struct policy_request r;
	const struct value *v;
	struct json_fail fail;
	const char *why;
	char text[128];

	value_pool_reset(e->pool);
	if ((v = json_read(e->pool, line, &fail)) == NULL) {
		snprintf(text, sizeof(text), "not JSON: column %zu: %s",
		    fail.at + 1, json_strerror(fail.error));
		bad_line(e, text);
		return 0;
	}
	if ((why = policy_request(v, e->pool, &r)) != NULL) {
		bad_line(e, why);
		return 0;
	}
	buf_reset(&e->wire, READ_STEP);
	if (value_encode(r.args, &e->wire) == -1) {
		bad_line(e, "arguments are too large");
		return 0;
	}
	m.server_name = r.server;
	m.tool = r.tool;
	m.args = buf_span(&e->wire);
	return policyd_ask(e->pd, &m);
}

/* Take whole lines from the input while there is room for questions. */
static int
take_lines(struct eval *e)
{
	struct span s;
	const uint8_t *nl;
	size_t n;

	while (e->in.len != 0 && policyd_asked(e->pd) < OPEN_MAX_LINES &&
	       e->nerrors < OPEN_MAX_LINES &&
	       policyd_asked_bytes(e->pd) < OPEN_MAX_BYTES) {
		s = buf_span(&e->in);
		nl = memchr(s.p, '\n', s.len);
		if (nl == NULL && !e->eof && s.len <= LINE_MAX_BYTES)
			return 0;
		n = nl == NULL ? s.len : (size_t)(nl - s.p);
		if (!e->skip && n > LINE_MAX_BYTES)
			bad_line(e, "line is too long");
		else if (!e->skip && take_line(e, span_of(s.p, n)) == -1)
			return -1;
		e->skip = nl == NULL && !e->eof;
		buf_drain(&e->in, nl == NULL ? n : n + 1);
	}
	return 0;
}

static int
read_more(struct eval *e)
{
	uint8_t *room = buf_room(&e->in, READ_STEP);
	ssize_t n;

	if (room == NULL) {
		warn("standard input");
		return -1;
	}
	n = read(STDIN_FILENO, room, READ_STEP);
	if (n == -1 && errno != EINTR && errno != EAGAIN) {
		warn("standard input");
		return -1;
	}
	if (n == 0)
		e->eof = true;
	if (n > 0)
		buf_grow(&e->in, (size_t)n);
	return 0;
}

/* Returns true if more input should be read once no whole line is left. */
static bool
wants_more(const struct eval *e)
{
	return !e->eof && policyd_asked(e->pd) < OPEN_MAX_LINES &&
	       e->nerrors < OPEN_MAX_LINES &&
	       policyd_asked_bytes(e->pd) < OPEN_MAX_BYTES;
}

static int
serve(struct eval *e)
{
	bool readable;

	for (;;) {
		if (take_lines(e) == -1 || policy_flush(&e->out) == -1)
			return ICCTL_FAILED;
		if (e->eof && e->in.len == 0 && policyd_asked(e->pd) == 0)
			return ICCTL_OK;
		readable = false;
		if (policyd_turn(e->pd, wants_more(e) ? STDIN_FILENO : -1,
			&readable) == -1)
			return ICCTL_FAILED;
		if (readable && read_more(e) == -1)
			return ICCTL_FAILED;
	}
}

int
icctl_policy_eval(struct icctl *ctl, struct policy_opts *o)
{
	static struct eval e;
	struct policyd_bad bad;
	struct policy_set set;
	int r;

	o->narrowed = true;
	if (policy_set_load(ctl, o, &set, &bad.fault) == -1 ||
	    (e.pd = policyd_start(ctl, o, &set, false, &bad)) == NULL) {
		warnx("%s", bad.fault.text);
		return ICCTL_FAILED;
	}
	policy_set_free(&set);
	buf_init(&e.in, 2 * (size_t)LINE_MAX_BYTES);
	buf_init(&e.out, (size_t)64 << 20);
	buf_init(&e.wire, PROTO_MAX_TREE);
	if ((e.pool = value_pool_new(POOL_MAX)) == NULL)
		err(ICCTL_FAILED, "memory");
	policyd_answer(e.pd, on_answer, &e);
	r = serve(&e);
	policyd_end(e.pd);
	buf_free(&e.in);
	buf_free(&e.out);
	buf_free(&e.wire);
	value_pool_free(e.pool);
	return r;
}
