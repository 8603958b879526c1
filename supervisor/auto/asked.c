/* SPDX-License-Identifier: ISC */
#include "auto/asked.h"

#include <strings.h>

/* clang-format off */
/* Any of them, in any sentence, leaves a change to the person. */
static const char *const stops[] = {"not", "never", "no", "none", "nothing",
    "nobody", "nowhere", "neither", "nor", "without", "except", "excluding",
    "but", "however", "although", "though", "unless", "until", "till", "if",
    "whether", "when", "whenever", "once", "after", "before", "later",
    "tomorrow", "tonight", "wait", "hold", "stop", "cancel", "avoid", "skip",
    "leave", "keep", "ignore", "refrain", "forget", "undo", "revert",
    "instead", "rather", "only", "should", "would", "could", "can", "may",
    "might", "must", "shall", "will", "was", "were", "did", "does", "do",
    "is", "are", "be", "been", "being", "am", "has", "have", "had", "why",
    "how", "what", "who", "whom", "whose", "which", "where", "that", "because",
    "since", "so", "says", "say", "said", "told", "asked", "asks", "wants",
    "wrote", "reads", "writes", "example", "imagine", "suppose", "pretend",
    "maybe", "perhaps", "possibly", "think", "or", "either", "while",
    "unlike", "untouched", "unchanged", "alone", "forbidden", "forbid",
    "prohibited", "protected", "refuse", "deny", "dont", "cannot", "cant",
    "wont", "dry", "readonly", "read-only", "off-limits", "hands", "beware",
    "careful", "danger", "dangerous", "risk", "quote", "quoted", "joke",
    "kidding", "ago", "yesterday", "already", "yet", "almost", "nearly",
    /* negations of other languages */
    "nicht", "nie", "niemals", "kein", "keine", "keinen", "nichts", "ohne",
    "ne", "pas", "jamais", "rien", "aucun", "sans", "non", "mai", "niente",
    "nunca", "nada", "ningun", "sin", "nao", "sem", "geen", "niet", "nooit",
    "niets", "ikke", "aldrig", "inte", "nie", "nic", "bez", "ei"};

/* They may stand before the verb of an order. */
static const char *const openings[] = {"please", "kindly", "now", "then",
    "also", "next", "first", "second", "third", "finally", "lastly", "ok",
    "okay", "yes", "yep", "sure", "great", "good", "fine", "perfect", "nice",
    "thanks", "again", "just", "and", "hello", "hi", "hey", "afterwards", "-"};

/* They may stand between a verb, or a preposition, and the name. */
static const char *const articles[] = {"the", "a", "an", "my", "our", "this",
    "new", "file", "files", "folder", "directory", "document", "page", "note",
    "notes", "path", "called", "named", "text", "markdown", "empty",
    "existing", "whole", "entire", "two", "both"};

/* The thing that they change follows at once. */
static const char *const direct[] = {"edit", "update", "create", "change",
    "modify", "overwrite", "rewrite", "fix", "correct", "format", "reformat",
    "extend", "shorten", "clean", "tidy", "sort", "truncate",
    "refactor", "replace", "write", "save", "generate", "regenerate", "clear",
    "improve", "complete", "finish", "patch", "touch"};

/* The thing that they change follows a preposition. */
static const char *const placing[] = {"add", "append", "insert", "put",
    "store", "copy", "export", "record", "log", "enter", "paste", "prepend",
    "fill", "output", "dump"};

static const char *const deleting[] = {"delete", "remove", "erase", "trash"};
static const char *const committing[] = {
    "commit", "stage", "add", "tag", "merge"};
static const char *const sending[] = {
    "send", "email", "mail", "write", "reply", "forward", "invite"};

/* After them "in" belongs to another thing than the verb. */
static const char *const modifiers[] = {"of", "from", "for", "with", "about",
    "on", "like", "using", "by", "per", "than", "against", "via", "between",
    "as", "to", "into", "following", "describing", "see", "according"};

/* Before a preposition: things, and words that have it themselves. */
static const char *const things[] = {"spelling", "heading", "wording"};
static const char *const owning[] = {"link", "links", "path", "paths",
    "access", "reference", "references", "pointer", "pointers", "changes",
    "change", "edits", "due", "similar", "related", "compared", "respect",
    "answer", "answers", "reply", "response", "issues", "problems",
    "instructions", "steps", "todos", "todo", "tasks", "requirements",
    "spec", "specification", "errors", "bugs", "found", "shown", "written",
    "seen", "given", "kept", "symlink", "redirect", "import", "imports",
    "everything", "way", "road", "introduction", "guide", "key", "according",
    "next", "close", "equal", "up"};
/* clang-format on */

static bool
among(struct span w, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_ieq(w, span_str(list[i])))
			return true;
	return false;
}

