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
    "off", "away", "taboo", "banned",
    /* at another time */
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday", "week", "weekend", "month", "year", "hour", "hours", "minutes",
    "noon", "midnight", "morning", "afternoon", "evening", "soon", "someday",
    "eventually", "sometime", "every", "daily", "weekly", "monthly",
    /* reports */
    "failed", "fails", "failing", "crashed", "crashes", "hangs", "broke",
    "breaks", "worked", "works", "happened", "refused", "denied", "rejected",
    "blocked", "pending", "stays", "remains", "lets", "let",
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

/* They make a thing that goes to a place: "write a list to x". */
static const char *const making[] = {"write", "save", "generate",
    "regenerate"};

/* "Finish the work in x" does not say where. */
static const char *const working[] = {"complete", "finish", "improve",
    "patch", "clear", "generate", "regenerate", "touch", "copy", "export",
    "dump", "output"};

/* The thing that they change follows a preposition. */
static const char *const placing[] = {"add", "append", "insert", "put",
    "store", "copy", "export", "record", "paste", "prepend", "fill",
    "output", "dump"};

static const char *const deleting[] = {"delete", "remove", "erase", "trash"};
static const char *const committing[] = {
    "commit", "stage", "add", "tag", "merge"};
static const char *const sending[] = {
    "send", "email", "mail", "write", "reply", "forward", "invite"};

/* They change nothing, and a sentence may begin with them. */
static const char *const reading[] = {"read", "open", "look", "see", "check",
    "view", "show", "list", "print", "display", "find", "search", "count",
    "compare", "review", "summarize", "summarise", "explain", "describe",
    "translate", "analyze", "analyse", "inspect", "study", "use", "take",
    "get", "fetch", "load", "run", "test", "build", "compile", "collect",
    "gather", "make", "go", "work", "convert", "parse", "follow"};

/* They may follow the name of what is changed. */
static const char *const following[] = {"with", "to", "by", "using", "for",
    "from", "and", "then", "please", "now", "too", "again", "accordingly"};

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
    "next", "close", "equal", "up", "end", "stop", "issue", "problem",
    "ticket", "tickets", "task", "request", "requests", "story", "stories",
    "item", "items", "step", "point", "points", "comment", "comments",
    "feedback", "suggestion", "suggestions", "plan", "checklist",
    "assignment", "exercise", "exercises", "work", "job", "jobs", "feature",
    "features", "requirement", "dependency", "dependencies", "setting",
    "settings", "variable", "option", "value", "default", "location",
    "address", "url", "directory", "folder", "home", "attention"};
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
	bool first;    /* the line or the sentence begins with it */
	bool sentence; /* the sentence does */
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
	bool first = true, sentence = true, end;

	for (;;) {
		for (; i < m.len && m.p[i] <= ' '; i++)
			first |= m.p[i] == '\n';
		if (i == m.len)
			return n;
		if (n == ASKED_MAX_WORDS)
			return n + 1;
		for (from = i; i < m.len && m.p[i] > ' ';)
			i++;
		list[n] = (struct word){
		    span_of(m.p + from, i - from), first, sentence, false};
		end = false;
		while (list[n].s.len > 1 &&
		       strchr(".,!?", list[n].s.p[list[n].s.len - 1]) != NULL) {
			end |= list[n].s.p[list[n].s.len - 1] != ',';
			list[n].comma |= list[n].s.p[list[n].s.len - 1] == ',';
			list[n].s.len--;
		}
		first = sentence = end;
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
	bool making;   /* the verb makes something, or ... */
	bool working;  /* ... says nothing about a place */
	bool article;  /* one since the verb, so that it is no noun */
	bool accepted; /* the word before is a name that is changed */
	bool done;     /* the verb has what it changes */
	bool within;   /* that is what an "in" named */
	bool asked;    /* and that is the thing, as far as is known yet */
	bool fresh;    /* the word before is what the verb changes, ... */
	bool listed;   /* ... and not the first of them */
	bool saving;   /* "save x from" protects it */
	bool sending;  /* the names are people's */
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
		*c = (struct clause){.verb = IS(w, sending) ? DIRECT : NO_VERB,
		    .at_once = true,
		    .making = true,
		    .sending = true};
	else if (IS(w, direct))
		*c = (struct clause){.verb = DIRECT,
		    .at_once = true,
		    .making = IS(w, making),
		    .working = IS(w, working)};
	else if (IS(w, placing))
		*c = (struct clause){.verb = PLACING,
		    .at_once = true,
		    .working = IS(w, working)};
	c->saving = span_ieq(w, SPAN("save"));
}

/* Returns true if a clause may begin with the word. */
static bool
is_verb(struct span w)
{
	return IS(w, direct) || IS(w, placing) || IS(w, deleting) ||
	       IS(w, committing) || IS(w, sending) || IS(w, reading);
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
	/* "Copy the table in a to b" changes b. */
	const bool moved = c->within && leads_away(c->prep);

	/* "Send x y", "reply as x" */
	if (c->sending &&
	    ((c->accepted && !c->begins) ||
		(c->prep.len != 0 && !span_ieq(c->prep, SPAN("to")))))
		return false;
	if (c->verb == NO_VERB || (c->done && !moved))
		return c->verb != NO_VERB && c->accepted;
	if (c->accepted || (c->at_once && c->verb != PLACING))
		return true;
	if (c->verb == DELETING || c->prep.len == 0 ||
	    (c->verb != COMMITTING && IS(c->last, owning)) ||
	    ends_like(c->last, "ed") ||
	    (ends_like(c->last, "ing") && !IS(c->last, things)))
		return false;
	/* "Change the setting to x": x is a value. */
	if (leads_away(c->prep))
		return c->verb != DIRECT || c->making;
	/* "Change log in x", "copy of it in x": nouns. */
	return !c->modified && !c->working && c->article;
}

