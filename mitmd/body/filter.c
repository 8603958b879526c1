/* SPDX-License-Identifier: ISC */
/*
 * The body filter: walks the tokens of a body with a frame for each open
 * container and notes what to cut. Edits come out sorted, since an outer cut
 * swallows those within it. The outermost members are decided last, because a
 * choice of tool may stay only if its tool does. The text comes from the agent:
 * the filter points into it and copies none of it.
 */
#include "body/filter.h"

#include "body/dialect.h"
#include "body/meter.h"

#define FILTERED_ONLINE ":online" /* how gateways spell "search the web" */

/*
 * Note one use of this kind of reach, by its name. Returns true if it must be
 * taken out.
 */
static bool
filter_hit(struct filter *f, enum filter_kind kind, struct span name)
{
	switch (f->rules->action[kind]) {
	case FILTER_ALLOW:
		return false;
	case FILTER_STRIP:
		if (!f->hit[kind])
			f->what[kind] = name;
		f->hit[kind] = true;
		return true;
	case FILTER_DENY:
	case FILTER_ACTIONS:
		break;
	}
	if (!f->no)
		f->refused = kind;
	f->no = true;
	return false;
}

/*
 * Strip the part that names a URL which the provider would fetch, or refuse the
 * body.
 */
static void
filter_hit_url(struct filter *f, struct span name)
{
	struct filter_frame *fr;

	if (!filter_hit(f, FILTER_URLS, name))
		return;
	for (unsigned i = f->depth; i-- > 1;) {
		fr = &f->frames[i];
		if (fr->object && fr->ctx == CTX_PART &&
		    !f->frames[i - 1].object) {
			fr->url = true;
			return;
		}
	}
	/* Not an element of a list: nothing can replace it. */
	f->refused = FILTER_URLS;
	f->no = true;
}

static bool
filter_is_data(struct span s)
{
	static const char data[] = "data:";

	if (s.len < sizeof(data) - 1)
		return false;
	for (size_t i = 0; i < sizeof(data) - 1; i++) {
		if ((s.p[i] | 0x20) != data[i])
			return false;
	}
	return true;
}

/*
 * Returns true if the string can only be base64: no colon, and no escape except
 * of a slash.
 */
static bool
filter_is_bytes(struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len;

	if (memchr(s.p, ':', s.len) != NULL)
		return false;
	while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		if (p[1] != '/')
			return false;
		p += 2;
	}
	return true;
}

static void
filter_store(struct filter *f, struct filter_frame *fr,
    const struct body_token *t, enum filter_kind kind)
{
	if (kind == FILTER_STORE)
		f->stored = true;
	if (t->type == BODY_ATOM &&
	    (span_is(t->value, "false") ||
		(span_is(t->value, "null") && kind != FILTER_STORE)))
		return;
	if (!filter_hit(f, kind, t->key))
		return;
	/* The responses API stores unless told otherwise. */
	if (kind == FILTER_STORE && f->dialect == FILTER_RESPONSES &&
	    (t->type == BODY_ATOM || t->type == BODY_STRING))
		filter_edit(f, t->start, t->end, "false");
	else
		fr->drop = true;
}

static void
filter_local(struct filter *f, struct filter_frame *fr, struct span s)
{
	if (!span_is(s, "local") && !span_is(s, "client"))
		return;
	if (fr->ctx == CTX_ENV && f->depth >= 2)
		f->frames[f->depth - 2].local = true;
	else
		fr->local = true;
}

static void
filter_model(struct filter *f, const struct body_token *t)
{
	struct span end = SPAN(FILTERED_ONLINE), s = t->value;

	if (f->model.p == NULL)
		f->model = s;
	filter_kept_model(f, s);
	if (s.len < end.len ||
	    !span_eq(span_of(s.p + s.len - end.len, end.len), end) ||
	    !filter_hit(f, FILTER_TOOLS, end))
		return;
	filter_edit(f, t->end - 1 - end.len, t->end - 1, "");
}

