/* SPDX-License-Identifier: ISC */
/*
 * A token request or a token endpoint's answer of any bytes; the first byte
 * says which. An accepted request reads the same after it was composed, in
 * either form; the answer for the sandbox is JSON in which no token appears
 * except where it must.
 */
#include <stdint.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "mitmd/keyd/login/form.h"

#define S(s) {(const uint8_t *)(s), sizeof(s) - 1}

static const struct provider_login login = {
    .access = S("t.a"), .refresh = S("t.r"), .id = S("t.i"),
    .expires = S("e"), .unit = PROVIDER_EXPIRES_S, .fake = S("f.f.f"),
    .adds = {{.member = S("t.c"), .claim = {S("c"), S("d")}}}, .nadds = 1};

static uint8_t out[1 << 17];

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_form(bool json, struct span text)
{
	static struct form f, again;
	const char *why;
	size_t len;

	if (form_read(json, text, &f, &why) == -1)
		return;
	for (int spell = 0; spell < 2; spell++) {
		if (form_compose(spell == 1, &f, out, sizeof(out), &len) ==
			-1 ||
		    form_read(spell == 1, span_of(out, len), &again, &why) ==
			-1 ||
		    again.grant != f.grant)
			abort();
		for (size_t i = 0; i < FORM_COUNT; i++)
			if (!span_eq(f.v[i], again.v[i]))
				abort();
	}
}

static void
check_json(struct span text)
{
	struct value_pool *pool = value_pool_new(1 << 20);
	const struct value *v;

	if (pool == NULL || (v = json_read(pool, text, NULL)) == NULL ||
	    v->type != VALUE_OBJECT)
		abort();
	value_pool_free(pool);
}

static void
check_answer(struct span text)
{
	struct span adds[PROVIDER_MAX_ADDS] = {{NULL, 0}};
	struct form_grant_answer g;
	struct oauth_new n = {.now = 1790000000};
	struct oauth_file f;
	char claim[OAUTH_MAX_ADD + 1];
	const char *why;
	size_t len;

	(void)form_error(400, text);
	if (form_parse_grant(text, &g, &why) == -1)
		return;
	if (form_answer(
		&login, SPAN("SENTINEL"), &g, out, sizeof(out), &len) == -1)
		abort();
	check_json(span_of(out, len));
	if (form_claim(g.tokens.id, login.adds[0].claim, claim) == 0)
		adds[0] = span_str(claim);
	n.access = g.tokens.access;
	n.refresh = g.tokens.refresh;
	n.id = g.tokens.id;
	n.expires = g.tokens.lifetime;
	if (form_file(&login, &n, adds, out, sizeof(out), &len) == -1 ||
	    oauth_parse_file(&login, span_of(out, len), &f, &why) == -1 ||
	    !span_eq(f.access, n.access) || !span_eq(f.refresh, n.refresh))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct span text;

	if (size == 0)
		return 0;
	text = span_of(p + 1, size - 1);
	if (text.len > 65536)
		return 0;
	if (p[0] % 3 == 2)
		check_answer(text);
	else
		check_form(p[0] % 3 == 1, text);
	return 0;
}
