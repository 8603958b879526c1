/* SPDX-License-Identifier: ISC */
/*
 * Reads a provider file into struct provider.  Every member is named here and
 * any other is an error; every text is checked against the class that the
 * checks of requests later rely on; lists that would let a credential, a
 * cookie or framing through do not load.  Trusts nothing of the text but that
 * it is bounded.
 */
#include <openssl/sha.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dest.h"
#include "json.h"
#include "provider_class.h"
#include "provider_login.h"
#include "provider_parse.h"

static int
parse_kind(struct parse *ps, const struct value *v, unsigned n)
{
	static const char *const names[] = {"name", "prefix"};
	struct provider_kind *k = &ps->p->kinds[n];
	const struct value *prefix;
	char at[64];

	snprintf(at, sizeof(at), "credential.headers[%u]", n);
	if (parse_members(ps, v, at, names, 2, 1) == -1 ||
	    parse_text(
		ps, value_get(v, "name"), at, provider_is_kind, &k->name) == -1)
		return -1;
	if ((prefix = value_get(v, "prefix")) != NULL &&
	    parse_text(ps, prefix, at, provider_is_prefix, &k->prefix) == -1)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (span_eq(ps->p->kinds[i].name, k->name))
			return parse_fail(ps, "%s: repeated", at);
	}
	return 0;
}

static bool
parse_is_name(struct span s)
{
	return provider_is_label(s);
}

/* "env" there is icsupervisor's: three variables that make up a credential. */
static int
parse_sigv4(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"service", "region", "env"};
	const struct value *env;
	struct span *list;
	unsigned n;

	if (v == NULL)
		return 0;
	if (parse_members(ps, v, "credential.sigv4", names, 3, 2) == -1 ||
	    parse_text(ps, value_get(v, "service"), "credential.sigv4.service",
		parse_is_name, &ps->p->sigv4.service) == -1 ||
	    parse_text(ps, value_get(v, "region"), "credential.sigv4.region",
		parse_is_name, &ps->p->sigv4.region) == -1)
		return -1;
	if ((env = value_get(v, "env")) == NULL)
		return 0;
	if (parse_texts(ps, env, "credential.sigv4.env", provider_is_env, 3,
		false, &list, &n) == -1)
		return -1;
	if (n != 3)
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

/* "basic": a user name; then the header is known (RFC 7617). */
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

static int
parse_filter(struct parse *ps, const struct value *v)
{
	const char *why;

	ps->p->filter = filter_dflt;
	why = v == NULL ? NULL : filter_rules_read(v, &ps->p->filter);
	return why == NULL ? 0 : parse_fail(ps, "filter: %s", why);
}

static int
parse_alphabet(struct parse *ps, const struct value *v)
{
	int alphabet = PROVIDER_WORDS;

	if (v != NULL && (v->type != VALUE_STRING ||
			     (alphabet = provider_alphabet_find(v->text)) == -1))
		return parse_fail(
		    ps, "alphabet: must be \"bedrock\" or \"vertex\"");
	ps->p->alphabet = (enum provider_alphabet)alphabet;
	return 0;
}

int
parse_hosts(struct parse *ps, const struct value *file)
{
	const struct value *one = value_get(file, "host"),
			   *all = value_get(file, "hosts");
	struct provider *p = ps->p;
	struct span *hosts;

	if ((one == NULL) == (all == NULL))
		return parse_fail(ps, "file: needs \"host\" or \"hosts\"");
	if (one != NULL) {
		p->nhosts = 1;
		return parse_text(
		    ps, one, "host", provider_is_host, &p->hosts[0]);
	}
	if (parse_texts(ps, all, "hosts", provider_is_host, PROTO_MAX_HOSTS,
		false, &hosts, &p->nhosts) == -1)
		return -1;
	for (unsigned i = 0; i < p->nhosts; i++)
		p->hosts[i] = hosts[i];
	return 0;
}

static int
parse_file(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"name", "credential",
	    "requestHeaders", "responseHeaders", "routes", "host", "hosts",
	    "filter", "logins", "alphabet"};
	struct provider *p = ps->p;

	if (v->type == VALUE_OBJECT && value_get(v, "kind") != NULL)
		return dest_parse(ps, v);
	if (parse_members(ps, v, "file", names, 10, 5) == -1 ||
	    parse_alphabet(ps, value_get(v, "alphabet")) == -1 ||
	    parse_filter(ps, value_get(v, "filter")) == -1 ||
	    parse_text(ps, value_get(v, "name"), "name", provider_is_label,
		&p->name) == -1 ||
	    parse_hosts(ps, v) == -1 ||
	    parse_credential(ps, value_get(v, "credential")) == -1 ||
	    provider_parse_logins(
		p, value_get(v, "logins"), ps->err, ps->cap) == -1 ||
	    parse_texts(ps, value_get(v, "requestHeaders"), "requestHeaders",
		provider_is_allowed, PROVIDER_MAX_HEADERS, true,
		&p->request.names, &p->request.n) == -1 ||
	    parse_texts(ps, value_get(v, "responseHeaders"), "responseHeaders",
		provider_is_allowed, PROVIDER_MAX_HEADERS, true,
		&p->response.names, &p->response.n) == -1)
		return -1;
	return parse_routes(ps, value_get(v, "routes"));
}

struct provider *
provider_parse(struct span text, char *err, size_t cap)
{
	struct parse ps = {.err = err, .cap = cap};
	struct value_pool *scratch = NULL;
	const struct value *v;
	struct json_fail fail;
	int saved;

	if (cap != 0)
		err[0] = '\0';
	if (text.len > PROVIDER_MAX_FILE) {
		parse_fail(
		    &ps, "file: larger than %u bytes", PROVIDER_MAX_FILE);
		return NULL;
	}
	if ((ps.p = calloc(1, sizeof(*ps.p))) == NULL ||
	    (ps.p->pool = value_pool_new(8U * PROVIDER_MAX_FILE)) == NULL ||
	    (scratch = value_pool_new(16U * PROVIDER_MAX_FILE)) == NULL) {
		errno = ENOMEM;
		goto bad;
	}
	if ((v = json_read(scratch, text, &fail)) == NULL) {
		parse_fail(&ps, "file: at byte %zu: %s", fail.at,
		    json_strerror(fail.error));
		goto bad;
	}
	if (parse_file(&ps, v) == -1)
		goto bad;
	SHA256(text.p, text.len, ps.p->digest);
	value_pool_free(scratch);
	return ps.p;
bad:
	saved = errno;
	value_pool_free(scratch);
	provider_free(ps.p);
	errno = saved;
	return NULL;
}

void
provider_free(struct provider *p)
{
	if (p == NULL)
		return;
	value_pool_free(p->pool);
	free(p);
}
