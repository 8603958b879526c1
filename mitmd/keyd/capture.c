/* SPDX-License-Identifier: ISC */
/*
 * A login that the agent's program begins in the sandbox. Its request to the
 * token endpoint is read completely and checked, and keyd makes its own request
 * instead; the tokens in the answer become the credential in use and a login
 * file, and the sandbox gets the session's placeholder for each. A refresh
 * token from the sandbox can only be a placeholder: keyd answers such a request
 * from its own renewal.
 */
#include "keyd/keyd.h"

#include <stdio.h>

#include "common/log.h"
#include "keyd/login/form.h"

#define CAPTURE_MAX_FILE (OAUTH_MAX_ANSWER + 2048U)
#define CAPTURE_MAX_ANSWER 8192U

static struct capture {
	struct stream *s; /* the agent's stream; NULL: none, or gone */
	unsigned login;   /* index of the login, plus 1 */
	char sentinel[513];
	struct form form;
	/* The answer for the sandbox, sent once the file is written. */
	uint8_t down[CAPTURE_MAX_ANSWER];
	size_t composed; /* its length */
	size_t told;     /* the same once it may be sent; 0: not yet */
} capture;

int
keyd_sentinel(struct chan *c, const struct msg_SENTINEL *m)
{
	struct keyd_env *e = &keyd_env;

	if (e->provider == NULL || m->provider != e->index || e->capturing ||
	    m->key.len < 16 ||
	    !oauth_is_token(m->key, sizeof(capture.sentinel) - 1) ||
	    span_copy(m->key, capture.sentinel, sizeof(capture.sentinel)) == -1)
		return chan_violation(c, "SENTINEL out of place");
	e->capturing = true;
	return 0;
}

/* Refuse in the form of a token endpoint, with constant texts. */
static void
capture_refuse(
    struct stream *s, unsigned status, const char *error, const char *why)
{
	char body[512];
	int n;

	n = snprintf(body, sizeof(body),
	    "{\"error\":\"%s\",\"error_description\":\"IronCurtain: %s\"}",
	    error, why);
	if (n < 0 || (size_t)n >= sizeof(body))
		n = 0;
	txn_answer(s, status, span_of((const uint8_t *)body, (size_t)n), why);
}

/* The login file was written, or cannot be for now: answer the agent. */
static void
capture_tell(void)
{
	struct stream *s = capture.s;
	size_t len = capture.told;

	if (len == 0)
		return;
	capture.s = NULL;
	capture.told = 0;
	if (s != NULL)
		txn_answer(s, 200, span_of(capture.down, len), "");
}

static void
capture_use(struct keyset *k)
{
	keyd_env.login = capture.login;
	keyset_use(k);
	keyd_show_loaded();
	/* The agent may exit as soon as it has its answer. */
	renew_forget();
	renew_captured(true, capture_tell);
	capture.told = capture.composed;
}

static void
capture_denied(const char *why)
{
	struct stream *s = capture.s;

	capture.s = NULL;
	if (s != NULL)
		capture_refuse(s, 403, "access_denied", why);
}

/* Compose the login file in secret memory. */
static const char *
capture_compose(const struct provider_login *l,
    const struct form_grant_answer *g, const struct span *adds,
    uint64_t expires)
{
	struct oauth_new n = {.access = g->tokens.access,
	    .refresh = g->tokens.refresh,
	    .id = g->tokens.id,
	    .expires = expires,
	    .now = clock_wall_us() / 1000000};
	struct secret *text;
	size_t cap, len;
	uint8_t *p;

	unsaved_forget();
	if ((text = secret_new(CAPTURE_MAX_FILE)) == NULL)
		return "out of secret memory";
	p = secret_bytes(text, &cap);
	if (form_file(l, &n, adds, p, cap, &len) == -1) {
		secret_free(text);
		return "the login does not fit into a file";
	}
	unsaved_keep(text, len);
	return NULL;
}

/* Returns true if the answer for the sandbox contains any part of a token. */
static bool
capture_leaks(
    const struct keyset *k, const struct form_grant_answer *g, struct span down)
{
	struct span id = g->tokens.id;

	return (k->scrub.nforms != 0 && scrub_find(&k->scrub, down)) ||
	       (id.len != 0 && memmem(down.p, down.len, id.p, id.len) != NULL);
}

