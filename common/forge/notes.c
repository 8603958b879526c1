/* SPDX-License-Identifier: ISC */
/*
 * Names what a text does by itself once a forge has it: it tells people and
 * bots, closes issues, points elsewhere, and may say something that its page
 * does not show. The rules of markup are many and change; these find more than
 * they have to, since a note costs a line.
 */
#include "common/forge/say_priv.h"
#include "common/hidden.h"
#include "common/json/text.h"

#define NOTES_MAX_KIND 12U /* lines of each kind */

struct noter {
	const struct sayer *s;
	struct buf *b;
	unsigned mentions, closes, links, others;
	const uint8_t *closed; /* the end of the last thing that is closed */
	bool comment, hidden;
};

static bool
is_word(uint8_t c)
{
	return text_is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_login(uint8_t c)
{
	return is_word(c) || c == '-' || c == '/' || c == '.';
}

/* Add a line once, and not more than NOTES_MAX_KIND of a kind. */
static void
note(struct noter *n, unsigned *count, const char *before, struct span what,
    const char *after)
{
	struct buf line;
	struct span s, all = buf_span(n->b);

	buf_init(&line, 1024);
	buf_adds(&line, before);
	say_name(&line, what);
	buf_adds(&line, after);
	s = buf_span(&line);
	if (buf_check(&line) == 0 && span_find(all, s) == NULL) {
		if (*count < NOTES_MAX_KIND)
			buf_addspan(n->b, s);
		else if (*count == NOTES_MAX_KIND)
			buf_adds(n->b, "There are more such places.\n");
		(*count)++;
	}
	buf_free(&line);
}

/* Returns true for the login of a program that acts when it is called. */
static bool
known_bot(struct span login)
{
	static const char *const names[] = {"copilot", "claude", "codex",
	    "cursor", "cursoragent", "devin-ai-integration", "dependabot",
	    "renovate", "coderabbitai", "gemini-code-assist", "jules",
	    "github-actions", "openhands-agent", "sweep-ai", "mergify",
	    "copilot-swe-agent", "copilot-pull-request-reviewer", "duo",
	    "gitlabduo", "bors", "k8s-ci-robot"};
	struct span tail = SPAN("[bot]");

	for (size_t i = 0; i < nitems(names); i++) {
		if (span_ieq(login, span_str(names[i])))
			return true;
	}
	return login.len > tail.len &&
	       span_eq(tail, span_of(login.p + login.len - tail.len, tail.len));
}

static void
note_bot(struct noter *n, struct span login)
{
	note(n, &n->others, "This calls the bot ", login,
	    ", which may then act with your rights.\n");
}

/* Look at the "@" at `p`. */
static void
look_mention(struct noter *n, struct span t, const uint8_t *p)
{
	const uint8_t *end = t.p + t.len, *from = p + 1, *to = from;
	struct span login;

	/* "_@x_" is a mention, in italics. */
	if (p > t.p && is_word(p[-1]) && p[-1] != '_')
		return;
	while (to < end && is_login(*to))
		to++;
	while (to > from && strchr("./-_", to[-1]) != NULL)
		to--;
	if (to == from)
		return;
	login = span_of(from, (size_t)(to - from));
	if (known_bot(login))
		note_bot(n, login);
	else
		note(n, &n->mentions, "Mentions @", login,
		    ", who is told, and acts if it is a bot.\n");
}

/* Returns the length of a closing word that ends before `p`, or 0. */
static size_t
closing_word(const uint8_t *start, const uint8_t *p)
{
	static const char *const words[] = {"close", "closes", "closed",
	    "closing", "fix", "fixes", "fixed", "fixing", "resolve", "resolves",
	    "resolved", "resolving", "implement", "implements", "implemented",
	    "implementing"};
	const uint8_t *from = p;
	struct span word;

	while (from > start && is_word(from[-1]))
		from--;
	word = span_of(from, (size_t)(p - from));
	for (size_t i = 0; i < nitems(words); i++) {
		if (span_ieq(word, span_str(words[i])))
			return word.len;
	}
	return 0;
}

/* Returns true if a reference may begin at `p`; GitHub reads "GH-3" as "#3". */
static bool
is_mark(const struct noter *n, struct span t, const uint8_t *p)
{
	if (*p == '-')
		return p - t.p >= 2 && span_ieq(span_of(p - 2, 2), SPAN("gh")) &&
		       (p - t.p == 2 || !is_login(p[-3]));
	return *p == '#' ||
	       (*p == '!' && n->s->call->grant->kind == FORGE_GITLAB);
}

/* Returns true before the next one of "closes #3, #4 and #5". */
static bool
is_listed(const struct noter *n, const uint8_t *before)
{
	struct span between;

	if (n->closed == NULL || n->closed > before)
		return false;
	between = span_of(n->closed, (size_t)(before - n->closed));
	return span_is(between, ",") || span_is(between, ", and") ||
	       span_is(between, " and");
}

/* Look at the mark before digits at `p`: a reference. */
static void
look_number(struct noter *n, struct span t, const uint8_t *p)
{
	const uint8_t *end = t.p + t.len, *to = p + 1, *from = p, *before;

	while (to < end && text_is_digit(*to))
		to++;
	if (to == p + 1)
		return;
	while (from > t.p && is_login(from[-1]))
		from--;
	before = from;
	while (before > t.p &&
	       (before[-1] == ' ' || before[-1] == ':' || before[-1] == '\t' ||
		   before[-1] == '\n' || before[-1] == '\r'))
		before--;
	if (closing_word(t.p, before) != 0 || is_listed(n, before)) {
		n->closed = to;
		note(n, &n->closes, "Closes ",
		    span_of(from, (size_t)(to - from)),
		    " by itself, perhaps when it is merged.\n");
	} else if (from < p) {
		note(n, &n->others, "Refers to ",
		    span_of(from, (size_t)(to - from)),
		    ", where a link to this appears.\n");
	}
}

/* Look at the "://" at `p`: an address. */
static void
look_link(struct noter *n, struct span t, const uint8_t *p)
{
	const uint8_t *end = t.p + t.len, *from = p + 3, *to = from, *word = p;

	while (word > t.p && is_word(word[-1]))
		word--;
	while (to<end && * to> 0x20 && strchr("/?#)]>\"'`\\|", *to) == NULL)
		to++;
	note(n, &n->links, "Links to ", span_of(from, (size_t)(to - from)),
	    ".\n");
	while (word > t.p && (word[-1] == ' ' || word[-1] == ':'))
		word--;
	if (closing_word(t.p, word) != 0)
		note(n, &n->closes, "Closes what it links to at ",
		    span_of(from, (size_t)(to - from)), " by itself.\n");
}

static void
look_text(struct noter *n, struct span t)
{
	const uint8_t *end = t.p + t.len;
	struct span word, rest;

	n->closed = NULL;
	for (const uint8_t *p = t.p; p < end; p++) {
		rest = span_of(p, (size_t)(end - p));
		if (*p == '@')
			look_mention(n, t, p);
		else if (is_mark(n, t, p))
			look_number(n, t, p);
		else if (*p == ':' && span_starts(rest, SPAN("://")))
			look_link(n, t, p);
		else if ((*p == '<' && span_starts(rest, SPAN("<!--"))) ||
			 (*p == '[' && span_starts(rest, SPAN("[//]:"))))
			n->comment = true;
	}
	n->hidden |= hidden_in(t);
	if (forge_quick_action(t, &word))
		note(n, &n->others, "Begins a line with ", word,
		    ", which bots may read as a command.\n");
}

/* Look at the values that act: texts, logins, and bots among the things. */
static void
look_member(
    struct noter *n, const struct forge_member *m, const struct value *v)
{
	const struct value *item;
	size_t i;

	if (v == NULL)
		return;
	if (v->type == VALUE_ARRAY) {
		for (item = v->child; item != NULL; item = item->next)
			look_member(n, m, item);
		return;
	}
	if (v->type == VALUE_OBJECT && m->form == FORGE_INPUT) {
		for (m = m->members; m->name != NULL; m++)
			look_member(n, m, value_get(v, m->name));
		return;
	}
	if (v->type != VALUE_STRING)
		return;
	if (m->role == FORGE_LOGIN &&
	    (known_bot(v->text) || strstr(m->name, "bot") != NULL))
		note_bot(n, v->text);
	if (m->role == FORGE_REF && n->s->found != NULL) {
		i = forge_ref_find(n->s->call, v->text, m->is);
		if (i < n->s->call->nrefs && n->s->found[i].is == FORGE_IS_BOT)
			note_bot(n, n->s->found[i].title);
	}
	if (m->role == FORGE_TEXT)
		look_text(n, v->text);
}

void
say_notes(const struct sayer *s, struct buf *b)
{
	struct noter n = {.s = s, .b = b};
	const struct forge_member *m;

	for (m = s->members; m->name != NULL; m++)
		look_member(&n, m, value_get(s->values, m->name));
	if (n.comment)
		buf_adds(b, "Has a comment that its page does not show.\n");
	if (n.hidden)
		buf_adds(b, "Has characters that nobody sees.\n");
}
