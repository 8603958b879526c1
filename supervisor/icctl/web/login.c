/* SPDX-License-Identifier: ISC */
/* Logins: tokens, each of one page of a browser. */
#include "icctl/web/priv.h"

#include <string.h>
#include <unistd.h>

/* Compare without telling by the time how much is equal. */
static bool
login_same(const uint8_t a[32], const uint8_t b[32])
{
	uint8_t differs = 0;

	for (size_t i = 0; i < 32; i++)
		differs |= (uint8_t)(a[i] ^ b[i]);
	return differs == 0;
}

const uint8_t *
login_new(struct web *w)
{
	struct web_login *l = &w->logins[0];

	for (size_t i = 1; i < WEB_LOGINS; i++)
		if (w->logins[i].used < l->used)
			l = &w->logins[i];
	login_end(w, l);
	arc4random_buf(l->token, sizeof(l->token));
	l->used = loop_now(&w->loop);
	return l->token;
}

struct web_login *
login_of(struct web *w, struct span token)
{
	uint64_t now = loop_now(&w->loop);
	struct web_login *found = NULL;

	if (token.len != 32)
		return NULL;
	for (size_t i = 0; i < WEB_LOGINS; i++) {
		struct web_login *l = &w->logins[i];

		if (l->used != 0 && now - l->used > WEB_LOGIN_MS)
			login_end(w, l);
		if (l->used != 0 && login_same(l->token, token.p))
			found = l;
	}
	if (found != NULL)
		found->used = now;
	return found;
}

void
login_end(struct web *w, struct web_login *l)
{
	explicit_bzero(l, sizeof(*l));
	for (size_t i = 0; i < WEB_SEEN; i++)
		if (w->seen[i].login == l)
			w->seen[i].at = 0;
	web_undo_end_login(w, l);
}

void
login_end_all(struct web *w)
{
	for (size_t i = 0; i < WEB_LOGINS; i++)
		login_end(w, &w->logins[i]);
}

bool
link_use(struct web *w, struct span secret)
{
	uint64_t now = loop_now(&w->loop);
	bool good = false;

	if (secret.len != 32)
		return false;
	for (size_t i = 0; i < WEB_LINKS; i++) {
		struct web_link *l = &w->links[i];

		if (l->until == 0)
			continue;
		if (login_same(l->secret, secret.p)) {
			good = now < l->until;
			explicit_bzero(l, sizeof(*l));
		} else if (now >= l->until) {
			explicit_bzero(l, sizeof(*l));
		}
	}
	return good;
}
