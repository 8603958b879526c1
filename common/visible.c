/* SPDX-License-Identifier: ISC */
/*
 * The one function that makes text from outside visible.  It ignores the
 * locale, so that its result is the same in every process and in every test.
 */
#include "common/visible.h"

#include <stdlib.h>

#include "common/hidden.h"
#include "common/json/text.h"
#include "common/visible_scripts.h"

#define VISIBLE_MARKS 4U /* combining marks in a row; more are escaped */

#define CJK                                                                    \
	(1ULL << SCRIPT_HAN | 1ULL << SCRIPT_HIRAGANA | 1ULL << SCRIPT_KATAKANA)

/* One character: a code point, or a byte that is not valid UTF-8. */
struct visible_char {
	uint32_t cp;
	size_t len; /* in the source */
	bool bad;
	/* 0 unless it is a letter, mark or digit that is shown */
	uint8_t script;
};

/* Returns true for a combining mark that is used with any script. */
static bool
is_mark(uint32_t cp)
{
	return (cp >= 0x300 && cp <= 0x34e) || (cp >= 0x350 && cp <= 0x362);
}

/* Returns true for non-ASCII punctuation that does not look like ASCII. */
static bool
is_punctuation(uint32_t cp)
{
	static const uint32_t list[] = {0xa1, 0xa3, 0xa5, 0xa7, 0xa9, 0xab,
	    0xae, 0xb0, 0xb1, 0xb5, 0xbb, 0xbf, 0xd7, 0x2013, 0x2014, 0x201c,
	    0x201d, 0x201e, 0x2026, 0x20ac, 0x3001, 0x3002, 0x300a, 0x300b,
	    0x300c, 0x300d, 0x300e, 0x300f, 0x3010, 0x3011};

	for (size_t i = 0; i < nitems(list); i++)
		if (list[i] == cp)
			return true;
	return false;
}

static int
range_compare(const void *key, const void *entry)
{
	const uint32_t *cp = key;
	const struct visible_range *r = entry;

	return (*cp > r->to) - (*cp < r->from);
}

static uint8_t
script_of(uint32_t cp)
{
	const struct visible_range *r;

	if ((cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z'))
		return SCRIPT_LATIN;
	r = bsearch(&cp, visible_ranges, nitems(visible_ranges),
	    sizeof(visible_ranges[0]), range_compare);
	return r != NULL ? r->script : 0;
}

static struct visible_char
char_at(struct span s, size_t i)
{
	struct visible_char c = {.bad = false};

	c.len = text_utf8_len(s.p + i, s.p + s.len);
	if (c.len == 0) {
		c.cp = s.p[i];
		c.len = 1;
		c.bad = true;
		return c;
	}
	c.cp = text_utf8_code(s.p + i, c.len);
	c.script = script_of(c.cp);
	return c;
}

/* Returns true if the character continues a word. */
static bool
in_word(const struct visible_char *c)
{
	return !c->bad && (c->script != 0 || is_mark(c->cp) ||
			      (c->cp >= '0' && c->cp <= '9'));
}

/*
 * Returns true if people write these scripts in one word; any other mixture may
 * be an imitation.
 */
static bool
may_mix(uint64_t scripts)
{
	uint64_t rest = scripts & ~(1ULL << SCRIPT_LATIN);

	return (scripts & (scripts - 1)) == 0 || (rest & ~CJK) == 0 ||
	       (rest & ~(1ULL << SCRIPT_HAN | 1ULL << SCRIPT_BOPOMOFO)) == 0 ||
	       (rest & ~(1ULL << SCRIPT_HAN | 1ULL << SCRIPT_HANGUL)) == 0;
}

/*
 * Returns the end of the word that begins at `i`.  Sets `*mixed` if the word
 * mixes scripts that do not belong together.
 */
static size_t
word_end(struct span s, size_t i, bool *mixed)
{
	struct visible_char c;
	uint64_t scripts = 0;

	for (; i < s.len; i += c.len) {
		c = char_at(s, i);
		if (!in_word(&c))
			break;
		if (c.script != 0)
			scripts |= 1ULL << c.script;
	}
	*mixed = !may_mix(scripts);
	return i;
}

static void
put_escaped(struct buf *b, const struct visible_char *c)
{
	if (c->cp == '\n')
		buf_adds(b, "\\n");
	else if (c->cp == '\t')
		buf_adds(b, "\\t");
	else if (c->bad || c->cp < 0x80)
		buf_printf(b, "\\x%02x", (unsigned)c->cp);
	else
		buf_printf(b, "\\u{%x}", (unsigned)c->cp);
}

static bool
is_shown(const struct visible_char *c, unsigned flags, bool mixed,
    unsigned marks, bool after_letter)
{
	if (c->cp == '\t' && flags & VISIBLE_PROSE)
		return true;
	if (c->bad || (c->cp < 0x80 && (c->cp < 0x20 || c->cp == 0x7f)))
		return false;
	if (c->cp < 0x80)
		return true;
	if (flags & VISIBLE_ASCII)
		return false;
	if (is_mark(c->cp))
		return after_letter && marks <= VISIBLE_MARKS &&
		       (!mixed || flags & VISIBLE_PROSE);
	if (flags & VISIBLE_PROSE)
		return !hidden_code(c->cp);
	if (c->script != 0)
		return !mixed;
	return is_punctuation(c->cp);
}

int
visible_add(struct buf *b, struct span s, unsigned flags)
{
	size_t word = 0;
	bool mixed = false, letter = false;
	struct visible_char c;
	unsigned marks = 0;

	for (size_t i = 0; i < s.len && !b->failed; i += c.len) {
		if (i >= word) {
			word = word_end(s, i, &mixed);
			letter = false;
			marks = 0;
		}
		c = char_at(s, i);
		marks = is_mark(c.cp) ? marks + 1 : 0;
		if ((c.cp == '\\' &&
			!(flags & (VISIBLE_AGAIN | VISIBLE_PROSE))) ||
		    (c.cp == '"' && flags & VISIBLE_QUOTED))
			buf_addc(b, '\\');
		if (is_shown(&c, flags, mixed, marks, letter))
			buf_add(b, s.p + i, c.len);
		else
			put_escaped(b, &c);
		letter = letter || c.script != 0;
	}
	return b->failed ? -1 : 0;
}

size_t
visible_cut(struct span s, size_t max)
{
	if (s.len <= max)
		return s.len;
	while (max != 0 && (s.p[max] & 0xc0) == 0x80)
		max--;
	return max;
}
