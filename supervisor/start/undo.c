/* SPDX-License-Identifier: ISC */
/*
 * The operations of undo. icctl shows the plan and starts the box that puts
 * files back, also when no session runs; icsupervisor makes the checkpoint
 * before, records what will be done before icctl may begin, and begins no turn
 * until icctl has said how it went, or has gone.
 */
#include "start/undo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/json/json.h"
#include "common/json/value.h"
#include "conversation/conversation.h"
#include "core/sup.h"
#include "hub/control.h"
#include "undo/checkpoint.h"

#define UNDO_WHAT 100U
/* Between checkpoints that Enter or a prompt makes. */
#define UNDO_ENTER_MS 250U

/* The undo that goes on. */
static struct {
	uint32_t from, to, turn;
	char digest[65], what[UNDO_WHAT + 1];
} undoing;

/* Records that clients wait for: how many were sent, and were written. */
static uint64_t records_sent, records_written;

/* The turns of a session that has no conversation. */
static struct {
	uint32_t turn;
	bool worked; /* the agent, since then */
	struct loop_timer soon;
	bool again;  /* within UNDO_ENTER_MS */
	bool prompt; /* by a prompt */
} said;

uint32_t
undo_turn(void)
{
	return conversation_turn() + said.turn;
}

void
undo_worked(void)
{
	said.worked = true;
}

static void
said_soon(struct loop_timer *t)
{
	if (said.again)
		undo_person(said.prompt);
}

void
undo_person(bool prompt)
{
	const bool next = prompt || said.worked;

	if (!undo_on())
		return;
	if (said.soon.at != 0) {
		said.again = true;
		said.prompt = said.prompt || prompt;
		return;
	}
	if (next || said.turn == 0)
		said.turn++;
	said.worked = said.again = said.prompt = false;
	(void)undo_checkpoint(
	    next ? CHECKPOINT_TURN : CHECKPOINT_ENTER, said.turn, "", 0);
	loop_timer_set(&sup.loop, &said.soon, UNDO_ENTER_MS, said_soon, NULL);
}

/* Answer clients that wait for this checkpoint. */
static void
undo_done(uint32_t ticket, struct json_object *report)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct client *c = &control_clients[i];

		if (c->fd == -1 || c->checkpoint != ticket || c->reply == NULL)
			continue;
		if (report != NULL)
			json_object_object_add(
			    c->reply, "checkpoint", json_object_get(report));
		else
			control_refuse(c, "audit",
			    "out of memory: the checkpoint was not recorded");
		control_answer(c);
	}
}

static void
event_undone(const char *why, int64_t files, int64_t failed)
{
	struct value_pool *p;
	struct value *o = event_open(&p);

	if (o == NULL)
		return;
	event_put_number(p, o, "failed", failed);
	event_put_number(p, o, "files", files);
	event_put_number(p, o, "from", undoing.from);
	event_put_number(p, o, "to", undoing.to);
	if (why != NULL)
		event_put_text(p, o, "why", why);
	event_close("undoEnd", p, o);
}

static void
undo_gone(const struct client *c)
{
	event_undone("icctl ended before it was done", 0, 0);
	undo_notice_set(undoing.turn, undoing.what);
}

void
undo_open(void)
{
	control_when_gone(undo_gone);
	undo_begin(undo_turn() + 1, undo_done);
}

/* Refuse what is not recorded. */
static void
record_failed(struct client *c, const char *why)
{
	control_refuse(c, "audit", why);
	c->undoes = false;
	control_answer(c);
}

void
undo_logged(void)
{
	const bool failed = sup.audit_failed[0] != '\0';

	if (!failed)
		records_written++;
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct client *c = &control_clients[i];

		if (c->fd == -1 || c->recorded == 0 || c->reply == NULL)
			continue;
		if (failed)
			record_failed(c,
			    "the audit log cannot be written: nothing is "
			    "done");
		else if (c->recorded == records_written)
			control_answer(c);
	}
}

void
undo_record(struct client *c, const char *event, struct value_pool *p,
    struct value *detail)
{
	struct msg_EVENT m = {.event = span_str(event)};
	struct buf b;

