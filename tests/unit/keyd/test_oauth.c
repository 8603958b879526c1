/* SPDX-License-Identifier: ISC */
/*
 * Login files and answers of token endpoints, good and hostile; the request;
 * the new file; and the decision about a file that others use as well.
 */
#include "mitmd/keyd/login/oauth.h"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

#define is_span(got, want, ...) is_mem_of((got), SPAN(want), __VA_ARGS__)
#define is_mem_of(got, want, ...) \
	is_mem((got).p, (got).len, (want).p, (want).len, __VA_ARGS__)

#define SPAN_INIT(s) {(const uint8_t *)(s), sizeof(s) - 1}

static const struct provider_login claude = {
    .access = SPAN_INIT("claudeAiOauth.accessToken"),
    .refresh = SPAN_INIT("claudeAiOauth.refreshToken"),
    .expires = SPAN_INIT("claudeAiOauth.expiresAt"),
    .unit = PROVIDER_EXPIRES_MS,
    .client = SPAN_INIT("client-1"),
};
static const struct provider_login cli = {
    .access = SPAN_INIT("access_token"),
    .refresh = SPAN_INIT("refresh_token"),
    .expires = SPAN_INIT("expires_at"),
    .unit = PROVIDER_EXPIRES_S,
    .json = true,
    .client = SPAN_INIT("client-2"),
    .scope = SPAN_INIT("a b:c"),
};
static const struct provider_login codex = {
    .access = SPAN_INIT("tokens.access_token"),
    .refresh = SPAN_INIT("tokens.refresh_token"),
    .id = SPAN_INIT("tokens.id_token"),
    .renewed = SPAN_INIT("last_refresh"),
    .unit = PROVIDER_EXPIRES_JWT,
    .client = SPAN_INIT("client-3"),
    .adds = {{.name = SPAN_INIT("chatgpt-account-id"),
	.member = SPAN_INIT("tokens.account_id")}},
    .nadds = 1,
};

/* exp 4102444800 */
#define JWT "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.c2ln"

static const char claude_file[] =
    "{\"claudeAiOauth\": {\"accessToken\": \"acc-1\",\n"
    "  \"refreshToken\": \"ref-1\", \"expiresAt\": 1700000000999,\n"
    "  \"scopes\": [\"x\"]}, \"mcpOAuth\": {\"accessToken\": \"acc-1\"}}\n";
static const char codex_file[] =
    "{\"OPENAI_API_KEY\":null,\"tokens\":{\"id_token\":\"id.0\","
    "\"access_token\":\"" JWT "\",\"refresh_token\":\"rt-1\","
    "\"account_id\":\"acct\"},\"last_refresh\":\"2026-01-01T00:00:00Z\"}";

static void
test_files(void)
{
	struct oauth_file f;
	const char *why = "";

	is_int(oauth_parse_file(&claude, SPAN(claude_file), &f, &why), 0,
	    "Claude Code's file");
	ok(span_is(f.access, "acc-1") && span_is(f.refresh, "ref-1") &&
	    f.expires == 1700000000, "its tokens and end");
	is_int(oauth_parse_file(&codex, SPAN(codex_file), &f, &why), 0,
	    "Codex's file");
	ok(span_is(f.access, JWT) && span_is(f.adds[0], "acct") &&
	    f.expires == 4102444800U && span_is(f.id_at, "id.0"),
	    "its tokens, account and end");
	is_int(oauth_parse_file(&cli, SPAN("{\"access_token\":\"a\","
	    "\"refresh_token\":null,\"expires_at\":5,\"version\":1}"), &f,
	    &why), 0, "the Anthropic CLI's file, without a refresh token");
	ok(f.refresh.len == 0 && f.expires == 5, "there is none, then");
	is_int(oauth_parse_file(&cli, SPAN("{\"access_token\":\"a\"}"), &f,
	    &why), 0, "without an end");
	ok(f.expires == 0 && f.expires_at.p == NULL, "it is unknown");
}

