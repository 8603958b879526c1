/* SPDX-License-Identifier: ISC */
/*
 * One pass over a text. A hit may lie ahead, where a name announced its value;
 * hits that overlap are one.
 */
#include "common/mask/mask.h"

#include "common/mask/mask_priv.h"

/* Look for what begins at `at` itself. */
static bool
find_here(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t c = m->s.p[at], before = at == 0 ? 0 : m->s.p[at - 1];

	if (c == '-' && before != '-')
		return mask_pem(m, at, hit) ||
		       (before <= ' ' && mask_option(m, at, hit));
	if (mask_is(before, MASK_ALNUM))
		return false;
	if (mask_form_begins(c) && mask_form(m, at, hit))
		return true;
	if (mask_is(c, MASK_DIGITS) && before != '_' && mask_digits(m, at, hit))
		return true;
	if (c == 'P' && mask_pem(m, at, hit))
		return true;
	return mask_option(m, at, hit) || mask_command(m, at, hit);
}

/* Look for what is announced at `at`: a name, or the scheme of an address. */
static bool
find_ahead(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t c = m->s.p[at];
	size_t end;

	if (c == ':')
		return mask_address(m, at, hit);
	if (!mask_is(c, MASK_NAME) ||
	    (at != 0 && mask_is(m->s.p[at - 1], MASK_NAME)))
		return false;
	end = mask_run(m, at, MASK_NAME);
	return !mask_area_begin(m, at, end) && mask_pair(m, at, end, hit);
}

/*
 * Returns true if nothing begins at `at`, because it is within a word that no
 * name announced. That is so of most bytes.
 */
static inline bool
within_word(const struct mask_scan *m, size_t at)
{
	return at != 0 && mask_is(m->s.p[at], MASK_ALNUM) &&
	       mask_is(m->s.p[at - 1], MASK_ALNUM) && m->next.to == 0;
}

/* Returns true if an area, or a line of one, may begin or go on at `at`. */
static inline bool
area_may(const struct mask_scan *m, size_t at)
{
	const uint8_t before = at == 0 ? '\n' : m->s.p[at - 1];

	return m->area.cell_to != 0 || before == '\n' || before == '"' ||
	       before == '\'';
}

/* Returns true, with the hit that covers `at` in *hit. */
static bool
find(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	struct mask_hit ahead;

	m->steps++;
	if (area_may(m, at) && mask_area(m, at, hit))
		return true;
	if (within_word(m, at))
		return false;
	if (find_here(m, at, hit)) {
		if (hit->from == at)
			return true;
		/* One value can be of two kinds: "key: -----BEGIN ...". */
		if (m->next.to == 0)
			m->next = *hit;
		else if (hit->to > m->next.to)
			mask_hide(&m->next, m->next.from, hit->to);
	}
	if (m->next.to == 0 && find_ahead(m, at, &ahead))
		m->next = ahead;
	if (m->next.to == 0 || m->next.from != at)
		return false;
	*hit = m->next;
	m->next.to = 0;
	return true;
}

static void
grow_next(struct mask_scan *m, struct mask_hit *hit)
{
	if (m->next.to == 0 || m->next.from > hit->to)
		return;
	if (m->next.to > hit->to)
		mask_hide(hit, hit->from, m->next.to);
	m->next.to = 0;
}

/* Let a hit go on as long as others begin within it. Returns its end. */
static size_t
grow(struct mask_scan *m, struct mask_rolling *r, struct mask_hit *hit)
{
	size_t known;

	grow_next(m, hit);
	for (size_t i = hit->from + 1; r->known != NULL && i < hit->to; i++) {
		if ((known = mask_roll(r, m->s, i)) <= hit->to)
			continue;
		mask_hide(hit, hit->from, known);
		grow_next(m, hit);
	}
	return hit->to;
}

/* Most texts are short: the runs, two kilobytes, are not set. */
static void
scan_init(struct mask_scan *m, struct span s)
{
	m->s = s;
	m->area = (struct mask_area){.kind = MASK_NO_AREA};
	m->next.to = m->login = m->document = m->ahead = 0;
	m->steps = 0;
	for (unsigned c = 0; c < MASK_CLASSES; c++)
		m->runs[c].n = m->runs[c].top = 0;
}

size_t
mask_text(struct span s, const struct mask_known *known, uint8_t *dst,
    bool *changed, uint64_t *steps)
{
	struct mask_scan m;
	struct mask_rolling r;
	struct mask_hit hit;
	size_t len = 0, end;

	scan_init(&m, s);
	mask_roll_init(&r, known, s);
	for (size_t i = 0; i < s.len;) {
		hit.to = 0;
		if ((end = mask_roll(&r, s, i)) != 0)
			mask_hide(&hit, i, end);
		else if (!find(&m, i, &hit) || hit.from != i) {
			if (dst != NULL)
				dst[len] = s.p[i];
			len++;
			i++;
			continue;
		}
		*changed = true;
		i = grow(&m, &r, &hit);
		if (dst != NULL)
			memcpy(dst + len, hit.text, hit.len);
		len += hit.len;
	}
	if (steps != NULL)
		*steps += m.steps + r.steps;
	return len;
}