/* Take a name; `ours`: it is that of the thing. */
static void
take_name(struct clause *c, bool ours)
{
	const bool target = is_target(c);

	/* "Save a as b", "copy the table in a to b": a is not changed. */
	if (c->done && !c->accepted && leads_away(c->prep))
		c->asked = c->within = false;
	c->asked |= ours && target;
	/* "Replace a by b in c" */
	if (c->done && !target && span_ieq(c->prep, SPAN("in")))
		c->asked = false;
	c->within |= target && !c->done && !c->at_once && !leads_away(c->prep);
	c->done |= target;
	c->listed = c->done && c->accepted;
	c->accepted = c->fresh = target;
	c->at_once = c->begins = false;
	c->prep = span_of(NULL, 0);
	c->last = SPAN("name");
}

/* Take a word that is no name. */
static void
take_word(struct clause *c, struct span w)
{
	/*
	 * "Remove a from the list", "delete a in b", "add a to b"; "copy the
	 * table in a to the list".
	 */
	if ((c->verb == DELETING && c->accepted) ||
	    (c->verb == COMMITTING && c->accepted && leads_away(w)) ||
	    (c->within && leads_away(w)))
		c->asked = false;
	c->accepted = false;
	c->article |= IS(w, articles) || ends_like(w, "'s");
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

/*
 * Returns true if the word may be where it is: at the beginning of a sentence,
 * or after what a verb changes. "Update a in January", "update a, b excluded"
 * and "scratch that" are not understood.
 */
static bool
fits(const struct clause *c, const struct word *word, bool sentence)
{
	const struct span w = word->s;

	if (IS(w, openings) || (!sentence && !c->fresh))
		return true;
	if (sentence || c->begins)
		return is_verb(w) && !word->comma;
	if (c->listed && span_ieq(w, SPAN("for")))
		return false;
	if (!c->listed && leads_away(w))
		return true;
	return IS(w, following) && !(c->saving && span_ieq(w, SPAN("from")));
}

/* Returns true if the words order a change of the thing. */
static bool
orders(const struct word *list, size_t n, enum asked what,
    asked_names_fn *names, void *arg)
{
	struct clause c = {.begins = true};
	bool asked = false, comma = false, sentence = false, ours;

	for (size_t i = 0; i < n; i++) {
		const struct span w = list[i].s;

		if (list[i].first) {
			asked |= c.asked;
			c = (struct clause){.begins = true};
			sentence = true;
		}
		c.begins |= comma || span_ieq(w, SPAN("and")) ||
			    span_ieq(w, SPAN("then"));
		comma = list[i].comma;
		ours = names(arg, w);
		if (!ours && !is_name(w)) {
			if (!fits(&c, &list[i], sentence))
				return false;
			if (!IS(w, openings))
				c.fresh = false;
		}
		sentence &= IS(w, openings);
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

/* Returns the word without quotes and brackets around it. */
static struct span
bare_word(struct span w)
{
	static const char signs[] = "\"'`<>()[]{}|,;:.!?*_";

	while (w.len > 1 && strchr(signs, w.p[0]) != NULL)
		w = span_of(w.p + 1, w.len - 1);
	while (w.len > 1 && strchr(signs, w.p[w.len - 1]) != NULL)
		w.len--;
	return w;
}

static bool
is_negation(struct span w)
{
	static const char *const nots[] = {"not", "never", "no", "without",
	    "except", "excluding", "avoid", "skip", "ignore", "leave", "nor",
	    "neither", "dont", "cannot", "cant", "untouched", "forbidden",
	    "nothing", "nobody", "prohibited", "off-limits", "hands", "away",
	    "off", "private", "secret", "confidential", "taboo", "banned",
	    "refrain", "protected", "instead", "rather", "nicht", "nie", "kein",
	    "keine", "jamais", "pas", "nunca", "niet", "geen"};

	return IS(w, nots) ||
	       (w.len > 2 && span_ieq(span_of(w.p + w.len - 2, 2), SPAN("'t")));
}

/*
 * A sentence that names the thing, or refers to it, and has a negation is no
 * permission. A name with blanks is in no word; then any negation counts.
 */
static bool
is_refused(const struct word *list, size_t n, asked_names_fn *names, void *arg)
{
	static const char *const pronouns[] = {"it", "its", "them", "those",
	    "these", "that", "this", "there", "either", "both", "file"};
	bool named = false, refused = false, any = false, all = false;

	for (size_t i = 0; i < n; i++) {
		const struct span w = bare_word(list[i].s);
		const bool ours = names(arg, w) || names(arg, list[i].s);

		if (list[i].sentence)
			named = refused = false;
		named |= ours || (any && IS(w, pronouns));
		any |= ours;
		refused |= is_negation(w);
		all |= refused;
		if (named && refused)
			return true;
	}
	return !any && all;
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