static void
test_bad_files(void)
{
	static const char *const bad[] = {"", "[]", "{}", "null",
	    "{\"access_token\":5}", "{\"access_token\":\"\"}",
	    "{\"access_token\":\"a b\"}", "{\"access_token\":\"a\\nb\"}",
	    "{\"access_token\":\"a\\u0062\"}", "{\"access_token\":\"a\\/b\"}",
	    "{\"access_token\":\"a\",\"access_token\":\"b\"}",
	    "{\"access_token\":{\"a\":\"b\"}}",
	    "{\"access_token\":\"a\",\"refresh_token\":\"b c\"}",
	    "{\"access_token\":\"a\",\"refresh_token\":7}",
	    "{\"access_token\":\"a\"", "{\"access_token\":\"a\"}x",
	    "{\"access_token\":\"\xc3\xa4\"}"};
	struct oauth_file f;
	const char *why;

	for (size_t i = 0; i < nitems(bad); i++) {
		why = NULL;
		is_int(oauth_parse_file(&cli, span_str(bad[i]), &f, &why), -1,
		    "refused: %s", bad[i]);
		ok(why != NULL && why[0] != '\0', "with a reason");
	}
}

static void
test_jwt(void)
{
	ok(oauth_jwt_expires(SPAN(JWT)) == 4102444800U, "exp of a JWT");
	ok(oauth_jwt_expires(SPAN("")) == 0, "nothing");
	ok(oauth_jwt_expires(SPAN("a.b")) == 0, "two parts");
	ok(oauth_jwt_expires(SPAN("a.!!.c")) == 0, "no base64");
	ok(oauth_jwt_expires(SPAN("a.e30.c")) == 0, "{}");
	/* {"exp":"5"}, {"exp":-5}, {"exp":1.5} */
	ok(oauth_jwt_expires(SPAN("a.eyJleHAiOiI1In0.c")) == 0 &&
	    oauth_jwt_expires(SPAN("a.eyJleHAiOi01fQ.c")) == 0 &&
	    oauth_jwt_expires(SPAN("a.eyJleHAiOjEuNX0.c")) == 0,
	    "not a number of seconds");
	/* {"exp":9223372036854775807} */
	ok(oauth_jwt_expires(SPAN("a.eyJleHAiOjkyMjMzNzIwMzY4NTQ3NzU4MDd9.c")) ==
		0,
	    "a time that milliseconds cannot say");
}

static void
test_answers(void)
{
	static const char *const bad[] = {"", "[]", "{}",
	    "{\"refresh_token\":\"a\"}", "{\"access_token\":\"a b\"}",
	    "{\"access_token\":\"a\",\"refresh_token\":\"\"}",
	    "{\"access_token\":\"a\",\"refresh_token\":\"x\\ty\"}",
	    "{\"access_token\":\"a\",\"token_type\":\"mac\"}",
	    "{\"access_token\":\"a\",\"token_type\":1}",
	    "{\"access_token\":\"a\\u0022\"}",
	    "{\"access_token\":\"a\",\"access_token\":\"b\"}", "{"};
	static char longest[OAUTH_MAX_TOKEN + 64];
	struct oauth_answer a;
	const char *why;
	int n;

	is_int(oauth_parse_answer(SPAN("{\"token_type\":\"Bearer\","
	    "\"access_token\":\"a2\",\"refresh_token\":\"r2\","
	    "\"expires_in\":3600,\"id_token\":\"i2\",\"more\":[1]}"), &a,
	    &why), 0, "an answer");
	ok(span_is(a.access, "a2") && span_is(a.refresh, "r2") &&
	    span_is(a.id, "i2") && a.lifetime == 3600, "is read");
	is_int(oauth_parse_answer(SPAN("{\"access_token\":\"a2\","
	    "\"expires_in\":-1}"), &a, &why), 0, "the least");
	ok(a.refresh.len == 0 && a.lifetime == 0, "keeps the refresh token");
	for (size_t i = 0; i < nitems(bad); i++)
		is_int(oauth_parse_answer(span_str(bad[i]), &a, &why), -1,
		    "refused: %s", bad[i]);
	for (int more = 0; more < 2; more++) {
		n = snprintf(longest, sizeof(longest),
		    "{\"access_token\":\"%0*d\"}", (int)OAUTH_MAX_TOKEN + more,
		    7);
		is_int(oauth_parse_answer(span_of(longest, (size_t)n), &a,
		    &why), more ? -1 : 0, "a token of %d bytes",
		    (int)OAUTH_MAX_TOKEN + more);
	}
	ok(oauth_verdict(200) == OAUTH_GOOD &&
	    oauth_verdict(400) == OAUTH_REFUSED &&
	    oauth_verdict(401) == OAUTH_REFUSED &&
	    oauth_verdict(403) == OAUTH_LATER &&
	    oauth_verdict(429) == OAUTH_LATER &&
	    oauth_verdict(500) == OAUTH_LATER &&
	    oauth_verdict(204) == OAUTH_LATER, "what a status means");
}

