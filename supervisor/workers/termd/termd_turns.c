/* SPDX-License-Identifier: ISC */
/*
 * Turns the output of a turn into texts. It may be anything: each line of JSON
 * is read strictly and within limits, a line that cannot be read becomes an
 * error, and no text has control characters when it leaves.
 */
#include "workers/termd/termd_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/hidden.h"
#include "common/json/json.h"
#include "common/json/text.h"
#include "common/log.h"
#include "workers/termd/termd_token.h"

#define TURNS_SHOWN 200U     /* bytes of a line that cannot be read */
#define TURNS_POOL (8U << 20) /* for the values of one line */
#define TURNS_NODES 20000U
#define TURNS_FLUSH 8192U /* a text of this length is sent */

struct turns_rule {
	enum proto_turn kind;
	bool whole;
	char when[PROTO_MAX_MATCH + 1], each[PROTO_MAX_MATCH + 1],
	    part[PROTO_MAX_MATCH + 1], text[PROTO_MAX_MATCH + 1];
};

static struct {
	enum proto_turns mode;
	turns_fn *fn;
	struct turns_rule rules[PROTO_MAX_TURN_RULES];
	unsigned nrules;
	struct value_pool *pool;
	struct buf line; /* JSON: the line so far */
	bool over;       /* it is too long */
	size_t given;    /* bytes sent in this turn */
	bool cut;        /* and that was too much */
	/* Text: what was printed so far, per stream. */
	struct tokenizer z[2];
	struct buf text[2];
	bool cr[2]; /* a carriage return came last */
} turns_env;

void
turns_start(enum proto_turns mode, turns_fn *fn)
{
	turns_env.mode = mode;
	turns_env.fn = fn;
	/* termd starts once, a test several times. */
	buf_free(&turns_env.line);
	buf_init(&turns_env.line, TURNS_LINE_MAX);
	for (unsigned i = 0; i < 2; i++) {
		token_init(&turns_env.z[i]);
		buf_free(&turns_env.text[i]);
		buf_init(&turns_env.text[i], TURNS_FLUSH + 8);
	}
	if (turns_env.pool == NULL &&
	    (turns_env.pool = value_pool_new(TURNS_POOL)) == NULL)
		fatal("turns");
}

static int
rule_put(char dst[PROTO_MAX_MATCH + 1], struct span s)
{
	if (s.len > PROTO_MAX_MATCH)
		return -1;
	if (s.len != 0)
		memcpy(dst, s.p, s.len);
	dst[s.len] = '\0';
	return 0;
}

int
turns_rule(const struct msg_TURN_RULE *m)
{
	struct turns_rule *r = &turns_env.rules[turns_env.nrules];

	if (turns_env.nrules == PROTO_MAX_TURN_RULES ||
	    rule_put(r->when, m->when) == -1 ||
	    rule_put(r->each, m->each) == -1 ||
	    rule_put(r->part, m->part) == -1 ||
	    rule_put(r->text, m->text) == -1)
		return -1;
	r->kind = (enum proto_turn)m->kind;
	r->whole = m->whole != 0;
	turns_env.nrules++;
	return 0;
}

static void
turns_give(enum proto_turn kind, struct span s)
{
	static const char cut[] =
	    "this turn has printed more than 16 MiB; the rest is dropped";

	if (turns_env.cut)
		return;
	if (turns_env.given + s.len > TURNS_TEXT_MAX) {
		turns_env.cut = true;
		turns_env.fn(PROTO_TURN_ERROR, SPAN(cut));
		return;
	}
	turns_env.given += s.len;
	turns_env.fn(kind, s);
}

/* Returns true for characters that act on a terminal, reorder or hide text. */
static bool
char_acts(uint32_t cp)
{
	return (cp < 0x20 && cp != '\n' && cp != '\t') || cp == 0x7f ||
	       hidden_code(cp);
}

/* Send a well-formed text, clean and in pieces. */
static void
turns_text(enum proto_turn kind, struct span s, bool whole)
{
	static const uint8_t instead[] = {0xef, 0xbf, 0xbd};
	static uint8_t piece[PROTO_MAX_TEXT];
	const uint8_t *end;
	size_t n = 0, len;

	if (s.len == 0)
		return;
	end = s.p + s.len;
	for (const uint8_t *p = s.p; p < end; p += len) {
		len = text_utf8_len(p, end);
		if (n + 5 > sizeof(piece)) {
			turns_give(kind, span_of(piece, n));
			n = 0;
		}
		if (char_acts(text_utf8_code(p, len))) {
			memcpy(piece + n, instead, sizeof(instead));
			n += sizeof(instead);
		} else {
			memcpy(piece + n, p, len);
			n += len;
		}
	}
	if (whole && s.p[s.len - 1] != '\n')
		piece[n++] = '\n';
	turns_give(kind, span_of(piece, n));
}

/* ---- JSON ---- */

static void
line_bad(const char *why)
{
	char shown[TURNS_SHOWN * 4 + 8], text[sizeof(shown) + 128];
	struct span s = buf_span(&turns_env.line);

	if (s.len > TURNS_SHOWN)
		s.len = TURNS_SHOWN;
	snprintf(text, sizeof(text),
	    "the agent printed a line that is not understood (%s): %s", why,
	    log_vis(s, shown, sizeof(shown)));
	turns_text(PROTO_TURN_ERROR, span_str(text), false);
}

/* Follow a path of member names. Returns NULL if there is nothing. */
static const struct value *
value_at(const struct value *v, const char *path, size_t len)
{
	size_t n;

	while (v != NULL && len != 0) {
		for (n = 0; n < len && path[n] != '.'; n++)
			;
		v = value_getspan(v, span_of(path, n));
		n += n < len;
		path += n;
		len -= n;
	}
	return v;
}

