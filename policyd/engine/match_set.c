/* SPDX-License-Identifier: ISC */
/*
 * Compares values with the sets that match_build.c built: strictly for rules
 * that allow, in every spelling for rules that ask or deny.
 */
#include "engine/lists.h"

#include <stdlib.h>

int
match_set_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return span_cmp(*x, *y);
}

static bool
holds(const struct span *array, size_t n, struct span s)
{
	return n != 0 &&
	       bsearch(&s, array, n, sizeof(s), match_set_compare) != NULL;
}

/* A punycode label may look like another name: match it only if written out. */
static bool
punycode_in(struct span host)
{
	for (size_t i = 0; i + 4 <= host.len; i++) {
		if ((i == 0 || host.p[i - 1] == '.') &&
		    memcmp(host.p + i, "xn--", 4) == 0)
			return true;
	}
	return false;
}

static bool
match_suffix(const struct match_set *s, struct span host)
{
	struct span tail = host;

	for (size_t i = 0; i < host.len; i++) {
		if (i != 0 && host.p[i - 1] != '.')
			continue;
		tail = span_of(host.p + i, host.len - i);
		if (holds(s->suffix, s->nsuffix, tail))
			return !punycode_in(span_of(host.p, i));
	}
	return false;
}

/*
 * Match all repositories of an owner in a rule that allows. The text after the
 * owner must have only one reading.
 */
static bool
match_below_strict(const struct match_set *s, struct span full)
{
	struct span head = full;
	size_t start = full.len;
	bool found = false;

	while (start-- > 0) {
		if (full.p[start] == '%' || full.p[start] == '\\')
			return false;
		if (full.p[start] != '/')
			continue;
		head = span_of(full.p + start + 1, full.len - start - 1);
		for (size_t i = 0; i < head.len; i++) {
			if (head.p[i] == '/')
				head.len = i;
		}
		if (head.len == 0 || span_is(head, ".") ||
		    span_is(head, "..") || span_ieq(head, SPAN(".git")))
			return false;
		found =
		    found || holds(s->below, s->nbelow, span_of(full.p, start));
	}
	return found;
}

bool
match_set_domain(const struct match_set *s, const struct domain *d)
{
	if (!d->known)
		return false;
	if (s->nfull != 0 && d->full.len != d->host.len &&
	    holds(s->full, s->nfull, d->full))
		return true;
	if (s->nbelow != 0 && d->full.len != d->host.len &&
	    match_below_strict(s, d->full))
		return true;
	if (d->kind == HOST_NONE)
		return false;
	if (holds(s->exact, s->nexact, d->host))
		return true;
	if (d->kind != HOST_NAME)
		return false;
	if (s->any && !punycode_in(d->host))
		return true;
	return match_suffix(s, d->host);
}

bool
match_set_value(const struct match_set *s, struct span v)
{
	uint8_t lower[320];

	switch (s->type) {
	case MATCH_IDENTIFIERS:
		return holds(s->exact, s->nexact, v);
	case MATCH_EMAILS:
		if (v.len > sizeof(lower))
			return false;
		for (size_t i = 0; i < v.len; i++)
			lower[i] = v.p[i] >= 'A' && v.p[i] <= 'Z'
				       ? (uint8_t)(v.p[i] + ('a' - 'A'))
				       : v.p[i];
		return holds(s->exact, s->nexact, span_of(lower, v.len));
	case MATCH_DOMAINS:
		break;
	}
	return false;
}

/* Match the path, or any directory above it. */
static bool
match_below(const struct match_set *s, struct span full)
{
	for (size_t i = 1; i <= full.len; i++) {
		if ((i == full.len || full.p[i] == '/') &&
		    holds(s->below, s->nbelow, span_of(full.p, i)))
			return true;
	}
	return false;
}

static enum match
match_spelling(const struct match_set *s, const struct spelling *w)
{
	if (holds(s->exact, s->nexact, w->text))
		return MATCH_YES;
	if (s->type != MATCH_DOMAINS)
		return MATCH_NO;
	if (w->kind == HOST_NONE)
		return match_below(s, w->text) ? MATCH_YES : MATCH_NO;
	for (size_t i = 0; w->kind == HOST_NAME && i < w->text.len; i++) {
		if ((i == 0 || w->text.p[i - 1] == '.') &&
		    holds(s->suffix, s->nsuffix,
			span_of(w->text.p + i, w->text.len - i)))
			return MATCH_YES;
	}
	if (!s->any)
		return MATCH_NO;
	/* A rule that asks about every name does not offer every address. */
	return w->kind == HOST_NAME || s->use == MATCH_DENIES ? MATCH_YES
							      : MATCH_CAPS;
}

enum match
match_set_spellings(const struct match_set *s, const struct spellings *all)
{
	enum match one, worst = MATCH_NO;

	for (size_t i = 0; i < all->n; i++) {
		if ((one = match_spelling(s, &all->list[i])) == MATCH_YES)
			return MATCH_YES;
		if (one == MATCH_CAPS)
			worst = MATCH_CAPS;
	}
	return worst;
}
