/* SPDX-License-Identifier: ISC */
/*
 * Glob patterns on paths relative to a directory: ? and * within a component,
 * ** over any number of them, [a-z] and [!a-z], {a,b}, a leading ! to invert
 * the match.  Patterns come from agents, so the work is bounded; a pattern that
 * needs more matches nothing.
 */
#include "icfs/icfs.h"

#include "common/json/text.h"

#define MAX_STEPS 100000U
#define MAX_DEPTH 32U

struct glob {
	const uint8_t *text; /* the whole text */
	unsigned steps;
	unsigned depth;
};

/* Returns the length of the character at p < end. */
static size_t
character(const uint8_t *p, const uint8_t *end)
{
	size_t n = text_utf8_len(p, end);

	return n == 0 ? 1 : n;
}

/*
 * Match a set at `*p`, which is after the '['.  Returns 1 or 0, or -1 if there
 * is no ']'.
 */
static int
in_set(const uint8_t **p, const uint8_t *end, uint8_t c)
{
	const uint8_t *q = *p, *first;
	bool inverted = q < end && (*q == '!' || *q == '^'), found = false;

	if (inverted)
		q++;
	for (first = q; q < end && (*q != ']' || q == first); q++) {
		if (q + 2 < end && q[1] == '-' && q[2] != ']') {
			found = found || (c >= q[0] && c <= q[2]);
			q += 2;
		} else {
			found = found || c == *q;
		}
	}
	if (q == end)
		return -1;
	*p = q + 1;
	return found != inverted;
}

/* Returns true if [p, pe) matches [t, te). */
static bool match(struct glob *, const uint8_t *p, const uint8_t *pe,
    const uint8_t *t, const uint8_t *te);

static bool
begins_component(const struct glob *g, const uint8_t *t)
{
	return t == g->text || t[-1] == '/';
}

/* Match the stars at `p` and everything after them. */
static bool
match_stars(struct glob *g, const uint8_t *p, const uint8_t *pe,
    const uint8_t *t, const uint8_t *te)
{
	bool many = pe - p >= 2 && p[1] == '*' && begins_component(g, t) &&
		    (p + 2 == pe || p[2] == '/');

	while (p < pe && *p == '*')
		p++;
	if (many && p == pe)
		return t < te;
	if (many)
		p++;
	for (;; t++) {
		if (match(g, p, pe, t, te))
			return true;
		if (t == te || (!many && *t == '/'))
			return false;
		/* "**" is followed by a name, which begins a component. */
		while (many && t < te && *t != '/')
			t++;
		if (t == te)
			return false;
	}
}

/*
 * Returns the position after the brace that closes the one before `p`, or NULL.
 */
static const uint8_t *
closing(const uint8_t *p, const uint8_t *pe)
{
	unsigned open = 1;

	for (; p < pe; p++) {
		open += *p == '{';
		open -= *p == '}';
		if (open == 0)
			return p + 1;
	}
	return NULL;
}

/* Match each alternative between `p` and `close`, followed by the rest. */
static bool
match_braces(struct glob *g, const uint8_t *p, const uint8_t *close,
    const uint8_t *pe, const uint8_t *t, const uint8_t *te)
{
	uint8_t text[1024];
	const uint8_t *from = p;
	size_t rest = (size_t)(pe - close), n;
	unsigned open = 0;

	for (; p < close; p++) {
		open += *p == '{';
		if ((*p == ',' && open == 0) || p + 1 == close) {
			n = (size_t)(p - from);
			if (n > sizeof(text) || rest > sizeof(text) - n)
				return false;
			memcpy(text, from, n);
			memcpy(text + n, close, rest);
			if (match(g, text, text + n + rest, t, te))
				return true;
			from = p + 1;
		}
		open -= *p == '}' && open != 0;
	}
	return false;
}

static bool
match_here(struct glob *g, const uint8_t *p, const uint8_t *pe,
    const uint8_t *t, const uint8_t *te)
{
	const uint8_t *close;
	size_t n;
	int in;

	while (p < pe) {
		if (++g->steps > MAX_STEPS)
			return false;
		if (*p == '*')
			return match_stars(g, p, pe, t, te);
		if (*p == '{' && (close = closing(p + 1, pe)) != NULL)
			return match_braces(g, p + 1, close, pe, t, te);
		if (t == te)
			return false;
		if (*p == '?' && *t != '/') {
			t += character(t, te);
			p++;
		} else if (*p == '[') {
			p++;
			if ((in = in_set(&p, pe, *t)) != 1 || *t == '/')
				return false;
			t++;
		} else {
			if (*p == '\\' && p + 1 < pe)
				p++;
			n = character(p, pe);
			if ((size_t)(te - t) < n || memcmp(p, t, n) != 0)
				return false;
			p += n;
			t += n;
		}
	}
	return t == te;
}

static bool
match(struct glob *g, const uint8_t *p, const uint8_t *pe, const uint8_t *t,
    const uint8_t *te)
{
	bool r;

	if (g->depth == MAX_DEPTH)
		return false;
	g->depth++;
	r = match_here(g, p, pe, t, te);
	g->depth--;
	return r;
}

bool
icfs_glob(struct span pattern, struct span text)
{
	struct glob g = {.text = text.p};
	bool inverted = false;

	if (pattern.len == 0)
		return false;
	while (pattern.len != 0 && pattern.p[0] == '!') {
		inverted = !inverted;
		pattern = span_of(pattern.p + 1, pattern.len - 1);
	}
	return match(&g, pattern.p, pattern.p + pattern.len, text.p,
		   text.p + text.len) != inverted;
}