	c->reply = control_ok();
	buf_init(&b, 1U << 16);
	/* Only what is sent counts: the numbers must stay auditd's. */
	if (detail != NULL && json_write(&b, detail) == 0) {
		m.detail = buf_span(&b);
		child_send(ROLE_AUDIT, 0, MSG_EVENT, &m, -1);
		c->recorded = ++records_sent;
		if (sup.audit_failed[0] != '\0')
			undo_logged();
	} else {
		record_failed(c, "out of memory: nothing is done");
	}
	buf_free(&b);
	value_pool_free(p);
}

static int
op_number(struct json_object *req, const char *key, uint32_t *n)
{
	uint64_t v;

	if (span_u64(get_span(req, key), UINT32_MAX, &v) == -1)
		return -1;
	*n = (uint32_t)v;
	return 0;
}

/* Send the reason why there can be no undo now. Returns true if it did. */
static bool
op_refused(struct client *c)
{
	const char *why = NULL;

	if (!undo_on()) {
		control_fail(c, "not-found",
		    "this session makes no checkpoints: config.json has "
		    "\"undo\": false, or nothing in it can write the "
		    "workspace");
		return true;
	}
	if (conversation_runs())
		why = "a turn is running: wait for its end, or interrupt it "
		      "(icctl interrupt), and undo then";
	else if (undo_runs())
		why = "another undo is running: wait for its end";
	if (why != NULL)
		control_fail(c, "busy", why);
	return why != NULL;
}

/* "value": the checkpoint that an undo wants back; otherwise "message". */
void
control_op_checkpoint(struct client *c, struct json_object *req)
{
	const bool undo = json_object_object_get_ex(req, "value", NULL);
	const char *name = get_str(req, "message", "");
	uint32_t to = 0;

	if (undo && op_refused(c))
		return;
	if (!undo_on()) {
		(void)op_refused(c);
		return;
	}
	if ((undo && op_number(req, "value", &to) == -1) || strlen(name) > 64 ||
	    strpbrk(name, "\n\r\t\033") != NULL) {
		control_fail(c, "bad-request",
		    "a checkpoint has a name of at most 64 bytes, without "
		    "control characters");
		return;
	}
	c->reply = control_ok();
	c->checkpoint =
	    undo_checkpoint(undo ? CHECKPOINT_UNDO : CHECKPOINT_NAMED,
		undo_turn() + (conversation_runs() ? 0 : 1), name, to);
	if (c->checkpoint == 0) {
		json_object_put(c->reply);
		c->reply = NULL;
		control_fail(c, "busy",
		    "other checkpoints are being made: try again in a moment");
	}
}

void
control_op_undo(struct client *c, struct json_object *req)
{
	struct value_pool *p;
	struct value *o;
	uint8_t digest[32];

	if (op_refused(c))
		return;
	if (control_digest(req, "digest", digest) == -1 ||
	    op_number(req, "id", &undoing.to) == -1 ||
	    op_number(req, "key", &undoing.from) == -1 ||
	    op_number(req, "value", &undoing.turn) == -1 ||
	    strlen(get_str(req, "message", "")) > UNDO_WHAT) {
		control_fail(c, "bad-request",
		    "an undo has \"id\", \"key\", \"value\", \"message\" and "
		    "the \"digest\" of its plan");
		return;
	}
	(void)strlcpy(
	    undoing.digest, get_str(req, "digest", ""), sizeof(undoing.digest));
	(void)strlcpy(
	    undoing.what, get_str(req, "message", ""), sizeof(undoing.what));
	if ((o = event_open(&p)) != NULL) {
		event_put_number(p, o, "from", undoing.from);
		event_put_number(p, o, "pid", c->peer.pid);
		event_put_text(p, o, "plan", undoing.digest);
		event_put_number(p, o, "to", undoing.to);
	}
	sup_note("undo: back to checkpoint %u, by pid %d", undoing.to,
	    (int)c->peer.pid);
	c->undoes = true;
	undo_record(c, "undo", p, o);
}

/* icctl says how it went. */
void
control_op_undone(struct client *c, struct json_object *req)
{
	uint32_t files = 0, failed = 0;

	if (!c->undoes) {
		control_fail(c, "not-found", "no undo of yours is running");
		return;
	}
	if (op_number(req, "key", &files) == -1 ||
	    op_number(req, "value", &failed) == -1) {
		control_fail(c, "bad-request",
		    "\"key\" and \"value\" are two "
		    "numbers of files");
		return;
	}
	c->undoes = false;
	event_undone(NULL, files, failed);
	if (files != 0)
		undo_notice_set(undoing.turn, undoing.what);
	control_reply(c, control_ok());
}
