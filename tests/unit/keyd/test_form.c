/* SPDX-License-Identifier: ISC */
/*
 * A login that begins in the sandbox: the requests that the sandbox may make,
 * those that keyd makes to the token endpoint, the answers that keyd accepts,
 * the part that the sandbox gets, and the login file.
 */
#include "mitmd/keyd/login/form.h"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

#define SPAN_INIT(s) {(const uint8_t *)(s), sizeof(s) - 1}
#define is_text(got, len, want, ...) \
	is_mem((got), (len), (want), strlen(want), __VA_ARGS__)

static const struct provider_login claude = {
    .access = SPAN_INIT("o.accessToken"),
    .refresh = SPAN_INIT("o.refreshToken"),
    .expires = SPAN_INIT("o.expiresAt"),
    .unit = PROVIDER_EXPIRES_MS,
    .client = SPAN_INIT("client-1"),
};
static const struct provider_login cli = {
    .access = SPAN_INIT("access"),
    .refresh = SPAN_INIT("refresh"),
    .expires = SPAN_INIT("until"),
    .unit = PROVIDER_EXPIRES_S,
};
static const struct provider_login codex = {
    .access = SPAN_INIT("tokens.access"),
    .refresh = SPAN_INIT("tokens.refresh"),
    .id = SPAN_INIT("tokens.id"),
    .renewed = SPAN_INIT("last"),
    .unit = PROVIDER_EXPIRES_JWT,
    .adds = {{.name = SPAN_INIT("acct"), .member = SPAN_INIT("tokens.acct"),
	.claim = {SPAN_INIT("https://x/auth"), SPAN_INIT("acct")}}},
    .nadds = 1,
    .fake = SPAN_INIT("a.b.c"),
};

static struct form form;
static uint8_t out[8192];
static size_t len;