static bool
value_is(const struct value *v, const char *want, size_t len)
{
	if (v == NULL)
		return false;
	switch (v->type) {
	case VALUE_TRUE:
		return len == 4 && memcmp(want, "true", 4) == 0;
	case VALUE_FALSE:
		return len == 5 && memcmp(want, "false", 5) == 0;
	case VALUE_NUMBER:
	case VALUE_STRING:
		return v->text.len == len &&
		       (len == 0 || memcmp(v->text.p, want, len) == 0);
	case VALUE_NULL:
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		break;
	}
	return false;
}

/* Returns true if all conditions hold. */
static bool
value_matches(const struct value *v, const char *all)
{
	const char *eq;
	size_t n;

	for (; *all != '\0'; all += n + (all[n] == ',')) {
		n = strcspn(all, ",");
		if ((eq = memchr(all, '=', n)) == NULL ||
		    !value_is(value_at(v, all, (size_t)(eq - all)), eq + 1,
			n - (size_t)(eq + 1 - all)))
			return false;
	}
	return true;
}

static void
rule_apply(const struct turns_rule *r, const struct value *v)
{
	const struct value *text;

	if (!value_matches(v, r->part))
		return;
	text = value_at(v, r->text, strlen(r->text));
	if (text != NULL && text->type == VALUE_STRING)
		turns_text(r->kind, text->text, r->whole);
}

static void
line_read(struct span s)
{
	const struct turns_rule *r = turns_env.rules;
	const struct value *root, *at;
	struct json_fail fail;

	root = json_read_large(
	    turns_env.pool, s, TURNS_NODES, TURNS_LINE_MAX, &fail);
	if (root == NULL || root->type != VALUE_OBJECT) {
		line_bad(root == NULL ? json_strerror(fail.error)
				      : "not an object");
		return;
	}
	for (unsigned i = 0; i < turns_env.nrules; i++, r++) {
		if (!value_matches(root, r->when))
			continue;
		at = value_at(root, r->each, strlen(r->each));
		if (at != NULL && at->type == VALUE_ARRAY) {
			for (at = at->child; at != NULL; at = at->next)
				rule_apply(r, at);
		} else if (at != NULL) {
			rule_apply(r, at);
		}
		/* The first rule about a whole line is the only one. */
		if (r->each[0] == '\0')
			break;
	}
}

static void
line_over(void)
{
	struct span s = buf_span(&turns_env.line);

	if (turns_env.over)
		line_bad("it is longer than 1 MiB");
	else if (s.len != 0)
		line_read(s);
	value_pool_reset(turns_env.pool);
	buf_reset(&turns_env.line, 65536);
	turns_env.over = false;
}

static void
json_bytes(struct span s)
{
	const uint8_t *nl;
	size_t n;

	while (s.len != 0) {
		nl = memchr(s.p, '\n', s.len);
		n = nl == NULL ? s.len : (size_t)(nl - s.p);
		if (!turns_env.over &&
		    turns_env.line.len + n >= TURNS_LINE_MAX)
			turns_env.over = true;
		if (!turns_env.over)
			buf_addspan(&turns_env.line, span_of(s.p, n));
		if (nl != NULL) {
			line_over();
			n++;
		}
		s.p += n;
		s.len -= n;
	}
}

/* ---- text ---- */

static enum proto_turn
stream_kind(unsigned stream)
{
	return stream == 1 && turns_env.mode == PROTO_TURNS_JSON
		   ? PROTO_TURN_LOG
		   : PROTO_TURN_TEXT;
}

static void
stream_flush(unsigned stream)
{
	struct buf *b = &turns_env.text[stream];

	turns_text(stream_kind(stream), buf_span(b), false);
	buf_reset(b, TURNS_FLUSH + 8);
}

static void
stream_put(unsigned stream, uint32_t c)
{
	struct buf *b = &turns_env.text[stream];
	uint8_t utf8[4];

	buf_add(b, utf8, text_utf8_put(utf8, c));
	if (b->len >= TURNS_FLUSH)
		stream_flush(stream);
}

/* A carriage return begins a new line, and does not when a newline follows. */
static void
stream_token(void *arg, const struct token *t)
{
	unsigned stream = arg == &turns_env.z[1];
	bool cr = turns_env.cr[stream];

	if (t->kind != TOKEN_PRINT && t->kind != TOKEN_CONTROL)
		return;
	turns_env.cr[stream] = t->kind == TOKEN_CONTROL && t->c == '\r';
	if (turns_env.cr[stream] && cr)
		return;
	if (cr && !(t->kind == TOKEN_CONTROL && t->c == '\n'))
		stream_put(stream, '\n');
	if (t->kind == TOKEN_PRINT || t->c == '\n' || t->c == '\t')
		stream_put(stream, t->c);
}

void
turns_bytes(unsigned stream, struct span s)
{
	if (stream == 0 && turns_env.mode == PROTO_TURNS_JSON)
		json_bytes(s);
	else
		token_feed(&turns_env.z[stream], s, stream_token,
		    &turns_env.z[stream]);
}

bool
turns_partial(void)
{
	return turns_env.text[0].len != 0 || turns_env.text[1].len != 0;
}

void
turns_flush(void)
{
	stream_flush(0);
	stream_flush(1);
}

void
turns_end(unsigned stream)
{
	if (stream == 0 && turns_env.mode == PROTO_TURNS_JSON)
		line_over();
	stream_flush(stream);
	token_init(&turns_env.z[stream]);
	turns_env.cr[stream] = false;
}

void
turns_over(void)
{
	turns_end(0);
	turns_end(1);
	turns_env.given = 0;
	turns_env.cut = false;
}
