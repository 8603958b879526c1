/* SPDX-License-Identifier: ISC */
/*
 * Secrets that a name announces from afar: the cells of a table, the values of
 * a Secret of Kubernetes, and the lines of a .pgpass file.
 */
#include "common/mask/mask_priv.h"

#define SHORTEST 3U /* a shorter value is left */
#define LEAST 4U    /* a shorter password is none */
#define PGPASS 512U

/* Find the next value of an object of JSON. */
static bool
object_next(struct mask_scan *m, struct mask_area *a)
{
	size_t i = mask_past(m, a->at, m->s.len, "\\\"', \t\r\n"), from;

	if (mask_at(m, i) == '}' || !mask_is(mask_at(m, i), MASK_NAME))
		return false;
	i = mask_past(m, mask_run(m, i, MASK_NAME), m->s.len, "\\\"': \t\r\n");
	for (from = i; i < m->s.len && !mask_among(m->s.p[i], "\\\"',}\n");)
		i++;
	m->steps += i - from + 1;
	a->at = a->cell_to = i;
	a->cell_from = from;
	return true;
}

/* Find the next value below a line of YAML. */
static bool
lines_next(struct mask_scan *m, struct mask_area *a)
{
	const uint8_t *colon;
	size_t from, end, deep, i;

	for (; a->at < m->s.len;) {
		from = a->at;
		end = mask_line_end(m, from);
		i = mask_past(m, from, end, " ");
		deep = i - from;
		if (i < end && deep <= a->deep)
			return false;
		a->at = end + 1;
		while (end > i && mask_among(m->s.p[end - 1], " \t\r\"'"))
			end--;
		if (i >= end)
			continue;
		if (a->block == 0 || deep <= a->block) {
			colon = memchr(m->s.p + i, ':', end - i);
			i = colon == NULL
				? end
				: mask_past(m, (size_t)(colon + 1 - m->s.p),
				      end, " \t\"'");
			a->block = mask_among(mask_at(m, i), "|>") ? deep : 0;
		}
		if (i >= end || a->block == deep)
			continue;
		a->cell_from = i;
		a->cell_to = end;
		return true;
	}
	return false;
}

void
mask_area_next(struct mask_scan *m, struct mask_area *a)
{
	static bool (*const next[])(struct mask_scan *, struct mask_area *) = {
	    [MASK_TABLE] = mask_table_next,
	    [MASK_ROWS] = mask_rows_next,
	    [MASK_OBJECT] = object_next,
	    [MASK_LINES] = lines_next};

	a->cell_to = 0;
	while (a->kind != MASK_NO_AREA && next[a->kind](m, a))
		/* The values of "data" are in base64; templates are not. */
		if (a->cell_to - a->cell_from >= SHORTEST &&
		    !mask_refers(mask_rest(m, a->cell_from, a->cell_to)) &&
		    (!a->base64 ||
			(mask_run(m, a->cell_from, MASK_BASE64) == a->cell_to &&
			    (a->cell_to - a->cell_from) % 4 == 0)))
			return;
	a->cell_to = 0;
	/* The next line may be one of the table's, too. */
	if (a->kind == MASK_TABLE)
		return;
	m->ahead = a->at > a->to ? a->at : a->to;
	a->kind = MASK_NO_AREA;
}

/* Returns true if the document of YAML or JSON is a Secret of Kubernetes. */
static bool
is_secret(struct mask_scan *m, size_t at)
{
	struct span doc;
	const uint8_t *p;
	size_t i;

	if (at < m->document)
		return m->secret;
	doc = mask_rest(m, m->document, m->s.len);
	if ((p = span_find(mask_rest(m, at, m->s.len), SPAN("\n---"))) != NULL)
		doc.len = (size_t)(p - doc.p);
	m->document += doc.len + 1;
	m->steps += 2 * doc.len;
	m->secret = false;
	while (!m->secret && (p = span_find(doc, SPAN("kind"))) != NULL) {
		i = mask_past(
		    m, (size_t)(p + 4 - m->s.p), m->s.len, "\\\"': \t");
		m->secret =
		    span_starts(mask_rest(m, i, m->s.len), SPAN("Secret")) &&
		    !mask_is(mask_at(m, i + 6), MASK_NAME);
		doc.len -= (size_t)(p + 4 - doc.p);
		doc.p = p + 4;
	}
	return m->secret;
}

bool
mask_area_begin(struct mask_scan *m, size_t at, size_t end)
{
	const struct span name = mask_rest(m, at, end);
	struct mask_area a = {.base64 = span_is(name, "data")};
	size_t i;

	/* An area ends once: what it read to find its end is not read again. */
	if (at < m->ahead)
		return false;
	if (mask_table_begin(m, at, end)) {
		mask_area_next(m, &m->area);
		return true;
	}
	if ((!a.base64 && !span_is(name, "stringData")) || !is_secret(m, at))
		return false;
	i = mask_past(m, end, m->s.len, "\\\"': \t\r");
	for (a.deep = 0; at > a.deep && m->s.p[at - a.deep - 1] == ' ';)
		a.deep++;
	a.kind = mask_at(m, i) == '{' ? MASK_OBJECT : MASK_LINES;
	if (a.kind == MASK_LINES && mask_at(m, i) != '\n')
		return false;
	a.at = i + 1;
	m->area = a;
	mask_area_next(m, &m->area);
	return true;
}

/* The password of a line of .pgpass: "host:5432:database:user:password". */
static bool
pgpass(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const size_t most = m->s.len - at < PGPASS ? m->s.len : at + PGPASS;
	bool digits, slash;
	size_t i = at, from;

	for (unsigned n = 0; n < 5; n++) {
		digits = true;
		slash = false;
		for (from = i; i < most && m->s.p[i] != ':' &&
			       m->s.p[i] > ' ' && !mask_among(m->s.p[i], "\"'");
		     i++) {
			digits &= mask_is(m->s.p[i], MASK_DIGITS);
			slash |= m->s.p[i] == '/' && i != from;
			if (m->s.p[i] == '\\' && mask_at(m, i + 1) > ' ')
				i++;
		}
		m->steps += i - from + 1;
		if (i == from || i >= most + 1 ||
		    (n < 4) != (mask_at(m, i) == ':'))
			return false;
		/* "file.c:120:3:..." is no host with a port. */
		if ((n == 0 && slash && m->s.p[from] != '/') ||
		    (n == 1 && m->s.p[from] != '*' &&
			(!digits || i - from < 4 || i - from > 5)) ||
		    (n == 2 && digits))
			return false;
		i += n < 4;
	}
	if (i - from < LEAST || mask_refers(mask_rest(m, from, i)))
		return false;
	mask_hide(hit, from, i);
	return true;
}

bool
mask_area(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t before = at == 0 ? '\n' : m->s.p[at - 1];
	struct mask_area *a = &m->area;

	if (before == '\n' && mask_table_line(m, at))
		mask_area_next(m, a);
	if (mask_among(before, "\n\"'") && m->next.to == 0 &&
	    pgpass(m, at, hit))
		m->next = *hit;
	while (a->cell_to != 0 && a->cell_from < at)
		mask_area_next(m, a);
	if (a->cell_to == 0 || a->cell_from != at)
		return false;
	mask_hide(hit, at, a->cell_to);
	mask_area_next(m, a);
	return true;
}