#define IS(w, list) among(w, list, nitems(list))

enum asked
asked_of_role(struct span role)
{
	static const struct {
		const char *role;
		enum asked what;
	} rows[] = {{"read-path", ASKED_READ}, {"fetch-url", ASKED_READ},
	    {"git-remote-url", ASKED_READ}, {"branch-name", ASKED_READ},
	    {"github-owner", ASKED_READ}, {"github-repo", ASKED_READ},
	    {"delete-path", ASKED_DELETE}, {"delete-history", ASKED_DELETE},
	    {"write-history", ASKED_COMMIT}, {"email-address", ASKED_SEND}};

	for (size_t i = 0; i < nitems(rows); i++)
		if (span_is(role, rows[i].role))
			return rows[i].what;
	return ASKED_WRITE;
}

static bool
is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * Returns true if the message is plain text: no code, no quotation, no list of
 * somebody's words, and nothing but ASCII.
 */
static bool
is_plain(struct span m)
{
	for (size_t i = 0; i < m.len; i++) {
		const uint8_t c = m.p[i];
		const uint8_t next = i + 1 < m.len ? m.p[i + 1] : ' ';
		const uint8_t before = i == 0 ? ' ' : m.p[i - 1];

		if (c >= 0x7f || (c < ' ' && c != '\n') || c == 0 ||
		    strchr("\"`$%{}|;<>=\\*#[]^()&", c) != NULL)
			return false;
		if (c == '\'' && (!is_letter(before) || !is_letter(next)))
			return false;
		/* "He wrote: delete it" */
		if (c == ':' && (next == ' ' || next == '\n'))
			return false;
	}
	return true;
}

struct word {
	struct span s; /* without the marks after it */
	bool first;    /* the sentence begins with it */
	bool comma;    /* follows it */
};

/*
 * Split the message. Returns the number of words, or ASKED_MAX_WORDS + 1 for
 * too many.
 */
static size_t
split(struct span m, struct word *list)
{
	size_t n = 0, i = 0, from;
	bool first = true, end;

	for (;;) {
		for (; i < m.len && m.p[i] <= ' '; i++)
			first |= m.p[i] == '\n';
		if (i == m.len)
			return n;
		if (n == ASKED_MAX_WORDS)
			return n + 1;
		for (from = i; i < m.len && m.p[i] > ' ';)
			i++;
		list[n] =
		    (struct word){span_of(m.p + from, i - from), first, false};
		end = false;
		while (list[n].s.len > 1 &&
		       strchr(".,!?", list[n].s.p[list[n].s.len - 1]) != NULL) {
			end |= list[n].s.p[list[n].s.len - 1] != ',';
			list[n].comma |= list[n].s.p[list[n].s.len - 1] == ',';
			list[n].s.len--;
		}
		first = end;
		n++;
	}
}

static bool
has_stop(const struct word *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct span w = list[i].s;

		if (IS(w, stops) ||
		    (w.len > 2 &&
			span_ieq(span_of(w.p + w.len - 2, 2), SPAN("'t"))))
			return true;
	}
	return false;
}

static bool
ends_like(struct span w, const char *end)
{
	const size_t n = strlen(end);

	return w.len > n + 1 &&
	       span_ieq(span_of(w.p + w.len - n, n), span_of(end, n));
}

/* The clause that is read. */
struct clause {
	enum {
		NO_VERB,
		DIRECT,
		PLACING,
		DELETING,
		COMMITTING
	} verb;
	bool begins;   /* its verb is still to come */
	bool at_once;  /* only articles since the verb */
	bool modified; /* one of `modifiers` since the verb */
	bool accepted; /* the word before is a name that is changed */
	bool done;     /* the verb has what it changes */
	bool asked;    /* and that is the thing, as far as is known yet */
	struct span last, prep; /* the words before: a preposition */
};

static void
take_verb(struct clause *c, struct span w, enum asked what)
{
	*c = (struct clause){.at_once = true};
	if (what == ASKED_DELETE)
		c->verb = IS(w, deleting) ? DELETING : NO_VERB;
	else if (what == ASKED_COMMIT)
		c->verb = IS(w, committing) ? COMMITTING : NO_VERB;
	else if (what == ASKED_SEND)
		c->verb = IS(w, sending) ? DIRECT : NO_VERB;
	else if (IS(w, direct))
		c->verb = DIRECT;
	else if (IS(w, placing))
		c->verb = PLACING;
}

static bool
is_place(struct span w)
{
	static const char *const places[] = {
	    "to", "into", "in", "onto", "at", "under", "as"};

	return IS(w, places);
}