/* Record a member of the outermost object. */
static void
filter_root(struct filter *f, const struct body_token *t, enum dialect_ctx is)
{
	struct filter_member *m;

	if (f->nroot == FILTER_MAX_ROOT) {
		f->limit = true;
		return;
	}
	m = &f->root[f->nroot++];
	*m = (struct filter_member){.from = t->from,
	    .choice = is == CTX_CHOICE,
	    .tools =
		is == CTX_TOOLS || is == CTX_GTOOLS || is == CTX_WITH_TOOLS};
	f->input |= is == CTX_PART || is == CTX_NAMED;
}

static uint64_t
filter_ten(uint64_t n, unsigned more)
{
	return n < METER_MAX_COUNT / 10 ? 10 * n + more : METER_MAX_COUNT;
}

/* Take digits off the front of a number. */
static uint64_t
filter_digits(struct span *s)
{
	uint64_t n = 0;

	for (; s->len != 0 && s->p[0] >= '0' && s->p[0] <= '9';
	     s->p++, s->len--)
		n = filter_ten(n, s->p[0] - (unsigned)'0');
	return n;
}

/*
 * Take a count that the request asks for, rounded up; of two, the larger one.
 */
static void
filter_count(struct span s, uint64_t *most)
{
	uint64_t n = filter_digits(&s), zeros;

	if (s.len > 1 && s.p[0] == '.') {
		s = span_of(s.p + 1, s.len - 1);
		n += filter_digits(&s) != 0;
	}
	if (s.len > 1 && (s.p[0] | 0x20) == 'e') {
		s = span_of(s.p + 1, s.len - 1);
		if (s.p[0] == '+')
			s = span_of(s.p + 1, s.len - 1);
		for (zeros = filter_digits(&s);
		     zeros != 0 && n != 0 && n < METER_MAX_COUNT; zeros--)
			n = filter_ten(n, 0);
	}
	if (n > *most)
		*most = n;
}

/* Act on a value that begins in frame `fr` and means `is`. */
static void
filter_value(struct filter *f, struct filter_frame *fr,
    const struct body_token *t, enum dialect_ctx is)
{
	bool null = t->type == BODY_ATOM && span_is(t->value, "null");
	bool string = t->type == BODY_STRING;

	switch (is) {
	case CTX_URL:
		if (string && !filter_is_data(t->value))
			filter_hit_url(f, t->key);
		return;
	case CTX_DATA:
		if (string && !filter_is_data(t->value) &&
		    !filter_is_bytes(t->value))
			filter_hit_url(f, t->key);
		return;
	case CTX_FETCHED:
		if (!null)
			filter_hit_url(f, t->key);
		return;
	case CTX_REACH_TOOLS:
	case CTX_REACH_MCP:
		if (!null &&
		    filter_hit(f,
			is == CTX_REACH_MCP ? FILTER_MCP : FILTER_TOOLS,
			t->key))
			fr->drop = true;
		return;
	case CTX_STORE:
		filter_store(f, fr, t, FILTER_STORE);
		return;
	case CTX_BACKGROUND:
		filter_store(f, fr, t, FILTER_BACKGROUND);
		return;
	case CTX_KEPT:
	case CTX_PREVIOUS:
	case CTX_ITEM:
	case CTX_ID:
		filter_kept(f, fr, t, is);
		return;
	case CTX_MODEL:
		if (string)
			filter_model(f, t);
		return;
	case CTX_TYPE:
		if (!null)
			fr->tool =
			    string ? (uint8_t)dialect_tool(f->dialect, t->value)
				   : TOOL_GONE;
		if (string)
			fr->type = t->value;
		return;
	case CTX_NAME:
		if (fr->ctx == CTX_CHOICE)
			f->choice_name = t->value;
		else
			fr->name = t->value;
		return;
	case CTX_LOCAL:
		if (string)
			filter_local(f, fr, t->value);
		return;
	case CTX_START:
		if (fr->root &&
		    !(string && dialect_exact(t->value, "response.create")))
			f->other = true;
		return;
	case CTX_SPEED:
		if (string)
			f->speed = t->value;
		return;
	case CTX_TIER:
		if (string)
			f->tier = t->value;
		return;
	case CTX_MOST:
	case CTX_TIMES:
		if (t->type == BODY_ATOM)
			filter_count(
			    t->value, is == CTX_MOST ? &f->most : &f->times);
		return;
	case CTX_STREAM:
	case CTX_OPTIONS:
	case CTX_USAGE:
		filter_usage(f, fr, t, is);
		return;
	case CTX_OPAQUE:
	case CTX_ROOT:
	case CTX_MESSAGE:
	case CTX_PART:
	case CTX_SOURCE:
	case CTX_FILE:
	case CTX_VARS:
	case CTX_NAMED:
	case CTX_TOOLS:
	case CTX_GTOOLS:
	case CTX_GTOOL:
	case CTX_CONFIG:
	case CTX_ENV:
	case CTX_CHOICE:
	case CTX_WITH_TOOLS:
		return;
	}
}