/* Returns the name of the account, if the provider sent one. */
static struct span
capture_account(const struct form_grant_answer *g, const struct span *adds)
{
	if (g->email.len != 0)
		return g->email;
	if (g->account.len != 0)
		return g->account;
	for (unsigned i = 0; i < PROVIDER_MAX_ADDS; i++)
		if (adds[i].len != 0)
			return adds[i];
	return SPAN("(the provider does not say)");
}

/*
 * Use the login, or ask the user if there is a working one already. Returns
 * NULL, or the error.
 */
static const char *
capture_offer(struct keyset *k, struct span account)
{
	const struct keyset *now = keyd_env.now;

	if (now == NULL || now->rejected || keyd_env.renew.refused) {
		capture_use(k);
		return NULL;
	}
	if (held_begin(k, account, capture_use, capture_denied) == -1) {
		keyset_drop(keyset_hold(k));
		return "cannot be shown to its user";
	}
	renew_captured(false, NULL);
	return NULL;
}

/*
 * Process the token endpoint's answer. Returns NULL with the sandbox's answer
 * in dst, or the error.
 */
static const char *
capture_take(struct span body, uint8_t *dst, size_t cap, size_t *len)
{
	struct provider_login *l =
	    &keyd_env.provider->logins[capture.login - 1];
	struct span adds[PROVIDER_MAX_ADDS] = {{NULL, 0}},
		    none = span_of(NULL, 0);
	char claims[PROVIDER_MAX_ADDS][OAUTH_MAX_ADD + 1];
	uint64_t now = clock_wall_us() / 1000000, expires;
	struct form_grant_answer g;
	const char *why = "";
	struct keyset *k;

	if (form_parse_grant(body, &g, &why) == -1)
		return why;
	expires = oauth_jwt_expires(g.tokens.access);
	if (g.tokens.lifetime == 0 && expires > now)
		g.tokens.lifetime = expires - now;
	expires = g.tokens.lifetime == 0 ? 0 : now + g.tokens.lifetime;
	for (unsigned i = 0; i < l->nadds; i++)
		if (l->adds[i].claim[0].len != 0 &&
		    form_claim(g.tokens.id, l->adds[i].claim, claims[i]) == 0)
			adds[i] = span_str(claims[i]);
	if (form_answer(l, span_str(capture.sentinel), &g, dst, cap, len) == -1)
		return "is too long";
	if ((why = capture_compose(l, &g, adds, expires)) != NULL)
		return why;
	if ((k = keyset_new(g.tokens.access, g.tokens.refresh,
		 g.tokens.id.len <= SCRUB_MAX ? g.tokens.id : none, adds)) ==
	    NULL)
		k = keyset_new(g.tokens.access, g.tokens.refresh, none, adds);
	if (k == NULL)
		return "out of secret memory";
	if (capture_leaks(k, &g, span_of(dst, *len))) {
		keyset_drop(keyset_hold(k));
		return "holds a token where none belongs";
	}
	k->expires = expires;
	k->margin = oauth_margin(g.tokens.lifetime);
	capture.composed = *len;
	return capture_offer(k, capture_account(&g, adds));
}

/* The token endpoint answered, or failed: see token_done. */
static void
capture_answer(unsigned status, struct span body, const char *why)
{
	struct stream *s = capture.s;
	uint8_t *down = capture.down;
	const char *bad = why;
	size_t len = 0;

	if (status == 200)
		bad = capture_take(body, down, sizeof(capture.down), &len);
	if (status == 200 && bad == NULL)
		return;
	capture.s = NULL;
	if (status == 200) {
		unsaved_forget();
		log_warnx("login: the token endpoint's answer %s", bad);
	}
	if (s == NULL) {
		/* The agent is gone. */
	} else if (status >= 400) {
		capture_refuse(s, status, form_error(status, body),
		    "the provider refused the login");
	} else {
		txn_fail(s, KEYD_FAIL_TOKEN,
		    bad != NULL && bad[0] != '\0'
			? bad
			: "neither a login nor an error");
	}
	renew_captured(false, NULL);
}

static void
capture_wipe(void)
{
	explicit_bzero(&capture.form, sizeof(capture.form));
}

static void
capture_begin(struct stream *s)
{
	s->x.state = TXN_FORM;
	if (s->x.req.length == 0)
		capture_refuse(s, 400, "invalid_request", "an empty body");
	else
		stream_watch(s);
}

