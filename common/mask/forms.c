/* SPDX-License-Identifier: ISC */
/*
 * Matches the public forms of keys. A part of a form is a whole run of its
 * class, which is remembered, so that nothing is walked twice and no form needs
 * backtracking.
 */
#include "common/mask/mask_priv.h"

#include "common/mask/form_rows.h"

#define NFORMS nitems(forms)
#define DIGIT_WITHIN 64U
#define SHOWN_LEAST 20U /* a shorter key is hidden whole */

static const char *const forms[] = {
#define FORM(name, form) form,
    MASK_FORMS(FORM)
#undef FORM
};

/*
 * A form with what most places lack: its second byte or its first part, and the
 * fewest bytes that it has.
 */
struct form_row {
	const char *form;
	uint32_t least; /* bytes of the whole form */
	/* Bytes of its first part, if it begins with one; else 0. */
	uint32_t part_least, part_most;
	uint8_t part;   /* enum mask_class of that part */
	uint8_t second; /* 0: a part has the first or the second byte */
};

/*
 * The forms by their first byte; those that begin with a part come last. Made
 * with the first text.
 */
static struct {
	bool made;
	uint16_t from[UINT8_MAX + 3];
	struct form_row rows[NFORMS];
	/* By first byte, a bit for each second one that a form has after it. */
	uint64_t seconds[UINT8_MAX + 1][4];
	/* The fewest letters and digits of a part that a form begins with. */
	uint32_t part_least;
} by_byte;

static unsigned
first_of(const char *form)
{
	const uint8_t c = (uint8_t)form[form[0] == '!'];

	return c == '%' ? UINT8_MAX + 1U : c;
}

static enum mask_class
class_of(char letter)
{
	switch (letter) {
	case 'd':
		return MASK_DIGITS;
	case 'h':
		return MASK_HEX;
	case 'u':
		return MASK_UPPER;
	case 'l':
		return MASK_LOWER;
	case 'n':
		return MASK_ALNUM;
	case 'w':
		return MASK_WORD;
	case 'b':
		return MASK_URL64;
	case 'k':
		return MASK_DOTTED;
	default:
		return MASK_BASE64;
	}
}

static size_t
number(const char **f)
{
	size_t n = 0;

	while (**f >= '0' && **f <= '9')
		n = n * 10 + (size_t)(*(*f)++ - '0');
	return n;
}

/* Read the part at **f, which follows its "%". */
static enum mask_class
part_read(const char **f, size_t *least, size_t *most)
{
	const enum mask_class class = class_of(*(*f)++);

	*least = *most = number(f);
	if (**f == '+') {
		*most = SIZE_MAX;
		(*f)++;
	} else if ((*f)[0] == '.' && (*f)[1] == '.') {
		*f += 2;
		*most = number(f);
	}
	return class;
}

static void
row_make(struct form_row *r, const char *form)
{
	const char *f = form + (form[0] == '!');
	size_t least, most;

	*r = (struct form_row){.form = form};
	if (f[0] != '%' && f[1] != '%')
		r->second = (uint8_t)f[1];
	if (f[0] == '%') {
		const char *part = f + 1;

		r->part = (uint8_t)part_read(&part, &least, &most);
		r->part_least = (uint32_t)least;
		/* Full stops at the end of a run may be no part of it. */
		r->part_most = most > UINT16_MAX || r->part == MASK_DOTTED
				   ? UINT32_MAX
				   : (uint32_t)most;
	}
	while (*f != '\0') {
		if (*f++ != '%') {
			r->least++;
			continue;
		}
		(void)part_read(&f, &least, &most);
		r->least += (uint32_t)least;
	}
}

/* Note which second bytes the forms that begin with this one have. */
static void
seconds_make(uint8_t c)
{
	for (unsigned i = by_byte.from[c]; i < by_byte.from[c + 1U]; i++) {
		const uint8_t second = by_byte.rows[i].second;

		if (second == 0)
			memset(by_byte.seconds[c], 0xff,
			    sizeof(by_byte.seconds[c]));
		by_byte.seconds[c][second / 64] |= UINT64_C(1) << second % 64;
	}
}

static void
by_byte_make(void)
{
	uint16_t n = 0;

	for (unsigned c = 0; c <= UINT8_MAX + 1U; c++) {
		by_byte.from[c] = n;
		for (size_t i = 0; i < NFORMS; i++)
			if (first_of(forms[i]) == c)
				row_make(&by_byte.rows[n++], forms[i]);
	}
	by_byte.from[UINT8_MAX + 2] = n;
	for (unsigned c = 0; c <= UINT8_MAX; c++)
		seconds_make((uint8_t)c);
	by_byte.part_least = UINT32_MAX;
	for (unsigned i = by_byte.from[UINT8_MAX + 1]; i < n; i++) {
		const struct form_row *r = &by_byte.rows[i];
		const uint32_t least = r->part > MASK_ALNUM ? 0 : r->part_least;

		if (least < by_byte.part_least)
			by_byte.part_least = least;
	}
	by_byte.made = true;
}

