/* SPDX-License-Identifier: ISC */
/*
 * Renews a login under the lock: the file's tokens are kept or adopted, the
 * file is rewritten, or its refresh token is sent to the token endpoint. The
 * first to renew wins: a token that another session or the vendor's program got
 * meanwhile is simply adopted. A spent refresh token is never sent again.
 */
#include "keyd/keyd.h"

#include <sys/uio.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keyd/login/oauth.h"
#include "provider/dest_mcp.h"

/* Refresh tokens that are no longer valid: used, and refused. */
static struct tokens {
	struct secret *spent, *dead;
	size_t nspent, ndead;
} tokens;

static struct span
renew_span(struct secret *s, size_t len)
{
	size_t cap;

	if (s == NULL)
		return span_of(NULL, 0);
	return span_of(secret_bytes(s, &cap), len);
}

/* Remember a token in order to recognise it. */
static void
renew_remember(struct secret **s, size_t *len, struct span token)
{
	uint8_t *p;
	size_t cap;

	*len = 0;
	if (*s == NULL && (*s = secret_new(OAUTH_MAX_TOKEN)) == NULL)
		return;
	p = secret_bytes(*s, &cap);
	explicit_bzero(p, cap);
	if (token.len > cap)
		return;
	for (size_t i = 0; i < token.len; i++)
		p[i] = token.p[i];
	*len = token.len;
}

void
renew_forget(void)
{
	tokens.nspent = tokens.ndead = 0;
}

static int
renew_take(struct span access, struct span refresh, const struct oauth_file *f,
    uint64_t expires, uint64_t lifetime)
{
	struct renew *r = &keyd_env.renew;
	struct keyset *k;

	if ((k = keyset_new(access, refresh, f->secret, f->adds)) == NULL)
		return -1;
	k->expires = expires;
	k->margin = oauth_margin(lifetime);
	keyset_use(k);
	r->unsaved = r->captured = false;
	unsaved_forget();
	return 0;
}

/*
 * If `fresh`, the token was just issued, so that its remaining time is its
 * lifetime.
 */
static int
renew_adopt(const struct oauth_file *f, bool fresh)
{
	uint64_t now = renew_seconds();

	scope_have(f->scopes);
	return renew_take(f->access, f->refresh, f, f->expires,
	    fresh && f->expires > now ? f->expires - now : 0);
}

/* Write the new file. Returns 0, or -1 with errno. */
static int
renew_write_parts(const struct span *parts, size_t count)
{
	struct iovec iov[OAUTH_PARTS];
	size_t want = 0;
	ssize_t done;

	for (size_t i = 0; i < count; i++) {
		iov[i].iov_base = (void *)(uintptr_t)parts[i].p;
		iov[i].iov_len = parts[i].len;
		want += parts[i].len;
	}
	do {
		done = writev(keyd_env.renew.out, iov, (int)count);
	} while (done == -1 && errno == EINTR);
	if (done != -1 && (size_t)done != want)
		errno = ENOSPC;
	return done == -1 || (size_t)done != want ? -1 : 0;
}

/* Write the file with the tokens in use. */
static int
renew_write(const struct oauth_file *f, struct span id)
{
	const struct keyset *k = keyd_env.now;
	struct oauth_new n = {.access = k->access,
	    .refresh = k->refresh,
	    .id = id,
	    .expires = k->expires,
	    .now = renew_seconds()};
	struct span parts[OAUTH_PARTS];
	char numbers[64];
	size_t count;

	count = oauth_splice(
	    keyd_login(), f, secret_span(keyd_env.file), &n, numbers, parts);
	if (renew_write_parts(parts, count) == 0)
		return 0;
	keyd_env.renew.unsaved = true;
	return -1;
}

static void
renew_store(const struct oauth_file *f, struct span id)
{
	static char text[128];

	if (renew_write(f, id) == 0) {
		keyd_env.renew.unsaved = false;
		renew_done(PROTO_DONE_WRITTEN, "");
		return;
	}
	snprintf(text, sizeof(text), "the new login file cannot be written: %s",
	    strerror(errno));
	renew_done(PROTO_DONE_FAILED, text);
}

static void
renew_got(const struct oauth_file *f, struct span body)
{
	struct oauth_answer a;
	uint64_t now = renew_seconds(), expires = 0;
	const char *why = "";

	if (oauth_parse_answer(body, &a, &why) == -1) {
		renew_done(PROTO_DONE_FAILED,
		    "the token endpoint's answer is malformed");
		return;
	}
	if (a.lifetime == 0) {
		expires = oauth_jwt_expires(a.access);
		a.lifetime = expires > now ? expires - now : 0;
	}
	expires = a.lifetime == 0 ? 0 : now + a.lifetime;
	if (renew_take(a.access, a.refresh.len != 0 ? a.refresh : f->refresh, f,
		expires, a.lifetime) == -1) {
		renew_done(PROTO_DONE_FAILED, "out of secret memory");
		return;
	}
	keyd_env.renewals++;
	/* Some servers answer with the same one again: it is not spent. */
	if (a.refresh.len != 0 && !span_eq(a.refresh, f->refresh))
		renew_remember(&tokens.spent, &tokens.nspent, f->refresh);
	/*
	 * A file with only a refresh token is unchanged unless that was
	 * replaced.
	 */
	if (f->access.len == 0 && a.refresh.len == 0)
		renew_done(PROTO_DONE_KEPT, "");
	else
		renew_store(f, a.id);
}

