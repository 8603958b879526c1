/* SPDX-License-Identifier: ISC */
/*
 * Reads the "credential" of a provider file: how it is written into a request,
 * the variable that usually holds it, and the form of its placeholder. The
 * credential itself is not in the file.
 */
#include "provider/parse.h"

#include <stdio.h>

#include "provider/class.h"

static int
parse_kind(struct parse *ps, const struct value *v, unsigned n)
{
	static const char *const names[] = {"name", "prefix"};
	struct provider_kind *k = &ps->p->kinds[n];
	const struct value *prefix;
	char at[64], member[80];

	snprintf(at, sizeof(at), "credential.headers[%u]", n);
	snprintf(member, sizeof(member), "%s.name", at);
	if (parse_members(ps, v, at, names, 2, 1) == -1 ||
	    parse_text(ps, value_get(v, "name"), member, provider_is_kind,
		&k->name) == -1)
		return -1;
	snprintf(member, sizeof(member), "%s.prefix", at);
	if ((prefix = value_get(v, "prefix")) != NULL &&
	    parse_text(ps, prefix, member, provider_is_prefix, &k->prefix) ==
		-1)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (span_eq(ps->p->kinds[i].name, k->name))
			return parse_fail(ps, "%s: repeated", at);
	}
	return 0;
}

/* Its "env" names the variables of a credential in parts. */
static int
parse_sigv4(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"service", "region", "env"};
	const struct value *env;
	unsigned n;

	if (v == NULL)
		return 0;
	if (parse_members(ps, v, "credential.sigv4", names, 3, 2) == -1 ||
	    parse_text(ps, value_get(v, "service"), "credential.sigv4.service",
		provider_is_label, &ps->p->sigv4.service) == -1 ||
	    parse_text(ps, value_get(v, "region"), "credential.sigv4.region",
		provider_is_label, &ps->p->sigv4.region) == -1)
		return -1;
	if ((env = value_get(v, "env")) == NULL)
		return 0;
	if (parse_texts(ps, env, "credential.sigv4.env", provider_is_env,
		PROVIDER_PARTS, false, &ps->p->parts, &n) == -1)
		return -1;
	if (n != PROVIDER_PARTS)
		return parse_fail(ps,
		    "credential.sigv4.env: must name the variables of id, "
		    "secret and session token");
	return 0;
}

static bool
parse_is_user(struct span s)
{
	return provider_is_token(s) && memchr(s.p, ':', s.len) == NULL;
}

/* Read "basic", a user name, which implies the header (RFC 7617). */
static int
parse_basic(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"env", "basic"};
	struct provider *p = ps->p;

	p->keyless = true;
	p->nkinds = 1;
	p->kinds[0].name = SPAN("authorization");
	p->kinds[0].prefix = SPAN("Basic ");
	if (parse_members(ps, v, "credential", names, 2, 2) == -1 ||
	    parse_text(ps, value_get(v, "env"), "credential.env",
		provider_is_env, &p->env) == -1)
		return -1;
	return parse_text(ps, value_get(v, "basic"), "credential.basic",
	    parse_is_user, &p->basic);
}

int
parse_credential(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {
	    "env", "sentinel", "headers", "sigv4"};
	struct provider *p = ps->p;
	const struct value *headers, *m;

	if (p->dest != NULL && value_get(v, "basic") != NULL)
		return parse_basic(ps, v);
	if (parse_members(ps, v, "credential", names, 4, 3) == -1 ||
	    parse_sigv4(ps, value_get(v, "sigv4")) == -1 ||
	    parse_text(ps, value_get(v, "env"), "credential.env",
		provider_is_env, &p->env) == -1 ||
	    parse_text(ps, value_get(v, "sentinel"), "credential.sentinel",
		provider_is_sentinel, &p->sentinel) == -1)
		return -1;
	headers = value_get(v, "headers");
	if (headers->type != VALUE_ARRAY || headers->count == 0 ||
	    headers->count > PROVIDER_MAX_KINDS)
		return parse_fail(ps,
		    "credential.headers: must be an array of 1 to %u objects",
		    PROVIDER_MAX_KINDS);
	for (m = headers->child; m != NULL; m = m->next) {
		if (parse_kind(ps, m, p->nkinds) == -1)
			return -1;
		p->nkinds++;
	}
	return 0;
}
