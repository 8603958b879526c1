/* SPDX-License-Identifier: ISC */
/*
 * Finds the old text in a copy that has LF alone, and replaces its bytes in the
 * text itself. Which of the replaced lines are still there decides about the
 * line endings.
 */
#include "common/edit_text.h"

#include <stdlib.h>

#define EDIT_CELLS 1000000U /* in the table of common lengths */

/* A line without its ending. */
struct edit_line {
	struct span text;
	bool ends, cr; /* it has an ending, CR LF */
	size_t like;   /* the old line whose ending a new line takes */
};

struct edit_lines {
	struct edit_line *list;
	size_t n;
};

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct span
trim_start(struct span s)
{
	while (s.len != 0 && is_space(s.p[0]))
		s = span_of(s.p + 1, s.len - 1);
	return s;
}

static struct span
trim(struct span s)
{
	s = trim_start(s);
	while (s.len != 0 && is_space(s.p[s.len - 1]))
		s.len--;
	return s;
}

/* Returns the white space at the beginning of `s`. */
static struct span
indentation(struct span s)
{
	return span_of(s.p, s.len - trim_start(s).len);
}

/*
 * Take the next line off `*text`, which becomes p == NULL after the last one.
 */
static struct span
next_line(struct span *text)
{
	const uint8_t *nl = NULL;
	struct span line = *text;

	if (text->len != 0)
		nl = memchr(text->p, '\n', text->len);
	if (nl == NULL) {
		*text = span_of(NULL, 0);
		return line;
	}
	line.len = (size_t)(nl - text->p);
	*text = span_of(nl + 1, text->len - line.len - 1);
	return line;
}

/*
 * Returns true if `text` begins with the lines of `was`; `*rest` is the text
 * after them.
 */
static bool
lines_match(struct span text, struct span was, struct span *rest)
{
	while (was.p != NULL) {
		if (text.p == NULL ||
		    !span_eq(trim(next_line(&text)), trim(next_line(&was))))
			return false;
	}
	*rest = text;
	return true;
}

/*
 * Append new lines with the indentation `base`, plus their own beyond that of
 * the old lines.
 */
static void
add_indented(struct buf *b, struct span base, struct span old, struct span text)
{
	struct span line, was, has;
	bool first = true;

	while (text.p != NULL) {
		line = next_line(&text);
		was = old.p != NULL ? indentation(next_line(&old)) : SPAN("");
		has = indentation(line);
		if (!first)
			buf_addc(b, '\n');
		if (first || (was.len != 0 && has.len != 0)) {
			buf_addspan(b, base);
			for (size_t i = was.len; !first && i < has.len; i++)
				buf_addc(b, ' ');
			line = trim_start(line);
		}
		buf_addspan(b, line);
		first = false;
	}
}

void
edit_text_lf(struct buf *b, struct span s)
{
	size_t from = 0;

	for (size_t i = 0; i + 1 < s.len; i++) {
		if (s.p[i] != '\r' || s.p[i + 1] != '\n')
			continue;
		buf_add(b, s.p + from, i - from);
		from = i + 1;
	}
	if (s.len != 0)
		buf_add(b, s.p + from, s.len - from);
}

/* Returns where byte `i` of the copy with LF alone is in the text. */
static size_t
raw_offset(struct span text, size_t i)
{
	size_t raw = 0;

	for (; i > 0; i--)
		raw += raw + 1 < text.len && text.p[raw] == '\r' &&
			       text.p[raw + 1] == '\n'
			   ? 2
			   : 1;
	return raw;
}

/*
 * Divide a text, which has at least one line. If `raw`, a CR before LF belongs
 * to the ending. Returns 0, or -1 with errno.
 */
