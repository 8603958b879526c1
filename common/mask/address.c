/* SPDX-License-Identifier: ISC */
/*
 * Passwords in addresses: "https://user:password@host/". The host and the path
 * stay, as people judge and learn rules by them.
 */
#include "common/mask/mask_priv.h"

#define PLAIN 128U    /* bytes looked at for an address without a scheme */
#define LONG_USER 16U /* a user's name of this length with digits is a key */

/*
 * Match the password of "user:password@tcp(host)", a database's address without
 * a scheme.
 */
static bool
address_plain(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const struct span near = mask_near(m, at, PLAIN);
	struct span host;
	size_t i = 1;

	if (at == 0 || !mask_is(m->s.p[at - 1], MASK_NAME))
		return false;
	while (
	    i < near.len && mask_is(near.p[i], MASK_LOGIN) && near.p[i] != '@')
		i++;
	m->steps += i;
	host = span_of(near.p + i, near.len - i);
	if (i < 4 || (!span_starts(host, SPAN("@tcp(")) &&
			 !span_starts(host, SPAN("@unix("))))
		return false;
	mask_hide(hit, at + 1, at + i);
	return !mask_refers(span_of(near.p + 1, i - 1));
}

/* Match the password of Oracle's "jdbc:oracle:thin:user/password@host". */
static bool
address_oracle(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const struct span near = mask_near(m, at, PLAIN);
	const uint8_t *slash, *host;

	if (at < 4 || (memcmp(m->s.p + at - 4, "thin", 4) != 0 &&
			  memcmp(m->s.p + at - 4, ":oci", 4) != 0))
		return false;
	m->steps += near.len;
	if ((host = memchr(near.p, '@', near.len)) == NULL ||
	    (slash = memchr(near.p, '/', (size_t)(host - near.p))) == NULL ||
	    host - slash < 2)
		return false;
	mask_hide(hit, (size_t)(slash + 1 - m->s.p), (size_t)(host - m->s.p));
	return !mask_refers(mask_rest(m, hit->from, hit->to));
}

bool
mask_address(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t *host, *colon;
	struct span all, user;
	size_t from, end;

	if (!span_starts(mask_rest(m, at, m->s.len), SPAN("://")))
		return address_oracle(m, at, hit) || address_plain(m, at, hit);
	from = at + 3;
	end = mask_run(m, from, MASK_LOGIN);
	if (end <= from)
		return false;
	all = mask_rest(m, from, end);
	m->steps += all.len;
	if ((host = memrchr(all.p, '@', all.len)) == NULL)
		return false;
	user = span_of(all.p, (size_t)(host - all.p));
	colon = memchr(user.p, ':', user.len);
	end = from + user.len;
	if (colon != NULL)
		user.len = (size_t)(colon - user.p);
	if (user.len >= LONG_USER && mask_mixed(user))
		mask_hide(hit, from, end);
	else if (colon == NULL)
		return false;
	else
		mask_hide(hit, from + user.len + 1, end);
	return hit->to > hit->from &&
	       !mask_refers(mask_rest(m, hit->from, hit->to));
}
