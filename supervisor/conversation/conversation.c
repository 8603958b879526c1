/* SPDX-License-Identifier: ISC */
/*
 * The state of a conversation. A turn ends when ic-bridge has reported the
 * command's end and termd has passed on everything that it printed; it ends
 * with exactly one usage, one result and one turn_end, however it went.
 */
#include "conversation/conversation.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto/said.h"
#include "base/json_put.h"
#include "box/bridge.h"
#include "budget/budget.h"
#include "common/json/value.h"
#include "common/log.h"
#include "common/time_text.h"
#include "conversation/compose.h"
#include "conversation/talk_calls.h"
#include "conversation/talk_cut.h"
#include "conversation/talk_events.h"
#include "conversation/talk_mend.h"
#include "conversation/talk_trouble.h"
#include "conversation/talk_wait.h"
#include "core/sup.h"
#include "hub/approvals.h"
#include "hub/notify.h"
#include "resume/resume.h"
#include "undo/checkpoint.h"

#define TALK_KILL_MS 5000U    /* after an interrupt */
#define TALK_OUTPUT_MS 10000U /* for output, after the command's end */
#define TALK_SAID 300U

static void talk_check(void);

enum talk_state {
	TALK_INITIALIZING,
	TALK_READY,
	TALK_TURN,
	TALK_CLOSED
};

static struct {
	enum talk_state state;
	uint32_t turn; /* the latest turn's number */
	char *inside;
	/* The turn that runs. */
	uint64_t began; /* clock_mono_us() */
	bool ended, printed, interrupted, failed, said;
	unsigned status, leftovers;
	char last[TALK_SAID];  /* the last line of its standard error */
	char wrong[TALK_SAID]; /* its latest error, or "" */
	char spent[512];       /* the limit that ends it, or "" */
	struct loop_timer timer;
	void (*turned)(bool begins);
} talk_env;

bool
conversation_on(void)
{
	return sup.opt.conversation;
}

bool
conversation_runs(void)
{
	return talk_env.state == TALK_TURN;
}

uint32_t
conversation_turn(void)
{
	return talk_env.turn;
}

const char *
conversation_state(void)
{
	if (sup.ending && talk_env.state != TALK_CLOSED)
		return "stopping";
	switch (talk_env.state) {
	case TALK_INITIALIZING:
		return "initializing";
	case TALK_READY:
		return talk_trouble_quota(NULL) ? "quota" : "ready";
	case TALK_TURN:
		return approvals_count() != 0     ? "waiting"
		       : talk_trouble_quota(NULL) ? "quota"
						  : "processing";
	case TALK_CLOSED:
		break;
	}
	return "closed";
}

static void
talk_status(void)
{
	struct json_object *o = json_object_new_object();
	const char *state = conversation_state();
	char until[TIME_TEXT];

	put_str(o, "status", state);
	if (strcmp(state, "quota") == 0 && talk_trouble_quota(until) &&
	    until[0] != '\0')
		put_str(o, "until", until);
	talk_event("session", 0, o);
}

/* Bring session.json up to date. */
static void
talk_record(void)
{
	if (ready_session_json("running") == -1)
		sup_warn("session.json: %s", strerror(errno));
}

static void
talk_text(const char *name, struct span s)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "text",
	    json_object_new_string_len((const char *)s.p, (int)s.len));
	talk_event(name, talk_env.turn, o);
}

static void
talk_signal(unsigned sig)
{
	if (talk_waits())
		return;
	uint8_t data[BRIDGE_SIGNAL_DATA];

	bridge_put32(data, talk_env.turn);
	bridge_put32(data + 4, sig);
	(void)bridge_send(BRIDGE_SIGNAL, data, sizeof(data));
}

static void
talk_kill(struct loop_timer *t)
{
	(void)t;
	talk_signal(SIGKILL);
}

/* A limit of the turn is reached: end it, and only it. */
static void
talk_exhausted(const char *why)
{
	if (talk_env.state != TALK_TURN || talk_env.ended ||
	    talk_env.spent[0] != '\0')
		return;
	(void)strlcpy(talk_env.spent, why, sizeof(talk_env.spent));
	talk_signal(SIGTERM);
	loop_timer_set(
	    &sup.loop, &talk_env.timer, TALK_KILL_MS, talk_kill, NULL);
}