static int
lines_init(struct edit_lines *l, struct span text, bool raw)
{
	struct edit_line *e;
	size_t n = 1;

	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '\n';
	l->n = 0;
	if ((l->list = calloc(n, sizeof(*l->list))) == NULL)
		return -1;
	if (text.p == NULL)
		text = SPAN("");
	while (text.p != NULL) {
		e = &l->list[l->n++];
		e->like = SIZE_MAX;
		e->text = next_line(&text);
		e->ends = text.p != NULL;
		e->cr = raw && e->ends && e->text.len != 0 &&
			e->text.p[e->text.len - 1] == '\r';
		e->text.len -= e->cr;
	}
	return 0;
}

/*
 * Make the table of lengths: cell [i][j] is that of the longest subsequence
 * that the lines from i and from j on have in common. Returns NULL if it would
 * be too large, or without memory.
 */
static uint16_t *
lines_table(const struct edit_lines *a, const struct edit_lines *b, size_t from,
    size_t tail)
{
	size_t na = a->n - tail - from, nb = b->n - tail - from, w = nb + 1;
	uint16_t *len, down, right;

	if (na + 1 > EDIT_CELLS / w ||
	    (len = calloc((na + 1) * w, sizeof(*len))) == NULL)
		return NULL;
	for (size_t i = na; i-- > 0;)
		for (size_t j = nb; j-- > 0;) {
			down = len[(i + 1) * w + j];
			right = len[i * w + j + 1];
			len[i * w + j] = down >= right ? down : right;
			if (span_eq(
				a->list[from + i].text, b->list[from + j].text))
				len[i * w + j] =
				    (uint16_t)(len[(i + 1) * w + j + 1] + 1);
		}
	return len;
}

/*
 * Find the old line whose ending each new line takes: the same line, if it is
 * still there, and otherwise the one in whose place it stands.
 */
static void
lines_pair(const struct edit_lines *a, struct edit_lines *b)
{
	size_t i, j, w, from = 0, tail = 0, gap_i, gap_j;
	uint16_t *len;

	for (; from < a->n && from < b->n &&
	       span_eq(a->list[from].text, b->list[from].text);
	     from++)
		b->list[from].like = from;
	for (; from + tail < a->n && from + tail < b->n &&
	       span_eq(a->list[a->n - 1 - tail].text,
		   b->list[b->n - 1 - tail].text);
	     tail++)
		b->list[b->n - 1 - tail].like = a->n - 1 - tail;
	len = lines_table(a, b, from, tail);
	w = b->n - tail - from + 1;
	i = gap_i = j = gap_j = from;
	while (len != NULL && i < a->n - tail && j < b->n - tail) {
		if (span_eq(a->list[i].text, b->list[j].text)) {
			while (gap_i < i && gap_j < j)
				b->list[gap_j++].like = gap_i++;
			b->list[j].like = i;
			gap_i = ++i;
			gap_j = ++j;
		} else if (len[(i - from + 1) * w + j - from] >=
			   len[(i - from) * w + j - from + 1]) {
			i++;
		} else {
			j++;
		}
	}
	while (gap_i < a->n - tail && gap_j < b->n - tail)
		b->list[gap_j++].like = gap_i++;
	free(len);
}

/*
 * Returns true if a line takes CR LF where no replaced line tells: the line
 * before `from` has it, or else the first after `to`, or else the text itself.
 */
static bool
ending_around(struct span text, size_t from, size_t to, struct span is)
{
	const struct span *all[] = {&text, &is};
	const uint8_t *nl;

	for (size_t i = from; i > 0; i--) {
		if (text.p[i - 1] == '\n')
			return i > 1 && text.p[i - 2] == '\r';
	}
	text = span_of(text.p + to, text.len - to);
	for (size_t i = 0; i < nitems(all); i++) {
		if (all[i]->len == 0 ||
		    (nl = memchr(all[i]->p, '\n', all[i]->len)) == NULL)
			continue;
		return nl != all[i]->p && nl[-1] == '\r';
	}
	return false;
}

/*
 * Append the new lines, each with its ending; `cr` is that of the line before.
 * The last of the old lines ends in `rest`, what follows the text that is
 * replaced.
 */
