/* SPDX-License-Identifier: ISC */
/*
 * Secrets in the cells of a table, below the name of their column: CSV, the
 * tables of Markdown and of database programs, and rows of SQL and JSON. A line
 * is a table's first one only if the next one has the same form, so that a list
 * in a sentence is none.
 */
#include "common/mask/mask_priv.h"

#define HEAD_MOST 512U /* bytes of a table's first line */
#define SQL_MOST 128U  /* bytes of a statement before its columns */
#define COLUMNS 64U
#define NAME_MOST 40U
#define LEAST 4U      /* a shorter value is none */
#define KEY_LEAST 8U  /* a shorter value of a key */
#define LOOKED_AT 64U /* bytes of a value */
#define BIT(n) ((uint64_t)1 << (n))

/* Take the next cell of the line that the area is at. */
static bool
cell_next(struct mask_scan *m, struct mask_area *a, struct span *cell)
{
	const uint8_t *p = m->s.p;
	size_t i, from, end;
	uint8_t q;

	if (a->at > a->to)
		return false;
	i = from = mask_past(m, a->at, a->to, a->sep == '\t' ? " " : " \t\r\n");
	if (a->sep != '|' && i < a->to && mask_among(p[i], "\"'")) {
		q = p[i++];
		while (i < a->to && (p[i] != q || mask_at(m, i + 1) == q))
			i += p[i] == q ? 2 : 1;
	}
	while (i < a->to &&
	       (a->sep == ' ' ? p[i] != ' ' || mask_at(m, i + 1) != ' '
			      : p[i] != a->sep))
		i++;
	m->steps += i - from + 1;
	end = i < a->to ? i : a->to;
	a->at = a->sep == ' ' ? mask_past(m, end, a->to, " ") : end + 1;
	if (a->sep == ' ' && a->at >= a->to)
		a->at = a->to + 1;
	while (end > from && mask_among(p[end - 1], " \t\r\n"))
		end--;
	if (end - from >= 2 && p[from] == p[end - 1] &&
	    mask_among(p[from], "\"'`")) {
		from++;
		end--;
	}
	*cell = mask_rest(m, from, end);
	return true;
}

/* Returns true if the line divides a table: "|---|---|", "+----+", "--  --". */
static bool
is_rule(struct mask_scan *m, size_t from, size_t to)
{
	return to > from && mask_past(m, from, to, " \t|+-:=\r") == to &&
	       memchr(m->s.p + from, '-', to - from) != NULL;
}

/* Returns true if the line has as many cells as the table. */
static bool
fits(struct mask_scan *m, struct mask_area a, size_t from, size_t to)
{
	unsigned n = 0;
	struct span cell;

	a.at = from;
	a.to = to;
	while (n <= a.ncells && cell_next(m, &a, &cell))
		n++;
	return n == a.ncells;
}

/* Read the names of a table's columns. Returns true if one holds secrets. */
static bool
head(struct mask_scan *m, struct mask_area *a, size_t from, size_t to,
    uint8_t sep, bool *upper)
{
	struct span cell;
	bool quoted;

	*a = (struct mask_area){.at = from, .to = to, .sep = sep};
	a->spaced = span_find(mask_rest(m, from, to), SPAN(", ")) != NULL;
	for (*upper = true; cell_next(m, a, &cell); a->ncells++) {
		if (a->ncells == COLUMNS || cell.len > NAME_MOST ||
		    (cell.len == 0 && sep != '|' &&
			(a->ncells != 0 || sep == ' ')))
			return false;
		quoted = cell.p != m->s.p && mask_among(cell.p[-1], "\"'");
		for (size_t i = 0; i < cell.len; i++) {
			if (!mask_is(cell.p[i], MASK_NAME) &&
			    (cell.p[i] != ' ' ||
				(!quoted && mask_among(sep, ",;"))))
				return false;
			*upper &= cell.p[i] < 'a' || cell.p[i] > 'z';
		}
		switch (mask_named(cell)) {
		case MASK_PASSWORD:
			a->passwords |= BIT(a->ncells);
			break;
		case MASK_TOKEN:
		case MASK_KEYED:
			a->tokens |= BIT(a->ncells);
			break;
		case MASK_NO_NAME:
		case MASK_QUERY:
		case MASK_PHRASE:
		case MASK_HEADER:
			if (span_ieq(cell, SPAN("value")))
				a->values |= BIT(a->ncells);
			break;
		}
	}
	return a->ncells >= 2 && (a->passwords | a->tokens | a->values) != 0;
}

