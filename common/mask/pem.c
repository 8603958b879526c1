/* SPDX-License-Identifier: ISC */
/*
 * Private keys in armour: PEM of every kind, OpenSSH, PGP, OpenVPN, and
 * SSH2 with its four dashes. The line that begins one stays, and all up to its
 * end goes; where there is no end, the rest of the text does. PuTTY's files
 * have a head instead.
 */
#include "common/mask/mask_priv.h"

#define PEM_TITLE 80U /* the longest line that begins a key */
#define PUTTY "PuTTY-User-Key-File-"

/*
 * Returns the end of the line "BEGIN ... PRIVATE KEY ...--", or of one that
 * begins a static key, or 0.
 */
static size_t
pem_title(struct mask_scan *m, size_t at)
{
	const size_t left = m->s.len - at;
	const uint8_t *p = m->s.p + at;
	size_t n = left < PEM_TITLE ? left : PEM_TITLE, i;

	m->steps += n;
	for (i = 0; i < n && p[i] != '-' && p[i] != '\n' && p[i] != '\\'; i++)
		continue;
	if (i == n || p[i] != '-')
		return 0;
	if ((memmem(p, i, "PRIVATE", 7) == NULL ||
		memmem(p, i, "KEY", 3) == NULL) &&
	    memmem(p, i, "Static key", 10) == NULL)
		return 0;
	while (i < n && p[i] == '-')
		i++;
	return at + i;
}

static bool
pem_putty(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	if (!span_starts(mask_rest(m, at, m->s.len), SPAN(PUTTY)))
		return false;
	mask_hide(hit, at + sizeof(PUTTY) - 1, m->s.len);
	return true;
}

bool
mask_pem(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t *end;
	size_t title, i = at;

	if (m->s.p[at] == 'P')
		return pem_putty(m, at, hit);
	while (i < at + 5 && mask_at(m, i) == '-')
		i++;
	if (i - at < 4)
		return false;
	if (mask_at(m, i) == ' ')
		i++;
	if (!span_starts(mask_rest(m, i, m->s.len), SPAN("BEGIN ")) ||
	    (title = pem_title(m, i)) == 0)
		return false;
	/* All of it is masked, so that this is not searched again. */
	end = memmem(m->s.p + title, m->s.len - title, "---", 3);
	i = end == NULL ? m->s.len : (size_t)(end - m->s.p);
	m->steps += i - title;
	mask_hide(hit, title, i);
	return i != title;
}
