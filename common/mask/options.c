/* SPDX-License-Identifier: ISC */
/*
 * Passwords in options that have no name for them: "curl -u user:password",
 * "curl -b session=x", "sshpass -p password", "mysql -ppassword", "docker login
 * -u user -p password". Numbers are ports, and ids of users.
 */
#include "common/mask/mask_priv.h"

#define REACH 96U   /* bytes from a program to its option */
#define QUOTED 256U /* bytes of a word in quotes */

struct span
mask_word(struct mask_scan *m, size_t at, size_t *end)
{
	size_t from, i, none;
	uint8_t mark;

	end = end != NULL ? end : &none;
	for (unsigned n = 0; n < 4 && mask_at(m, at) == ' '; n++)
		at++;
	m->steps += 4;
	mark = mask_at(m, at);
	if (mark != '\'' && mark != '"') {
		*end = at < m->s.len ? mask_run(m, at, MASK_VALUE) : at;
		return mask_rest(m, at, *end);
	}
	from = i = at + 1;
	while (i < m->s.len && i - from < QUOTED && m->s.p[i] != mark)
		i++;
	m->steps += i - from;
	*end = i < m->s.len && m->s.p[i] == mark ? i + 1 : i;
	return mask_rest(m, from, i);
}

bool
mask_hide_word(
    struct mask_scan *m, struct span word, char mark, struct mask_hit *hit)
{
	const uint8_t *at;
	size_t from;

	m->steps += word.len;
	if (mark != 0) {
		if ((at = memchr(word.p, mark, word.len)) == NULL ||
		    at == word.p)
			return false;
		word.len -= (size_t)(at + 1 - word.p);
		word.p = at + 1;
	}
	from = (size_t)(word.p - m->s.p);
	if (word.len < 4 || word.p[0] == '/' || mask_refers(word) ||
	    (word.len <= 6 && mask_is_number(word)))
		return false;
	mask_hide(hit, from, from + word.len);
	return true;
}

/* Hide a cookie's value, "name=value", or all of a quoted list of them. */
static bool
option_cookie(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const struct span word = mask_word(m, at, NULL);
	const uint8_t *is = memchr(word.p, '=', word.len);
	size_t from, end;

	if (is == NULL)
		return false;
	from = (size_t)(is + 1 - m->s.p);
	end = mask_run(m, from, MASK_LINE);
	if (m->s.p[at] != '\'' && m->s.p[at] != '"')
		end = (size_t)(word.p + word.len - m->s.p);
	return end > from && mask_hide_word(m, mask_rest(m, from, end), 0, hit);
}

/*
 * Programs, and their option for a password, in the order of their first bytes.
 */
static const struct option_program {
	const char *name, *option;
	bool spaced, joined; /* "-p x", "-px" */
	char mark;           /* before the password in its value, or 0 */
} programs[] = {
    {"7z ", " -p", false, true, 0},
    {"7za ", " -p", false, true, 0},
    {"bcp ", " -P", true, true, 0},
    {"curl ", " -E", true, false, ':'},
    {"curl ", " -U", true, false, ':'},
    {"doctl ", " -t", true, false, 0},
    {"ldap", " -w", true, true, 0},
    {"lftp ", " -u", true, false, ','},
    {"login ", " -p", true, false, 0},
    {"mariadb", " -p", false, true, 0},
    {"mongo", " -p", true, true, 0},
    /* "mysql -p x" asks, and x is a database. */
    {"mysql", " -p", false, true, 0},
    {"openssl enc", " -k", true, false, 0},
    {"openssl enc", " -K", true, false, 0},
    {"redis-cli ", " -a", true, true, 0},
    {"smbclient ", " -U", true, true, '%'},
    {"sqlcmd ", " -P", true, true, 0},
    {"ssh-keygen ", " -N", true, true, 0},
    {"sshpass ", " -p", true, true, 0},
    {"twine ", " -p", true, false, 0},
    {"unzip ", " -P", true, true, 0},
    {"useradd ", " -p", true, false, 0},
    {"usermod ", " -p", true, false, 0},
    {"vercel ", " -t", true, false, 0},
    {"zip ", " -P", true, true, 0},
};

static bool
option_pass(struct mask_scan *m, size_t at, const struct option_program *o,
    struct mask_hit *hit)
{
	const struct span near = mask_near(m, at, REACH);
	const uint8_t *p = memmem(near.p, near.len, o->option, 3);
	struct span value;
	size_t word;
	bool spaced;

	m->steps += REACH;
	if (p == NULL)
		return false;
	word = (size_t)(p - m->s.p) + 3;
	spaced = mask_at(m, word) == ' ';
	if (!(spaced ? o->spaced : o->joined))
		return false;
	value = mask_word(m, word, &word);
	if (o->mark != ',')
		return mask_hide_word(m, value, o->mark, hit);
	/* A comma is no part of a word. */
	return mask_at(m, word) == ',' &&
	       mask_hide_word(m, mask_word(m, word + 1, NULL), 0, hit);
}

static struct mask_first by_first[UINT8_MAX + 1];

static void
by_first_make(void)
{
	for (size_t i = 0; i < nitems(programs); i++)
		mask_first_row(by_first, programs[i].name, i);
}

/* Look for an option whose value is the same with every program. */
static bool
option_any(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	static const char *const users[] = {
	    "--user ", "--user=", "--proxy-user ", "--proxy-user=", "-u"};
	const struct span rest = mask_rest(m, at, m->s.len);

	for (size_t i = 0; i < nitems(users); i++) {
		const struct span name = span_str(users[i]);

		if (span_starts(rest, name))
			return mask_hide_word(
			    m, mask_word(m, at + name.len, NULL), ':', hit);
	}
	return span_starts(rest, SPAN("-b ")) && rest.len > 3 &&
	       option_cookie(m, at + 3, hit);
}

bool
mask_option(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t c = m->s.p[at];

	if (c == '-')
		return option_any(m, at, hit);
	if (by_first['z'].seconds == 0)
		by_first_make();
	if (!mask_first_may(by_first, m, at))
		return false;
	for (unsigned i = by_first[c].from; i < by_first[c].to; i++) {
		const struct span name = span_str(programs[i].name);

		m->steps++;
		if (span_starts(mask_rest(m, at, m->s.len), name) &&
		    option_pass(m, at + name.len - 1, &programs[i], hit))
			return true;
	}
	return false;
}