/* Returns true if a cell looks like a value, and not like a word about it. */
static bool
is_value(const struct mask_area *a, struct span v, bool token)
{
	bool digit = false, letter = false, other = false;

	if (v.len < (token ? KEY_LEAST : LEAST) || mask_refers(v))
		return false;
	for (size_t i = 0; i < v.len && i < LOOKED_AT; i++) {
		if (a->kind != MASK_ROWS && mask_among(v.p[i], " ("))
			return false;
		digit |= mask_is(v.p[i], MASK_DIGITS);
		letter |= v.p[i] >= 'a' && v.p[i] <= 'z';
		other |= (v.p[i] < 'a' || v.p[i] > 'z') &&
			 !mask_is(v.p[i], MASK_DIGITS);
	}
	if (token)
		return digit && (letter || other);
	if (a->spaced && a->kind == MASK_TABLE)
		return digit;
	return digit || other || mask_among(a->sep, ",;\t");
}

bool
mask_table_next(struct mask_scan *m, struct mask_area *a)
{
	enum mask_named named;
	struct span cell;
	uint64_t bit;

	while (a->column < COLUMNS && cell_next(m, a, &cell)) {
		bit = BIT(a->column++);
		named = a->values != 0 ? mask_named(cell) : MASK_NO_NAME;
		if (named == MASK_PASSWORD || named == MASK_TOKEN)
			a->named = named;
		if ((a->values & bit) == 0 || a->named == MASK_NO_NAME)
			named = (a->passwords & bit) != 0 ? MASK_PASSWORD
				: (a->tokens & bit) != 0  ? MASK_TOKEN
							  : MASK_NO_NAME;
		else
			named = a->named;
		if (named != MASK_NO_NAME &&
		    is_value(a, cell, named == MASK_TOKEN)) {
			a->cell_from = (size_t)(cell.p - m->s.p);
			a->cell_to = a->cell_from + cell.len;
			return true;
		}
	}
	return false;
}

static void
row_begin(struct mask_area *a, size_t from, size_t to)
{
	a->at = from;
	a->to = to;
	a->column = 0;
	a->named = MASK_NO_NAME;
}

/* Find the end of the row, of an INSERT or an array, that begins at `at`. */
static size_t
row_end(struct mask_scan *m, size_t at)
{
	unsigned deep = 1;
	uint8_t q = 0, c;
	size_t i;

	for (i = at; i < m->s.len; i++) {
		c = m->s.p[i];
		if (q == 0 && mask_among(c, "\"'"))
			q = c;
		else if (q != 0 && c == q)
			q = 0;
		else if (q == 0 && mask_among(c, "(["))
			deep++;
		else if (q == 0 && mask_among(c, ")]") && --deep == 0)
			break;
	}
	m->steps += i - at + 1;
	return i;
}

bool
mask_rows_next(struct mask_scan *m, struct mask_area *a)
{
	while (!mask_table_next(m, a)) {
		const size_t i = mask_past(m, a->to, m->s.len, ")], \t\r\n");

		if (mask_at(m, i) != a->open)
			return false;
		row_begin(a, i + 1, row_end(m, i + 1));
	}
	return true;
}

/* Let the rows begin at `at`, each with `open`. */
static bool
rows_begin(struct mask_scan *m, struct mask_area *a, size_t at, uint8_t open)
{
	a->spaced = false;
	a->kind = MASK_ROWS;
	a->open = open;
	row_begin(a, at, at);
	a->column = COLUMNS;
	m->area = *a;
	return true;
}

