/* SPDX-License-Identifier: ISC */
/*
 * Reads the "logins" of a provider file: the layout of the login files of
 * vendors' own programs, and how they are renewed, for keyd; and for
 * icsupervisor where the file is, which locks its owner takes, and where the
 * token endpoint is. Keeps no state and trusts no part of the text.
 */
#include "provider/parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "provider/class.h"

/* A login being read, and its place in the file for messages. */
struct login_parse {
	struct parse *ps;
	char at[48];
};

static int login_fail(const struct login_parse *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

static int
login_fail(const struct login_parse *lp, const char *fmt, ...)
{
	char what[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return parse_fail(lp->ps, "%s%s", lp->at, what);
}

static int
login_members(const struct login_parse *lp, const struct value *v,
    const char *where, const char *const *names, size_t n, size_t need)
{
	char at[64];

	snprintf(at, sizeof(at), "%s%s", lp->at, where);
	return parse_members(lp->ps, v, at, names, n, need);
}

/* Read a string of the class; leave `*out` empty if it is absent. */
static int
login_text(const struct login_parse *lp, const struct value *v,
    const char *name, bool (*class)(struct span), struct span *out)
{
	const struct value *m;

	if ((m = value_get(v, name)) == NULL)
		return 0;
	if (m->type != VALUE_STRING || !class(m->text))
		return login_fail(lp, ": \"%s\" does not fit here%s", name,
		    provider_class_says(class));
	return parse_copy(lp->ps, m->text, out);
}

/* Read "claim": ["a", "b"]: claim a, or its member b. */
static int
login_claim(
    const struct login_parse *lp, const struct value *v, struct provider_add *a)
{
	const struct value *list = value_get(v, "claim"), *m;
	unsigned n = 0;

	if (list == NULL)
		return 0;
	if (list->type != VALUE_ARRAY || list->count == 0 || list->count > 2)
		return login_fail(lp, ".add.claim: must be one or two names");
	for (m = list->child; m != NULL; m = m->next, n++) {
		if (m->type != VALUE_STRING || !provider_is_claim(m->text))
			return login_fail(
			    lp, ".add.claim: must be one or two names");
		if (parse_copy(lp->ps, m->text, &a->claim[n]) == -1)
			return -1;
	}
	return 0;
}

static int
login_add(
    const struct login_parse *lp, const struct value *v, struct provider_add *a)
{
	static const char *const names[] = {"name", "value", "member", "claim"};

	if (login_members(lp, v, ".add", names, 4, 1) == -1 ||
	    login_claim(lp, v, a) == -1 ||
	    login_text(lp, v, "name", provider_is_allowed, &a->name) == -1 ||
	    login_text(lp, v, "value", provider_is_word, &a->value) == -1 ||
	    login_text(lp, v, "member", provider_is_member, &a->member) == -1)
		return -1;
	if ((a->value.len == 0) == (a->member.len == 0) ||
	    (a->claim[0].len != 0 && a->member.len == 0) ||
	    a->name.p[a->name.len - 1] == '*')
		return login_fail(
		    lp, ".add: a whole name and either value or member");
	return 0;
}

static int
login_adds(const struct login_parse *lp, const struct value *v,
    struct provider_login *l)
{
	if (v == NULL)
		return 0;
	if (v->type != VALUE_ARRAY || v->count > PROVIDER_MAX_ADDS)
		return login_fail(lp, ".add: must be an array of at most %u",
		    PROVIDER_MAX_ADDS);
	for (const struct value *m = v->child; m != NULL; m = m->next) {
		if (login_add(lp, m, &l->adds[l->nadds]) == -1)
			return -1;
		for (unsigned i = 0; i < l->nadds; i++) {
			if (span_eq(l->adds[i].name, l->adds[l->nadds].name))
				return login_fail(lp, ".add: a name twice");
		}
		l->nadds++;
	}
	return 0;
}

static int
login_token(const struct login_parse *lp, const struct value *v,
    struct provider_login *l)
{
	static const char *const names[] = {"url", "type", "client", "scope"};
	struct span type = span_of(NULL, 0);
	size_t need = l->client_at.len != 0 ? 2 : 3;

	if (login_members(lp, v, ".token", names, 4, need) == -1 ||
	    login_text(lp, v, "url", provider_is_url, &l->place.url) == -1 ||
	    login_text(lp, v, "type", provider_is_word, &type) == -1 ||
	    login_text(lp, v, "client", provider_is_word, &l->client) == -1 ||
	    login_text(lp, v, "scope", provider_is_scope, &l->scope) == -1)
		return -1;
	l->json = span_is(type, "json");
	if (!l->json && !span_is(type, "form"))
		return login_fail(lp, ".token.type: must be form or json");
	return 0;
}

/* Check a login whose file holds no token, only the means to request one. */
static int
login_bare(const struct login_parse *lp, struct provider_login *l)
{
	l->unit = PROVIDER_EXPIRES_NONE;
	if (l->access.len != 0 || l->expires.len != 0 || l->id.len != 0 ||
	    l->renewed.len != 0 || l->client_at.len == 0 || l->secret.len == 0)
		return login_fail(lp,
		    ".members: expires: none wants \"refresh\", \"client\" and "
		    "\"secret\" and nothing else");
	return 0;
}

static int
login_layout(const struct login_parse *lp, const struct value *v,
    struct provider_login *l)
{
	static const char *const names[] = {"refresh", "access", "expires",
	    "id", "renewed", "client", "secret"};
	struct span unit = span_of(NULL, 0);
	const struct value *m = value_get(v, "members");

	if (login_members(lp, m, ".members", names, 7, 1) == -1 ||
	    login_text(lp, m, "access", provider_is_member, &l->access) == -1 ||
	    login_text(lp, m, "refresh", provider_is_member, &l->refresh) ==
		-1 ||
	    login_text(lp, m, "expires", provider_is_member, &l->expires) ==
		-1 ||
	    login_text(lp, m, "id", provider_is_member, &l->id) == -1 ||
	    login_text(lp, m, "renewed", provider_is_member, &l->renewed) ==
		-1 ||
	    login_text(lp, m, "client", provider_is_member, &l->client_at) ==
		-1 ||
	    login_text(lp, m, "secret", provider_is_member, &l->secret) == -1 ||
	    login_text(lp, v, "expires", provider_is_word, &unit) == -1)
		return -1;
	if (span_is(unit, "none"))
		return login_bare(lp, l);
	if (l->access.len == 0 || l->client_at.len != 0 || l->secret.len != 0)
		return login_fail(lp,
		    ".members: \"access\" is missing, or \"client\" and "
		    "\"secret\" are there, which belong to expires: none");
	if (span_is(unit, "ms"))
		l->unit = PROVIDER_EXPIRES_MS;
	else if (span_is(unit, "s"))
		l->unit = PROVIDER_EXPIRES_S;
	else if (span_is(unit, "jwt"))
		l->unit = PROVIDER_EXPIRES_JWT;
	else
		return login_fail(lp, ".expires: must be ms, s, jwt or none");
	if ((l->unit == PROVIDER_EXPIRES_JWT) != (l->expires.len == 0))
		return login_fail(
		    lp, ".members.expires: belongs to ms and s, not to jwt");
	return 0;
}

static int
login_locks(const struct login_parse *lp, const struct value *v,
    struct provider_place *place)
{
	static const char *const names[] = {"directories", "files"};
	const struct value *list;

	if (v == NULL)
		return 0;
	if (login_members(lp, v, ".locks", names, 2, 0) == -1)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		if ((list = value_get(v, names[i])) == NULL)
			continue;
		if (list->type != VALUE_ARRAY ||
		    list->count > PROVIDER_MAX_LOCKS)
			return login_fail(lp,
			    ".locks.%s: must be an array of at most %u",
			    names[i], PROVIDER_MAX_LOCKS);
		for (const struct value *m = list->child; m != NULL;
		     m = m->next) {
			if (m->type != VALUE_STRING ||
			    !provider_is_place(m->text) ||
			    !span_starts(m->text, SPAN("{dir}")))
				return login_fail(lp,
				    ".locks.%s: must begin with {dir}",
				    names[i]);
			if (parse_copy(lp->ps, m->text,
				&place->locks[i][place->nlocks[i]]) == -1)
				return -1;
			place->nlocks[i]++;
		}
	}
	return 0;
}

/*
 * Read the variables that name another directory, and the file's path in it.
 */
static int
login_dirs(const struct login_parse *lp, const struct value *v,
    struct provider_place *place)
{
	if (v == NULL)
		return 0;
	if (v->type != VALUE_OBJECT || v->count > PROVIDER_MAX_DIRS)
		return login_fail(lp, ".dirs: must be an object of at most %u",
		    PROVIDER_MAX_DIRS);
	for (const struct value *m = v->child; m != NULL; m = m->next) {
		if (!provider_is_env(m->key) || m->type != VALUE_STRING ||
		    !provider_is_place(m->text) || m->text.p[0] == '/')
			return login_fail(lp,
			    ".dirs: must be paths below the directory that a "
			    "variable names");
		if (parse_copy(lp->ps, m->key, &place->dirs[place->ndirs][0]) ==
			-1 ||
		    parse_copy(
			lp->ps, m->text, &place->dirs[place->ndirs][1]) == -1)
			return -1;
		place->ndirs++;
	}
	return 0;
}

/*
 * Check the extra settings of a login that may begin in the sandbox.
 * icsupervisor uses its hosts and routes; here only their form is checked.
 */
static int
login_capture(const struct login_parse *lp, const struct value *v,
    struct provider_login *l)
{
	static const char *const names[] = {"hosts", "routes", "id"};
	const struct value *hosts, *routes;
	bool flat = true;

	if (v == NULL)
		return 0;
	if (login_members(lp, v, ".capture", names, 3, 2) == -1 ||
	    login_text(lp, v, "id", provider_is_fake, &l->fake) == -1)
		return -1;
	hosts = value_get(v, "hosts");
	routes = value_get(v, "routes");
	if (hosts->type != VALUE_ARRAY || hosts->count >= PROTO_MAX_HOSTS ||
	    routes->type != VALUE_ARRAY || routes->count == 0)
		return login_fail(lp,
		    ".capture: hosts must be an array of at most %u, routes "
		    "an array of some",
		    PROTO_MAX_HOSTS - 1);
	for (unsigned i = 0; i < l->nadds; i++)
		flat = flat && provider_is_flat(l->adds[i].member);
	if (!flat || !provider_is_flat(l->access) ||
	    !provider_is_flat(l->refresh) || !provider_is_flat(l->expires) ||
	    !provider_is_flat(l->id) || !provider_is_flat(l->renewed))
		return login_fail(
		    lp, ".capture: members of at most two names each");
	l->captured = true;
	return 0;
}

static int
login_one(const struct login_parse *lp, const struct value *v,
    struct provider_login *l)
{
	static const char *const names[] = {"name", "file", "sentinel",
	    "header", "members", "expires", "token", "locks", "add", "dirs",
	    "capture"};
	struct span header = span_of(NULL, 0);
	struct provider_place *place = &l->place;
	int kind;

	if (login_members(lp, v, "", names, 11, 7) == -1 ||
	    login_dirs(lp, value_get(v, "dirs"), place) == -1 ||
	    login_text(lp, v, "name", provider_is_label, &l->name) == -1 ||
	    login_text(lp, v, "file", provider_is_place, &place->file) == -1 ||
	    login_text(lp, v, "sentinel", provider_is_sentinel,
		&place->sentinel) == -1 ||
	    login_text(lp, v, "header", provider_is_kind, &header) == -1 ||
	    login_layout(lp, v, l) == -1 ||
	    login_token(lp, value_get(v, "token"), l) == -1 ||
	    login_locks(lp, value_get(v, "locks"), place) == -1 ||
	    login_adds(lp, value_get(v, "add"), l) == -1 ||
	    login_capture(lp, value_get(v, "capture"), l) == -1)
		return -1;
	if ((kind = provider_kind(lp->ps->p, header)) == -1)
		return login_fail(lp, ".header: is none of credential.headers");
	l->kind = (unsigned)kind;
	place->name = l->name;
	return 0;
}

int
parse_logins(struct parse *ps, const struct value *v)
{
	struct login_parse lp = {.ps = ps, .at = "logins"};
	struct provider *p = ps->p;

	if (v == NULL)
		return 0;
	if (v->type != VALUE_ARRAY || v->count > PROVIDER_MAX_LOGINS)
		return login_fail(&lp, ": must be an array of at most %u",
		    PROVIDER_MAX_LOGINS);
	for (const struct value *m = v->child; m != NULL; m = m->next) {
		snprintf(lp.at, sizeof(lp.at), "logins[%u]", p->nlogins);
		if (login_one(&lp, m, &p->logins[p->nlogins]) == -1)
			return -1;
		p->nlogins++;
	}
	return 0;
}
