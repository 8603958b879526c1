/* SPDX-License-Identifier: ISC */
/*
 * Takes what a worker prints, which are the lines of `icctl send --json`:
 * events are passed on with the id of their request, and its end is composed of
 * what they said.
 */
#include "icctl/driver/priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"

#define HEARD_NOT "the agent printed a line that is not understood"

/* Remember the first failure. */
static void
heard_fail(struct request *r, enum fail fail, const char *why)
{
	if (r->fail != FAIL_NONE)
		return;
	r->fail = fail;
	(void)strlcpy(r->why, why, sizeof(r->why));
}

/* An error of icctl itself, or of the session's start. */
static void
heard_refused(struct request *r, json_object *o)
{
	static const struct {
		const char *code;
		enum fail fail;
	} rows[] = {
	    {"SCHEMA_MISMATCH", FAIL_SCHEMA},
	    {"SESSION_INIT_FAILED", FAIL_INIT},
	    {"SESSION_CLOSED", FAIL_GONE},
	    {"SESSION_NOT_READY", FAIL_GONE},
	    {"quota", FAIL_QUOTA},
	};
	const char *code = icctl_text(o, "code");
	enum fail fail = FAIL_NO_RESULT;

	for (size_t i = 0; i < nitems(rows); i++)
		if (strcmp(code, rows[i].code) == 0)
			fail = rows[i].fail;
	if (fail == FAIL_SCHEMA) {
		r->failure = json_object_new_object();
		put_str(r->failure, "path", icctl_text(o, "path"));
		put_str(r->failure, "excerpt", icctl_text(o, "excerpt"));
	}
	heard_fail(r, fail, icctl_text(o, "error"));
}

static void
heard_keep(json_object **to, json_object *v)
{
	json_object_put(*to);
	*to = json_object_get(v);
}

/* Keep what the end is composed of. Returns true if it is passed on. */
static bool
heard_event(struct driver *d, struct request *r, json_object *o)
{
	const char *name = icctl_text(o, "event");

	if (strcmp(name, "usage") == 0) {
		heard_keep(&r->budget, get_member(o, "budget"));
		return false;
	}
	if (strcmp(name, "result") == 0) {
		heard_keep(&r->result, o);
		return false;
	}
	if (strcmp(name, "turn_start") == 0) {
		/* The turn that repairs an answer replaces it. */
		buf_reset(&r->text, 0);
		r->turns++;
	}
	if (strcmp(name, "agent_text") == 0 && worker_lines_are(d)) {
		worker_lines_take(d, r, icctl_text(o, "text"));
		return false;
	}
	if (strcmp(name, "agent_text") == 0)
		buf_adds(&r->text, icctl_text(o, "text"));
	if (strcmp(name, "error") == 0 &&
	    strncmp(icctl_text(o, "text"), HEARD_NOT, strlen(HEARD_NOT)) == 0) {
		heard_fail(r, FAIL_BAD_OUTPUT, icctl_text(o, "text"));
		work_cancel(r);
	}
	/* An answer is all that `generate` wants. */
	return !r->ask.generate || d->amelia;
}

void
heard_line(struct driver *d, struct request *r, struct span line)
{
	json_object *o, *ok;
	char *text = span_dup(line);

	o = text == NULL ? NULL : json_tokener_parse(text);
	free(text);
	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return;
	}
	if (get_member(o, "base") != NULL) {
		heard_keep(&r->base, get_member(o, "base"));
	} else if (json_object_object_get_ex(o, "ok", &ok)) {
		if (!json_object_get_boolean(ok))
			heard_refused(r, o);
		else if (get_member(o, "answer") != NULL)
			heard_keep(&r->answer, get_member(o, "answer"));
	} else if (heard_event(d, r, o)) {
		if (!d->amelia)
			driver_tell(d, r->ask.id, json_object_get(o));
		else if (!r->ask.generate)
			amelia_event(d, r, o);
	}
	json_object_put(o);
}

