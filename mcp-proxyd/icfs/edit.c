/* SPDX-License-Identifier: ISC */
/*
 * Edits of a text.  The old text of an edit is first searched for as it is; if
 * that fails, line by line, ignoring white space at both ends of a line, and
 * then the new lines take the indentation of those they replace.
 */
#include "icfs/icfs.h"

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
 * Returns true if `text` begins with the lines of `old`; `*rest` is what
 * follows them.
 */
static bool
lines_match(struct span text, struct span old, struct span *rest)
{
	while (old.p != NULL) {
		if (text.p == NULL ||
		    !span_eq(trim(next_line(&text)), trim(next_line(&old))))
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

/*
 * Write `text` with one edit applied to `to`.  Returns 0, or -1 if the old text
 * is not found.
 */
static int
apply(struct span text, struct span old, struct span new, struct buf *to)
{
	struct span from, rest, line;
	const uint8_t *at;

	if (text.len == 0)
		text = SPAN("");
	from = text;
	at = old.len == 0 ? text.p : memmem(text.p, text.len, old.p, old.len);
	if (at != NULL) {
		buf_add(to, text.p, (size_t)(at - text.p));
		buf_addspan(to, new);
		buf_add(to, at + old.len,
		    text.len - (size_t)(at - text.p) - old.len);
		return buf_check(to);
	}
	while (from.p != NULL) {
		if (lines_match(from, old, &rest)) {
			buf_add(to, text.p, (size_t)(from.p - text.p));
			line = from;
			add_indented(
			    to, indentation(next_line(&line)), old, new);
			if (rest.p != NULL)
				buf_addc(to, '\n');
			buf_addspan(to, rest);
			return buf_check(to);
		}
		(void)next_line(&from);
	}
	return -1;
}

int
icfs_edit(struct icfs *f, struct span content, const struct value *edits,
    struct buf *out)
{
	const struct value *e;
	struct buf old, new, next;
	struct span a, b;
	int r = -1;

	buf_addspan(out, content);
	buf_init(&old, ICFS_MAX_LINE);
	buf_init(&new, ICFS_MAX_LINE);
	for (e = edits->child; e != NULL; e = e->next) {
		a = value_str(e, "oldText");
		b = value_str(e, "newText");
		if (a.p == NULL || b.p == NULL) {
			(void)icfs_why(f, "Invalid arguments: edits must hold "
					  "objects with the strings oldText "
					  "and newText");
			goto out;
		}
		buf_reset(&old, ICFS_MAX_LINE);
		buf_reset(&new, ICFS_MAX_LINE);
		icfs_add_lf(&old, a);
		icfs_add_lf(&new, b);
		buf_init(&next, ICFS_MAX_TEXT);
		if (apply(buf_span(out), buf_span(&old), buf_span(&new),
			&next) == -1) {
			if (next.failed)
				(void)icfs_why(
				    f, "The edited file is too large");
			else
				(void)icfs_why(f,
				    "Could not find exact match for "
				    "edit:\n%.*s",
				    (int)(a.len < 4000 ? a.len : 4000),
				    (const char *)a.p);
			buf_free(&next);
			goto out;
		}
		buf_free(out);
		*out = next;
	}
	r = 0;
out:
	buf_free(&old);
	buf_free(&new);
	return r;
}
