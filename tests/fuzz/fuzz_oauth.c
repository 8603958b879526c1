/* SPDX-License-Identifier: ISC */
/*
 * A login file or a token endpoint's answer of any bytes; the first byte says
 * which, and its layout. An accepted value lies in the text and needs no
 * escape; a file with new tokens inserted reads as a file with these tokens.
 */
#include <stdint.h>
#include <stdlib.h>

#include "mitmd/keyd/login/oauth.h"

#define S(s) {(const uint8_t *)(s), sizeof(s) - 1}

static const struct provider_login layouts[] = {
    {.access = S("o.a"), .refresh = S("o.r"), .expires = S("o.e"),
	.unit = PROVIDER_EXPIRES_MS},
    {.access = S("a"), .refresh = S("r"), .expires = S("e"),
	.unit = PROVIDER_EXPIRES_S},
    {.access = S("t.a"), .refresh = S("t.r"), .id = S("t.i"),
	.renewed = S("l"), .unit = PROVIDER_EXPIRES_JWT,
	.adds = {{.member = S("t.c")}}, .nadds = 1},
};

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
require_token(struct span text, struct span s)
{
	if (s.p == NULL || s.len == 0)
		return;
	if (s.p < text.p || s.p + s.len > text.p + text.len)
		abort();
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < 0x21 || s.p[i] > 0x7e || s.p[i] == '"' ||
		    s.p[i] == '\\')
			abort();
	}
}

static void
check_splice(const struct provider_login *l, const struct oauth_file *f,
    struct span text)
{
	static uint8_t out[1 << 17];
	struct oauth_new n = {.access = SPAN("new-access"),
	    .refresh = SPAN("new-refresh"),
	    .id = SPAN("new-id"),
	    .expires = 1800000000,
	    .now = 1790000000};
	struct span parts[OAUTH_PARTS];
	struct oauth_file again;
	const char *why;
	char numbers[64];
	size_t count, len = 0;

	if (text.len > sizeof(out) / 2)
		return;
	count = oauth_splice(l, f, text, &n, numbers, parts);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].len > sizeof(out) - len)
			abort();
		memcpy(out + len, parts[i].p, parts[i].len);
		len += parts[i].len;
	}
	if (oauth_parse_file(l, span_of(out, len), &again, &why) == -1 ||
	    !span_is(again.access, "new-access") ||
	    (f->refresh.len != 0 && !span_is(again.refresh, "new-refresh")) ||
	    (f->expires_at.p != NULL && again.expires != n.expires))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	const struct provider_login *l;
	struct oauth_answer a;
	struct oauth_file f;
	struct span text;
	const char *why;

	if (size == 0)
		return 0;
	text = span_of(p + 1, size - 1);
	if (p[0] % 4 == 3) {
		if (oauth_parse_answer(text, &a, &why) == 0) {
			require_token(text, a.access);
			require_token(text, a.refresh);
			require_token(text, a.id);
		}
		return 0;
	}
	l = &layouts[p[0] % 4];
	if (oauth_parse_file(l, text, &f, &why) == -1)
		return 0;
	require_token(text, f.access);
	require_token(text, f.refresh);
	require_token(text, f.adds[0]);
	check_splice(l, &f, text);
	return 0;
}
