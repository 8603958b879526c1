/* SPDX-License-Identifier: ISC */
/*
 * A server's question as a person sees it and as it is recorded: the server
 * first, then the call that it belongs to, then the server's own words, which
 * are marked as such.
 */
#include "asks/question_priv.h"

#include <stdio.h>

#include "common/hidden.h"
#include "common/json/json.h"
#include "common/plural.h"
#include "common/sha256.h"
#include "common/visible.h"
#include "redact.h"

#define QUESTION_JSON ((size_t)128 << 10)
#define QUESTION_EFFECT 1800U
#define QUESTION_RULE "elicitation"

static const char *
check_form(struct policyd_env *env, struct question_text *t,
    const struct value *params)
{
	t->schema = value_get(params, "requestedSchema");
	if (form_from_schema(&t->form, t->schema) == -1 ||
	    form_wants_secret(&t->form, t->message))
		return (const char *)
		    reason_printf(env->pool, "The form cannot be shown: %s",
			t->form.why)
			.p;
	return NULL;
}

static const char *
check_address(struct policyd_env *env, struct question_text *t,
    const struct value *params)
{
	const char *why;

	t->url = value_str(params, "url");
	why = address_check(t->url, t->host, &t->foreign);
	if (t->url.p == NULL)
		t->url = SPAN("");
	return why == NULL ? NULL
			   : (const char *)reason_printf(env->pool,
				 "The address cannot be shown: it %s", why)
				 .p;
}

const char *
question_check(struct policyd_env *env, struct question_text *t,
    const struct value *params)
{
	const struct value *mode = value_get(params, "mode");

	t->message = value_str(params, "message");
	if (t->message.p == NULL || t->message.len > QUESTION_MESSAGE)
		return "message must be a text of at most 4096 bytes";
	if (hidden_in(t->message))
		return "message has characters that nobody sees";
	if (mode != NULL && mode->type != VALUE_STRING)
		return "mode must be form or url";
	if (mode == NULL || span_is(mode->text, "form"))
		return check_form(env, t, params);
	if (span_is(mode->text, "url"))
		return check_address(env, t, params);
	return "mode must be form or url";
}

int
question_write(struct question *q, const struct question_text *t)
{
	struct buf *b = &q->asked;
	char hex[SHA256_HEX];

	buf_init(b, QUESTION_JSON);
	buf_printf(b, "{\"call\":{\"digest\":\"%s\",\"id\":%llu,\"others\":%u,"
		      "\"tool\":",
	    sha256_hex(q->call_digest, hex), (unsigned long long)q->from.call,
	    t->others);
	(void)json_write_string(b, span_str(t->call.tool));
	buf_addc(b, '}');
	if (t->url.p != NULL)
		buf_printf(b, ",\"host\":\"%s\"", t->host);
	buf_adds(b, ",\"message\":");
	(void)json_write_string(b, t->message);
	buf_printf(b, ",\"mode\":\"%s\"", t->url.p != NULL ? "url" : "form");
	if (t->url.p != NULL) {
		buf_adds(b, ",\"url\":");
		(void)json_write_string(b, t->url);
	} else {
		buf_adds(b, ",\"requestedSchema\":");
		(void)json_write(b, t->schema);
	}
	buf_addc(b, '}');
	return b->failed ? -1 : 0;
}

static void
add_effect(struct buf *b, const struct question_text *t)
{
	size_t n = visible_cut(t->message, 300);

	if (t->url.p != NULL)
		buf_printf(b, "Wants you to open %s in your browser%s", t->host,
		    t->foreign
			? " (careful: xn-- is punycode, which stands for "
			  "letters of other scripts; the name may look like "
			  "another one)"
			: "");
	else
		buf_printf(b, "Asks you to fill in %u field%s", t->form.n,
		    plural(t->form.n));
	buf_adds(b, ", and says \"");
	(void)visible_add(b, span_of(t->message.p, n), VISIBLE_QUOTED);
	buf_adds(b, n < t->message.len ? "...\"" : "\"");
}