/* Send keyd's own request to the endpoint. */
static void
capture_ask(struct stream *s, bool json)
{
	unsigned login = keyd_env.provider->routes[s->x.req.route].capture;
	struct span host = keyd_env.provider->hosts[s->x.req.host];
	const char *why = "the request is too long";
	size_t cap, len;
	uint8_t *body;

	if (!renew_capture()) {
		txn_fail(s, KEYD_FAIL_RENEW, "a renewal is under way");
		return;
	}
	if ((body = token_room(&cap)) == NULL) {
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    "a login needs 512 KiB of locked memory: raise ulimit -l");
		renew_captured(false, NULL);
		return;
	}
	if (form_compose(json, &capture.form, body, cap, &len) == -1 ||
	    token_send_body(&keyd_env.provider->logins[login - 1], json, len,
		capture_answer, &why) == -1) {
		capture_refuse(s, 400, "invalid_request", why);
		renew_captured(false, NULL);
		return;
	}
	capture.s = s;
	capture.login = login;
	unsaved_begin(host, s->x.req.path);
	s->x.sent = s->x.req.length;
	s->x.state = TXN_ASKED;
	stream_watch(s);
}

static void
capture_refresh(struct stream *s)
{
	const struct span given = capture.form.v[FORM_REFRESH_TOKEN];

	if (!span_is(given, capture.sentinel)) {
		keyd_alarm("foreign-token",
		    "a refresh token that is not this session's was sent");
		capture_refuse(s, 403, "invalid_grant",
		    "only the refresh token of this session is taken; a real "
		    "one has no place here");
	} else if (keyd_env.now == NULL) {
		capture_refuse(
		    s, 403, "invalid_grant", "nobody is logged in yet");
	} else {
		txn_go(s);
	}
}

/* The request is complete: check it. */
static void
capture_form(struct stream *s)
{
	const struct provider_route *route =
	    &keyd_env.provider->routes[s->x.req.route];
	const struct provider_login *l =
	    &keyd_env.provider->logins[route->capture - 1];
	struct span type = request_type(s->x.req.headers);
	struct form *f = &capture.form;
	const char *why = "";
	bool json;
	int rv;

	if (type.len > 16)
		type.len = 16;
	json = span_ieq(type, SPAN("application/json"));
	rv = form_read(json, buf_span(&s->pend), f, &why);
	buf_free(&s->pend);
	if (rv == -1)
		capture_refuse(s, 400, "invalid_request", why);
	else if (!keyd_env.capturing ||
		 (keyd_env.now != NULL && keyd_env.login != route->capture))
		capture_refuse(s, 403, "unauthorized_client",
		    "no login begins in this session");
	else if (!span_eq(f->v[FORM_CLIENT_ID], l->client))
		capture_refuse(s, 403, "unauthorized_client",
		    "the client_id is not that of this provider's program");
	else if (f->grant == FORM_BY_REFRESH)
		capture_refresh(s);
	else if (held_waits())
		capture_refuse(s, 403, "access_denied",
		    "a login waits for its user's approval already");
	else
		capture_ask(s, json);
	capture_wipe();
}

/* Read more of the request's body. */
static void
capture_read(struct stream *s)
{
	int r = 1;

	while (r == 1 && s->x.counted < s->x.req.length)
		if ((r = stream_read(s)) == -1)
			return;
	if (s->x.counted == s->x.req.length)
		capture_form(s);
}

/* The sandbox asked for a renewal, and there is a valid token: answer. */
static void
capture_renewed(struct stream *s)
{
	const struct provider_route *route =
	    &keyd_env.provider->routes[s->x.req.route];
	const struct keyset *k = keyd_env.now;
	uint64_t now = clock_wall_us() / 1000000;
	struct form_grant_answer g = {.tokens = {.access = SPAN("-"),
					  .refresh = SPAN("-"),
					  .id = SPAN("-"),
					  .lifetime = 3600}};
	uint8_t body[CAPTURE_MAX_ANSWER];
	size_t len;

	if (k->expires != 0)
		g.tokens.lifetime = k->expires > now ? k->expires - now : 1;
	s->x.state = TXN_FORM;
	if (form_answer(&keyd_env.provider->logins[route->capture - 1],
		span_str(capture.sentinel), &g, body, sizeof(body), &len) == -1)
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    "the answer to the login is too long");
	else
		txn_answer(s, 200, span_of(body, len), "");
}

/* The agent that began this login is gone. */
static void
capture_release(struct stream *s)
{
	if (capture.s != s)
		return;
	capture.s = NULL;
	held_cancel();
}

const struct txn_kind capture_kind = {
    .begin = capture_begin,
    .body = capture_read,
    .ready = capture_renewed,
    .release = capture_release,
};
