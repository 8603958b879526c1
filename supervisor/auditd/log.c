/* SPDX-License-Identifier: ISC */
/*
 * The log and what waits for it.  Lines of one loop turn are written with one
 * call, and synced where that is asked for; then their effects happen.  When
 * the log cannot be written every effect that it does not cover becomes a
 * refusal, and so does everything that comes later.
 */
#include "auditd/auditd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

/* What is kept of the line buffer between turns. */
#define OUT_KEEP (256U << 10)

bool
auditd_breaks(struct span json)
{
	return json.len != 0 && memchr(json.p, '\n', json.len) != NULL;
}

void
auditd_line(struct auditlog_line *l, const char *event)
{
	auditlog_begin(l, &auditd_env.log, &auditd_env.out, event);
}

static void
auditd_fail(const char *text)
{
	struct msg_AUDIT_FAIL m = {.text = span_str(text)};

	if (auditd_env.failed[0] != '\0')
		return;
	snprintf(auditd_env.failed, sizeof(auditd_env.failed), "%s", text);
	log_warnx("the audit log cannot be written (%s): nothing is released "
		  "any more",
	    text);
	worker_send(&auditd_env.w, ROLE_SUP, 0, MSG_AUDIT_FAIL, &m, -1);
}

void
auditd_line_end(struct auditlog_line *l)
{
	if (auditd_env.failed[0] != '\0') {
		l->b->len = l->start;
		l->b->failed = false;
	} else if (auditlog_end(l) == -1)
		auditd_fail("a line exceeds its maximum");
}

static struct auditd_effect *
effect_new(size_t bytes, uint64_t call)
{
	struct auditd_effect *e;

	if ((e = calloc(1, sizeof(*e) + bytes)) == NULL)
		fatal("calloc");
	e->upto = auditd_env.failed[0] != '\0' ? SIZE_MAX : auditd_env.out.len;
	e->id = call;
	return e;
}

/* A copy of msg whose texts lie behind the effect. */
void
auditd_effect_msg(enum role to, unsigned index, enum msg_type type,
    const void *msg, uint64_t call)
{
	const struct proto_msg *m = proto_find((uint16_t)type);
	struct auditd_effect *e;
	struct span s;
	size_t bytes = 0;

	for (size_t i = 0; i < m->nfields; i++) {
		if (m->fields[i].kind < PROTO_str)
			continue;
		memcpy(
		    &s, (const uint8_t *)msg + m->fields[i].offset, sizeof(s));
		bytes += s.len;
	}
	e = effect_new(bytes, call);
	e->to = to;
	e->index = index;
	e->type = type;
	memcpy(&e->msg, msg, m->size);
	for (size_t i = 0; i < m->nfields; i++) {
		uint8_t *at = (uint8_t *)&e->msg + m->fields[i].offset;

		if (m->fields[i].kind < PROTO_str)
			continue;
		memcpy(&s, at, sizeof(s));
		if (s.len != 0)
			memcpy(e->bytes + e->len, s.p, s.len);
		s.p = e->bytes + e->len;
		e->len += s.len;
		memcpy(at, &s, sizeof(s));
	}
	TAILQ_INSERT_TAIL(&auditd_env.effects, e, entry);
}

void
auditd_effect_line(unsigned server, uint64_t call, struct span line)
{
	struct auditd_effect *e = effect_new(line.len, call);

	e->server = server;
	e->len = line.len;
	memcpy(e->bytes, line.p, line.len);
	TAILQ_INSERT_TAIL(&auditd_env.effects, e, entry);
}

