/* SPDX-License-Identifier: ISC */
/*
 * The meter's scanner: reads JSON in pieces and keeps only the counts and the
 * model's name found in known places. It does not validate: input that is not
 * JSON may lose a count, nothing else.
 */
#include "body/meter.h"

#include "body/meter_ctx.h"
#include "common/json/text.h"

void
meter_json_begin(struct meter *m)
{
	struct meter_json *j = &m->json;

	j->state = METER_VALUE;
	j->depth = 0;
	j->next = MC_ROOT;
	j->wanted = MC_NONE;
	j->escaped = j->whole = false;
	j->hex = 0;
	j->len = 0;
	j->bytes = 0;
	m->event = (struct meter_event){.usage = 0};
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
json_named(struct meter *m)
{
	struct meter_json *j = &m->json;
	uint8_t in = j->ctx[j->depth - 1];

	j->state = METER_COLON;
	j->next = meter_member(in, span_of(j->text, j->len));
	if (in == MC_ALL) {
		m->found.text += j->len;
		m->found.since += j->len;
	}
	if (j->next == MC_WHOLE)
		j->next = m->found.deltas ? MC_NONE : MC_TEXT;
}

/* The text, or a value in it, is complete. */
static void
json_after(struct meter *m)
{
	struct meter_json *j = &m->json;

	j->state = j->depth == 0 ? METER_LOST : METER_AFTER;
	if (j->depth != 0)
		return;
	j->whole = true;
	meter_text_end(m);
}

static void
json_valued(struct meter *m, bool string)
{
	if (m->json.wanted != MC_NONE)
		meter_value(m, string);
	m->json.wanted = MC_NONE;
	json_after(m);
}

/* Returns the meaning of what is in a container of this meaning. */
static uint8_t
json_within(uint8_t is)
{
	if (is == MC_TEXT)
		return MC_PART;
	if (is == MC_DELTA)
		return MC_ROOT;
	/* These may be in objects of their own. */
	if (is == MC_TIER || is == MC_SPEED || is == MC_COST)
		return is;
	return is >= MC_MODEL ? MC_NONE : is;
}

static void
json_open(struct meter *m, bool object)
{
	struct meter_json *j = &m->json;
	struct meter_event *e = &m->event;

	if (j->depth == METER_MAX_DEPTH) {
		j->deep = 1;
		j->state = METER_DEEP;
		return;
	}
	if (object)
		j->objects |= 1ULL << j->depth;
	else
		j->objects &= ~(1ULL << j->depth);
	j->next = json_within(j->next);
	j->ctx[j->depth++] = j->next;
	if (j->next == MC_USAGE && e->usage == 0)
		e->usage = j->depth;
	if (j->next == MC_USAGE && !object && e->list == 0)
		e->list = j->depth;
	e->entry = 0;
	e->special = false;
	j->state = object ? METER_NAME : METER_VALUE;
}

static void
json_close(struct meter *m, uint8_t c)
{
	struct meter_json *j = &m->json;
	struct meter_event *e = &m->event;
	uint8_t is;

	if (j->depth == 0 || c != (json_in_object(j) ? '}' : ']')) {
		j->state = METER_LOST;
		return;
	}
	is = j->ctx[j->depth - 1];
	if (c == '}' && e->entry != 0)
		meter_entry_end(m, is);
	if (e->list == j->depth)
		e->list = 0;
	if (e->usage == j->depth) {
		e->usage = 0;
		meter_usage_end(&m->found, e);
	}
	j->depth--;
	json_after(m);
}

static void
json_begin_value(struct meter *m, uint8_t c)
{
	struct meter_json *j = &m->json;

	if (c == '{' || c == '[') {
		json_open(m, c == '{');
		return;
	}
	if (c == ']') {
		json_close(m, c);
		return;
	}
	j->wanted = j->next;
	j->len = 0;
	j->bytes = 0;
	if (c == '"') {
		j->state = METER_IN_STRING;
		return;
	}
	j->state = METER_IN_ATOM;
	json_keep(j, &c, 1);
}

/* Read a byte between values. */
static void
json_byte(struct meter *m, uint8_t c)
{
	struct meter_json *j = &m->json;

	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return;
	if (j->state == METER_VALUE) {
		json_begin_value(m, c);
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
		json_close(m, c);
	} else {
		j->state = METER_LOST;
	}
}

/*
 * Take a byte of an escape. Names and values that are wanted are ASCII: another
 * character makes one that is none of them.
 */
static void
json_escape(struct meter_json *j, uint8_t c, bool keep)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c | 0x20);

	if (j->escaped) {
		j->escaped = false;
		j->hex = c == 'u' ? 4 : 0;
		j->code = 0;
		if (keep && c != 'u')
			json_keep(
			    j, &c, strchr("/\\\"", c) != NULL ? 1 : SIZE_MAX);
		return;
	}
	j->hex = at == NULL ? 0 : j->hex - 1;
	j->code =
	    at == NULL
		? UINT16_MAX
		: (uint16_t)((unsigned)j->code << 4 | (unsigned)(at - digits));
	if (j->hex != 0 || !keep)
		return;
	c = (uint8_t)j->code;
	json_keep(j, &c, j->code < 0x80 ? 1 : SIZE_MAX);
}

/*
 * Skip a container that is nested too deep, up to its end or the end of the
 * input. If it is in an answer's text, then all of it is text.
 */
static const uint8_t *
json_deep(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	struct meter_json *j = &m->json;
	uint8_t in = j->ctx[j->depth - 1];
	const uint8_t *from = p;

	while (p < end && j->deep != 0) {
		uint8_t c = *p++;

		if (j->escaped)
			j->escaped = false;
		else if (j->state == METER_DEEP_STRING && c == '\\')
			j->escaped = true;
		else if (c == '"')
			j->state = j->state == METER_DEEP ? METER_DEEP_STRING
							  : METER_DEEP;
		else if (j->state == METER_DEEP && (c == '{' || c == '['))
			j->deep++;
		else if (j->state == METER_DEEP && (c == '}' || c == ']'))
			j->deep--;
	}
	if (in == MC_ALL || in == MC_PART) {
		m->found.text += (uint64_t)(p - from);
		m->found.since += (uint64_t)(p - from);
	}
	if (j->deep == 0)
		json_after(m);
	return p;
}

/* Read a string from `p` up to its end or the end of the input. */
static const uint8_t *
json_string(struct meter *m, const uint8_t *p, const uint8_t *end)
{
	struct meter_json *j = &m->json;
	const uint8_t *from = p;
	bool keep = j->state == METER_IN_NAME || j->wanted >= MC_MODEL;

	if (j->escaped || j->hex != 0) {
		json_escape(j, *p, keep);
		j->bytes++;
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
	j->bytes += (uint64_t)(p - from);
	if (p == end)
		return p;
	if (*p == '\\') {
		j->escaped = true;
		j->bytes++;
	} else if (j->state == METER_IN_NAME)
		json_named(m);
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

size_t
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
		case METER_DEEP:
		case METER_DEEP_STRING:
			p = json_deep(m, p, end);
			break;
		case METER_VALUE:
		case METER_NAME:
		case METER_COLON:
		case METER_AFTER:
			json_byte(m, *p++);
			break;
		case METER_LOST:
			break;
		}
	}
	return j->whole ? (size_t)(p - s.p) : s.len;
}