int
conversation_open(void (*turned)(bool begins), struct fault *fault)
{
	struct talk_cut cut;

	if (!sup.opt.conversation)
		return 0;
	talk_env.turned = turned;
	budget_turn_ends(talk_exhausted);
	compose_uuid(sup.conversation.name);
	if (talk_again(fault) == -1 || talk_events_open(&cut, fault) == -1)
		return -1;
	talk_env.turn =
	    cut.last > resume_carry()->turn ? cut.last : resume_carry()->turn;
	talk_mend(&cut, talk_env.turn);
	talk_cut_free(&cut);
	talk_status();
	return 0;
}

static void
talk_quota_over(struct loop_timer *t)
{
	(void)t;
	talk_status();
	talk_record();
}

/* Say that messages can be taken, and whether a quota is used up. */
static void
talk_ready(void)
{
	uint64_t ms = talk_trouble_quota_ms();

	talk_env.state = TALK_READY;
	if (ms != 0)
		loop_timer_set(&sup.loop, &talk_env.timer, ms + 1000,
		    talk_quota_over, NULL);
	talk_status();
}

/* The agent has begun its own conversation, which a resume goes on with. */
static void
talk_begun(void)
{
	if (sup.conversation.talked)
		return;
	sup.conversation.talked = true;
	talk_record();
}

void
conversation_ready(const char *inside)
{
	const char *code, *why, *task = sup.opt.task;

	if ((talk_env.inside = strdup(inside)) == NULL) {
		end_request(SUP_EXIT_OS, NULL, "conversation: out of memory");
		return;
	}
	talk_ready();
	/* A command that runs once reads an empty message. */
	if (task == NULL && sup.opt.one_turn)
		task = "";
	if (task == NULL)
		return;
	why = conversation_send(span_str(task), &code);
	if (why != NULL && sup.opt.one_turn)
		end_request(SUP_EXIT_CONFIG, NULL, "the task: %s", why);
	if (why != NULL)
		sup_warn("the task: %s", why);
	else
		said_take(span_str(task), true);
}

/* Returns true if the turn that waited for its checkpoint is still wanted. */
static bool
talk_wanted(void)
{
	return !talk_env.interrupted && talk_env.spent[0] == '\0';
}

/* It never began in the sandbox. */
static void
talk_unsent(bool dropped)
{
	if (!dropped)
		talk_text("error", SPAN("the sandbox is gone"));
	talk_env.failed = talk_env.failed || !dropped;
	talk_env.said = talk_env.ended = talk_env.printed = true;
	talk_check();
}

static void
talk_began(struct span message)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "message",
	    json_object_new_string_len(
		(const char *)message.p, (int)message.len));
	talk_event("turn_start", talk_env.turn, o);
	talk_status();
	event_turn(talk_env.turn, message);
	budget_turn();
	talk_env.turned(true);
}

const char *
conversation_send(struct span message, const char **code)
{
	static char why[512];
	struct compose c = {.inside = talk_env.inside,
	    .uuid = sup.conversation.name,
	    .message = message,
	    .turn = talk_env.turn + 1,
	    .resume = sup.conversation.talked};
	char until[TIME_TEXT];
	struct fault fault;
	struct buf frame;
	int rv;

	*code = "SESSION_CLOSED";
	if (talk_env.state == TALK_CLOSED || sup.ending)
		return "this session is ending: start another one";
	*code = "SESSION_NOT_READY";
	if (talk_env.state == TALK_INITIALIZING)
		return "the session is still starting. Send the message again "
		       "in a moment";
	*code = "busy";
	if (talk_env.state == TALK_TURN && talk_trouble_quota(until)) {
		snprintf(why, sizeof(why),
		    "a turn is running, whose agent waits for the %s's "
		    "quota until %s: wait, too, or interrupt it (icctl "
		    "interrupt)",
		    talk_trouble_who(), until);
		return why;
	}
	if (talk_env.state == TALK_TURN)
		return "a turn is running: wait for its end, or interrupt it "
		       "(icctl interrupt)";
	if (undo_runs())
		return "the workspace is being put back (icctl undo): send the "
		       "message again when that is done";
	*code = "BUDGET_EXHAUSTED";
	if (budget_refusal_text(why, sizeof(why)))
		return why;
	/* A conversation that the agent never began has no name yet. */
	if (!sup.conversation.talked) {
		compose_uuid(sup.conversation.name);
		talk_record();
	}
	*code = "bad-request";
	buf_init(&frame, BRIDGE_MAX_TURN);
	rv = talk_wait_compose(&c, &frame, &fault);
	if (rv == 0)
		rv = talk_wait_send(
		    &frame, c.turn, talk_wanted, talk_unsent, &fault);
	else
		buf_free(&frame);
	if (rv == -1) {
		snprintf(why, sizeof(why), "%.250s", fault.text);
		return why;
	}
	loop_timer_clear(&sup.loop, &talk_env.timer);
	talk_env.turn++;
	talk_env.state = TALK_TURN;
	talk_env.began = clock_mono_us();
	talk_env.ended = talk_env.printed = talk_env.interrupted = false;
	talk_env.failed = talk_env.said = false;
	talk_env.status = talk_env.leftovers = 0;
	talk_env.last[0] = talk_env.spent[0] = talk_env.wrong[0] = '\0';
	talk_events_turn(talk_env.turn);
	talk_trouble_begin();
	talk_began(message);
	return NULL;
}

