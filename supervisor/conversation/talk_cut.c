/* SPDX-License-Identifier: ISC */
/*
 * Reads events backwards, from the last one to the begin of the last turn. We
 * wrote the file: each line begins with its event's name.
 */
#include "conversation/talk_cut.h"

#include <json-c/json.h>
#include <string.h>

#include "base/json_get.h"

#define CUT_LINE (4U << 20)

static bool
cut_is(struct span line, const char *event)
{
	static const char begin[] = "{\"event\":\"";
	const size_t n = strlen(event), b = sizeof(begin) - 1;

	return line.len > b + n && memcmp(line.p, begin, b) == 0 &&
	       memcmp(line.p + b, event, n) == 0 && line.p[b + n] == '"';
}

static struct json_object *
cut_parse(struct span line)
{
	struct json_tokener *tok;
	struct json_object *o;

	if (line.len > CUT_LINE || (tok = json_tokener_new()) == NULL)
		return NULL;
	o = json_tokener_parse_ex(tok, (const char *)line.p, (int)line.len);
	json_tokener_free(tok);
	return o;
}

static uint32_t
cut_turn(struct span line)
{
	struct json_object *o = cut_parse(line), *v;
	int64_t n = 0;

	if (o != NULL && json_object_object_get_ex(o, "turn", &v))
		n = json_object_get_int64(v);
	json_object_put(o);
	return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

/* Remember a call that waits, unless an end of it came later in the file. */
static void
cut_hold(struct talk_cut *c, struct span line, struct json_object *ended)
{
	struct json_object *o = cut_parse(line);

	if (o != NULL && c->nholds < TALK_CUT_HOLDS &&
	    !json_object_object_get_ex(ended, get_str(o, "id", ""), NULL)) {
		json_object_object_add(ended, get_str(o, "id", ""), NULL);
		c->holds[c->nholds++] = o;
		return;
	}
	json_object_put(o);
}

static void
cut_hold_end(struct span line, struct json_object *ended)
{
	struct json_object *o = cut_parse(line);

	if (o != NULL)
		json_object_object_add(ended, get_str(o, "id", ""), NULL);
	json_object_put(o);
}

/* Take one line into account. Returns false if those before do not matter. */
static bool
cut_line(struct talk_cut *c, struct span line, struct json_object *ended)
{
	if (cut_is(line, "turn_end")) {
		c->last = cut_turn(line);
		return false;
	}
	if (cut_is(line, "turn_start")) {
		c->last = cut_turn(line);
		c->open = c->last != 0;
		return false;
	}
	c->usage = c->usage || cut_is(line, "usage");
	c->result = c->result || cut_is(line, "result");
	if (cut_is(line, "escalation_end"))
		cut_hold_end(line, ended);
	else if (cut_is(line, "escalation"))
		cut_hold(c, line, ended);
	return true;
}

void
talk_cut_read(struct talk_cut *c, struct span text)
{
	struct json_object *ended = json_object_new_object();
	const uint8_t *nl;
	size_t at, end;

	memset(c, 0, sizeof(*c));
	nl = text.len == 0 ? NULL : memrchr(text.p, '\n', text.len);
	end = nl == NULL ? 0 : (size_t)(nl - text.p) + 1;
	c->whole = end;
	while (end != 0) {
		nl = end < 2 ? NULL : memrchr(text.p, '\n', end - 1);
		at = nl == NULL ? 0 : (size_t)(nl - text.p) + 1;
		if (!cut_line(
			c, span_of(text.p + at, end - at - 1), ended))
			break;
		end = at;
	}
	json_object_put(ended);
	if (c->open)
		return;
	c->usage = c->result = false;
	talk_cut_free(c);
}

void
talk_cut_free(struct talk_cut *c)
{
	for (unsigned i = 0; i < c->nholds; i++)
		json_object_put(c->holds[i]);
	c->nholds = 0;
}
