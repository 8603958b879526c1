/* SPDX-License-Identifier: ISC */
/* The forms of AWS credentials: the result of each, and malformed ones. */
#include "mitmd/keyd/login/aws.h"
#include "tap.h"

#define KEYS "\"AccessKeyId\":\"ASIAIOSFODNN7EXAMPLE\",\"SecretAccessKey\":" \
	"\"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\""

static const struct {
	const char *name, *text;
	enum aws_form form;
	const char *id, *secret, *token;
	uint64_t expires;
} good[] = {
    {"credential_process", "{\"Version\":1," KEYS ",\"SessionToken\":\"tok\","
	"\"Expiration\":\"2026-11-22T05:10:00Z\"}", AWS_KEYS,
	"ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	"tok", 1795324200},
    {"with spaces and fractions", " \n{ \"Version\" : 1 ,\n " KEYS
	", \"Expiration\": \"2026-11-22T05:10:00.125+00:00\" }", AWS_KEYS,
	"ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "",
	1795324200},
    {"null and empty are absent", "{\"Version\":1," KEYS
	",\"SessionToken\":\"\",\"Expiration\":null}", AWS_KEYS,
	"ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "",
	0},
    {"a credentials file", "# mine\n[work]\naws_access_key_id=NO\n"
	"aws_secret_access_key=NO\n[default]\r\naws_access_key_id = AKIA1\r\n"
	" aws_secret_access_key=a/b+c= \nregion = us-west-2\n"
	"aws_session_token=t\n; end\n[later]\naws_access_key_id = NO", AWS_KEYS,
	"AKIA1", "a/b+c=", "t", 0},
    {"a Bedrock API key", "bedrock-api-key-YmVk==", AWS_API_KEY, "", "", "", 0},
};

static const struct {
	const char *text, *why;
} bad[] = {
    {"{", "begins like JSON and is no object"},
    {"{}", "is JSON without \"Version\": 1"},
    {"{\"Version\":2," KEYS "}", "is JSON without \"Version\": 1"},
    {"{\"Version\":1," KEYS "," KEYS "}", "begins like JSON and is no object"},
    {"{\"Version\":1,\"AccessKeyId\":\"A\"}", "holds no secret access key"},
    {"{\"Version\":1,\"SecretAccessKey\":\"A\"}", "holds no access key id"},
    {"{\"Version\":1,\"AccessKeyId\":\"A/B\",\"SecretAccessKey\":\"s\"}",
	"holds no access key id"},
    {"{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"a\\/b\"}",
	"holds a member that is no plain text"},
    {"{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":7}",
	"holds a member that is no plain text"},
    {"{\"Version\":1," KEYS ",\"SessionToken\":\"a b\"}",
	"holds a session token that is none"},
    {"{\"Version\":1," KEYS ",\"Expiration\":\"tomorrow\"}",
	"holds an Expiration that is no time in UTC"},
    {"{\"Version\":1," KEYS ",\"Expiration\":\"2026-11-22T05:10:00+01:00\"}",
	"holds an Expiration that is no time in UTC"},
    {"{\"Version\":1," KEYS ",\"Expiration\":\"2026-13-22T05:10:00Z\"}",
	"holds an Expiration that is no time in UTC"},
    {"[other]\naws_access_key_id=A\naws_secret_access_key=b", "has no section "
	"[default]; another profile can be had by the command aws configure "
	"export-credentials --profile NAME"},
    {"[default]\naws_access_key_id=A", "holds no secret access key"},
    {"[default]\naws_access_key_id=A\naws_access_key_id=B\n"
	"aws_secret_access_key=c", "names a key twice in [default]"},
    {"[default]\naws_access_key_id=A\n[default]\naws_secret_access_key=c",
	"has two sections [default]"},
    {"[default]", "holds no access key id"},
    {"a\nb", "has no section [default]; another profile can be had by the "
	"command aws configure export-credentials --profile NAME"},
};

static void
is_span(struct span got, const char *want, const char *name, const char *what)
{
	is_mem(got.p == NULL ? (const uint8_t *)"" : got.p, got.len, want,
	    strlen(want), "%s: %s", name, what);
}

int
main(void)
{
	struct aws_key k;
	const char *why;

	for (size_t i = 0; i < nitems(good); i++) {
		why = "";
		is_int(aws_parse(span_str(good[i].text), &k, &why),
		    good[i].form, "%s: its form (%s)", good[i].name, why);
		is_span(k.id, good[i].id, good[i].name, "id");
		is_span(k.secret, good[i].secret, good[i].name, "secret");
		is_span(k.token, good[i].token, good[i].name, "token");
		is_int(k.expires, good[i].expires, "%s: until when",
		    good[i].name);
	}
	for (size_t i = 0; i < nitems(bad); i++) {
		why = "";
		is_int(aws_parse(span_str(bad[i].text), &k, &why), AWS_BAD,
		    "refused: row %zu", i);
		is_str(why, bad[i].why, "and why");
	}
	return tap_done();
}
