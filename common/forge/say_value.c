/* SPDX-License-Identifier: ISC */
/* Values in the words of a sentence. */
#include "common/forge/say_priv.h"
#include "common/visible.h"

#define SAY_MAX_QUOTED 160U /* bytes of a text */
#define SAY_MAX_ITEMS 6U    /* a list; the text has all of it */

void
say_quoted(struct buf *b, struct span s)
{
	size_t n = visible_cut(s, SAY_MAX_QUOTED);

	buf_addc(b, '"');
	(void)visible_add(b, span_of(s.p, n), VISIBLE_QUOTED);
	buf_adds(b, n < s.len ? "...\"" : "\"");
}

void
say_name(struct buf *b, struct span s)
{
	bool plain = s.len != 0 && s.len <= SAY_MAX_QUOTED;

	for (size_t i = 0; i < s.len && plain; i++) {
		uint8_t c = s.p[i];

		plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			(c >= 'A' && c <= 'Z') || strchr("-_./@#:+", c) != NULL;
	}
	if (plain && memchr(s.p, '\0', s.len) == NULL)
		buf_addspan(b, s);
	else
		say_quoted(b, s);
}

/*
 * Append NOT_PLANNED as "not planned"; a forge may send anything, of which only
 * letters are shown.
 */
static void
put_words(struct buf *b, struct span s)
{
	for (size_t i = 0; i < s.len && i < 40; i++) {
		uint8_t c = s.p[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		buf_addc(b, c >= 'a' && c <= 'z' ? c : ' ');
	}
}

/* Append "(open, fix/tax into main)". */
static void
put_state(struct buf *b, const struct forge_found *f)
{
	if (f->state.len == 0 && f->head.p == NULL)
		return;
	buf_adds(b, " (");
	put_words(b, f->state);
	if (f->head.p != NULL) {
		buf_adds(b, f->state.len == 0 ? "" : ", ");
		say_name(b, f->head);
		buf_adds(b, " into ");
		say_name(b, f->base);
	}
	buf_addc(b, ')');
}

static void
put_numbered(struct buf *b, const struct forge_found *f, const char *mark)
{
	say_name(b, f->repository);
	buf_printf(b, " %s", mark);
	buf_addu64(b, f->number);
	if (f->title.p != NULL) {
		buf_addc(b, ' ');
		say_quoted(b, f->title);
	}
}

static void
put_run(struct buf *b, const struct forge_found *f, const char *what)
{
	buf_printf(b, "%s ", what);
	buf_addu64(b, f->number);
	if (f->title.p != NULL) {
		buf_adds(b, " of ");
		say_quoted(b, f->title);
	}
	if (f->head.p != NULL) {
		buf_adds(b, " on ");
		say_name(b, f->head);
	}
	buf_adds(b, " in ");
	say_name(b, f->repository);
}

static void
put_found(const struct sayer *s, struct buf *b, const struct forge_found *f)
{
	const char *mark = "#";

	if (s->call->grant->kind == FORGE_GITLAB && f->is == FORGE_IS_PULL)
		mark = "!";
	switch (f->is) {
	case FORGE_IS_COMMENT:
		buf_adds(b, "a comment on ");
		put_numbered(b, f, mark);
		break;
	case FORGE_IS_REVIEW:
	case FORGE_IS_THREAD:
		buf_adds(b, "a review of ");
		put_numbered(b, f, mark);
		break;
	case FORGE_IS_ISSUE:
	case FORGE_IS_PULL:
		put_numbered(b, f, mark);
		put_state(b, f);
		break;
	case FORGE_IS_REPOSITORY:
	case FORGE_IS_PROJECT:
		say_name(b, f->repository);
		break;
	case FORGE_IS_RUN:
		put_run(b, f, "the CI run");
		break;
	case FORGE_IS_JOB:
		put_run(b, f, "the CI job");
		break;
	case FORGE_IS_RELEASE:
		buf_adds(b, "the release ");
		say_name(b, f->title);
		buf_adds(b, " of ");
		say_name(b, f->repository);
		break;
	case FORGE_IS_BOT:
		buf_adds(b, "the bot ");
		say_name(b, f->title);
		break;
	case FORGE_IS_USER:
	case FORGE_IS_TEAM:
		say_name(b, f->title);
		break;
	default:
		say_quoted(b, f->title);
		break;
	}
}

void
say_ref(const struct sayer *s, struct buf *b, struct span id, uint32_t is)
{
	size_t i = forge_ref_find(s->call, id, is);

	if (i < s->call->nrefs && s->found != NULL) {
		put_found(s, b, &s->found[i]);
		return;
	}
	if (i < s->call->nrefs && s->call->refs[i].repository.p != NULL) {
		say_name(b, s->call->refs[i].repository);
		buf_addc(b, ' ');
		buf_adds(b, s->call->refs[i].kind == FORGE_REF_NUMBER
				? "#"
				: "number ");
	} else {
		buf_adds(b, "the id ");
	}
	say_name(b, id);
}

/* Append the thing that a number stands for; 0 is nobody. */
static void
say_number(const struct sayer *s, struct buf *b, struct span n, uint32_t is)
{
	if (span_is(n, "0"))
		buf_adds(b, "nobody");
	else
		say_ref(s, b, n, is);
}

static void
put_one(const struct sayer *s, struct buf *b, const struct forge_member *m,
    const struct value *v)
{
	if (m->role == FORGE_REF && v->type == VALUE_NUMBER)
		say_number(s, b, v->text, m->is);
	else if (v->type == VALUE_NUMBER)
		buf_addspan(b, v->text);
	else if (v->type == VALUE_TRUE || v->type == VALUE_FALSE)
		buf_adds(b, v->type == VALUE_TRUE ? "yes" : "no");
	else if (v->type != VALUE_STRING)
		buf_adds(b, v->type == VALUE_NULL ? "nothing" : "(see below)");
	else if (m->role == FORGE_REF)
		say_ref(s, b, v->text, m->is);
	else if (m->form == FORGE_ENUM)
		put_words(b, v->text);
	else if (m->role == FORGE_NAME || m->role == FORGE_LOGIN)
		say_name(b, v->text);
	else
		say_quoted(b, v->text);
}

void
say_value(const struct sayer *s, struct buf *b, const struct forge_member *m,
    const struct value *v)
{
	uint32_t left = v->count, n = 0;

	if (v->type != VALUE_ARRAY) {
		put_one(s, b, m, v);
		return;
	}
	for (v = v->child; v != NULL; v = v->next, n++) {
		if (n == SAY_MAX_ITEMS) {
			buf_printf(b, " and %u more", left - n);
			break;
		}
		if (n != 0)
			buf_adds(b, ", ");
		put_one(s, b, m, v);
	}
}
