/* SPDX-License-Identifier: ISC */
/*
 * A remote MCP server refuses a request because the login lacks scopes (RFC
 * 6750 section 3.1): the person is shown those that it has and those that are
 * wanted, and logs in again, or says no. What was denied or left unanswered is
 * not shown again in this session. The scopes are the server's words, and no
 * secret.
 */
#include "keyd/keyd.h"

#include <string.h>

#include "keyd/login/oauth.h"

#define SCOPE_TEXT 500U /* bytes of scopes that are shown */
#define SCOPE_MOST 8U   /* requests for scopes in a session */

static struct {
	char have[OAUTH_MAX_SCOPES + 1];
	char want[SCOPE_TEXT + 1];
	char asked[SCOPE_MOST][SCOPE_TEXT + 1];
	unsigned nasked;
	uint64_t id; /* 0: nothing is pending */
	uint8_t digest[SHA256_DIGEST_LENGTH];
	struct loop_timer timer;
} scope;

/* Returns true if the login has all of these scopes. */
static bool
scope_has(const char *want)
{
	const char *at, *from;
	size_t n;

	for (; *want != '\0'; want += n + (want[n] == ' ')) {
		n = strcspn(want, " ");
		for (from = scope.have; (at = strchr(from, want[0])) != NULL;
		     from = at + 1)
			if (strncmp(at, want, n) == 0 &&
			    (at[n] == ' ' || at[n] == '\0') &&
			    (at == scope.have || at[-1] == ' '))
				break;
		if (at == NULL)
			return false;
	}
	return true;
}

static void
scope_end(enum proto_hold how)
{
	const struct msg_APPROVED m = {.id = scope.id, .state = (uint8_t)how};

	loop_timer_clear(&keyd_env.w.loop, &scope.timer);
	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_APPROVED, &m, -1);
	scope.id = 0;
}

static void
scope_late(struct loop_timer *t)
{
	scope_end(PROTO_HOLD_EXPIRED);
}

void
scope_have(struct span s)
{
	(void)span_copy(s, scope.have, sizeof(scope.have));
	/* A login that was made meanwhile is the answer. */
	if (scope.id != 0 && scope_has(scope.want))
		scope_end(PROTO_HOLD_CANCELLED);
}

/* The scopes have no character that needs an escape (oauth_is_text). */
static int
scope_show(void)
{
	struct span name = keyd_env.provider->name;
	struct buf effect;
	const struct held_what w = {.rule = "login-scope",
	    .reason = "The server refused a request, because its login lacks a "
		      "scope",
	    .role = "scope",
	    .effect = &effect,
	    .args = {{"wants", span_str(scope.want)},
		{"has", span_str(scope.have)}}};
	int rv;

	/* The provider's name is "mcp-" and the server's. */
	name = span_of(name.p + 4, name.len - 4);
	buf_init(&effect, 2048);
	buf_printf(&effect,
	    "The login of %.*s has the scopes: %.700s. For what the agent "
	    "tried, the server wants: %s. If you want that, log in again, "
	    "which "
	    "answers this: icctl mcp login --scope '%s' %.*s",
	    (int)name.len, (const char *)name.p,
	    scope.have[0] != '\0' ? scope.have : "(unknown)", scope.want,
	    scope.want, (int)name.len, (const char *)name.p);
	rv = held_send(&w, scope.id, scope.digest);
	buf_free(&effect);
	return rv;
}

static void
scope_want(struct span s)
{
	char want[SCOPE_TEXT + 1];

	if (scope.id != 0 || !oauth_is_text(s, SCOPE_TEXT) ||
	    memchr(s.p, '\'', s.len) != NULL || scope.nasked == SCOPE_MOST ||
	    span_copy(s, want, sizeof(want)) == -1 || scope_has(want))
		return;
	for (unsigned i = 0; i < scope.nasked; i++)
		if (strcmp(scope.asked[i], want) == 0)
			return;
	memcpy(scope.asked[scope.nasked++], want, sizeof(want));
	memcpy(scope.want, want, sizeof(want));
	scope.id = held_id();
	if (scope_show() == -1)
		scope.id = 0;
	else
		loop_timer_set(
		    &keyd_env.w.loop, &scope.timer, HELD_MS, scope_late, NULL);
}

/* Returns the value behind `name`, which ends with =", or an empty span. */
static struct span
scope_member(struct span v, const char *name)
{
	size_t n = strlen(name);
	const uint8_t *end;

	for (size_t i = 1; i + n < v.len; i++) {
		if (memcmp(v.p + i, name, n) != 0 ||
		    (v.p[i - 1] != ' ' && v.p[i - 1] != ','))
			continue;
		end = memchr(v.p + i + n, '"', v.len - i - n);
		return span_of(
		    v.p + i + n, end == NULL ? 0 : (size_t)(end - v.p) - i - n);
	}
	return SPAN("");
}

void
scope_forbidden(const struct http1_head *h)
{
	struct span v;

	for (unsigned i = 0; keyd_login() != NULL && i < h->nheaders; i++) {
		v = h->headers[i].value;
		if (span_ieq(h->headers[i].name, SPAN("www-authenticate")) &&
		    span_is(scope_member(v, "error=\""), "insufficient_scope"))
			scope_want(scope_member(v, "scope=\""));
	}
}

int
keyd_verdict(struct chan *c, const struct msg_VERDICT_GO *m)
{
	if (scope.id == 0 || m->id != scope.id || m->session.len != 0 ||
	    !span_eq(m->digest, span_of(scope.digest, sizeof(scope.digest))))
		return held_verdict(c, m);
	scope_end(m->approve != 0 ? PROTO_HOLD_APPROVED : PROTO_HOLD_DENIED);
	return 0;
}
