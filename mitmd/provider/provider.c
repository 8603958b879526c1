/* SPDX-License-Identifier: ISC */
/*
 * Reads a provider file into struct provider. Unknown members are errors; every
 * text is checked against the class that the later checks of requests rely on;
 * a list that would let a credential, a cookie or framing through is refused.
 * Trusts only that the text is of bounded size.
 */
#include "provider/provider.h"

/*
 * OpenSSL's low-level SHA-256 links four objects instead of the whole library.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <errno.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "provider/class.h"
#include "provider/dest.h"
#include "provider/parse.h"

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

	if (v != NULL &&
	    (v->type != VALUE_STRING ||
		(alphabet = provider_alphabet_find(v->text)) == -1))
		return parse_fail(
		    ps, "alphabet: must be \"bedrock\" or \"vertex\"");
	ps->p->alphabet = (enum provider_alphabet)alphabet;
	return 0;
}

static int
parse_sends(struct parse *ps, const struct value *v)
{
	struct provider *p = ps->p;
	struct provider_add *a;
	char where[160], name[128];

	if (v == NULL)
		return 0;
	if (v->type != VALUE_OBJECT || v->count > PROVIDER_MAX_SENDS)
		return parse_fail(ps,
		    "sendHeaders: must be an object with at "
		    "most %u members",
		    PROVIDER_MAX_SENDS);
	for (const struct value *m = v->child; m != NULL; m = m->next) {
		a = &p->sends[p->nsends++];
		provider_vis(m->key, name, sizeof(name));
		snprintf(where, sizeof(where), "sendHeaders: %s", name);
		if (!provider_is_allowed(m->key) ||
		    m->key.p[m->key.len - 1] == '*')
			return parse_fail(ps, "%s%s", where,
			    provider_class_says(provider_is_allowed));
		if (parse_copy(ps, m->key, &a->name) == -1 ||
		    parse_text(ps, m, where, provider_is_sent, &a->value) == -1)
			return -1;
	}
	return 0;
}

static int
parse_file(struct parse *ps, const struct value *v)
{
	static const char *const names[] = {"name", "credential",
	    "requestHeaders", "responseHeaders", "routes", "host", "hosts",
	    "filter", "logins", "alphabet", "http2", "check", "statedCost",
	    "sendHeaders"};
	struct provider *p = ps->p;
	bool h2;

	if (v->type == VALUE_OBJECT && value_get(v, "kind") != NULL)
		return dest_parse(ps, v);
	if (parse_members(ps, v, "file", names, nitems(names), 5) == -1 ||
	    parse_bool(ps, v, "file", "http2", true, &h2) == -1 ||
	    parse_bool(ps, v, "file", "statedCost", false, &p->stated_cost) ==
		-1 ||
	    parse_alphabet(ps, value_get(v, "alphabet")) == -1 ||
	    parse_filter(ps, value_get(v, "filter")) == -1 ||
	    parse_text(ps, value_get(v, "name"), "name", provider_is_label,
		&p->name) == -1 ||
	    parse_hosts(ps, v) == -1 ||
	    parse_credential(ps, value_get(v, "credential")) == -1 ||
	    parse_logins(ps, value_get(v, "logins")) == -1 ||
	    parse_sends(ps, value_get(v, "sendHeaders")) == -1 ||
	    parse_texts(ps, value_get(v, "requestHeaders"), "requestHeaders",
		provider_is_allowed, PROVIDER_MAX_HEADERS, true,
		&p->request.names, &p->request.n) == -1 ||
	    parse_texts(ps, value_get(v, "responseHeaders"), "responseHeaders",
		provider_is_allowed, PROVIDER_MAX_HEADERS, true,
		&p->response.names, &p->response.n) == -1)
		return -1;
	p->http1 = !h2;
	return parse_routes(ps, value_get(v, "routes"));
}

static void
parse_digest(struct span text, uint8_t digest[SHA256_DIGEST_LENGTH])
{
	SHA256_CTX c;

	SHA256_Init(&c);
	SHA256_Update(&c, text.p, text.len);
	SHA256_Final(digest, &c);
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
	parse_digest(text, ps.p->digest);
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