/* Writes all of b; *done: how much the file took. */
static int
log_write(struct span b, size_t *done)
{
	ssize_t n;

	for (*done = 0; *done < b.len;) {
		n = write(auditd_env.fd, b.p + *done, b.len - *done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (n == 0) {
			errno = ENOSPC;
			return -1;
		}
		*done += (size_t)n;
	}
	return 0;
}

/* An effect that the log does not cover: the one who waits is told. */
static void
effect_refuse(const struct auditd_effect *e)
{
	struct auditd_call *call;
	char text[512];

	if (e->type == MSG_REQUEST_GO) {
		const struct msg_REQUEST_GO *r = &e->msg.REQUEST_GO;
		const struct msg_REFUSED m = {.stream = r->stream,
		    .exchange = r->exchange,
		    .reason = PROTO_REFUSED_AUDIT};

		worker_send(&auditd_env.w, ROLE_MITM, 0, MSG_REFUSED, &m, -1);
		return;
	}
	if (e->type == MSG_REFUSED) {
		struct msg_REFUSED m = e->msg.REFUSED;

		m.reason = PROTO_REFUSED_AUDIT;
		worker_send(
		    &auditd_env.w, e->to, e->index, MSG_REFUSED, &m, -1);
		return;
	}
	if (e->type == MSG_CONNECT_GO) {
		const struct msg_REFUSED m = {.stream = 0,
		    .exchange = e->msg.CONNECT_GO.id,
		    .reason = PROTO_REFUSED_AUDIT};

		worker_send(&auditd_env.w, ROLE_EGRESS,
		    e->msg.CONNECT_GO.server, MSG_REFUSED, &m, -1);
		return;
	}
	if (e->type == MSG_HOLD_SHOW)
		auditd_hold_refuse(
		    e->msg.HOLD_SHOW.id, e->msg.HOLD_SHOW.digest);
	if (e->type == MSG_VERDICT_GO)
		auditd_hold_refuse(
		    e->msg.VERDICT_GO.id, e->msg.VERDICT_GO.digest);
	if (e->type == MSG_INSTANCE_WANT)
		auditd_instance_refuse(e->msg.INSTANCE_WANT.call,
		    "the audit log cannot be written");
	/* An end needs no permission. */
	if (e->type == MSG_INSTANCE_KILL || e->type == MSG_INSTANCE_FREE ||
	    e->type == MSG_INSTANCE_ROOM || e->type == MSG_HOLD_END ||
	    e->type == MSG_LATE_SHOW)
		worker_send(
		    &auditd_env.w, e->to, e->index, e->type, &e->msg, -1);
	if (e->type != 0 && e->type != MSG_ANSWER && e->type != MSG_VIRTUAL)
		return;
	snprintf(text, sizeof(text),
	    "DENIED: The audit log cannot be written "
	    "(%s), so nothing is forwarded. Do not retry: tell the user, who "
	    "must make room and start a new session.",
	    auditd_env.failed);
	if (e->id != 0)
		auditd_answer(e->id, text);
	if ((call = auditd_call_find(e->id)) != NULL)
		auditd_call_end(call);
}

static void
effect_happen(const struct auditd_effect *e)
{
	if (e->to == ROLE_KEY &&
	    auditd_env.w.peers[ROLE_KEY][e->index] == NULL) {
		const struct msg_REFUSED m = {
		    .stream = e->msg.REQUEST_GO.stream,
		    .exchange = e->msg.REQUEST_GO.exchange,
		    .reason = PROTO_REFUSED_GONE};

		worker_send(&auditd_env.w, ROLE_MITM, 0, MSG_REFUSED, &m, -1);
		return;
	}
	if (e->type == MSG_ENDED) {
		auditd_ended(e->msg.ENDED.id);
		return;
	}
	worker_send(&auditd_env.w, e->to, e->index, e->type, &e->msg, -1);
}

/* Writes this turn's lines. *done: how many bytes of them are on record. */
static void
commit_lines(size_t *done)
{
	struct buf *out = &auditd_env.out;

	*done = 0;
	if (out->len == 0 || auditd_env.failed[0] != '\0')
		return;
	if (log_write(buf_span(out), done) == -1) {
		auditd_fail(strerror(errno));
		return;
	}
	if (auditd_env.sync && fdatasync(auditd_env.fd) == -1) {
		/* On disk or not is unknown: it covers nothing. */
		auditd_fail(strerror(errno));
		*done = 0;
	}
}

static void
commit_effects(struct auditd_effects *list, size_t done)
{
	struct auditd_effect *e;

	while ((e = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, e, entry);
		if (auditd_env.failed[0] != '\0' && e->upto > done)
			effect_refuse(e);
		else if (e->type == 0) {
			auditd_server_put(e);
			continue;
		} else
			effect_happen(e);
		freezero(e, sizeof(*e) + e->len);
	}
}

void
auditd_commit(void *arg)
{
	struct auditd_effects list;
	size_t done;

	(void)arg;
	/* An effect may compose again: a lost server's calls are recorded. */
	do {
		commit_lines(&done);
		TAILQ_INIT(&list);
		TAILQ_CONCAT(&list, &auditd_env.effects, entry);
		buf_reset(&auditd_env.out, OUT_KEEP);
		commit_effects(&list, done);
	} while (!TAILQ_EMPTY(&auditd_env.effects));
	auditd_unasked_tell();
}