static void
test_request(void)
{
	uint8_t dst[256];
	size_t len = 0;

	is_int(oauth_compose(&claude, &(struct oauth_file){.refresh = SPAN("a+/=~x")}, dst, sizeof(dst), &len),
	    0, "a form");
	is_span(span_of(dst, len), "grant_type=refresh_token&"
	    "refresh_token=a%2B%2F%3D~x&client_id=client-1", "as it must be");
	is_int(oauth_compose(&cli, &(struct oauth_file){.refresh = SPAN("a+/=")}, dst, sizeof(dst), &len), 0,
	    "JSON");
	is_span(span_of(dst, len), "{\"grant_type\":\"refresh_token\","
	    "\"refresh_token\":\"a+/=\",\"client_id\":\"client-2\","
	    "\"scope\":\"a b:c\"}", "as it must be");
	is_int(oauth_compose(&cli, &(struct oauth_file){.refresh = SPAN("a")}, dst, 40, &len), -1, "no room");
}

static void
splice(const struct provider_login *l, struct span text,
    const struct oauth_new *n, char *out, size_t cap)
{
	struct span parts[OAUTH_PARTS];
	struct oauth_file f;
	const char *why;
	char numbers[64];
	size_t count, len = 0;

	if (oauth_parse_file(l, text, &f, &why) == -1)
		abort();
	count = oauth_splice(l, &f, text, n, numbers, parts);
	for (size_t i = 0; i < count && len + parts[i].len < cap; i++) {
		memcpy(out + len, parts[i].p, parts[i].len);
		len += parts[i].len;
	}
	out[len] = '\0';
}

static void
test_splice(void)
{
	struct oauth_new n = {.access = SPAN("acc-22"),
	    .refresh = SPAN("ref-2"),
	    .expires = 1800000000,
	    .now = 1790000000};
	char out[1024];

	splice(&claude, SPAN(claude_file), &n, out, sizeof(out));
	is_str(out, "{\"claudeAiOauth\": {\"accessToken\": \"acc-22\",\n"
	    "  \"refreshToken\": \"ref-2\", \"expiresAt\": 1800000000000,\n"
	    "  \"scopes\": [\"x\"]}, \"mcpOAuth\": {\"accessToken\": "
	    "\"acc-1\"}}\n", "only what is new, where it stands");
	n.id = SPAN("id.1");
	splice(&codex, SPAN(codex_file), &n, out, sizeof(out));
	is_str(out, "{\"OPENAI_API_KEY\":null,\"tokens\":{\"id_token\":"
	    "\"id.1\",\"access_token\":\"acc-22\",\"refresh_token\":\"ref-2\","
	    "\"account_id\":\"acct\"},\"last_refresh\":"
	    "\"2026-09-21T14:13:20.000000Z\"}", "ID token and time, too");
}

/* Decide for one row: the tokens in use, and those in the file. */
static enum oauth_step
step(const char *have, bool rejected, const char *spent, const char *dead,
    const char *access, const char *refresh, uint64_t expires)
{
	struct oauth_have h = {.access = span_str(have),
	    .rejected = rejected,
	    .spent = span_str(spent),
	    .dead = span_str(dead),
	    .now = 1000,
	    .margin = 300};
	struct oauth_file f = {.access = span_str(access),
	    .refresh = span_str(refresh),
	    .expires = expires};

	return oauth_next(&h, &f);
}

