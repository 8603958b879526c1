/* SPDX-License-Identifier: ISC */
/*
 * The edits of the body filter: a sorted list without overlaps, applied as
 * alternating pieces of the text and of constants.
 */
#include "body/filter.h"

#include "body/dialect.h"

/*
 * Drop the edits from `off` on: they lie within something that is cut or
 * replaced.
 */
void
filter_unedit(struct filter *f, size_t off)
{
	while (f->nedits != 0 && f->edits[f->nedits - 1].off >= off)
		f->nedits--;
}

void
filter_edit(struct filter *f, size_t off, size_t end, const char *with)
{
	if (f->nedits == FILTER_MAX_EDITS) {
		f->limit = true;
		return;
	}
	f->edits[f->nedits++] =
	    (struct filter_edit){.off = off, .len = end - off, .with = with};
}

void
filter_place(struct filter *f, size_t off, size_t end, const char *with)
{
	unsigned at;

	filter_edit(f, off, end, with);
	if (f->limit)
		return;
	for (at = f->nedits - 1; at > 0 && f->edits[at - 1].off >= off; at--)
		f->edits[at] = f->edits[at - 1];
	f->edits[at] = (struct filter_edit){off, end - off, with};
}

/* Cut [off, end) of the outermost object, and drop the edits within it. */
static void
filter_root_cut(struct filter *f, size_t off, size_t end)
{
	unsigned n = 0, at;

	for (unsigned i = 0; i < f->nedits; i++) {
		if (f->edits[i].off < off || f->edits[i].off >= end)
			f->edits[n++] = f->edits[i];
	}
	f->nedits = n;
	filter_edit(f, off, end, "");
	if (f->limit)
		return;
	for (at = n; at > 0 && f->edits[at - 1].off > off; at--)
		f->edits[at] = f->edits[at - 1];
	f->edits[at] = (struct filter_edit){off, end - off, ""};
}

/*
 * Cut the marked members, each with the comma that separates it from those that
 * stay.
 */
void
filter_root_end(struct filter *f)
{
	struct filter_member *m = f->root;
	size_t after = SIZE_MAX; /* the last member that stays */
	unsigned last = f->nroot;

	for (unsigned i = 0; i < f->nnames && f->choice_name.p != NULL; i++)
		f->choice_gone |= span_eq(f->names[i], f->choice_name);
	for (unsigned i = 0; i < f->nroot; i++) {
		m[i].gone |= (m[i].choice && (f->choice_gone || f->emptied)) ||
			     (m[i].tools && f->emptied);
		if (!m[i].gone) {
			last = i;
			after = m[i].end;
		}
	}
	for (unsigned i = 0; i < f->nroot; i++) {
		if (!m[i].gone)
			continue;
		if (last < f->nroot && i < last) {
			filter_root_cut(f, m[i].from, m[i + 1].from);
			continue;
		}
		filter_root_cut(f, after == SIZE_MAX ? m[i].from : after,
		    m[f->nroot - 1].end);
		break;
	}
}

size_t
filter_length(const struct filter *f)
{
	size_t len = f->text.len;

	for (unsigned i = 0; i < f->nedits; i++)
		len += strlen(f->edits[i].with) - f->edits[i].len;
	return len;
}

/* Even pieces are text up to an edit, odd ones its replacement. */
bool
filter_piece(const struct filter *f, unsigned *at, struct span *out)
{
	unsigned i = *at / 2;
	size_t from = 0, to = f->text.len;

	if (i > f->nedits || (i == f->nedits && *at % 2 == 1))
		return false;
	if (*at % 2 == 1) {
		*out = span_str(f->edits[i].with);
	} else {
		if (i != 0)
			from = f->edits[i - 1].off + f->edits[i - 1].len;
		if (i != f->nedits)
			to = f->edits[i].off;
		*out = span_of(f->text.p + from, to - from);
	}
	++*at;
	return true;
}
