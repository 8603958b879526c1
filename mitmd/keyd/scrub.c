/* SPDX-License-Identifier: ISC */
/*
 * The search itself. The text is decoded into blocks; one place in seventeen is
 * looked up among all four-byte pieces of the forms, which no match of twenty
 * bytes can escape: eight places at a time in a table of bits, and if one of
 * them is there, in the table of pieces. Candidates are compared in both
 * directions. Owns no memory; everything derived from the credential is in the
 * caller's secret memory. The text comes from a provider and may be hostile.
 */
#include "keyd/scrub.h"

#include "keyd/scrub_form.h"
#include "keyd/scrub_text.h"

#define SEARCH_AT_ONCE 8U

static const struct scrub_form *
form_at(const struct scrub *s, const uint8_t *p)
{
	size_t i = 0;

	while (p >= s->forms[i].p + s->forms[i].len)
		i++;
	return &s->forms[i];
}

/* Returns the length of the match around a place. */
static size_t
extend(const struct scrub_form *f, const uint8_t *form, const uint8_t *text,
    size_t before, size_t after)
{
	size_t left = 0, right = 0;
	size_t room = (size_t)(form - f->p),
	       rest = (size_t)(f->p + f->len - form);

	while (left < before && left < room &&
	       text[-1 - (ptrdiff_t)left] == form[-1 - (ptrdiff_t)left])
		left++;
	while (right < after && right < rest && text[right] == form[right])
		right++;
	return left + right;
}

static bool
found_at(const struct scrub *s, const struct scrub_block *b, size_t at)
{
	const struct scrub_form *f;
	const uint8_t *form;

	for (size_t k = s->head[scrub_hash(s, b->c + at)]; k != 0;
	     k = s->next[k - 1]) {
		form = s->text + k - 1;
		if (!scrub_same(form, b->c + at, SCRUB_GRAM))
			continue;
		f = form_at(s, form);
		if (extend(f, form, b->c + at, at, b->n - at) >=
		    scrub_window(f))
			return true;
	}
	return false;
}

/* Search up to `end`, at one place in `step`. */
static bool
search_each(
    const struct scrub *s, const struct scrub_block *b, size_t at, size_t end)
{
	for (; at < end && at + SCRUB_GRAM <= b->n; at += s->step) {
		if ((scrub_marked(s, b->c + at) & 1) != 0 && found_at(s, b, at))
			return true;
	}
	return false;
}

/* The same, many places at once: nearly all have no mark. */
static inline __attribute__((always_inline)) bool
search_some(const struct scrub *s, const struct scrub_block *b)
{
	size_t at, step = s->step, some = SEARCH_AT_ONCE * step;
	unsigned marked;

	/* The processor need not guess. */
	for (at = 0; at + some <= b->n; at += some) {
		marked = 0;
#pragma GCC unroll 8
		for (size_t i = 0; i < SEARCH_AT_ONCE; i++)
			marked |= scrub_marked(s, b->c + at + i * step);
		if ((marked & 1) != 0 && search_each(s, b, at, at + some))
			return true;
	}
	return search_each(s, b, at, b->n);
}

#ifdef __x86_64__
/* Shifts by a variable take a third of the time with these instructions. */
__attribute__((target("bmi2"))) static bool
search_bmi2(const struct scrub *s, const struct scrub_block *b)
{
	return search_some(s, b);
}

static bool
search(const struct scrub *s, const struct scrub_block *b)
{
	return __builtin_cpu_supports("bmi2") ? search_bmi2(s, b)
					      : search_some(s, b);
}
#else
static bool
search(const struct scrub *s, const struct scrub_block *b)
{
	return search_some(s, b);
}
#endif