static const struct {
	const char *name;
	bool json;
	const char *body;
	const char *want; /* keyd's request; NULL: refused */
} forms[] = {
    {"a code, as JSON", true,
	"{\"state\":\"s\",\"code\":\"c#1\",\"client_id\":\"i\","
	"\"grant_type\":\"authorization_code\",\"code_verifier\":\"v\","
	"\"redirect_uri\":\"https://a/b\",\"expires_in\":31536000}",
	"{\"grant_type\":\"authorization_code\",\"client_id\":\"i\","
	"\"code\":\"c#1\",\"redirect_uri\":\"https://a/b\","
	"\"code_verifier\":\"v\",\"state\":\"s\",\"expires_in\":31536000}"},
    {"a code, as a form", false,
	"grant_type=authorization_code&code=a%2Fb%20c+d&client_id=i",
	"grant_type=authorization_code&client_id=i&code=a%2Fb%20c%20d"},
    {"a device code", false,
	"client_id=i&device_code=d&grant_type="
	"urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code",
	"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
	"&client_id=i&device_code=d"},
    {"a refresh token", true,
	"{\"grant_type\":\"refresh_token\",\"refresh_token\":\"r\","
	"\"client_id\":\"i\",\"scope\":\"a b\"}",
	"{\"grant_type\":\"refresh_token\",\"client_id\":\"i\","
	"\"scope\":\"a b\",\"refresh_token\":\"r\"}"},
    {"an escape in JSON", true,
	"{\"grant_type\":\"refresh_token\",\"refresh_token\":\"\\u0072\","
	"\"client_id\":\"i\"}",
	"{\"grant_type\":\"refresh_token\",\"client_id\":\"i\","
	"\"refresh_token\":\"r\"}"},
    {"no grant type", true, "{\"code\":\"c\",\"client_id\":\"i\"}", NULL},
    {"another grant", false, "grant_type=password&client_id=i&code=c", NULL},
    {"no client", false, "grant_type=refresh_token&refresh_token=r", NULL},
    {"no code", false, "grant_type=authorization_code&client_id=i", NULL},
    {"the wrong code", false,
	"grant_type=authorization_code&client_id=i&device_code=c", NULL},
    {"a secret of a client", false,
	"grant_type=refresh_token&refresh_token=r&client_id=i&client_secret=s",
	NULL},
    {"a member twice", false,
	"grant_type=refresh_token&refresh_token=r&client_id=i&client_id=j",
	NULL},
    {"a member twice in JSON", true,
	"{\"grant_type\":\"refresh_token\",\"refresh_token\":\"r\","
	"\"client_id\":\"i\",\"client_id\":\"i\"}",
	NULL},
    {"an escaped name", false,
	"grant%5Ftype=refresh_token&refresh_token=r&client_id=i", NULL},
    {"an empty value", false,
	"grant_type=refresh_token&refresh_token=&client_id=i", NULL},
    {"a line break", false,
	"grant_type=refresh_token&refresh_token=r%0d%0a&client_id=i", NULL},
    {"a NUL", false,
	"grant_type=refresh_token&refresh_token=r%00&client_id=i", NULL},
    {"a quotation mark", false,
	"grant_type=refresh_token&refresh_token=%22&client_id=i", NULL},
    {"a backslash in JSON", true,
	"{\"grant_type\":\"refresh_token\",\"refresh_token\":\"\\\\\","
	"\"client_id\":\"i\"}",
	NULL},
    {"no ASCII", true,
	"{\"grant_type\":\"refresh_token\",\"refresh_token\":\"\xc3\xa9\","
	"\"client_id\":\"i\"}",
	NULL},
    {"half an escape", false,
	"grant_type=refresh_token&client_id=i&refresh_token=r%2", NULL},
    {"no escape", false,
	"grant_type=refresh_token&client_id=i&refresh_token=r%zz", NULL},
    {"no =", false, "grant_type=refresh_token&client_id", NULL},
    {"an & at the end", false,
	"grant_type=refresh_token&refresh_token=r&client_id=i&", NULL},
    {"nothing", false, "", NULL},
    {"a number for a code", true,
	"{\"grant_type\":\"authorization_code\",\"code\":1,"
	"\"client_id\":\"i\"}",
	NULL},
    {"a lifetime that is none", true,
	"{\"grant_type\":\"authorization_code\",\"code\":\"c\","
	"\"client_id\":\"i\",\"expires_in\":\"soon\"}",
	NULL},
    {"a lifetime below nothing", true,
	"{\"grant_type\":\"authorization_code\",\"code\":\"c\","
	"\"client_id\":\"i\",\"expires_in\":-1}",
	NULL},
    {"an array", true, "[\"grant_type\"]", NULL},
    {"a form for JSON", true, "grant_type=refresh_token", NULL},
    {"more behind", true,
	"{\"grant_type\":\"refresh_token\",\"refresh_token\":\"r\","
	"\"client_id\":\"i\"}{}",
	NULL},
};

static void
test_forms(void)
{
	static char big[6000];
	const char *why = NULL;
	int rv;

	for (size_t i = 0; i < nitems(forms); i++) {
		why = NULL;
		rv = form_read(
		    forms[i].json, span_str(forms[i].body), &form, &why);
		if (forms[i].want == NULL) {
			ok(rv == -1 && why != NULL, "refused: %s",
			    forms[i].name);
			continue;
		}
		ok(rv == 0 && form_compose(forms[i].json, &form, out,
				  sizeof(out), &len) == 0,
		    "taken: %s", forms[i].name);
		is_text(out, len, forms[i].want, "as it goes on: %s",
		    forms[i].name);
		ok(form_compose(forms[i].json, &form, out, len - 1, &len) ==
			-1,
		    "not cut: %s", forms[i].name);
	}
	snprintf(big, sizeof(big),
	    "grant_type=refresh_token&client_id=i&refresh_token=%05000d", 1);
	ok(form_read(false, span_str(big), &form, &why) == -1,
	    "refused: a value over 4096 bytes");
}

