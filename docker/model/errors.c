/* SPDX-License-Identifier: ISC */
/*
 * Judges what went wrong: an answer with another status, or an error that comes
 * in the middle of a stream.  Providers say it in many forms, so the words of a
 * message count beside its codes.
 */
#include "docker/model/model_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "common/visible.h"

#define ERROR_SAID_MAX 300U

struct words {
	enum model_error error;
	const char *contains;
};

/* The first that is contained in the answer, whatever its case, decides. */
/* clang-format off */
static const struct words error_words[] = {
	{MODEL_BUDGET, "IronCurtain: The session's budget"},
	{MODEL_QUOTA, "insufficient_quota"},
	{MODEL_QUOTA, "credit balance is too low"},
	{MODEL_QUOTA, "billing_error"},
	{MODEL_QUOTA, "PerDay"},
	{MODEL_QUOTA, "usage limit"},
	{MODEL_TOO_LONG, "prompt is too long"},
	{MODEL_TOO_LONG, "context_length_exceeded"},
	{MODEL_TOO_LONG, "maximum context length"},
	{MODEL_TOO_LONG, "exceeds the context window"},
	{MODEL_TOO_LONG, "input token count"},
	{MODEL_AUTHENTICATION, "authentication_error"},
	{MODEL_AUTHENTICATION, "API_KEY_INVALID"},
	{MODEL_AUTHENTICATION, "invalid_api_key"},
	{MODEL_AUTHENTICATION, "\"no-key\""},
	{MODEL_AUTHENTICATION, "\"wrong-key\""},
	{MODEL_AUTHENTICATION, "\"credential\""},
	{MODEL_AUTHENTICATION, "\"login\""},
};
/* In a stream there is no status: these say that it may be tried again. */
static const char *const error_transient[] = {
	"overloaded", "rate_limit", "api_error", "server_error", "timeout",
	"unavailable", "internal", "too many requests", "try again",
};
/* clang-format on */

static const char *const error_names[] = {
    [MODEL_OK] = "none",
    [MODEL_TRANSIENT] = "transient",
    [MODEL_QUOTA] = "quota",
    [MODEL_AUTHENTICATION] = "authentication",
    [MODEL_BUDGET] = "budget",
    [MODEL_TOO_LONG] = "too-long",
    [MODEL_CANCELLED] = "cancelled",
    [MODEL_HARD] = "hard",
};

const char *
model_error_name(enum model_error e)
{
	return (unsigned)e < nitems(error_names) ? error_names[e] : "hard";
}

static bool
contains(struct span text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; text.len >= n && i <= text.len - n; i++) {
		if (strncasecmp((const char *)text.p + i, word, n) == 0)
			return true;
	}
	return false;
}

static enum model_error
error_by_words(struct span text)
{
	for (size_t i = 0; i < nitems(error_words); i++) {
		if (contains(text, error_words[i].contains))
			return error_words[i].error;
	}
	return MODEL_OK;
}

void
error_say(struct model_answer *out, const char *before, struct span said)
{
	struct span text = said;
	struct buf b;

	if (text.len > ERROR_SAID_MAX)
		text.len = visible_cut(text, ERROR_SAID_MAX);
	buf_init(&b, 8192);
	visible_add(&b, text, VISIBLE_AGAIN);
	snprintf(out->why, sizeof(out->why), "%s%s%.*s%s", before,
	    b.len != 0 ? ": " : ".", (int)buf_span(&b).len,
	    (const char *)buf_span(&b).p, said.len > text.len ? " ..." : "");
	buf_free(&b);
}

/* Returns the message of an error object, of which there are many shapes. */
static struct span
error_message(const struct value *v)
{
	const struct value *e;
	struct span s;

	if (v != NULL && v->type == VALUE_ARRAY)
		v = v->child; /* Gemini, now and then */
	e = value_get(v, "error");
	if ((s = value_str(e, "message")).p != NULL)
		return s;
	if ((s = value_str(v, "message")).p != NULL)
		return s;
	return value_str(v, "error");
}

static const char *
status_sentence(enum model_error error)
{
	switch (error) {
	case MODEL_QUOTA:
		return "The provider's quota is used up";
	case MODEL_AUTHENTICATION:
		return "The provider does not accept the key";
	case MODEL_BUDGET:
		return "The session's budget is used up";
	case MODEL_TOO_LONG:
		return "The conversation is too long for the model";
	case MODEL_TRANSIENT:
		return "The provider cannot answer now";
	case MODEL_OK:
	case MODEL_CANCELLED:
	case MODEL_HARD:
		break;
	}
	return "The provider refused the request";
}

static enum model_error
error_by_status(unsigned status)
{
	switch (status) {
	case 401:
		return MODEL_AUTHENTICATION;
	case 402:
		return MODEL_QUOTA;
	case 413:
		return MODEL_TOO_LONG;
	case 408:
	case 409:
	case 425:
	case 429:
		return MODEL_TRANSIENT;
	default:
		return status >= 500 ? MODEL_TRANSIENT : MODEL_HARD;
	}
}

void
error_classify(struct model_answer *out, unsigned status, struct span body)
{
	struct value_pool *pool = value_pool_new(MODEL_POOL);
	const struct value *v = NULL;
	struct span said = {0};
	char before[128];

	if (pool != NULL)
		v = json_read_repaired(pool, body, NULL);
	said = v != NULL ? error_message(v) : body;
	out->status = status;
	out->error = error_by_words(body);
	if (out->error == MODEL_OK)
		out->error = error_by_status(status);
	snprintf(before, sizeof(before), "%s (status %u)",
	    status_sentence(out->error), status);
	error_say(out, before, said);
	value_pool_free(pool);
}

int
error_event(struct stream *s, const struct value *error)
{
	struct span said = value_str(error, "message");
	struct buf b;
	int64_t code;

	if (s->out->error != MODEL_OK)
		return -1;
	buf_init(&b, MODEL_EVENT_MAX * 2);
	if (error == NULL || json_write(&b, error) == -1)
		buf_reset(&b, 0);
	s->out->error = error_by_words(buf_span(&b));
	for (size_t i = 0;
	     s->out->error == MODEL_OK && i < nitems(error_transient); i++) {
		if (contains(buf_span(&b), error_transient[i]))
			s->out->error = MODEL_TRANSIENT;
	}
	if (s->out->error == MODEL_OK &&
	    value_int(value_get(error, "code"), 400, 599, &code) == 0)
		s->out->error = error_by_status((unsigned)code);
	if (s->out->error == MODEL_OK)
		s->out->error = MODEL_HARD;
	if (said.p == NULL)
		said = buf_span(&b);
	error_say(s->out, status_sentence(s->out->error), said);
	buf_free(&b);
	return -1;
}