/* Match the part at **f, which follows its "%". Returns its end, or 0. */
static size_t
match_part(struct mask_scan *m, size_t at, const char **f)
{
	size_t least, most, end = at;
	const enum mask_class class = part_read(f, &least, &most);

	if (at < m->s.len)
		end = mask_run(m, at, class);
	/* A full stop ends a sentence. */
	if (class == MASK_DOTTED && **f == '\0')
		while (end > at && m->s.p[end - 1] == '.')
			end--;
	return end - at < least || end - at > most ? 0 : end;
}

static bool
has_digit(struct mask_scan *m, size_t at, size_t end)
{
	const size_t most = at + DIGIT_WITHIN < end ? at + DIGIT_WITHIN : end;

	while (at < most && !mask_is(m->s.p[at], MASK_DIGITS))
		at++;
	m->steps++;
	return at < most;
}

/*
 * Match a form at `at`. Returns its end, or 0; *open is the end of the literal
 * text that it begins with.
 */
static size_t
match(struct mask_scan *m, size_t at, const char *f, size_t *open)
{
	const bool digit = *f == '!';
	const size_t from = at;
	size_t end;

	*open = from;
	for (f += digit; *f != '\0';) {
		if (*f == '%') {
			f++;
			if ((end = match_part(m, at, &f)) == 0)
				return 0;
			at = end;
			continue;
		}
		if (at >= m->s.len || m->s.p[at] != (uint8_t)*f)
			return 0;
		if (*open == at)
			*open = at + 1;
		at++;
		f++;
	}
	return digit && !has_digit(m, *open, at) ? 0 : at;
}

/* An address keeps its host, and a header its scheme. */
static void
hide(struct mask_scan *m, size_t at, size_t open, size_t end,
    struct mask_hit *hit)
{
	if (open > at && (m->s.p[open - 1] == ' ' ||
			     memchr(m->s.p + at, '/', open - at) != NULL)) {
		mask_hide(hit, open, end);
		return;
	}
	mask_hide(hit, at, end);
	if (end - at < SHOWN_LEAST)
		return;
	memcpy(hit->text, m->s.p + at, 4);
	memcpy(hit->text + 4, "...", 3);
	memcpy(hit->text + 7, m->s.p + end - 4, 4);
	hit->len = 11;
}

/* Returns true if what tells the form at once is at `at`. */
static bool
may_match(struct mask_scan *m, size_t at, const struct form_row *r)
{
	size_t n;

	if (r->least > m->s.len - at)
		return false;
	if (r->part_most == 0)
		return r->second == 0 || m->s.p[at + 1] == r->second;
	if (!mask_is(m->s.p[at], r->part))
		return false;
	n = mask_run(m, at, r->part) - at;
	return n >= r->part_least && n <= r->part_most;
}

static bool
match_rows(struct mask_scan *m, size_t at, unsigned first, struct mask_hit *hit)
{
	const unsigned to = by_byte.from[first + 1];
	size_t open, end;

	for (unsigned i = by_byte.from[first]; i < to; i++) {
		const struct form_row *r = &by_byte.rows[i];

		m->steps++;
		if (!may_match(m, at, r) ||
		    (end = match(m, at, r->form, &open)) == 0)
			continue;
		hide(m, at, open, end, hit);
		return true;
	}
	return false;
}

bool
mask_form_begins(uint8_t c)
{
	if (!by_byte.made)
		by_byte_make();
	return mask_is(c, MASK_ALNUM) ||
	       by_byte.from[c] != by_byte.from[c + 1U];
}

/* Returns true if a form begins with the byte at `at` and the next one. */
static bool
form_begins(const struct mask_scan *m, size_t at)
{
	const uint8_t second = mask_at(m, at + 1);

	return (by_byte.seconds[m->s.p[at]][second / 64] >> second % 64 & 1) !=
	       0;
}

bool
mask_form(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	if (!by_byte.made)
		by_byte_make();
	if (form_begins(m, at) && match_rows(m, at, m->s.p[at], hit))
		return true;
	return mask_is(m->s.p[at], MASK_ALNUM) &&
	       mask_run(m, at, MASK_ALNUM) - at >= by_byte.part_least &&
	       match_rows(m, at, UINT8_MAX + 1U, hit);
}
