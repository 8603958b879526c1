/* SPDX-License-Identifier: ISC */
/*
 * Passwords in options that have no name for them: "curl -u user:password",
 * "curl -b session=x", "sshpass -p password", "mysql -ppassword", "docker login
 * -u user -p password".
 */
#include "common/mask/mask_priv.h"

#define REACH 96U /* bytes from a program to its option */

/* Returns the word at `at`, without the quotes around it. */
static struct span
option_word(struct mask_scan *m, size_t at)
{
	size_t end;

	while (mask_at(m, at) == ' ' || mask_at(m, at) == '\'' ||
	       mask_at(m, at) == '"')
		at++;
	m->steps += 4;
	end = at < m->s.len ? mask_run(m, at, MASK_VALUE) : at;
	return mask_rest(m, at, end);
}

static bool
hide_word(struct mask_scan *m, struct span word, struct mask_hit *hit)
{
	size_t from = (size_t)(word.p - m->s.p);

	if (word.len < 4 || mask_refers(word))
		return false;
	mask_hide(hit, from, from + word.len);
	return true;
}

/* Find the password of "user:password". Numbers are ids of users. */
static bool
option_user(struct mask_scan *m, struct span word, struct mask_hit *hit)
{
	const uint8_t *colon = memchr(word.p, ':', word.len);
	struct span pass;
	size_t i = 0;

	m->steps += word.len;
	if (colon == NULL || colon == word.p)
		return false;
	pass = span_of(colon + 1, word.len - (size_t)(colon + 1 - word.p));
	while (i < pass.len && mask_is(pass.p[i], MASK_DIGITS))
		i++;
	return i != pass.len && pass.p[0] != '/' && hide_word(m, pass, hit);
}

/* Hide a cookie's value, "name=value", or all of a quoted list of them. */
static bool
option_cookie(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const struct span word = option_word(m, at);
	const uint8_t *is = memchr(word.p, '=', word.len);
	size_t from, end;

	if (is == NULL)
		return false;
	from = (size_t)(is + 1 - m->s.p);
	end = mask_run(m, from, MASK_LINE);
	if (m->s.p[at] != '\'' && m->s.p[at] != '"')
		end = (size_t)(word.p + word.len - m->s.p);
	return end > from && hide_word(m, mask_rest(m, from, end), hit);
}

/* Programs, and their option for a password. */
static const struct option_program {
	const char *name, *option;
	bool spaced, joined; /* "-p x", "-px" */
} programs[] = {
    {"sshpass ", " -p", true, true},
    {"login ", " -p", true, false},
    /* "mysql -p x" asks, and x is a database. */
    {"mysql", " -p", false, true},
    {"mariadb", " -p", false, true},
    {"redis-cli ", " -a", true, true},
    {"mongo", " -p", true, true},
    {"zip ", " -P", true, true},
    {"unzip ", " -P", true, true},
    {"ldap", " -w", true, true},
};

static bool
option_pass(struct mask_scan *m, size_t at, const struct option_program *o,
    struct mask_hit *hit)
{
	const size_t left = m->s.len - at, n = left < REACH ? left : REACH;
	const uint8_t *p = memmem(m->s.p + at, n, o->option, 3);
	size_t word;
	bool spaced;

	m->steps += REACH;
	if (p == NULL)
		return false;
	word = (size_t)(p - m->s.p) + 3;
	spaced = mask_at(m, word) == ' ';
	return (spaced ? o->spaced : o->joined) &&
	       hide_word(m, option_word(m, word), hit);
}

/* Returns true if a program or an option of those above begins with this byte.
 */
static bool
option_begins(uint8_t c)
{
	switch (c) {
	case '-':
	case 'l':
	case 'm':
	case 'r':
	case 's':
	case 'u':
	case 'z':
		return true;
	default:
		return false;
	}
}

bool
mask_option(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const struct span rest = mask_rest(m, at, m->s.len);

	if (!option_begins(rest.p[0]))
		return false;
	if (span_starts(rest, SPAN("--user ")) ||
	    span_starts(rest, SPAN("--user=")))
		return option_user(m, option_word(m, at + 7), hit);
	if (span_starts(rest, SPAN("-b ")) && rest.len > 3)
		return option_cookie(m, at + 3, hit);
	if (span_starts(rest, SPAN("-u")))
		return option_user(m, option_word(m, at + 2), hit);
	for (size_t i = 0; rest.p[0] != '-' && i < nitems(programs); i++) {
		const struct span name = span_str(programs[i].name);

		m->steps++;
		if (span_starts(rest, name))
			return option_pass(
			    m, at + name.len - 1, &programs[i], hit);
	}
	return false;
}