/* A login whose file holds no access token: gcloud's. */
static void
test_bare(void)
{
	static const struct provider_login gcloud = {
	    .refresh = SPAN_INIT("refresh_token"),
	    .client_at = SPAN_INIT("client_id"),
	    .secret = SPAN_INIT("client_secret"),
	    .unit = PROVIDER_EXPIRES_NONE};
	static const char *const bad[] = {"{}",
	    "{\"refresh_token\":\"r\",\"client_id\":\"c\"}",
	    "{\"refresh_token\":\"r\",\"client_secret\":\"s\"}",
	    "{\"client_id\":\"c\",\"client_secret\":\"s\"}",
	    "{\"refresh_token\":\"\",\"client_id\":\"c\","
	    "\"client_secret\":\"s\"}",
	    "{\"refresh_token\":\"r r\",\"client_id\":\"c\","
	    "\"client_secret\":\"s\"}",
	    "{\"type\":\"service_account\",\"private_key\":\"x\"}"};
	struct oauth_have h = {.bare = true, .dead = SPAN("r0"), .now = 1000};
	struct oauth_file f;
	uint8_t dst[256];
	const char *why;
	size_t len = 0;

	is_int(oauth_parse_file(&gcloud,
		   SPAN("{\"client_id\":\"c.apps\",\"client_secret\":\"d-S\","
			"\"refresh_token\":\"1//r\",\"type\":"
			"\"authorized_user\"}"),
		   &f, &why), 0, "a file of no token");
	ok(f.access.len == 0 && f.expires == 0, "holds none");
	is_int(oauth_compose(&gcloud, &f, dst, sizeof(dst), &len), 0,
	    "what asks for one");
	is_mem_of(span_of(dst, len), SPAN("grant_type=refresh_token&"
	    "refresh_token=1%2F%2Fr&client_id=c.apps&client_secret=d-S"),
	    "names client and secret of the file");
	is_int(oauth_next(&h, &f), OAUTH_RENEW, "it is asked for");
	f.refresh = SPAN("r0");
	is_int(oauth_next(&h, &f), OAUTH_GIVE_UP, "unless it was refused");
	for (size_t i = 0; i < nitems(bad); i++)
		is_int(oauth_parse_file(&gcloud, span_str(bad[i]), &f, &why),
		    -1, "no such file: %s", bad[i]);
}

/* A login of ours, which says itself that it has ended. */
static void
test_ended(void)
{
	static const struct provider_login remote = {
	    .access = SPAN_INIT("access_token"),
	    .refresh = SPAN_INIT("refresh_token"),
	    .expires = SPAN_INIT("expires_at"),
	    .client_at = SPAN_INIT("client_id"),
	    .secret = SPAN_INIT("client_secret"),
	    .resource = SPAN_INIT("resource"),
	    .auth = SPAN_INIT("auth"),
	    .endpoint = SPAN_INIT("token_endpoint"),
	    .ended = SPAN_INIT("ended_at"),
	    .unit = PROVIDER_EXPIRES_S};
#define REMOTE(ended) "{\"access_token\":\"a\",\"refresh_token\":\"r\"," \
	"\"expires_at\":9000,\"client_id\":\"c\",\"auth\":\"none\"," \
	"\"resource\":\"https://s\",\"token_endpoint\":\"https://t\"" ended "}"
	struct oauth_have h = {.access = SPAN("a"), .rejected = true,
	    .now = 1000};
	struct span text = SPAN(REMOTE(",\"ended_at\":0")), parts[OAUTH_PARTS];
	char number[32], out[512];
	const char *why = "";
	struct oauth_file f;
	size_t n, len = 0;

	is_int(oauth_parse_file(&remote, text, &f, &why), 0, "a login of ours");
	is_int(oauth_next(&h, &f), OAUTH_RENEW, "it is renewed");
	n = oauth_splice_ended(&f, text, 1234, number, parts);
	for (size_t i = 0; i < n; i++) {
		memcpy(out + len, parts[i].p, parts[i].len);
		len += parts[i].len;
	}
	is_mem_of(span_of((uint8_t *)out, len),
	    SPAN(REMOTE(",\"ended_at\":1234")), "its end is noted");
	is_int(oauth_parse_file(&remote, span_of((uint8_t *)out, len), &f,
	    &why), 0, "and read");
	is_int(oauth_next(&h, &f), OAUTH_GIVE_UP, "by who has its token");
	h.access = SPAN("older");
	is_int(oauth_next(&h, &f), OAUTH_GIVE_UP, "and by who has another");
	is_int(oauth_parse_file(&remote, SPAN(REMOTE("")), &f, &why), 0,
	    "one without room for that");
	ok(oauth_is_over(SPAN("{\"error\":\"invalid_grant\"}")) &&
	    !oauth_is_over(SPAN("{\"error\":\"invalid_client\"}")) &&
	    !oauth_is_over(SPAN("{\"error\":{\"invalid_grant\":1}}")) &&
	    !oauth_is_over(SPAN("invalid_grant")), "only that error ends it");
	ok(!f.ended && oauth_splice_ended(&f, SPAN(REMOTE("")), 1, number,
	    parts) == 0, "stays as it is");
}

