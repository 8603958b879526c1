/* SPDX-License-Identifier: ISC */
/*
 * Searches for a pattern by following all its steps at once, one character
 * after the other, so that the time grows with the product of both lengths and
 * no faster, whatever the pattern is.
 */
#include "icctl/schema/pattern.h"

/* The steps at which the search stands, each once. */
struct places {
	uint16_t at[PATTERN_CODE];
	uint32_t seen[PATTERN_CODE]; /* the round in which a step was added */
	unsigned n;
};

struct run {
	const struct pattern *p;
	struct places *now, *next;
	uint32_t round;
	bool start, end, boundary; /* true of the place in the text */
};

static bool
is_word(uint32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= 'a' && c <= 'z');
}

static bool
in_set(const struct pattern *p, const struct pattern_step *s, uint32_t c)
{
	bool in = false;

	for (unsigned i = s->at; !in && i < (unsigned)s->at + s->n; i++)
		in = c >= p->ranges[i].from && c <= p->ranges[i].to;
	return in != s->not ;
}

/* Returns true if the search goes on behind a step that takes no character. */
static bool
passes(const struct run *r, const struct pattern_step *s)
{
	switch (s->op) {
	case PATTERN_START:
		return r->start;
	case PATTERN_END:
		return r->end;
	case PATTERN_WORD:
		return r->boundary != s->not ;
	default:
		return false;
	}
}

static void
push(struct run *r, struct places *to, unsigned at)
{
	if (to->seen[at] == r->round)
		return;
	to->seen[at] = r->round;
	to->at[to->n++] = (uint16_t)at;
}

/*
 * Add all that can be reached without a character. Returns true if the pattern
 * has been found.
 */
static bool
settle(struct run *r, struct places *p)
{
	const struct pattern_step *s;
	bool found = false;

	for (unsigned i = 0; i < p->n; i++) {
		s = &r->p->code[p->at[i]];
		if (s->op == PATTERN_MATCH)
			found = true;
		if (s->op == PATTERN_SPLIT || s->op == PATTERN_JUMP)
			push(r, p, (unsigned)(p->at[i] + s->a));
		if (s->op == PATTERN_SPLIT)
			push(r, p, (unsigned)(p->at[i] + s->b));
		if (passes(r, s))
			push(r, p, p->at[i] + 1U);
	}
	return found;
}

int
pattern_find(const struct pattern *p, struct span text, uint64_t *steps)
{
	static struct places places[2];
	struct run r = {.p = p, .now = &places[0], .next = &places[1]};
	const struct pattern_step *s;
	uint32_t before = 0, c;
	struct places *swap;
	struct span ahead;
	bool first = true;

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < p->n; k++)
			places[i].seen[k] = 0;
	r.now->n = 0;
	for (;; first = false) {
		/* It may begin at each place. */
		r.round++;
		r.start = first;
		r.end = text.len == 0;
		ahead = text;
		c = r.end ? 0 : pattern_take(&ahead);
		r.boundary = is_word(before) != is_word(c);
		for (unsigned i = 0; i < r.now->n; i++)
			r.now->seen[r.now->at[i]] = r.round;
		push(&r, r.now, 0);
		if (settle(&r, r.now))
			return 1;
		if (r.end)
			return 0;
		r.next->n = 0;
		for (unsigned i = 0; i < r.now->n; i++) {
			s = &p->code[r.now->at[i]];
			if (*steps < s->n + 1U)
				return -1;
			*steps -= s->n + 1U;
			if (s->op == PATTERN_SET && in_set(p, s, c))
				push(&r, r.next, r.now->at[i] + 1U);
		}
		text = ahead;
		before = c;
		swap = r.now;
		r.now = r.next;
		r.next = swap;
	}
}
