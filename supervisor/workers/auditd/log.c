/* SPDX-License-Identifier: ISC */
/*
 * The log and the effects that wait for it. The lines of one loop turn are
 * written with one call, and synced if the configuration asks for it; then
 * their effects happen. If the log cannot be written, every effect that it does
 * not cover becomes a refusal, and so does everything after that.
 */
#include "workers/auditd/auditd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

/* The line buffer shrinks to this size between turns. */
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

void
auditd_decision(struct auditlog_line *l, uint8_t status, struct span rule,
    struct span reason)
{
	static const char *const words[] = {"allow", "deny", "escalate"};
	/* Static, because the compiler zeroes buffers on the stack. */
	static uint8_t bytes[6 * (2048 + 256) + 64];
	struct buf b = {.p = bytes, .cap = sizeof(bytes), .max = sizeof(bytes)};
	struct auditlog_line inner = {.b = &b, .fixed = 99};

	auditlog_str(&inner, "reason", reason);
	auditlog_str(&inner, "rule", rule);
	auditlog_str(&inner, "status", span_str(words[status]));
	buf_addc(&b, '}');
	auditlog_json(l, "policyDecision", buf_span(&b));
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

/* The effect owns a copy of `msg` with all its texts. */
struct auditd_effect *
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
	return e;
}

static void
effect_send(const struct auditd_effect *e)
{
	worker_send(&auditd_env.w, e->to, e->index, e->type, &e->msg, -1);
}

void
auditd_effect_end(
    enum role to, unsigned index, enum msg_type type, const void *msg)
{
	auditd_effect_msg(to, index, type, msg, 0)->refuse = effect_send;
}

struct auditd_effect *
auditd_effect_line(unsigned server, uint64_t call, struct span line)
{
	struct auditd_effect *e = effect_new(line.len, call);

	e->server = server;
	e->len = line.len;
	memcpy(e->bytes, line.p, line.len);
	TAILQ_INSERT_TAIL(&auditd_env.effects, e, entry);
	return e;
}

/*
 * Write all of `b`. Returns 0, or -1 with errno set; `*done` is the number of
 * bytes written.
 */
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

/* Write the lines of this turn; `*done` is the number of bytes recorded. */
static void
commit_lines(size_t *done)
{
	static const struct msg_LOG_FULL full;
	struct buf *out = &auditd_env.out;

	*done = 0;
	if (out->len == 0 || auditd_env.failed[0] != '\0')
		return;
	if (log_write(buf_span(out), done) == -1) {
		auditd_fail(strerror(errno));
		return;
	}
	auditd_env.room -= *done < auditd_env.room ? *done : auditd_env.room;
	if (auditd_env.sync && fdatasync(auditd_env.fd) == -1) {
		/* Nobody knows how much is on disk, so nothing is covered. */
		auditd_fail(strerror(errno));
		*done = 0;
		return;
	}
	if (auditd_env.room == 0 && !auditd_env.full) {
		auditd_env.full = true;
		worker_send(
		    &auditd_env.w, ROLE_SUP, 0, MSG_LOG_FULL, &full, -1);
	}
}

static void
commit_effects(struct auditd_effects *list, size_t done)
{
	struct auditd_effect *e;

	while ((e = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, e, entry);
		if (auditd_env.failed[0] != '\0' && e->upto > done) {
			if (e->refuse != NULL)
				e->refuse(e);
		} else if (e->release == NULL)
			effect_send(e);
		else if (e->release(e))
			continue;
		freezero(e, sizeof(*e) + e->len);
	}
}

void
auditd_commit(void)
{
	struct auditd_effects list;
	size_t done;

	/* An effect may add lines: a lost server's calls are recorded. */
	do {
		commit_lines(&done);
		TAILQ_INIT(&list);
		TAILQ_CONCAT(&list, &auditd_env.effects, entry);
		buf_reset(&auditd_env.out, OUT_KEEP);
		commit_effects(&list, done);
	} while (!TAILQ_EMPTY(&auditd_env.effects));
}
