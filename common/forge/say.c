/* SPDX-License-Identifier: ISC */
/*
 * Says what a call does, from a template of its table: "{x}" is the value of a
 * member, "[x: ...]" is there if x has a value, "[x=V: ...]" if that is V, and
 * "[!x: ...]" if there is none. A blank after the colon is not part of it.
 */
#include "common/forge/say.h"

#include <errno.h>

#include "common/forge/say_priv.h"
#include "common/json/json.h"

#define SAY_MAX_NOTES (16U << 10)

void
forge_said_init(struct forge_said *s)
{
	buf_init(&s->sentence, FORGE_MAX_SENTENCE);
	buf_init(&s->notes, SAY_MAX_NOTES);
	buf_init(&s->text, FORGE_MAX_TEXT);
}

void
forge_said_free(struct forge_said *s)
{
	buf_free(&s->sentence);
	buf_free(&s->notes);
	buf_free(&s->text);
}

/* Append the value of the member `name`, wherever the call has it. */
static void
put_member(const struct sayer *s, struct buf *b, struct span name)
{
	const struct forge_member *m;
	const struct value *path = value_get(s->call->tree, "path"), *v;

	if (span_is(name, "repository") && s->call->route != NULL) {
		say_name(b, s->call->repository);
		return;
	}
	/* A part of the path first: a body may have a member of its name. */
	if ((v = value_getspan(path, name)) != NULL) {
		m = forge_member_find(s->call->route->path, name);
		if (m != NULL)
			say_ref(s, b, v->text, m->is);
		else
			say_quoted(b, v->text);
		return;
	}
	m = forge_member_find(s->members, name);
	if (m != NULL && (v = value_getspan(s->values, name)) != NULL)
		say_value(s, b, m, v);
}

/* Returns true if a member has a value that is worth a word. */
static bool
has_value(const struct value *v)
{
	if (v == NULL || v->type == VALUE_NULL || v->type == VALUE_FALSE)
		return false;
	return v->type != VALUE_ARRAY || v->count != 0;
}

/*
 * Returns true if a value is what the thing has already, such as the title that
 * a tool sends with every change. The text has it all the same.
 */
static bool
unchanged(const struct sayer *s, struct span name, const struct value *v)
{
	const struct forge_found *f = s->found;
	struct span was = {NULL, 0};

	if (f == NULL || v == NULL || v->type != VALUE_STRING ||
	    s->call->route == NULL || s->call->route->path->name == NULL)
		return false;
	if (span_is(name, "title"))
		was = f->title;
	else if (span_is(name, "state"))
		was = f->state;
	else if (span_is(name, "base") || span_is(name, "target_branch"))
		was = f->base;
	return was.p != NULL && span_eq(was, v->text);
}

/* Decide a condition: "x", "!x" or "x=V". */
static bool
condition(const struct sayer *s, struct span c)
{
	const uint8_t *equal = memchr(c.p, '=', c.len);
	bool absent = c.len != 0 && c.p[0] == '!';
	const struct forge_member *m;
	const struct value *v;
	struct span name, want;

	name = equal == NULL ? c : span_of(c.p, (size_t)(equal - c.p));
	if (absent)
		name = span_of(c.p + 1, c.len - 1);
	v = value_getspan(s->values, name);
	m = forge_member_find(s->members, name);
	/* A branch without a name is none; other empty texts are values. */
	if (unchanged(s, name, v) || (m != NULL && m->role == FORGE_NAME &&
					 v != NULL && v->text.len == 0))
		return absent;
	if (equal == NULL)
		return has_value(v) != absent;
	want = span_of(equal + 1, c.len - (size_t)(equal + 1 - c.p));
	if (v == NULL)
		return false;
	if (v->type == VALUE_TRUE || v->type == VALUE_FALSE)
		return span_is(want, v->type == VALUE_TRUE ? "true" : "false");
	return v->type == VALUE_STRING && span_eq(v->text, want);
}

/* Append a piece of a template that has no conditions. */
static void
put_plain(const struct sayer *s, struct buf *b, const char *p, const char *end)
{
	const char *close;

	for (; p < end; p++) {
		if (*p != '{') {
			buf_addc(b, (uint8_t)*p);
			continue;
		}
		close = strchr(p, '}');
		put_member(s, b, span_of(p + 1, (size_t)(close - p - 1)));
		p = close;
	}
}

static void
put_sentence(const struct sayer *s, struct buf *b, const char *p)
{
	const char *colon, *close, *open;

	while (*p != '\0') {
		open = strchrnul(p, '[');
		put_plain(s, b, p, open);
		if (*open == '\0')
			break;
		colon = strchr(open, ':');
		close = strchr(open, ']');
		if (condition(s, span_of(open + 1, (size_t)(colon - open - 1))))
			put_plain(
			    s, b, colon + (colon[1] == ' ' ? 2 : 1), close);
		p = close + 1;
	}
}

/* Append a sentence about a read, which no template has. */
static void
put_read(const struct sayer *s, struct buf *b)
{
	const struct forge_call *call = s->call;

	buf_adds(b, "Reads");
	if (call->route != NULL)
		buf_printf(b, " the %s", call->route->name);
	if (call->repository.p != NULL) {
		buf_adds(b, call->route != NULL ? " of " : " from ");
		say_name(b, call->repository);
	} else if (call->nrefs != 0) {
		buf_addc(b, ' ');
		say_ref(s, b, call->refs[0].id, call->refs[0].is);
	}
	buf_addc(b, '.');
}

static void
sayer_init(struct sayer *s, const struct forge_call *call,
    const struct forge_found *found)
{
	const struct value *v;

	*s = (struct sayer){.call = call, .found = found};
	if (call->mutation != NULL) {
		v = value_get(call->tree, "select")->child;
		s->members = call->mutation->members;
		s->values = value_get(value_get(v, "args"), "input");
	} else if (call->route != NULL && call->route->body != NULL) {
		s->members = call->route->body;
		s->values = value_get(call->tree, "body");
	} else {
		static const struct forge_member none = {0};

		s->members = &none;
	}
}

int
forge_say(const struct forge_call *call, const struct forge_found *found,
    struct forge_said *said)
{
	const char *template = NULL;
	struct sayer s;

	sayer_init(&s, call, found);
	buf_reset(&said->sentence, FORGE_MAX_SENTENCE);
	buf_reset(&said->notes, SAY_MAX_NOTES);
	buf_reset(&said->text, FORGE_MAX_TEXT);
	if (call->mutation != NULL)
		template = call->mutation->say;
	else if (call->route != NULL)
		template = call->route->say;
	if (template != NULL)
		put_sentence(&s, &said->sentence, template);
	else
		put_read(&s, &said->sentence);
	say_notes(&s, &said->notes);
	if (template == NULL)
		say_query(&s, &said->text);
	else
		say_text(&s, &said->text);
	if (buf_check(&said->sentence) == -1 || buf_check(&said->notes) == -1 ||
	    buf_check(&said->text) == -1) {
		errno = ENOBUFS;
		return -1;
	}
	return 0;
}
