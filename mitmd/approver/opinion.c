/* SPDX-License-Identifier: ISC */
#include "approver/opinion.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"

#define OPINION_POOL ((size_t)4 << 20)

static void
opinion_failed(struct opinion *o, const char *why)
{
	o->decision = PROTO_OPINION_FAILED;
	(void)strlcpy(o->reasoning, why, sizeof(o->reasoning));
}

/* Returns the first element of an array member, or NULL. */
static const struct value *
first_of(const struct value *o, const char *key)
{
	const struct value *v = value_get(o, key);

	return v != NULL && v->type == VALUE_ARRAY ? v->child : NULL;
}

/*
 * Returns the text of the only element that has one; or a NULL span if there
 * are several: which of them is meant is not for us to guess.
 */
static struct span
only_text(const struct value *first, const char *type)
{
	struct span found = {NULL, 0}, s;

	for (const struct value *v = first; v != NULL; v = v->next) {
		if (type != NULL && !span_is(value_str(v, "type"), type))
			continue;
		s = value_str(v, "text");
		if (s.p == NULL)
			continue;
		if (found.p != NULL)
			return span_of(NULL, 0);
		found = s;
	}
	return found;
}

static struct span
text_of_responses(const struct value *root)
{
	struct span found = {NULL, 0};
	const struct value *v = first_of(root, "output");

	for (; v != NULL; v = v->next) {
		if (!span_is(value_str(v, "type"), "message"))
			continue;
		if (found.p != NULL)
			return span_of(NULL, 0);
		found = only_text(first_of(v, "content"), "output_text");
	}
	return found;
}

static struct span
text_of(const struct value *root, enum filter_dialect dialect)
{
	const struct value *v;

	switch (dialect) {
	case FILTER_ANTHROPIC:
		return only_text(first_of(root, "content"), "text");
	case FILTER_CHAT:
		v = first_of(root, "choices");
		return value_str(value_get(v, "message"), "content");
	case FILTER_RESPONSES:
		return text_of_responses(root);
	case FILTER_GEMINI:
		v = first_of(root, "candidates");
		v = value_get(v, "content");
		return only_text(first_of(v, "parts"), NULL);
	case FILTER_NONE:
	case FILTER_BEDROCK:
	case FILTER_CONVERSE:
	case FILTER_DIALECTS:
		break;
	}
	return span_of(NULL, 0);
}

/* Cut at the end of a character. Returns false if the text has controls. */
static bool
reason_copy(struct opinion *o, struct span s)
{
	size_t n = s.len < OPINION_MAX_REASON ? s.len : OPINION_MAX_REASON;

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 0x20 || s.p[i] == 0x7f ||
		    (s.p[i] == 0xc2 && i + 1 < s.len && s.p[i + 1] < 0xa0))
			return false;
	while (n < s.len && n > 0 && (s.p[n] & 0xc0) == 0x80)
		n--;
	memcpy(o->reasoning, s.p, n);
	o->reasoning[n] = '\0';
	return true;
}

static const char *
opinion_closed(struct opinion *o, const struct value *root)
{
	struct span decision = value_str(root, "decision");
	struct span reasoning = value_str(root, "reasoning");

	if (root == NULL || root->type != VALUE_OBJECT)
		return "the model's answer is not a JSON object";
	if (root->count != 2 || decision.p == NULL || reasoning.p == NULL)
		return "the model's answer has other members than decision "
		       "and reasoning";
	if (reasoning.len == 0 || !reason_copy(o, reasoning))
		return "the model's reasoning is empty, or has control "
		       "characters";
	if (span_is(decision, "approve"))
		o->decision = PROTO_OPINION_APPROVE;
	else if (span_is(decision, "escalate"))
		o->decision = PROTO_OPINION_LEAVE;
	else
		return "the model's decision is neither approve nor escalate";
	return NULL;
}

void
opinion_text(struct opinion *o, struct span text)
{
	struct value_pool *pool = value_pool_new(OPINION_POOL);
	const char *why = "no memory for the model's answer";

	memset(o, 0, sizeof(*o));
	if (pool != NULL && text.len > OPINION_MAX_TEXT)
		why = "the model's answer is too long";
	else if (pool != NULL)
		why = opinion_closed(o, json_read(pool, text, NULL));
	if (why != NULL)
		opinion_failed(o, why);
	value_pool_free(pool);
}

void
opinion_read(
    struct opinion *o, enum filter_dialect dialect, struct span answer)
{
	struct value_pool *pool = value_pool_new(OPINION_POOL);
	const struct value *root = NULL;
	struct span text;

	memset(o, 0, sizeof(*o));
	if (pool != NULL && answer.len <= OPINION_MAX_ANSWER)
		root = json_read(pool, answer, NULL);
	text = root == NULL ? span_of(NULL, 0) : text_of(root, dialect);
	if (pool == NULL)
		opinion_failed(o, "no memory for the provider's answer");
	else if (root == NULL)
		opinion_failed(o, "the provider's answer is not JSON");
	else if (text.p == NULL)
		opinion_failed(o, "the provider's answer has no single text");
	else
		opinion_text(o, text);
	value_pool_free(pool);
}