/* Decide how a turn failed that the session itself calls failed. */
static void
heard_turn(struct request *r)
{
	static const struct {
		const char *trouble;
		enum fail fail;
	} rows[] = {
	    {"quota", FAIL_QUOTA},
	    {"transient", FAIL_PROVIDER},
	    {"authentication", FAIL_AUTHENTICATION},
	};
	const char *why = icctl_text(r->result, "why");

	if (!get_true(r->result, "is_error"))
		return;
	if (strcmp(icctl_text(r->result, "code"), "BUDGET_EXHAUSTED") == 0)
		heard_fail(r, FAIL_BUDGET, why);
	for (size_t i = 0; i < nitems(rows); i++)
		if (strcmp(icctl_text(r->result, "trouble"), rows[i].trouble) ==
		    0)
			heard_fail(r, rows[i].fail, why);
	if (icctl_number(r->result, "exit") != 0)
		heard_fail(r, FAIL_AGENT_EXIT, why);
	else if (strstr(why, "without a word") != NULL)
		heard_fail(r, FAIL_NO_RESULT, why);
}

/* Decide how the request ended, by what was heard and the worker's status. */
static void
heard_decide(struct request *r, int status)
{
	char why[DRIVER_WHY];

	if (r->cancelled) {
		r->fail = FAIL_NONE;
		heard_fail(r, FAIL_CANCELLED, "the request was cancelled");
	}
	/* A turn that ended with its session says less than the session. */
	if (r->fail == FAIL_NONE || r->fail == FAIL_GONE)
		heard_turn(r);
	if (r->fail == FAIL_NONE && r->result != NULL)
		return;
	if (status > 128)
		heard_fail(
		    r, FAIL_GONE, "the worker of this request was killed");
	if (r->fail == FAIL_NONE && r->nsaid != 0)
		heard_fail(r,
		    r->session[0] != '\0' && r->turns == 0 ? FAIL_INIT
							   : FAIL_NO_RESULT,
		    r->said);
	snprintf(why, sizeof(why), "there is no result; status %d", status);
	heard_fail(r, FAIL_NO_RESULT, why);
}

static void
heard_usage(struct driver *d, struct request *r)
{
	json_object *o;

	if (d->amelia) {
		amelia_usage(d, r);
		return;
	}
	o = json_object_new_object();
	put_str(o, "event", "usage");
	put_str(o, "session", r->session);
	json_object_object_add(o, "usage", tell_usage(r));
	json_object_object_add(o, "budget", json_object_get(r->budget));
	driver_tell(d, r->ask.id, o);
}

/* The text that the agent said, or the answer that fits the schema. */
static void
heard_result(struct driver *d, struct request *r)
{
	bool bad = get_true(r->result, "is_error");
	json_object *o;
	const char *content;

	buf_addc(&r->text, '\0');
	content = r->answer != NULL
		      ? json_object_to_json_string_ext(r->answer, ICCTL_JSON)
		  : r->text.failed ? ""
				   : (const char *)buf_span(&r->text).p;
	if (r->reply != NULL) {
		bad = bad || get_true(r->reply, "is_error");
		content = get_str(r->reply, "content", "");
	}
	if (bad && content[0] == '\0')
		content = icctl_text(r->result, "why");
	if (d->status == ICCTL_OK && bad)
		d->status = ICCTL_FAILED;
	if (d->amelia) {
		amelia_result(d, r, bad, content);
		return;
	}
	o = json_object_new_object();
	put_str(o, "event", "result");
	put_str(o, "session", r->session);
	put_bool(o, "is_error", bad);
	put_str(o, "content", content);
	if (r->answer != NULL)
		json_object_object_add(o, "answer", json_object_get(r->answer));
	if (bad)
		put_str(o, "why", icctl_text(r->result, "why"));
	driver_tell(d, r->ask.id, o);
}

void
heard_end(struct driver *d, struct request *r, int status)
{
	heard_decide(r, status);
	if (worker_lines_are(d) && r->fail == FAIL_NONE)
		worker_lines_end(d, r);
	if (r->budget != NULL)
		heard_usage(d, r);
	if (r->fail != FAIL_NONE)
		tell_fail(d, r->ask.id, r->fail, r->why, r->failure);
	else
		heard_result(d, r);
}