/* End the latest entry of `fr`; the text continues at `next`. */
static void
filter_entry_end(
    struct filter *f, struct filter_frame *fr, size_t next, bool comma)
{
	size_t entry = fr->entry;

	if (entry == SIZE_MAX)
		return;
	fr->entry = SIZE_MAX;
	if (fr->root) {
		f->root[f->nroot - 1].end = fr->end;
		f->root[f->nroot - 1].gone = fr->drop;
	}
	if (!fr->drop) {
		fr->kept++;
		if (comma)
			fr->comma = next - 1;
		return;
	}
	fr->drop = false;
	fr->gone++;
	if (fr->root)
		return;
	if (!comma && fr->comma != SIZE_MAX)
		entry = fr->comma;
	filter_unedit(f, entry);
	filter_edit(f, entry, comma ? next : fr->end, "");
}

static void
filter_tool_end(
    struct filter *f, const struct filter_frame *fr, struct filter_frame *outer)
{
	enum filter_kind kind = FILTER_TOOLS;

	switch ((enum dialect_tool)fr->tool) {
	case TOOL_KEPT:
		return;
	case TOOL_LOCAL:
		if (fr->local)
			return;
		break;
	case TOOL_MCP:
		kind = FILTER_MCP;
		break;
	case TOOL_GONE:
		break;
	}
	if (fr->ctx == CTX_CHOICE) {
		if (f->rules->action[kind] != FILTER_ALLOW)
			f->choice_gone = true;
		return;
	}
	if (!filter_hit(f, kind, fr->type))
		return;
	outer->drop = true;
	if (fr->name.p == NULL)
		return;
	if (f->nnames < FILTER_MAX_NAMES)
		f->names[f->nnames++] = fr->name;
	else
		f->choice_gone = true;
}

/* Close the innermost container and act on what its members said about it. */
static void
filter_close(struct filter *f, size_t end)
{
	struct filter_frame *fr = &f->frames[--f->depth], *outer;

	filter_entry_end(f, fr, end, false);
	if (f->depth == 0)
		return;
	if (fr->ctx == CTX_PART)
		filter_kept_end(f, fr);
	outer = &f->frames[f->depth - 1];
	outer->end = end;
	if (f->options == fr->start)
		f->options_kept = fr->kept != 0;
	if (fr->url) {
		filter_unedit(f, fr->start);
		filter_edit(f, fr->start, end, dialect_filtered(f->dialect));
	}
	if (fr->object && (fr->ctx == CTX_TOOLS || fr->ctx == CTX_CHOICE))
		filter_tool_end(f, fr, outer);
	if (fr->unused)
		outer->drop = true;
	if (fr->kept != 0 || fr->gone == 0)
		return;
	if (fr->ctx == CTX_GTOOLS && fr->object)
		outer->drop = true;
	else if (fr->ctx == CTX_GTOOLS && outer->ctx == CTX_CONFIG)
		outer->unused = true;
	else if ((fr->ctx == CTX_TOOLS || fr->ctx == CTX_GTOOLS) && outer->root)
		f->emptied = true;
}

