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
 * The forms by their first byte; those that begin with a part come last. Made
 * with the first text.
 */
static struct {
	bool made;
	uint16_t from[UINT8_MAX + 3];
	uint16_t rows[NFORMS];
} by_byte;

static unsigned
first_of(const char *form)
{
	const uint8_t c = (uint8_t)form[form[0] == '!'];

	return c == '%' ? UINT8_MAX + 1U : c;
}

static void
by_byte_make(void)
{
	uint16_t n = 0;

	for (unsigned c = 0; c <= UINT8_MAX + 1U; c++) {
		by_byte.from[c] = n;
		for (uint16_t i = 0; i < NFORMS; i++)
			if (first_of(forms[i]) == c)
				by_byte.rows[n++] = i;
	}
	by_byte.from[UINT8_MAX + 2] = n;
	by_byte.made = true;
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

/* Match the part at **f, which follows its "%". Returns its end, or 0. */
static size_t
match_part(struct mask_scan *m, size_t at, const char **f)
{
	const enum mask_class class = class_of(*(*f)++);
	size_t least = number(f), most = least, end = at;

	if (**f == '+') {
		most = SIZE_MAX;
		(*f)++;
	} else if ((*f)[0] == '.' && (*f)[1] == '.') {
		*f += 2;
		most = number(f);
	}
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

static bool
match_rows(struct mask_scan *m, size_t at, unsigned first, struct mask_hit *hit)
{
	size_t open, end;

	for (unsigned i = by_byte.from[first]; i < by_byte.from[first + 1];
	     i++) {
		m->steps++;
		if ((end = match(m, at, forms[by_byte.rows[i]], &open)) == 0)
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

bool
mask_form(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	if (!by_byte.made)
		by_byte_make();
	return match_rows(m, at, m->s.p[at], hit) ||
	       (mask_is(m->s.p[at], MASK_ALNUM) &&
		   match_rows(m, at, UINT8_MAX + 1U, hit));
}
