/* SPDX-License-Identifier: ISC */
/*
 * Searches of GitHub. A search is about a repository only because its text says
 * so, and the text is a language: words, quoted phrases, and qualifiers. This
 * accepts a text whose every reading is bound to listed repositories, and
 * nothing else: no operators, no quotes within a word, and no second way to
 * name a repository or an owner. Parentheses are those alone that `gh` puts
 * around its words, before the qualifiers: what they contain binds nothing.
 */
#include "common/forge/forge_priv.h"
#include "common/hidden.h"
#include "common/json/text.h"

#define SEARCH_MAX 1024U

/* Find `what` in a word, without regard to case. */
static bool
word_has(struct span word, struct span what)
{
	for (size_t i = 0; word.len >= what.len && i <= word.len - what.len;
	     i++) {
		if (span_ieq(span_of(word.p + i, what.len), what))
			return true;
	}
	return false;
}

static bool
word_is_operator(struct span word)
{
	return span_ieq(word, SPAN("or")) || span_ieq(word, SPAN("and")) ||
	       span_ieq(word, SPAN("not")) || span_is(word, "-") ||
	       memchr(word.p, '(', word.len) != NULL ||
	       memchr(word.p, ')', word.len) != NULL ||
	       memchr(word.p, '|', word.len) != NULL ||
	       memchr(word.p, '&', word.len) != NULL;
}

/*
 * Check one word, of which `bare` stands before the first quote. `*bound` is
 * set by `repo:`.
 */
static int
word_check(const struct forge_grant *grant, struct span word, struct span bare,
    bool *bound, struct forge_fail *fail)
{
	static const struct span names[] = {SPAN("repo:"), SPAN("org:"),
	    SPAN("user:"), SPAN("owner:"), SPAN("enterprise:"),
	    SPAN("repository:"), SPAN("saved:")};
	char brief[FORGE_BRIEF];
	struct span name;

	if (word_is_operator(bare))
		return forge_refuse(fail,
		    "a search with OR, AND, NOT, \"|\", "
		    "\"&\" or parentheses is not permitted");
	if (span_starts(word, SPAN("repo:"))) {
		name = span_of(word.p + 5, word.len - 5);
		if (forge_repository_find(grant, name).p == NULL)
			return forge_refuse(fail,
			    "the search names %s, which "
			    "is not on the list of this destination",
			    forge_brief(name, brief));
		*bound = true;
		return 0;
	}
	for (size_t i = 0; i < nitems(names); i++) {
		if (word_has(word, names[i]))
			return forge_refuse(fail,
			    "\"%s\" is not permitted in "
			    "a search",
			    forge_brief(word, brief));
	}
	return 0;
}

/*
 * Returns the end of the word at `p`; a quoted phrase belongs to it, with its
 * quotes. Returns NULL if a phrase does not end, or something follows it.
 */
static const uint8_t *
word_end(const uint8_t *p, const uint8_t *end, const uint8_t **quote)
{
	*quote = NULL;
	for (; p < end && *p != ' '; p++) {
		if (*p != '"')
			continue;
		if (*quote == NULL)
			*quote = p;
		p = memchr(p + 1, '"', (size_t)(end - p - 1));
		if (p == NULL || (p + 1 < end && p[1] != ' '))
			return NULL;
	}
	return p;
}

/*
 * Returns true if the text has no character that could be read as the end of a
 * word, or that nobody sees.
 */
static bool
characters_fit(struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len;
	uint32_t c;
	size_t n;

	for (; p < end; p += n) {
		if ((n = text_utf8_len(p, end)) == 0)
			return false;
		c = text_utf8_code(p, n);
		if (c == '\\' || c == 0xa0 || c == 0x1680 || c == 0x202f ||
		    c == 0x205f || c == 0x3000 ||
		    (c >= 0x2000 && c <= 0x200a) || hidden_alone(c))
			return false;
	}
	return true;
}

int
forge_search_check(
    const struct forge_grant *grant, struct span query, struct forge_fail *fail)
{
	const uint8_t *p = query.p, *end = query.p + query.len, *stop, *quote;
	bool bound = false, within = false, ignored;
	struct span word;

	if (query.len > SEARCH_MAX || !characters_fit(query))
		return forge_refuse(fail,
		    "the search is longer than %u bytes, "
		    "or has characters that are not permitted",
		    SEARCH_MAX);
	while (p < end) {
		if (*p == ' ') {
			p++;
			continue;
		}
		if ((stop = word_end(p, end, &quote)) == NULL)
			return forge_refuse(fail, "a quote in the search does "
						  "not end a word");
		if (quote == NULL)
			quote = stop;
		word = span_of(p, (size_t)(stop - p));
		if ((p == query.p && span_is(word, "(")) ||
		    (within && span_is(word, ")")))
			within = !within;
		else if (word_check(grant, word,
			     span_of(p, (size_t)(quote - p)),
			     within ? &ignored : &bound, fail) == -1)
			return -1;
		p = stop;
	}
	if (within)
		return forge_refuse(fail, "a parenthesis in the search is not "
					  "closed");
	if (!bound)
		return forge_refuse(fail, "a search needs \"repo:\" and a "
					  "repository of this destination");
	return 0;
}