static void
filter_open(struct filter *f, const struct body_token *t, enum dialect_ctx is)
{
	struct filter_frame *fr = &f->frames[f->depth++];

	*fr = (struct filter_frame){.ctx = (uint8_t)is,
	    .object = t->type == BODY_OBJECT,
	    .root = f->depth == 1,
	    .start = t->start,
	    .entry = SIZE_MAX,
	    .comma = SIZE_MAX,
	    .tool = TOOL_KEPT};
}

static void
filter_token(struct filter *f, const struct body_token *t)
{
	struct filter_frame *fr;
	enum dialect_ctx is = CTX_ROOT;

	if (t->type == BODY_CLOSE) {
		filter_close(f, t->end);
		return;
	}
	if (f->depth == 0) {
		filter_open(f, t, is);
		return;
	}
	fr = &f->frames[f->depth - 1];
	if (t->type == BODY_COMMA) {
		filter_entry_end(f, fr, t->end, true);
		return;
	}
	is = (enum dialect_ctx)fr->ctx;
	if (fr->object)
		is = dialect_member(f->dialect, is, t->key);
	fr->entry = t->from;
	fr->end = t->end;
	if (fr->root)
		filter_root(f, t, is);
	filter_value(f, fr, t, is);
	if (t->type == BODY_OBJECT || t->type == BODY_ARRAY)
		filter_open(f, t, is);
}

/*
 * Add "store":false if the body does not mention it: the responses API stores
 * by default.
 */
static void
filter_unstored(struct filter *f)
{
	size_t at = f->frames[0].start + 1;

	if (f->dialect == FILTER_RESPONSES && !f->stored && f->input &&
	    !f->other && filter_hit(f, FILTER_STORE, SPAN("store")))
		filter_place(f, at, at, "\"store\":false,");
}

enum filter_result
filter_body(struct filter *f, const struct filter_rules *rules,
    enum filter_dialect d, struct span text, const uint64_t seed[2])
{
	struct body_token t = {.type = BODY_COMMA};

	f->nedits = f->nroot = f->nnames = f->depth = 0;
	f->rules = rules;
	f->dialect = d;
	f->text = text;
	memset(f->hit, 0, sizeof(f->hit));
	f->kept = span_of(NULL, 0);
	f->choice_name = f->model = f->speed = f->tier = span_of(NULL, 0);
	f->choice_gone = f->emptied = f->stored = f->input = f->other = false;
	f->no = f->limit = false;
	f->most = f->times = 0;
	f->stream = f->usage = f->options_object = f->options_kept = false;
	f->options = SIZE_MAX;
	f->why = NULL;
	body_json_begin(&f->json, text, seed);
	while (body_json_next(&f->json, &t) != BODY_DONE) {
		if (t.type == BODY_BAD) {
			f->why = f->json.why;
			f->at = f->json.at;
			return FILTER_BAD;
		}
		if (f->depth == 0 && t.type != BODY_OBJECT) {
			f->why = "no object";
			f->at = t.start;
			return FILTER_BAD;
		}
		filter_token(f, &t);
		if (f->limit || f->no)
			return f->no ? FILTER_REFUSED : FILTER_LIMIT;
	}
	filter_root_end(f);
	filter_unstored(f);
	filter_unmetered(f);
	if (f->no || f->limit)
		return f->no ? FILTER_REFUSED : FILTER_LIMIT;
	return f->nedits == 0 ? FILTER_SAME : FILTER_CHANGED;
}