static void
test_steps(void)
{
	is_int(step("a", false, "", "", "a", "r", 2000), OAUTH_KEEP,
	    "ours, and good");
	is_int(step("a", false, "", "", "a", "r", 0), OAUTH_KEEP,
	    "ours, without an end");
	is_int(step("a", false, "", "", "a", "r", 1200), OAUTH_RENEW,
	    "ours, in its last minutes");
	is_int(step("a", true, "", "", "a", "r", 2000), OAUTH_RENEW,
	    "ours, rejected");
	is_int(step("a", true, "", "", "b", "r", 2000), OAUTH_ADOPT,
	    "another's");
	is_int(step("a", false, "", "", "b", "r", 1005), OAUTH_RENEW,
	    "another's, which ends now");
	is_int(step("b", true, "r1", "", "a", "r1", 9000), OAUTH_STORE,
	    "the file is behind: what was spent is not spent again");
	is_int(step("b", false, "r1", "", "c", "r2", 9000), OAUTH_ADOPT,
	    "the file is ahead");
	is_int(step("a", true, "", "r", "a", "r", 2000), OAUTH_GIVE_UP,
	    "refused, and still the same");
	is_int(step("a", true, "", "r", "b", "r", 2000), OAUTH_GIVE_UP,
	    "refused, whatever the access token");
	is_int(step("a", true, "", "r", "b", "r2", 2000), OAUTH_ADOPT,
	    "a new login after one that was refused");
	is_int(step("a", true, "", "", "a", "", 2000), OAUTH_GIVE_UP,
	    "no refresh token");
	ok(oauth_margin(0) == 300 && oauth_margin(28800) == 300 &&
	    oauth_margin(600) == 150 && oauth_margin(2) == 0,
	    "five minutes; less for what lives less");
}

static void
test_resource(void)
{
	static const struct {
		const char *url, *host;
		uint16_t port;
		const char *path, *query;
		bool is;
	} rows[] = {
	    {"https://a.com/mcp", "a.com", 443, "/mcp", "", true},
	    {"https://A.com:443/mcp/", "a.com", 443, "/mcp", "", true},
	    {"https://a.com", "a.com", 443, "", "", true},
	    {"https://a.com/", "a.com", 443, "", "", true},
	    {"https://a.com:8443/mcp?x=1", "a.com", 8443, "/mcp", "x=1", true},
	    {"https://[::1]:8443/mcp", "::1", 8443, "/mcp", "", true},
	    {"https://a.com/mcp?x=1", "a.com", 443, "/mcp", "", false},
	    {"https://a.com/mcp", "a.com", 443, "/mcp", "x=1", false},
	    {"https://a.com/MCP", "a.com", 443, "/mcp", "", false},
	    /* The whole host, which icctl takes only from its own document. */
	    {"https://a.com", "a.com", 443, "/mcp", "", true},
	    {"https://a.com/", "a.com", 443, "/mcp", "", true},
	    {"https://a.com?x", "a.com", 443, "/mcp", "", false},
	    {"https://a.com/m", "a.com", 443, "/m/cp", "", false},
	    {"https://a.com/mcp", "a.com", 443, "", "", false},
	    {"https://a.com:8443/mcp", "a.com", 443, "/mcp", "", false},
	    {"https://a.com/mcp", "a.com", 8443, "/mcp", "", false},
	    {"https://a.com:/mcp", "a.com", 443, "/mcp", "", false},
	    {"https://a.com.evil.com", "a.com", 443, "", "", false},
	    {"https://a.com@evil.com", "a.com", 443, "", "", false},
	    {"https://b.com/mcp", "a.com", 443, "/mcp", "", false},
	    {"http://a.com/mcp", "a.com", 443, "/mcp", "", false},
	    {"", "a.com", 443, "", "", false},
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ok(oauth_is_resource(span_str(rows[i].url), rows[i].host,
		       rows[i].port, span_str(rows[i].path),
		       span_str(rows[i].query)) == rows[i].is,
		    "resource: %s at %s:%u%s?%s", rows[i].url, rows[i].host,
		    (unsigned)rows[i].port, rows[i].path, rows[i].query);
}

int
main(void)
{
	test_resource();
	test_files();
	test_bad_files();
	test_jwt();
	test_answers();
	test_request();
	test_splice();
	test_ended();
	test_steps();
	test_bare();
	return tap_done();
}