/* exp 4102444800, "https://x/auth": {"acct": "acct-1"} */
#define ID                                                              \
	"eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDAsImh0dHBzOi8veC9hdXRo" \
	"Ijp7ImFjY3QiOiJhY2N0LTEifX0.c2ln"
#define GOOD "\"access_token\":\"acc\",\"token_type\":\"bearer\""

static const struct {
	const char *name, *text;
	/* the sandbox's answer for codex's login; NULL: refused */
	const char *want;
} answers[] = {
    {"all there is",
	"{" GOOD ",\"refresh_token\":\"ref\",\"id_token\":\"" ID "\","
	"\"expires_in\":60,\"refresh_token_expires_in\":600,"
	"\"scope\":\"a b\",\"token_uuid\":\"u\","
	"\"account\":{\"uuid\":\"1\",\"email_address\":\"a@b\"},"
	"\"organization\":{\"uuid\":\"2\",\"name\":\"N M\"}}",
	"{\"token_type\":\"Bearer\",\"access_token\":\"SENT\","
	"\"expires_in\":60,\"refresh_token\":\"SENT\","
	"\"refresh_token_expires_in\":600,\"id_token\":\"a.b.c\","
	"\"scope\":\"a b\",\"account\":{\"uuid\":\"1\","
	"\"email_address\":\"a@b\"},\"organization\":{\"uuid\":\"2\","
	"\"name\":\"N M\"}}"},
    {"an access token alone", "{" GOOD "}",
	"{\"token_type\":\"Bearer\",\"access_token\":\"SENT\"}"},
    {"what is not known is dropped",
	"{" GOOD ",\"x\":\"y\",\"account\":{\"email_address\":\"e\"}}",
	"{\"token_type\":\"Bearer\",\"access_token\":\"SENT\"}"},
    {"a scope with an escape is dropped",
	"{" GOOD ",\"scope\":\"a\\u0020b\"}",
	"{\"token_type\":\"Bearer\",\"access_token\":\"SENT\"}"},
    {"a scope with a quotation mark is dropped",
	"{" GOOD ",\"scope\":\"a\\\"b\"}",
	"{\"token_type\":\"Bearer\",\"access_token\":\"SENT\"}"},
    {"a strange member without a value", "{" GOOD ",\"device_token\":null}",
	"{\"token_type\":\"Bearer\",\"access_token\":\"SENT\"}"},
    {"no token", "{\"token_type\":\"bearer\"}", NULL},
    {"a token with an escape",
	"{\"access_token\":\"a\\u0063c\"}", NULL},
    {"another type", "{\"access_token\":\"a\",\"token_type\":\"mac\"}", NULL},
    {"a refresh token that is none",
	"{" GOOD ",\"refresh_token\":{\"a\":1}}", NULL},
    {"an ID token that is none", "{" GOOD ",\"id_token\":\"a b\"}", NULL},
    {"an ID token that is a number", "{" GOOD ",\"id_token\":1}", NULL},
    {"a second token", "{" GOOD ",\"session_token\":\"t\"}", NULL},
    {"an API key", "{" GOOD ",\"api_key\":\"sk\"}", NULL},
    {"a secret", "{" GOOD ",\"clientSecret\":\"s\"}", NULL},
    {"a cookie", "{" GOOD ",\"Cookie\":\"c\"}", NULL},
    {"a member twice", "{" GOOD ",\"access_token\":\"b\"}", NULL},
    {"no object", "[" "\"access_token\"" "]", NULL},
    {"more behind", "{" GOOD "} x", NULL},
    {"nothing", "", NULL},
};

static void
test_answers(void)
{
	struct form_grant_answer g;
	const char *why;
	int rv;

	for (size_t i = 0; i < nitems(answers); i++) {
		why = NULL;
		rv = form_parse_grant(span_str(answers[i].text), &g, &why);
		if (answers[i].want == NULL) {
			ok(rv == -1 && why != NULL, "refused: %s",
			    answers[i].name);
			continue;
		}
		ok(rv == 0 && form_answer(&codex, SPAN("SENT"), &g, out,
				  sizeof(out), &len) == 0,
		    "understood: %s", answers[i].name);
		is_text(out, len, answers[i].want, "the box gets: %s",
		    answers[i].name);
		ok(form_answer(&codex, SPAN("SENT"), &g, out, len - 1,
		       &len) == -1,
		    "not cut: %s", answers[i].name);
	}
}