/* The reason has a name of a tool at most, of which each letter is visible. */
static void
add_reason(struct buf *b, const struct question_text *t)
{
	buf_adds(b, "The server asks during its call ");
	(void)visible_add(b, span_str(t->call.tool), 0);
	if (t->others != 0)
		buf_printf(b, ", or one of %u others that are open", t->others);
}

static void
add_details(struct buf *b, const struct question_text *t, struct span reason)
{
	buf_adds(b, "{\"asks\":[{\"reason\":");
	(void)json_write_string(b, reason);
	buf_adds(b, ",\"rule\":\"" QUESTION_RULE "\"}],\"resources\":[");
	if (t->url.p != NULL) {
		buf_printf(b,
		    "{\"argument\":\"host\",\"role\":\"address\",\"value\":"
		    "\"%s\"},{\"argument\":\"url\",\"role\":\"address\","
		    "\"value\":",
		    t->host);
		(void)json_write_string(b, t->url);
		buf_addc(b, '}');
	}
	buf_adds(b, "]}");
}

int
question_show(struct policyd_env *env, struct question *q,
    const struct question_text *t, uint32_t ms)
{
	struct msg_HOLD m = {.id = q->id,
	    .server = t->call.server,
	    .digest = span_of(q->digest, sizeof(q->digest)),
	    .server_name =
		span_str(env->engine.servers[t->call.server].name),
	    .tool = span_str(t->call.tool),
	    .rule = SPAN(QUESTION_RULE),
	    .ms = ms,
	    .session = SPAN("")};
	struct buf effect, reason, text;
	int rv = -1;

	buf_init(&effect, QUESTION_EFFECT);
	buf_init(&reason, QUESTION_EFFECT);
	buf_init(&text, QUESTION_JSON);
	add_effect(&effect, t);
	add_reason(&reason, t);
	buf_addspan(&text, buf_span(&q->asked));
	m.args = (uint32_t)text.len;
	add_details(&text, t, buf_span(&reason));
	m.effect = buf_span(&effect);
	m.logged = work_log_text(env, m.effect);
	if (span_eq(m.logged, m.effect))
		m.logged = SPAN("");
	m.reason = buf_span(&reason);
	m.preview = buf_span(&text);
	if (!effect.failed && !reason.failed && !text.failed) {
		env->send(env, ROLE_AUDIT, MSG_HOLD, &m);
		rv = 0;
	}
	buf_free(&effect);
	buf_free(&reason);
	buf_free(&text);
	return rv;
}

static enum redact_role
free_role(const struct value *v, void *arg)
{
	return REDACT_FREE;
}

void
question_put_logged(struct policyd_env *env, struct buf *b, struct span json)
{
	struct redact how = {.pool = env->pool,
	    .secrets = env->engine.redact,
	    .known = env->engine.secrets,
	    .role = free_role};
	struct value *v = (struct value *)(uintptr_t)json_read(
	    env->pool, json, NULL);
	int r = v == NULL ? -1 : redact_tree(&how, v);

	if (r == 0)
		buf_addspan(b, json);
	else if (r == -1 || json_write(b, v) == -1)
		buf_adds(b, "{}");
}

void
question_record(struct policyd_env *env, const struct question *q,
    enum proto_action end, enum proto_hold how, struct span content)
{
	struct msg_QUESTION_END m = {.id = q->id,
	    .call = q->from.call,
	    .server = q->server,
	    .action = (uint8_t)end,
	    .state = (uint8_t)how,
	    .digest = span_of(q->digest, sizeof(q->digest)),
	    .call_digest = span_of(q->call_digest, sizeof(q->call_digest)),
	    .answer = SPAN("")};
	struct buf asked, answer;

	buf_init(&asked, QUESTION_JSON);
	buf_init(&answer, PROTO_MAX_ANSWER);
	question_put_logged(env, &asked, buf_span(&q->asked));
	if (content.p != NULL)
		question_put_logged(env, &answer, content);
	if (!answer.failed && answer.len != 0)
		m.answer = buf_span(&answer);
	m.asked = asked.failed ? SPAN("{}") : buf_span(&asked);
	env->send(env, ROLE_AUDIT, MSG_QUESTION_END, &m);
	buf_free(&asked);
	buf_free(&answer);
}
