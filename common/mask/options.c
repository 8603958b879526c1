/* SPDX-License-Identifier: ISC */
/*
 * Passwords in options that have no name for them: "curl -u user:password",
 * "sshpass -p password", "docker login -u user -p password". A database's
 * address without a scheme is told by what follows: "user:password@tcp(host)".
 */
#include "common/mask/mask_priv.h"

#define REACH 96U /* bytes from "login" to its "-p" */

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

static bool
option_pass(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const size_t left = m->s.len - at;
	const uint8_t *p =
	    memmem(m->s.p + at, left < REACH ? left : REACH, " -p ", 4);

	m->steps += REACH;
	return p != NULL &&
	       hide_word(m, option_word(m, (size_t)(p - m->s.p) + 4), hit);
}

bool
mask_option(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const struct span rest = mask_rest(m, at, m->s.len);

	if (span_starts(rest, SPAN("-u ")))
		return option_user(m, option_word(m, at + 3), hit);
	if (span_starts(rest, SPAN("--user ")) ||
	    span_starts(rest, SPAN("--user=")))
		return option_user(m, option_word(m, at + 7), hit);
	if (span_starts(rest, SPAN("sshpass ")))
		return option_pass(m, at + 7, hit);
	if (span_starts(rest, SPAN("login ")))
		return option_pass(m, at + 5, hit);
	return false;
}
