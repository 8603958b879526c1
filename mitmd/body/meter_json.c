/* SPDX-License-Identifier: ISC */
/*
 * The meter's scanner: reads JSON in pieces and keeps only the counts and the
 * model's name found in known places. It does not validate: input that is not
 * JSON may lose a count, nothing else.
 */
#include "body/meter.h"

#include <stdlib.h>

#include "common/json/text.h"

enum meter_ctx {
	MC_NONE, /* ignored */
	MC_ROOT,
	MC_WRAP, /* may hold the usage: message, response */
	MC_USAGE,
	MC_IN_DETAILS,
	MC_OUT_DETAILS,
	MC_MODEL, /* a string */
	MC_COUNT, /* plus enum meter_count: a number */
};

/* clang-format off */
static const struct {
	enum meter_ctx in;
	const char *key;
	unsigned is;
} meter_rows[] = {
	{MC_ROOT, "message", MC_WRAP},
	{MC_ROOT, "response", MC_WRAP},
	{MC_ROOT, "usage", MC_USAGE},
	{MC_ROOT, "usageMetadata", MC_USAGE},
	{MC_ROOT, "amazon-bedrock-invocationMetrics", MC_USAGE},
	{MC_ROOT, "model", MC_MODEL},
	{MC_ROOT, "modelVersion", MC_MODEL},
	{MC_WRAP, "usage", MC_USAGE},
	{MC_WRAP, "usageMetadata", MC_USAGE},
	{MC_WRAP, "model", MC_MODEL},
	{MC_WRAP, "modelVersion", MC_MODEL},
	{MC_USAGE, "input_tokens", MC_COUNT + METER_INPUT},
	{MC_USAGE, "prompt_tokens", MC_COUNT + METER_PROMPT},
	{MC_USAGE, "promptTokenCount", MC_COUNT + METER_PROMPT},
	{MC_USAGE, "toolUsePromptTokenCount", MC_COUNT + METER_TOOL_PROMPT},
	{MC_USAGE, "output_tokens", MC_COUNT + METER_OUTPUT},
	{MC_USAGE, "completion_tokens", MC_COUNT + METER_OUTPUT},
	{MC_USAGE, "candidatesTokenCount", MC_COUNT + METER_CANDIDATES},
	{MC_USAGE, "thoughtsTokenCount", MC_COUNT + METER_THOUGHTS},
	{MC_USAGE, "cache_read_input_tokens", MC_COUNT + METER_READ},
	{MC_USAGE, "cache_creation_input_tokens", MC_COUNT + METER_WRITE},
	{MC_USAGE, "cachedContentTokenCount", MC_COUNT + METER_CACHED},
	/*
	 * Bedrock: Converse, and the members it adds to the last event of any
	 * model.
	 */
	{MC_USAGE, "inputTokens", MC_COUNT + METER_INPUT},
	{MC_USAGE, "outputTokens", MC_COUNT + METER_OUTPUT},
	{MC_USAGE, "cacheReadInputTokens", MC_COUNT + METER_READ},
	{MC_USAGE, "cacheWriteInputTokens", MC_COUNT + METER_WRITE},
	{MC_USAGE, "inputTokenCount", MC_COUNT + METER_PROMPT},
	{MC_USAGE, "outputTokenCount", MC_COUNT + METER_OUTPUT},
	{MC_USAGE, "cacheReadInputTokenCount", MC_COUNT + METER_READ},
	{MC_USAGE, "cacheWriteInputTokenCount", MC_COUNT + METER_WRITE},
	{MC_USAGE, "prompt_tokens_details", MC_IN_DETAILS},
	{MC_USAGE, "input_tokens_details", MC_IN_DETAILS},
	{MC_USAGE, "completion_tokens_details", MC_OUT_DETAILS},
	{MC_USAGE, "output_tokens_details", MC_OUT_DETAILS},
	{MC_IN_DETAILS, "cached_tokens", MC_COUNT + METER_CACHED},
	{MC_OUT_DETAILS, "reasoning_tokens", MC_COUNT + METER_REASONING},
};
/* clang-format on */

void
meter_json_begin(struct meter_json *j)
{
	j->state = METER_VALUE;
	j->depth = 0;
	j->next = MC_ROOT;
	j->wanted = MC_NONE;
	j->escaped = false;
	j->len = 0;
}

static bool
json_in_object(const struct meter_json *j)
{
	return j->depth != 0 && (j->objects >> (j->depth - 1) & 1) != 0;
}

static void
json_keep(struct meter_json *j, const uint8_t *p, size_t n)
{
	size_t room = j->len < METER_MAX_MODEL ? METER_MAX_MODEL - j->len : 0;

	if (n > room) {
		j->len = METER_MAX_MODEL + 1;
		return;
	}
	memcpy(j->text + j->len, p, n);
	j->len += (unsigned)n;
}

/* A member's name is complete: find the meaning of its value. */
static void
json_named(struct meter_json *j)
{
	uint8_t in = j->ctx[j->depth - 1];
	struct span key = span_of(j->text, j->len);

	j->next = MC_NONE;
	j->state = METER_COLON;
	if (in == MC_NONE || j->len > METER_MAX_KEY)
		return;
	for (size_t i = 0; i < nitems(meter_rows); i++) {
		if (meter_rows[i].in == in && span_is(key, meter_rows[i].key)) {
			j->next = (uint8_t)meter_rows[i].is;
			return;
		}
	}
}