/*
 * The token endpoint refused the refresh token. If that is its last word, the
 * file says so, and no other session, nor one that comes later, sends it again.
 */
static void
renew_refused(const struct oauth_file *f, unsigned status, struct span body)
{
	struct span parts[OAUTH_PARTS];
	char text[128], number[32];
	size_t count = 0;

	renew_remember(&tokens.dead, &tokens.ndead, f->refresh);
	snprintf(text, sizeof(text),
	    "the token endpoint refused the login (status %u)", status);
	if (oauth_is_over(body))
		count = oauth_splice_ended(f, secret_span(keyd_env.file),
		    renew_seconds(), number, parts);
	/* Otherwise it is refused at the next try, without a file. */
	if (count != 0 && renew_write_parts(parts, count) == -1)
		renew_done(PROTO_DONE_FAILED, text);
	else
		renew_done(PROTO_DONE_REFUSED, text);
}

/* The token endpoint answered, or `status` is 0 and `why` is the reason. */
static void
renew_answer(unsigned status, struct span body, const char *why)
{
	struct renew *r = &keyd_env.renew;
	char text[128];
	struct oauth_file f;

	if (r->phase != RENEW_ASKED)
		return;
	if (status == 0 || oauth_parse_file(keyd_login(),
			       secret_span(keyd_env.file), &f, &why) == -1) {
		renew_done(PROTO_DONE_FAILED, why);
		return;
	}
	switch (oauth_verdict(status)) {
	case OAUTH_GOOD:
		renew_got(&f, body);
		return;
	case OAUTH_REFUSED:
		renew_refused(&f, status, body);
		return;
	case OAUTH_LATER:
		break;
	}
	snprintf(text, sizeof(text), "the token endpoint answered %u", status);
	renew_done(PROTO_DONE_FAILED, text);
}

/* Ask the token endpoint for new tokens.  Returns 0, or -1 with *why set. */
static int
renew_ask(const struct oauth_file *f, const char **why)
{
	const struct provider_login *l = keyd_login();
	struct token_how how = {
	    .login = l, .type = l->json ? "application/json" : TOKEN_FORM};
	size_t cap, len, room, n = 0;
	uint8_t *body, *head;
	int rv;

	*why = "no token endpoint is known";
	if ((body = token_room(&cap)) == NULL)
		return -1;
	*why = "the refresh token is too long";
	head = secret_bytes(keyd_env.head, &room);
	if (oauth_compose(l, f, body, cap, &len) == -1 ||
	    (f->basic &&
		oauth_basic(f->client, f->secret, head, room, &n) == -1))
		return -1;
	how.authorization = span_of(head, n);
	rv = token_send(&how, len, renew_answer, why);
	explicit_bzero(head, n);
	return rv;
}

/* Decide the next step under the lock, with the current file. */
static void
renew_decide(const struct oauth_file *f)
{
	const struct keyset *k = keyd_env.now;
	struct oauth_have h = {.bare = keyd_login()->access.len == 0,
	    .access = k->access,
	    .rejected = k->rejected,
	    .spent = renew_span(tokens.spent, tokens.nspent),
	    .dead = renew_span(tokens.dead, tokens.ndead),
	    .now = renew_seconds(),
	    .margin = k->margin};
	const char *why = "";

	switch (oauth_next(&h, f)) {
	case OAUTH_STORE:
		renew_store(f, span_of(NULL, 0));
		return;
	case OAUTH_KEEP:
		renew_done(PROTO_DONE_KEPT, "");
		return;
	case OAUTH_ADOPT:
		if (renew_adopt(f, true) == 0)
			renew_done(PROTO_DONE_KEPT, "");
		else
			renew_done(PROTO_DONE_FAILED, "out of secret memory");
		return;
	case OAUTH_RENEW:
		if (renew_ask(f, &why) == 0)
			keyd_env.renew.phase = RENEW_ASKED;
		else
			renew_done(PROTO_DONE_FAILED, why);
		return;
	case OAUTH_GIVE_UP:
		break;
	}
	renew_done(PROTO_DONE_REFUSED,
	    f->refresh.len == 0
		? "the login has expired and holds no refresh "
		  "token"
		: "the login was refused and is still the same");
}

int
renew_read(const char **why)
{
	struct renew *r = &keyd_env.renew;
	struct oauth_file f;

	if (keyd_env.cap < SCRUB_MAX) {
		*why =
		    "a login needs 512 KiB of locked memory: raise ulimit -l";
		return -1;
	}
	if (oauth_parse_file(
		keyd_login(), secret_span(keyd_env.file), &f, why) == -1)
		return -1;
	*why = "is one at another issuer, which a new session uses";
	if (f.endpoint.len != 0 && !token_is_at(f.endpoint))
		return -1;
	*why = "is one for another address, which a new session uses";
	if (f.resource.len != 0 &&
	    !oauth_is_resource(f.resource, keyd_env.hosts[0].name,
		keyd_env.hosts[0].port, span_str(keyd_env.hosts[0].prefix),
		keyd_env.provider->mcp->query))
		return -1;
	if (r->phase == RENEW_READ) {
		renew_decide(&f);
		return 0;
	}
	/* The first credential, or one that the user has replaced. */
	*why = "out of secret memory";
	if (renew_adopt(&f, false) == -1)
		return -1;
	r->refused = false;
	renew_forget();
	keyd_file_wipe();
	keyd_show_loaded();
	keyd_env.login_changed();
	return 0;
}
