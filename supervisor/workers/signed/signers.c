/* SPDX-License-Identifier: ISC */
#include "workers/signed/signers.h"

#include <stdio.h>
#include <string.h>

static const char base64_chars[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
static const char begin_line[] = "-----BEGIN SSH SIGNATURE-----";
static const char end_line[] = "-----END SSH SIGNATURE-----";

/* Returns true if the bytes are not empty and all from this set. */
static bool
only(struct span s, const char *set)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' || strchr(set, s.p[i]) == NULL)
			return false;
	return s.len != 0;
}

/* Returns true for one name, without the patterns that ssh would take. */
static bool
plain_name(struct span s)
{
	return s.len < SIGNED_NAME && s.len != 0 && s.p[0] != '-' &&
	       only(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		       "0123456789@._+-");
}

/* Take a word, and the spaces before it; empty at the end. */
static struct span
take_word(struct span *line)
{
	size_t from = 0, to;

	while (
	    from < line->len && (line->p[from] == ' ' || line->p[from] == '\t'))
		from++;
	for (to = from; to < line->len && line->p[to] != ' ' &&
			line->p[to] != '\t' && line->p[to] != '\r';)
		to++;
	const struct span word = span_of(line->p + from, to - from);

	*line = span_of(line->p + to, line->len - to);
	return word;
}

/* Returns what is wrong with options, which ssh takes in any case, or NULL. */
static const char *
signers_option(struct span word)
{
	const char *text = (const char *)word.p;
	bool quoted = false;

	for (size_t i = 0; i < word.len; i++) {
		if (word.len - i >= 14 &&
		    strncasecmp(text + i, "cert-authority", 14) == 0)
			return "certificates are not taken: name each key";
		/* A name is before it. */
		quoted ^= text[i] == '"' && text[i - 1] != '\\';
	}
	return quoted ? "has an option with a space, which is not taken" : NULL;
}

static bool
is_kind(struct span word)
{
	return span_starts(word, SPAN("ssh-")) ||
	       span_starts(word, SPAN("ecdsa-")) ||
	       span_starts(word, SPAN("sk-"));
}

/* Returns what is wrong with the line, or NULL. */
static const char *
signers_line(struct signers *s, struct span line)
{
	struct span word, name = take_word(&line);
	const char *wrong;

	if (name.len == 0 || name.p[0] == '#')
		return NULL;
	if (!plain_name(name))
		return "must begin with one plain name of letters, digits and "
		       "@._+-: patterns and lists of names are not taken";
	for (word = take_word(&line); word.len != 0 && !is_kind(word);
	     word = take_word(&line))
		if ((wrong = signers_option(word)) != NULL)
			return wrong;
	word = take_word(&line);
	if (!only(word, base64_chars))
		return "has no key";
	for (unsigned i = 0; i < s->n; i++) {
		if (!span_eq(s->list[i].name, name) &&
		    span_eq(s->list[i].key, word))
			return "has the key of another name: one person would "
			       "count as two";
	}
	if (s->n == SIGNERS_MAX)
		return "is one too many: at most 64 keys are taken";
	s->names += !signers_know(s, name);
	s->list[s->n].name = name;
	s->list[s->n++].key = word;
	return NULL;
}

int
signers_read(struct signers *s, struct span file, char why[SIGNERS_WHY])
{
	struct span line;
	const char *wrong;

	memset(s, 0, sizeof(*s));
	for (unsigned n = 1; span_line(&file, &line); n++) {
		if ((wrong = signers_line(s, line)) == NULL)
			continue;
		snprintf(why, SIGNERS_WHY, "line %u %s", n, wrong);
		return -1;
	}
	if (s->n != 0)
		return 0;
	snprintf(why, SIGNERS_WHY, "it names nobody");
	return -1;
}

bool
signers_know(const struct signers *s, struct span name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (span_eq(s->list[i].name, name))
			return true;
	return false;
}

static int
entry_bad(char why[SIGNERS_WHY], const char *text)
{
	snprintf(why, SIGNERS_WHY, "%s", text);
	return -1;
}

int
signers_next(struct span *rest, struct signers_entry *e, char why[SIGNERS_WHY])
{
	struct span line, name;
	const uint8_t *armor;

	if (!span_line(rest, &line))
		return 0;
	name = take_word(&line);
	if (!plain_name(name) || span_copy(name, e->name, SIGNED_NAME) == -1 ||
	    span_u64(take_word(&line), INT64_MAX, &e->expires) == -1 ||
	    line.len != 0)
		return entry_bad(why,
		    "a signature must begin with the line \"NAME SECONDS\", as "
		    "icctl sign writes it");
	armor = rest->p;
	if (!span_line(rest, &line) || !span_is(line, begin_line))
		return entry_bad(why, "no signature follows the name");
	do {
		if ((size_t)(rest->p - armor) > SIGNERS_ARMOR ||
		    !span_line(rest, &line))
			return entry_bad(why, "a signature has no end");
		if (line.len == 0 || line.len > 80)
			return entry_bad(why, "a signature has a line of a "
					      "wrong length");
	} while (only(line, base64_chars));
	if (!span_is(line, end_line))
		return entry_bad(why, "a signature has a line that is no "
				      "base64");
	e->armor = span_of(armor, (size_t)(rest->p - armor));
	return 1;
}