/* Returns the length of the longest end of the text that lies within a form. */
static size_t
open_end(const struct scrub *s, const struct scrub_block *b)
{
	size_t at, longest = 0, n;
	const uint8_t *form;

	if (b->n < SCRUB_GRAM)
		return 0;
	at = b->n - SCRUB_GRAM;
	for (size_t k = s->head[scrub_hash(s, b->c + at)]; k != 0;
	     k = s->next[k - 1]) {
		form = s->text + k - 1;
		if (!scrub_same(form, b->c + at, SCRUB_GRAM))
			continue;
		n = extend(form_at(s, form), form, b->c + at, at, SCRUB_GRAM);
		if (n > longest)
			longest = n;
	}
	return longest;
}

/* Keep the end of a block: it is the beginning of the next. */
static void
keep_tail(struct scrub_state *st, const struct scrub_block *b)
{
	size_t n = b->n < SCRUB_WINDOW ? b->n : SCRUB_WINDOW;

	memcpy(st->tail, b->c + b->n - n, n);
	memcpy(st->at, b->at + b->n - n, n * sizeof(st->at[0]));
	st->ntail = (unsigned)n;
}

static void
begin_block(const struct scrub_state *st, struct scrub_block *b)
{
	memcpy(b->c, st->tail, st->ntail);
	memcpy(b->at, st->at, st->ntail * sizeof(st->at[0]));
	b->n = st->ntail;
}

/*
 * Continue reading. Returns true if there is a match; otherwise `*open` is the
 * offset in `in` at which a possible match begins, or in.len.
 */
static bool
read_on(const struct scrub *s, struct scrub_state *st, struct span in,
    int32_t *open)
{
	static struct scrub_block b;
	size_t done = 0, n;
	bool hit = false;

	*open = (int32_t)in.len;
	do {
		begin_block(st, &b);
		n = scrub_decode(
		    st, &b, span_of(in.p + done, in.len - done), (int32_t)done);
		done += n;
		hit = search(s, &b);
		keep_tail(st, &b);
	} while (!hit && done < in.len);
	if (!hit && (n = open_end(s, &b)) >= SCRUB_HOLD)
		*open = b.at[b.n - n];
	/* Offsets are relative to the end of the input. */
	for (unsigned i = 0; i < st->ntail; i++)
		st->at[i] -= (int32_t)in.len;
	if (hit)
		explicit_bzero(&b, sizeof(b));
	return hit;
}

bool
scrub_find(const struct scrub *s, struct span in)
{
	struct scrub_state st = {.ntail = 0};
	int32_t open;
	bool hit;

	if (s->nforms == 0)
		return false;
	hit = read_on(s, &st, in, &open);
	explicit_bzero(&st, sizeof(st));
	return hit;
}

bool
scrub_feed(const struct scrub *s, struct scrub_state *st, struct span in,
    struct span *before, struct span *pass)
{
	const uint8_t *old = st->hold[st->which];
	size_t all = st->held + in.len, keep, give;
	uint8_t *hold;
	int32_t open;

	*before = span_of(NULL, 0);
	*pass = in;
	if (in.len == 0 || s->nforms == 0)
		return false;
	*pass = span_of(in.p, 0);
	if (read_on(s, st, in, &open))
		return true;
	keep = (size_t)((int64_t)in.len - open);
	/* Bytes passed on before they looked like a match cannot be held. */
	if (keep > all)
		keep = all;
	if (keep > SCRUB_HELD_MAX)
		return true;
	give = all - keep;
	*before = span_of(old, give < st->held ? give : st->held);
	*pass = span_of(in.p, give - before->len);
	st->which ^= 1;
	hold = st->hold[st->which];
	memcpy(hold, old + before->len, st->held - before->len);
	memcpy(hold + st->held - before->len, in.p + pass->len,
	    in.len - pass->len);
	st->held = keep;
	return false;
}

struct span
scrub_flush(struct scrub_state *st)
{
	struct span held = span_of(st->hold[st->which], st->held);

	st->held = 0;
	return held;
}

struct span
scrub_end(struct scrub_state *st)
{
	struct span held = scrub_flush(st);

	st->ntail = st->nescape = st->breaks = 0;
	return held;
}
