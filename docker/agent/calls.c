/* SPDX-License-Identifier: ISC */
/*
 * Makes the model's calls.  Whatever happens, each call gets one result,
 * because providers refuse a conversation in which one is missing.
 */
#include "docker/agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "docker/agent/code_priv.h"

#define CALLS_POOL ((size_t)24 << 20)

struct made {
	char *text;
	bool is_error;
};

static void
note(void *arg, struct span message)
{
	show_call_waits(message);
}

/* Call an MCP tool and show it.  Returns its text, or NULL if the session is
 * gone. */
static char *
call_tool(struct agent *a, const char *name, const char *args, bool *is_error)
{
	struct mcp_result r;

	show_call(name, args);
	if (mcp_call(&a->mcp, name, args, note, NULL, &r) == -1) {
		show_call_end(a->mcp.why, true, false);
		*is_error = true;
		return NULL;
	}
	show_call_end(r.text, r.is_error, r.cancelled);
	*is_error = r.is_error;
	return r.text;
}

/* Carry out a program's call of a function that stands for a tool. */
static char *
call_stub(void *arg, const char *server, const char *tool, const char *args,
    bool *is_error)
{
	struct agent *a = arg;
	const struct code_tool *s;
	char *text;

	for (size_t i = 0; i < a->mcp.ntools; i++) {
		s = &a->stubs[i];
		if (strcmp(s->server, server) != 0 ||
		    strcmp(s->name, tool) != 0)
			continue;
		text = call_tool(a, a->mcp.tools[i].name, args, is_error);
		if (text == NULL || signals_got() != 0)
			code_cancel();
		return text;
	}
	*is_error = true;
	return strdup("There is no such tool.");
}

/* Returns the member "code" of the arguments, or NULL. */
static char *
code_of(const char *args)
{
	struct value_pool *pool = value_pool_new(CALLS_POOL);
	struct span code = {NULL, 0};
	char *source;

	if (pool != NULL && args != NULL)
		code = value_str(json_read(pool, span_str(args), NULL), "code");
	source = code.p == NULL ? NULL : span_dup(code);
	value_pool_free(pool);
	return source;
}

static unsigned
lines_of(const char *text)
{
	unsigned n = 1;

	for (; *text != '\0'; text++)
		n += *text == '\n' && text[1] != '\0';
	return n;
}

static void
run_program(struct agent *a, const char *args, struct made *m)
{
	struct code_result out = {0};
	char *source = code_of(args), detail[64];
	unsigned n;

	m->is_error = true;
	if (source == NULL) {
		m->text = strdup("The argument \"code\" must be a string: the "
				 "program.");
		return;
	}
	n = lines_of(source);
	snprintf(detail, sizeof(detail), "a program of %u line%s", n,
	    n == 1 ? "" : "s");
	show_own("execute_code", detail);
	if (code_run(source, a->stubs, a->mcp.ntools, call_stub, a, &out) ==
	    0) {
		m->text = out.text;
		m->is_error = out.is_error;
	} else if (asprintf(&m->text, "The program cannot be run: %s.",
		       strerror(errno)) == -1) {
		m->text = NULL;
	}
	free(source);
}

static void
run_direct(struct agent *a, const struct model_call *c, struct made *m)
{
	const struct mcp_tool *t = offer_find(a, c->name);

	m->is_error = true;
	if (t == NULL)
		m->text = strdup("There is no tool of this name.");
	else
		m->text = call_tool(a, t->name, c->args, &m->is_error);
}

/* Cut a long result in the middle, as code mode does. */
static void
cut(struct made *m)
{
	struct code_keep keep;
	struct buf b;
	char *text;

	if (m->text == NULL || strlen(m->text) <= AGENT_RESULT_MAX ||
	    code_keep_init(&keep) == -1)
		return;
	code_keep_add(&keep, span_str(m->text));
	buf_init(&b, AGENT_RESULT_MAX + 4096);
	code_keep_put(&keep, &b, AGENT_RESULT_MAX);
	buf_addc(&b, '\0');
	if (buf_check(&b) == 0 &&
	    (text = strdup((const char *)buf_span(&b).p)) != NULL) {
		free(m->text);
		m->text = text;
	}
	buf_free(&b);
	code_keep_free(&keep);
}

static void
add_note(struct made *m, const char *why)
{
	char *text;

	if (m->text == NULL || asprintf(&text, "%s\n%s", m->text, why) == -1)
		return;
	free(m->text);
	m->text = text;
}

/* Make one call, unless it is one too many. */
static void
run_one(struct agent *a, const struct model_call *c, struct made *m)
{
	const char *args = c->args != NULL ? c->args : "";
	const char *why = NULL;

	*m = (struct made){.is_error = true};
	if (c->args == NULL) {
		m->text = strdup("The arguments are not one complete JSON "
				 "object. Call again, with less at once.");
	} else if (repeat_before(&a->repeat, span_str(c->name), span_str(args),
		       &why) == REPEAT_BLOCK) {
		m->text = strdup(why);
		show_say("- %s: not called, it goes in circles", c->name);
		return;
	} else if (a->code && strcmp(c->name, "execute_code") == 0) {
		run_program(a, args, m);
	} else {
		run_direct(a, c, m);
	}
	if (m->text == NULL || signals_got() != 0)
		return;
	cut(m);
	if (repeat_after(&a->repeat, span_str(c->name), span_str(args),
		span_str(m->text), m->is_error, &why) == REPEAT_WARN)
		add_note(m, why);
}

static int
add_result(struct agent *a, const struct model_call *c, struct made *m)
{
	struct model_message msg = {.role = MODEL_TOOL,
	    .text = m->text != NULL ? m->text
				    : strdup("The session's tools are gone."),
	    .call_id = strdup(c->id),
	    .call_name = strdup(c->name),
	    .is_error = m->is_error};

	if (msg.text == NULL || msg.call_id == NULL || msg.call_name == NULL) {
		model_message_free(&msg);
		return -1;
	}
	return history_add(&a->history, &msg);
}

int
calls_run(struct agent *a, const struct model_message *answer)
{
	const struct model_call *calls = answer->calls;
	const size_t n = answer->ncalls;
	struct made m;

	/* The array of messages moves when one is added; the calls do not. */
	for (size_t i = 0; i < n && signals_got() == 0 && !a->mcp.gone; i++) {
		run_one(a, &calls[i], &m);
		if (add_result(a, &calls[i], &m) == -1)
			return -1;
	}
	if (signals_got() != 0) {
		history_mend(&a->history, "The user interrupted the turn; this "
					  "call was not made.");
		return -1;
	}
	return a->mcp.gone || repeat_hopeless(&a->repeat) ? -1 : 0;
}