/* Begin the rows after "INSERT INTO t (a, b) VALUES", or COPY. */
static bool
sql_begin(struct mask_scan *m, size_t at)
{
	const bool copy = (m->s.p[at] | 0x20) == 'c';
	const uint8_t *open = span_find(mask_near(m, at, SQL_MOST), SPAN("("));
	const uint8_t *close = NULL;
	struct mask_area a;
	bool upper;
	size_t i;

	m->steps += SQL_MOST + HEAD_MOST;
	if (open != NULL)
		close = span_find(mask_near(m, (size_t)(open - m->s.p),
				      HEAD_MOST), SPAN(")"));
	if (close == NULL || !head(m, &a, (size_t)(open + 1 - m->s.p),
				 (size_t)(close - m->s.p), ',', &upper))
		return false;
	i = mask_past(m, a.to + 1, m->s.len, " \t\r\n");
	if (m->s.len - i < 6 || !span_ieq(mask_rest(m, i, i + 6),
				    copy ? SPAN("from s") : SPAN("values")))
		return false;
	rows_begin(m, &a, i + 6, '(');
	if (copy) {
		m->area.kind = MASK_TABLE;
		m->area.sep = '\t';
		row_begin(&m->area, i + 6, i + 5);
	}
	return true;
}

/*
 * Begin the rows after an array of names: {"columns": ["a", "b"], "rows":
 * [["x", "y"], ...]}, or [["a", "b"], ["x", "y"], ...], whose array is at `at`.
 */
static bool
json_begin(struct mask_scan *m, size_t at, bool first)
{
	const uint8_t *close = span_find(mask_near(m, at, HEAD_MOST), SPAN("]"));
	struct mask_area a;
	bool upper;
	size_t i;

	m->steps += HEAD_MOST;
	if (close == NULL ||
	    !head(m, &a, at + 1, (size_t)(close - m->s.p), ',', &upper))
		return false;
	i = mask_past(m, a.to + 1, m->s.len, ", \t\r\n\"'");
	if (!first) {
		i = mask_past(m, mask_run(m, i, MASK_NAME), m->s.len,
		    "\"': \t\r\n");
		i = mask_past(
		    m, i + (mask_at(m, i) == '['), m->s.len, " \t\r\n");
	}
	return mask_at(m, i) == '[' && rows_begin(m, &a, i, '[');
}

bool
mask_table_begin(struct mask_scan *m, size_t at, size_t end)
{
	const struct span name = mask_rest(m, at, end);
	size_t i;

	if (span_ieq(name, SPAN("insert")) || span_ieq(name, SPAN("replace")) ||
	    span_ieq(name, SPAN("copy")))
		return sql_begin(m, at);
	if (at > 2 && memcmp(m->s.p + at - 3, "[[\"", 3) == 0)
		return json_begin(m, at - 2, true);
	i = mask_past(m, end, end + mask_near(m, end, 4).len, "\": ");
	return mask_at(m, i) == '[' && json_begin(m, i, false);
}

bool
mask_table_line(struct mask_scan *m, size_t at)
{
	static const char seps[] = ",;\t| ";
	const size_t end = mask_line_end(m, at);
	const size_t next =
	    end + 1 < m->s.len ? mask_line_end(m, end + 1) : end;
	struct mask_area *a = &m->area;
	bool upper, rule;

	if (a->kind == MASK_TABLE) {
		if (is_rule(m, at, end))
			return false;
		if (fits(m, *a, at, end)) {
			row_begin(a, at, end);
			return true;
		}
		a->kind = MASK_NO_AREA;
	}
	if (a->kind != MASK_NO_AREA || next == end || end - at > HEAD_MOST)
		return false;
	/* psql: each row is a table of names and values. */
	if (span_starts(mask_rest(m, at, end), SPAN("-[ RECORD "))) {
		*a = (struct mask_area){.kind = MASK_TABLE,
		    .sep = '|',
		    .ncells = 2,
		    .values = BIT(1),
		    .at = 1};
		return false;
	}
	rule = is_rule(m, end + 1, next) ||
	       memchr(m->s.p + at, ' ', end - at) == NULL;
	for (const char *sep = seps; *sep != '\0'; sep++) {
		if (!head(m, a, at, end, (uint8_t)*sep, &upper))
			continue;
		if ((rule || (*sep != '|' && (*sep != ' ' || upper))) &&
		    (is_rule(m, end + 1, next) || fits(m, *a, end + 1, next)))
			a->kind = MASK_TABLE;
		/* No cell of this line is one. */
		a->at = end + 1;
		a->to = end;
		return false;
	}
	a->kind = MASK_NO_AREA;
	return false;
}
