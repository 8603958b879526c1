/* SPDX-License-Identifier: ISC */
/*
 * The scanner of body/json.h. It never reads at or past the end of its input,
 * which comes from the agent; its errors are a constant text and an offset.
 */
#include "body/json.h"

#include "common/json/text.h"

enum {
	WANT_VALUE,
	WANT_ELEMENT, /* or the end of an array that has just begun */
	WANT_MEMBER,  /* a name, or the end of an object that has just begun */
	WANT_NAME,
	WANT_COMMA, /* or the end of the open container */
	WANT_END,
};

int
body_json_fail(struct body_json *j, const char *why, const uint8_t *at)
{
	if (j->why == NULL) {
		j->why = why;
		j->at = (size_t)(at - j->base);
	}
	return -1;
}

void
body_json_begin(struct body_json *j, struct span text, const uint64_t seed[2])
{
	j->base = j->p = text.p;
	j->end = text.p + text.len;
	j->why = NULL;
	j->at = 0;
	j->depth = 0;
	j->want = WANT_VALUE;
	j->seed[0] = seed[0];
	j->seed[1] = seed[1];
	/* Clearing all buckets takes longer than reading most bodies. */
	body_keys_drop(j, 0);
	j->key = span_of(NULL, 0);
}

static void
json_space(struct body_json *j)
{
	while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' ||
				    *j->p == '\n' || *j->p == '\r'))
		j->p++;
}

/* Read the string that begins with the quote at j->p. */
static int
json_string(struct body_json *j, struct span *out)
{
	const uint8_t *p = j->p + 1, *from = p;
	uint32_t cp;
	size_t n;

	for (;;) {
		p = text_plain_end(p, j->end);
		if (p == j->end)
			return body_json_fail(j, "the text ends early", p);
		if (*p == '"')
			break;
		if (*p != '\\')
			return body_json_fail(j,
			    *p < 0x20 ? "a control character in a string"
				      : "ill-formed UTF-8",
			    p);
		if ((n = body_json_escape(p, j->end, &cp)) == 0)
			return body_json_fail(
			    j, "a bad escape or a lone surrogate", p);
		p += n;
	}
	*out = span_of(from, (size_t)(p - from));
	j->p = p + 1;
	return 0;
}

static int
json_atom(struct body_json *j, struct span *out)
{
	static const struct span words[] = {
	    {(const uint8_t *)"true", 4},
	    {(const uint8_t *)"false", 5},
	    {(const uint8_t *)"null", 4},
	};
	struct span rest = span_of(j->p, (size_t)(j->end - j->p));
	const uint8_t *stop = j->p;

	for (size_t i = 0; i < nitems(words); i++) {
		if (span_starts(rest, words[i])) {
			*out = span_of(j->p, words[i].len);
			j->p += words[i].len;
			return 0;
		}
	}
	if (!text_number_end(j->p, j->end, &stop))
		return body_json_fail(j,
		    stop == j->end ? "the text ends early" : "not JSON", stop);
	*out = span_of(j->p, (size_t)(stop - j->p));
	j->p = stop;
	return 0;
}

/* Close the innermost container, which must end with `c`. */
static enum body_token_type
json_close(struct body_json *j, uint8_t c)
{
	unsigned top = j->depth - 1;

	if (c != (j->object[top] ? '}' : ']')) {
		body_json_fail(j, "not JSON", j->p);
		return BODY_BAD;
	}
	body_keys_drop(j, j->first[top]);
	j->p++;
	j->depth = top;
	j->want = top == 0 ? WANT_END : WANT_COMMA;
	return BODY_CLOSE;
}

static enum body_token_type
json_open(struct body_json *j, bool object)
{
	if (j->depth == BODY_MAX_DEPTH) {
		body_json_fail(j, "too deep", j->p);
		return BODY_BAD;
	}
	j->object[j->depth] = object;
	j->first[j->depth++] = j->nkeys;
	j->want = object ? WANT_MEMBER : WANT_ELEMENT;
	j->p++;
	return object ? BODY_OBJECT : BODY_ARRAY;
}

/* Read a member's name and its colon. */
static int
json_name(struct body_json *j)
{
	const uint8_t *at = j->p;

	if (*j->p != '"')
		return body_json_fail(j, "not JSON", j->p);
	j->from = (size_t)(j->p - j->base);
	if (json_string(j, &j->key) == -1)
		return -1;
	switch (body_keys_add(j, j->key)) {
	case 0:
		break;
	case 1:
		return body_json_fail(j, "a member name twice", at);
	default:
		return body_json_fail(j, "too many or too long names", at);
	}
	json_space(j);
	if (j->p == j->end || *j->p != ':')
		return body_json_fail(j, "not JSON", j->p);
	j->p++;
	json_space(j);
	if (j->p == j->end)
		return body_json_fail(j, "the text ends early", j->p);
	return 0;
}

static enum body_token_type
json_value(struct body_json *j, struct body_token *t)
{
	t->key = j->key;
	t->start = (size_t)(j->p - j->base);
	t->from = j->key.p != NULL ? j->from : t->start;
	j->key = span_of(NULL, 0);
	if (*j->p == '{' || *j->p == '[')
		return json_open(j, *j->p == '{');
	j->want = j->depth == 0 ? WANT_END : WANT_COMMA;
	if (*j->p == '"')
		return json_string(j, &t->value) == -1 ? BODY_BAD : BODY_STRING;
	return json_atom(j, &t->value) == -1 ? BODY_BAD : BODY_ATOM;
}

static enum body_token_type
json_step(struct body_json *j, struct body_token *t)
{
	json_space(j);
	if (j->want == WANT_END) {
		if (j->p == j->end)
			return BODY_DONE;
		body_json_fail(j, "something follows the value", j->p);
		return BODY_BAD;
	}
	if (j->p == j->end) {
		body_json_fail(j, "the text ends early", j->p);
		return BODY_BAD;
	}
	if (j->want == WANT_COMMA) {
		if (*j->p != ',')
			return json_close(j, *j->p);
		j->want = j->object[j->depth - 1] ? WANT_NAME : WANT_VALUE;
		j->p++;
		return BODY_COMMA;
	}
	if ((j->want == WANT_ELEMENT && *j->p == ']') ||
	    (j->want == WANT_MEMBER && *j->p == '}'))
		return json_close(j, *j->p);
	if ((j->want == WANT_NAME || j->want == WANT_MEMBER) &&
	    json_name(j) == -1)
		return BODY_BAD;
	return json_value(j, t);
}

enum body_token_type
body_json_next(struct body_json *j, struct body_token *t)
{
	if (j->why != NULL)
		return t->type = BODY_BAD;
	t->key = t->value = span_of(NULL, 0);
	t->type = json_step(j, t);
	t->end = (size_t)(j->p - j->base);
	return t->type;
}