static void
test_errors(void)
{
	static const struct {
		unsigned status;
		const char *text, *want;
	} rows[] = {
	    {400, "{\"error\":\"authorization_pending\"}",
		"authorization_pending"},
	    {400, "{\"error\":\"slow_down\",\"interval\":9}", "slow_down"},
	    {400, "{\"error\":\"invalid_grant\"}", "invalid_grant"},
	    {400, "{\"error\":\"Authorization_pending\"}", "invalid_request"},
	    {400, "{\"error\":{\"type\":\"x\"}}", "invalid_request"},
	    {401, "sk-ant-real", "invalid_request"},
	    {503, "<html>", "server_error"},
	    {500, "{\"error\":\"access_denied\"}", "access_denied"},
	};

	for (size_t i = 0; i < nitems(rows); i++)
		is_str(form_error(rows[i].status, span_str(rows[i].text)),
		    rows[i].want, "error of %s", rows[i].text);
}

static void
file_is(const struct provider_login *l, const struct oauth_new *n,
    const struct span *adds, const char *want, const char *name)
{
	struct oauth_file f;
	const char *why = "";

	ok(form_file(l, n, adds, out, sizeof(out), &len) == 0, "%s", name);
	is_text(out, len, want, "%s: its text", name);
	ok(oauth_parse_file(l, span_of(out, len), &f, &why) == 0 &&
		span_eq(f.access, n->access) && span_eq(f.refresh, n->refresh),
	    "%s: is read again", name);
	ok(form_file(l, n, adds, out, len - 1, &len) == -1, "%s: not cut",
	    name);
}

static void
test_files(void)
{
	struct oauth_new n = {.access = SPAN("acc"), .refresh = SPAN("ref"),
	    .expires = 1800000000, .now = 1790000000};
	struct span adds[PROVIDER_MAX_ADDS] = {{NULL, 0}};
	static const struct span none[2] = {SPAN_INIT("iss")};
	char acct[OAUTH_MAX_ADD + 1];

	file_is(&claude, &n, adds,
	    "{\"o\":{\"accessToken\":\"acc\",\"refreshToken\":\"ref\","
	    "\"expiresAt\":1800000000000}}\n",
	    "a file in one group");
	file_is(&cli, &n, adds,
	    "{\"access\":\"acc\",\"refresh\":\"ref\",\"until\":1800000000}\n",
	    "a file without groups");
	n.refresh = span_of(NULL, 0);
	n.expires = 0;
	file_is(&cli, &n, adds, "{\"access\":\"acc\",\"until\":0}\n",
	    "without a refresh token and an end");
	n.refresh = SPAN("ref");
	n.id = SPAN(ID);
	is_int(form_claim(n.id, codex.adds[0].claim, acct), 0, "a claim");
	is_str(acct, "acct-1", "its value");
	adds[0] = span_str(acct);
	file_is(&codex, &n, adds,
	    "{\"tokens\":{\"access\":\"acc\",\"refresh\":\"ref\",\"id\":\"" ID
	    "\",\"acct\":\"acct-1\"},\"last\":"
	    "\"2026-09-21T14:13:20.000000Z\"}\n",
	    "a file with an ID token");
	is_int(form_claim(n.id, none, acct), -1, "no such claim");
	is_int(form_claim(SPAN("a.b"), none, acct), -1, "no JWT");
	is_int(form_claim(SPAN("a.!!.c"), none, acct), -1, "no base64");
	is_int(form_claim(span_of(NULL, 0), none, acct), -1, "nothing");
}

int
main(void)
{
	test_forms();
	test_answers();
	test_errors();
	test_files();
	return tap_done();
}