static bool
leads_away(struct span prep)
{
	return span_ieq(prep, SPAN("to")) || span_ieq(prep, SPAN("into")) ||
	       span_ieq(prep, SPAN("onto")) || span_ieq(prep, SPAN("as"));
}

/* Returns true if a name at this place is what the verb changes. */
static bool
is_target(const struct clause *c)
{
	if (c->verb == NO_VERB || c->done)
		return c->verb != NO_VERB && c->accepted;
	if (c->accepted || (c->at_once && c->verb != PLACING))
		return true;
	if (c->verb == DELETING || c->prep.len == 0 ||
	    (c->verb != COMMITTING && IS(c->last, owning)) ||
	    ends_like(c->last, "ed") ||
	    (ends_like(c->last, "ing") && !IS(c->last, things)))
		return false;
	return leads_away(c->prep) || !c->modified;
}

/* Take a name; `ours`: it is that of the thing. */
static void
take_name(struct clause *c, bool ours)
{
	const bool target = is_target(c);

	/* "Save a as b", "change a to b": a is not what is changed. */
	if (c->done && !c->accepted && leads_away(c->prep))
		c->asked = false;
	c->asked |= ours && target;
	c->done |= target && c->at_once;
	c->accepted = target;
	c->at_once = c->begins = false;
	c->prep = span_of(NULL, 0);
	c->last = SPAN("name");
}

/* Take a word that is no name. */
static void
take_word(struct clause *c, struct span w)
{
	/* "Remove a from the list", "delete a in b". */
	if (c->verb == DELETING && c->accepted)
		c->asked = false;
	c->accepted = false;
	if (IS(w, articles) && (c->at_once || c->prep.len != 0))
		return;
	c->at_once = false;
	if (is_place(w) && c->prep.len == 0) {
		c->prep = w;
		return;
	}
	c->modified |= c->prep.len != 0 || IS(w, modifiers);
	c->prep = span_of(NULL, 0);
	c->last = w;
}

static bool
is_name(struct span w)
{
	return memchr(w.p, '/', w.len) != NULL ||
	       memchr(w.p, '@', w.len) != NULL || w.p[0] == '~';
}

/* Returns true if the words order a change of the thing. */
static bool
orders(const struct word *list, size_t n, enum asked what,
    asked_names_fn *names, void *arg)
{
	struct clause c = {.begins = true};
	bool asked = false, comma = false, ours;

	for (size_t i = 0; i < n; i++) {
		const struct span w = list[i].s;

		if (list[i].first) {
			asked |= c.asked;
			c = (struct clause){.begins = true};
		}
		c.begins |= comma || span_ieq(w, SPAN("and")) ||
			    span_ieq(w, SPAN("then"));
		comma = list[i].comma;
		ours = names(arg, w);
		if (ours || is_name(w)) {
			take_name(&c, ours);
		} else if (!c.begins) {
			take_word(&c, w);
		} else if (!IS(w, openings)) {
			asked |= c.asked;
			take_verb(&c, w, what);
		}
	}
	return asked || c.asked;
}

/* A sentence that names the thing and has a negation is no permission. */
static bool
is_refused(const struct word *list, size_t n, asked_names_fn *names, void *arg)
{
	static const char *const nots[] = {"not", "never", "no", "without",
	    "except", "excluding", "avoid", "skip", "ignore", "leave", "nor",
	    "neither", "dont", "cannot", "cant", "untouched", "forbidden",
	    "nothing", "nicht", "nie", "kein", "keine", "jamais", "pas",
	    "nunca", "niet", "geen"};
	bool named = false, refused = false;

	for (size_t i = 0; i < n; i++) {
		const struct span w = list[i].s;

		if (list[i].first)
			named = refused = false;
		named |= names(arg, w);
		refused |= IS(w, nots) ||
			   (w.len > 2 && span_ieq(span_of(w.p + w.len - 2, 2),
					     SPAN("'t")));
		if (named && refused)
			return true;
	}
	return false;
}

const char *
asked_check(
    struct span message, enum asked what, asked_names_fn *names, void *arg)
{
	struct word list[ASKED_MAX_WORDS];
	const size_t n = split(message, list);

	if (n <= ASKED_MAX_WORDS && is_refused(list, n, names, arg))
		return "your message names it with a negation";
	if (what == ASKED_READ)
		return NULL;
	if (memchr(message.p, '?', message.len) != NULL)
		return "your message has a question, and the call changes "
		       "something";
	if (n > ASKED_MAX_WORDS || !is_plain(message))
		return "the call changes something, and your message has code, "
		       "quotations or other text that is not understood";
	if (has_stop(list, n))
		return "the call changes something, and your message has a "
		       "negation, a condition or the like";
	if (!orders(list, n, what, names, arg))
		return "your message does not order the change that the call "
		       "makes, in a sentence of its own";
	return NULL;
}