static void
json_valued(struct meter *m, bool string)
{
	struct meter_json *j = &m->json;
	uint64_t n;

	j->state = j->depth == 0 ? METER_LOST : METER_AFTER;
	if (j->wanted == MC_MODEL && string && j->len <= METER_MAX_MODEL) {
		memcpy(m->model, j->text, j->len);
		m->model[j->len] = '\0';
	}
	if (j->wanted >= MC_COUNT && !string &&
	    span_u64(span_of(j->text, j->len), METER_MAX_COUNT, &n) == 0) {
		m->counts[j->wanted - MC_COUNT] = n;
		m->have |= (uint16_t)(1U << (j->wanted - MC_COUNT));
	}
	j->wanted = MC_NONE;
}

static void
json_open(struct meter_json *j, bool object)
{
	if (j->depth == METER_MAX_DEPTH) {
		j->state = METER_LOST;
		return;
	}
	if (object)
		j->objects |= 1ULL << j->depth;
	else
		j->objects &= ~(1ULL << j->depth);
	/*
	 * An array at the root is a list of answers; other arrays hold no
	 * counts.
	 */
	if (!object && !(j->depth == 0 && j->next == MC_ROOT))
		j->next = MC_NONE;
	if (j->next >= MC_MODEL)
		j->next = MC_NONE;
	j->ctx[j->depth++] = j->next;
	j->state = object ? METER_NAME : METER_VALUE;
}

static void
json_close(struct meter_json *j, uint8_t c)
{
	if (j->depth == 0 || c != (json_in_object(j) ? '}' : ']')) {
		j->state = METER_LOST;
		return;
	}
	j->depth--;
	j->state = j->depth == 0 ? METER_LOST : METER_AFTER;
}

static void
json_begin_value(struct meter_json *j, uint8_t c)
{
	if (c == '{' || c == '[') {
		json_open(j, c == '{');
		return;
	}
	if (c == ']') {
		json_close(j, c);
		return;
	}
	j->wanted = j->next;
	j->len = 0;
	if (c == '"') {
		j->state = METER_IN_STRING;
		return;
	}
	j->state = METER_IN_ATOM;
	json_keep(j, &c, 1);
}

/* Read a byte between values. */
static void
json_byte(struct meter_json *j, uint8_t c)
{
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return;
	if (j->state == METER_VALUE) {
		json_begin_value(j, c);
	} else if (j->state == METER_NAME && c == '"') {
		j->len = 0;
		j->state = METER_IN_NAME;
	} else if (j->state == METER_COLON && c == ':') {
		j->state = METER_VALUE;
	} else if (j->state == METER_AFTER && c == ',') {
		j->state = json_in_object(j) ? METER_NAME : METER_VALUE;
		if (j->state == METER_VALUE)
			j->next = j->ctx[j->depth - 1];
	} else if ((j->state == METER_NAME || j->state == METER_AFTER)) {
		json_close(j, c);
	} else {
		j->state = METER_LOST;
	}
}

/* Read a string from `p` up to its end or the end of the input. */
static const uint8_t *
json_string(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	struct meter_json *j = &m->json;
	const uint8_t *from = p;
	bool keep = j->state == METER_IN_NAME || j->wanted == MC_MODEL;

	if (j->escaped) {
		j->escaped = false;
		/* No wanted name or value has an escape. */
		j->len = METER_MAX_MODEL + 1;
		return p + 1;
	}
	while (p < end) {
		if ((size_t)(end - p) >= TEXT_BLOCKS && text_blocks_within(p)) {
			p += TEXT_BLOCKS;
			continue;
		}
		if ((size_t)(end - p) >= 8) {
			uint64_t w = text_word(p);

			w = text_match(w, '"') | text_match(w, '\\');
			if (w == 0) {
				p += 8;
				continue;
			}
			p += __builtin_ctzll(w) >> 3;
		}
		if (*p == '"' || *p == '\\')
			break;
		p++;
	}
	if (keep)
		json_keep(j, from, (size_t)(p - from));
	if (p == end)
		return p;
	if (*p == '\\')
		j->escaped = true;
	else if (j->state == METER_IN_NAME)
		json_named(j);
	else
		json_valued(m, true);
	return p + 1;
}

static const uint8_t *
json_atom(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p;

	while (p < end && *p != ',' && *p != '}' && *p != ']' && *p > ' ')
		p++;
	json_keep(&m->json, from, (size_t)(p - from));
	if (p < end)
		json_valued(m, false);
	return p;
}

void
meter_json_feed(struct meter *m, struct span s)
{
	struct meter_json *j = &m->json;
	const uint8_t *p = s.p, *end = s.p + s.len;

	while (p < end && j->state != METER_LOST) {
		switch (j->state) {
		case METER_IN_STRING:
		case METER_IN_NAME:
			p = json_string(m, p, end);
			break;
		case METER_IN_ATOM:
			p = json_atom(m, p, end);
			break;
		case METER_VALUE:
		case METER_NAME:
		case METER_COLON:
		case METER_AFTER:
			json_byte(j, *p++);
			break;
		case METER_LOST:
			break;
		}
	}
}