/* Takes over `used`, the budget at the end of the turn. */
static void
talk_result(
    bool bad, const char *why, const char *trouble, struct json_object *used)
{
	const char *how = talk_env.interrupted ? "interrupted"
			  : bad                ? "failed"
					       : "completed";
	struct json_object *o;
	char text[160];

	o = json_object_new_object();
	json_object_object_add(o, "budget", used);
	talk_event("usage", talk_env.turn, o);
	o = json_object_new_object();
	put_bool(o, "is_error", bad);
	put_int(o, "exit", talk_env.status);
	if (why != NULL)
		put_str(o, "why", why);
	if (trouble != NULL)
		put_str(o, "trouble", trouble);
	if (talk_env.spent[0] != '\0')
		put_str(o, "code", "BUDGET_EXHAUSTED");
	talk_event("result", talk_env.turn, o);
	o = json_object_new_object();
	put_str(o, "status", how);
	put_int(o, "ms", (int64_t)((clock_mono_us() - talk_env.began) / 1000));
	put_int(o, "leftovers", talk_env.leftovers);
	talk_event("turn_end", talk_env.turn, o);
	snprintf(text, sizeof(text), "turn %u of %s: %s", talk_env.turn,
	    sup.session.id, how);
	notify_event(CONFIG_NOTIFY_TURN, text);
}

/* The only turn is over: so is the session, with the status of one task. */
static void
talk_once(void)
{
	int status = (int)talk_env.status;

	if (talk_env.spent[0] != '\0')
		status = SUP_EXIT_TIME;
	else if (talk_env.interrupted && status == 0)
		status = 128 + SIGINT;
	else if (talk_env.failed && status == 0)
		status = 1;
	end_request(status, NULL, "the task %s",
	    talk_env.interrupted ? "was interrupted"
	    : talk_env.failed    ? "failed"
				 : "is done");
}

/* End the turn; `why` says what went wrong, or is NULL. */
static void
talk_over(const char *why)
{
	bool bad = why != NULL || talk_env.failed;
	bool limited = talk_trouble_kept();
	const char *trouble;
	struct json_object *used;

	loop_timer_clear(&sup.loop, &talk_env.timer);
	talk_env.turned(false);
	if (why != NULL)
		talk_text("error", span_str(why));
	trouble = talk_trouble_end(
	    bad, talk_env.interrupted || talk_env.spent[0] != '\0');
	if (trouble != NULL || limited)
		talk_record();
	talk_env.state = TALK_READY;
	talk_env.failed = bad;
	/* The turn's own limits count from 0 once it is over. */
	used = budget_json();
	budget_turn_over();
	talk_events_turn(0);
	if (why == NULL && talk_env.wrong[0] != '\0')
		why = talk_env.wrong;
	talk_result(bad, why, trouble, used);
	(void)undo_checkpoint(CHECKPOINT_AFTER, talk_env.turn, "", 0);
}

static void
talk_check(void)
{
	char why[TALK_SAID + 128];

	if (!talk_env.ended || !talk_env.printed)
		return;
	if (talk_env.spent[0] != '\0') {
		talk_over(talk_env.spent);
	} else if (talk_env.interrupted) {
		talk_over("the turn was interrupted");
	} else if (talk_env.status != 0) {
		snprintf(why, sizeof(why), "the agent ended with status %u%s%s",
		    talk_env.status,
		    talk_env.last[0] != '\0' ? "; it last said: " : "",
		    talk_env.last);
		talk_over(why);
	} else if (!talk_env.said && !talk_env.failed) {
		snprintf(why, sizeof(why), "the agent ended without a word%s%s",
		    talk_env.last[0] != '\0' ? "; it last said: " : "",
		    talk_env.last);
		talk_over(why);
	} else {
		talk_over(NULL);
	}
	if (sup.opt.one_turn)
		talk_once();
	else
		talk_ready();
}