static void
lines_put(struct buf *to, const struct edit_lines *a,
    const struct edit_lines *b, struct span rest, bool cr)
{
	const uint8_t *nl =
	    rest.len == 0 ? NULL : memchr(rest.p, '\n', rest.len);
	const struct edit_line *e, *old;

	for (size_t i = 0; i < b->n; i++) {
		e = &b->list[i];
		old = e->like == SIZE_MAX ? NULL : &a->list[e->like];
		buf_addspan(to, e->text);
		if (!e->ends)
			continue;
		if (old != NULL && old->ends)
			cr = old->cr;
		else if (old != NULL && nl != NULL)
			cr = nl != rest.p && nl[-1] == '\r';
		buf_adds(to, cr ? "\r\n" : "\n");
	}
}

/* Append the text with the bytes [from, end) replaced by the lines of `is`. */
static int
replace(struct span text, size_t from, size_t end, struct span is, bool cr,
    struct buf *to)
{
	struct edit_lines a = {NULL, 0}, b = {NULL, 0};
	int r = -1;

	if (lines_init(&a, span_of(text.p + from, end - from), true) == -1 ||
	    lines_init(&b, is, false) == -1)
		goto out;
	lines_pair(&a, &b);
	buf_add(to, text.p, from);
	lines_put(to, &a, &b, span_of(text.p + end, text.len - end), cr);
	buf_add(to, text.p + end, text.len - end);
	r = buf_check(to);
out:
	free(a.list);
	free(b.list);
	return r;
}

/*
 * Find the lines of `was` without the white space around them, and compose the
 * new ones. Returns false if they are not there.
 */
static bool
find_lines(struct span text, struct span was, struct span is, size_t *from,
    size_t *end, struct buf *indented)
{
	struct span at = text, rest, line;

	while (at.p != NULL) {
		line = at;
		if (lines_match(at, was, &rest)) {
			*from = (size_t)(at.p - text.p);
			*end = rest.p == NULL ? text.len
					      : (size_t)(rest.p - text.p) - 1;
			add_indented(
			    indented, indentation(next_line(&line)), was, is);
			return true;
		}
		(void)next_line(&at);
	}
	return false;
}

enum edit_text
edit_text_apply(
    struct span text, struct span was, struct span is, struct buf *to)
{
	struct buf lf, old, new, indented;
	enum edit_text rv = EDIT_TEXT_FAILED;
	struct span body, now;
	const uint8_t *at;
	size_t from, end;

	buf_init(&lf, text.len + 1);
	buf_init(&old, was.len + 1);
	buf_init(&new, is.len + 1);
	buf_init(&indented, to->max);
	if (text.len == 0)
		text = SPAN("");
	edit_text_lf(&lf, text);
	edit_text_lf(&old, was);
	edit_text_lf(&new, is);
	if (lf.failed || old.failed || new.failed)
		goto out;
	body = lf.len == 0 ? SPAN("") : buf_span(&lf);
	was = old.len == 0 ? SPAN("") : buf_span(&old);
	now = new.len == 0 ? SPAN("") : buf_span(&new);
	at = was.len == 0 ? body.p : memmem(body.p, body.len, was.p, was.len);
	if (at != NULL) {
		from = (size_t)(at - body.p);
		end = from + was.len;
	} else if (find_lines(body, was, now, &from, &end, &indented)) {
		now = indented.len == 0 ? SPAN("") : buf_span(&indented);
	} else {
		rv = EDIT_TEXT_ABSENT;
		goto out;
	}
	from = raw_offset(text, from);
	end = raw_offset(text, end);
	if (!indented.failed &&
	    replace(text, from, end, now, ending_around(text, from, end, is),
		to) == 0)
		rv = EDIT_TEXT_DONE;
out:
	buf_free(&lf);
	buf_free(&old);
	buf_free(&new);
	buf_free(&indented);
	return rv;
}