static void
talk_late(struct loop_timer *t)
{
	static const char lost[] = "the end of the agent's output is lost";

	(void)t;
	talk_text("error", SPAN(lost));
	conversation_unprinted();
}

int
conversation_ended(const uint8_t *p, size_t len)
{
	if (len != BRIDGE_ENDED_DATA || talk_env.state != TALK_TURN ||
	    bridge_get32(p) != talk_env.turn || bridge_get32(p + 4) > 255)
		return -1;
	talk_env.ended = true;
	talk_env.status = bridge_get32(p + 4);
	talk_env.leftovers = bridge_get32(p + 8);
	loop_timer_set(
	    &sup.loop, &talk_env.timer, TALK_OUTPUT_MS, talk_late, NULL);
	talk_check();
	return 0;
}

void
conversation_printed(uint32_t turn)
{
	if (talk_env.state != TALK_TURN || turn != talk_env.turn)
		return;
	talk_env.printed = true;
	talk_check();
}

void
conversation_unprinted(void)
{
	if (talk_env.state != TALK_TURN || !talk_env.ended)
		return;
	talk_env.printed = true;
	talk_check();
}

static void
talk_logged(struct span s)
{
	const uint8_t *nl;
	size_t n;

	while (s.len != 0) {
		nl = memchr(s.p, '\n', s.len);
		n = nl == NULL ? s.len : (size_t)(nl - s.p);
		if (n != 0) {
			session_log(&sup.session, "agent", span_of(s.p, n));
			talk_trouble_see(span_of(s.p, n), true);
			log_vis(span_of(s.p, n), talk_env.last,
			    sizeof(talk_env.last));
		}
		n += nl != NULL;
		s.p += n;
		s.len -= n;
	}
}

int
conversation_text(const struct msg_TURN_TEXT *m)
{
	if (!conversation_on() || !compose_is_clean(m->text))
		return -1;
	/* Between turns there is nobody to tell. */
	if (talk_env.state != TALK_TURN)
		return 0;
	switch ((enum proto_turn)m->kind) {
	case PROTO_TURN_TEXT:
		talk_env.said = true;
		talk_begun();
		talk_trouble_see(m->text, false);
		talk_text("agent_text", m->text);
		return 0;
	case PROTO_TURN_RESULT:
		talk_trouble_see(m->text, false);
		if (!talk_env.said)
			talk_text("agent_text", m->text);
		talk_env.said = true;
		talk_begun();
		return 0;
	case PROTO_TURN_THINKING:
		talk_text("thinking", m->text);
		return 0;
	case PROTO_TURN_TOOL:
		/* Its turn may be interrupted before it says anything. */
		talk_begun();
		talk_call_own(m->text);
		return 0;
	case PROTO_TURN_ERROR:
		talk_env.failed = true;
		log_vis(m->text, talk_env.wrong, sizeof(talk_env.wrong));
		talk_trouble_see(m->text, true);
		talk_text("error", m->text);
		return 0;
	case PROTO_TURN_LOG:
		talk_logged(m->text);
		return 0;
	}
	return -1;
}

void
conversation_answer(unsigned provider, struct span why, uint32_t count,
    unsigned status, uint32_t retry)
{
	bool was = talk_trouble_quota(NULL);

	talk_trouble_answer(provider, why, count, status, retry);
	if (talk_env.state != TALK_TURN || was == talk_trouble_quota(NULL))
		return;
	talk_status();
	talk_record();
}

bool
conversation_interrupt(void)
{
	if (talk_env.state != TALK_TURN)
		return false;
	if (talk_env.ended)
		return true;
	/* A second request does not wait. */
	talk_signal(talk_env.interrupted ? SIGKILL : SIGINT);
	if (!talk_env.interrupted)
		loop_timer_set(
		    &sup.loop, &talk_env.timer, TALK_KILL_MS, talk_kill, NULL);
	talk_env.interrupted = true;
	return true;
}

void
conversation_close(const char *why)
{
	struct json_object *o;
	char text[600];

	if (!conversation_on() || talk_env.state == TALK_CLOSED)
		return;
	talk_wait_end();
	talk_status();
	snprintf(text, sizeof(text),
	    "the session ended during the turn: %.500s", why);
	if (talk_env.state == TALK_TURN)
		talk_over(text);
	talk_env.state = TALK_CLOSED;
	o = json_object_new_object();
	put_str(o, "why", why);
	put_int(o, "status", sup.end_status);
	talk_event("end", 0, o);
	talk_events_close();
	free(talk_env.inside);
	talk_env.inside = NULL;
}
