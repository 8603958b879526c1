/* SPDX-License-Identifier: ISC */
/*
 * Signature Version 4: requests and signatures of the published suite, parsing
 * of an agent's signature, and, with --sign, requests from test_sigv4.py, which
 * compares them with its own implementation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mitmd/wire/sigv4.h"
#include "tap.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define DATE "20150830T123600Z"
#define F(n, v) {{(const uint8_t *)(n), sizeof(n) - 1}, \
	{(const uint8_t *)(v), sizeof(v) - 1}}

static const struct sigv4_key suite_key = {
    .id = {(const uint8_t *)"AKIDEXAMPLE", 11},
    .secret = {(const uint8_t *)"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 40}};
static const struct sigv4_scope suite_scope = {
    .region = {(const uint8_t *)"us-east-1", 9},
    .service = {(const uint8_t *)"service", 7}};

static const struct {
	const char *name, *method, *path, *query, *body, *signed_headers, *want;
	struct sigv4_field fields[4];
	unsigned nfields;
} suite[] = {
    {"get-vanilla", "GET", "/", "", EMPTY, "host;x-amz-date",
	"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
	{F("host", "example.amazonaws.com"), F("x-amz-date", DATE)}, 2},
    {"post-vanilla", "POST", "/", "", EMPTY, "host;x-amz-date",
	"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
	{F("x-amz-date", DATE), F("host", "example.amazonaws.com")}, 2},
    {"get-vanilla-query-order-key-case", "GET", "/",
	"Param2=value2&Param1=value1", EMPTY, "host;x-amz-date",
	"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
	{F("host", "example.amazonaws.com"), F("x-amz-date", DATE)}, 2},
    {"get-header-value-trim", "GET", "/", "", EMPTY,
	"host;my-header1;my-header2;x-amz-date",
	"acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
	{F("my-header2", "  \"a   b   c\" "), F("my-header1", " value1"),
	    F("host", "example.amazonaws.com"), F("x-amz-date", DATE)},
	4},
    {"post-x-www-form-urlencoded", "POST", "/", "",
	"9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e",
	"content-type;host;x-amz-date",
	"ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
	{F("content-type", "application/x-www-form-urlencoded"),
	    F("host", "example.amazonaws.com"), F("x-amz-date", DATE)},
	3},
};

static void
test_suite(void)
{
	char want[512];
	uint8_t out[512];
	size_t len;

	for (size_t i = 0; i < nitems(suite); i++) {
		struct sigv4_request r = {.method = span_str(suite[i].method),
		    .path = span_str(suite[i].path),
		    .query = span_str(suite[i].query),
		    .fields = suite[i].fields,
		    .nfields = suite[i].nfields,
		    .date = DATE,
		    .body = suite[i].body};

		len = 0;
		is_int(sigv4_sign(&suite_key, &suite_scope, &r, out,
			   sizeof(out), &len),
		    0, "%s: signed", suite[i].name);
		snprintf(want, sizeof(want),
		    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/"
		    "us-east-1/service/aws4_request, SignedHeaders=%s, "
		    "Signature=%s",
		    suite[i].signed_headers, suite[i].want);
		is_mem(out, len, want, strlen(want), "%s", suite[i].name);
		ok(sigv4_sign(&suite_key, &suite_scope, &r, out, len - 1,
		       &len) == -1 && errno == ENOBUFS,
		    "%s: one byte less is too little", suite[i].name);
	}
}

static void
test_limits(void)
{
	static struct sigv4_field many[SIGV4_MAX_FIELDS + 1];
	struct sigv4_request r = {.method = SPAN("GET"),
	    .path = SPAN("/"),
	    .fields = many,
	    .nfields = SIGV4_MAX_FIELDS + 1,
	    .date = DATE,
	    .body = EMPTY};
	char query[4 * (SIGV4_MAX_PARAMS + 1) + 1], date[SIGV4_DATE];
	uint8_t out[512];
	size_t len;

	for (size_t i = 0; i <= SIGV4_MAX_FIELDS; i++)
		many[i] = (struct sigv4_field){SPAN("a"), SPAN("b")};
	ok(sigv4_sign(&suite_key, &suite_scope, &r, out, sizeof(out), &len) ==
		-1 && errno == EINVAL,
	    "too many fields");
	r.nfields = 1;
	for (size_t i = 0; i <= SIGV4_MAX_PARAMS; i++)
		memcpy(query + 4 * i, "a=b&", 4);
	query[sizeof(query) - 1] = '\0';
	r.query = span_str(query);
	ok(sigv4_sign(&suite_key, &suite_scope, &r, out, sizeof(out), &len) ==
		-1 && errno == EINVAL,
	    "too many parameters");
	ok(sigv4_date(1440938160, date) == 0, "a date");
	is_str(date, DATE, "as the scheme writes it");
	is_int(sigv4_date(UINT64_MAX, date), -1, "no date is that late");
}

static void
test_claimed(void)
{
	static const struct sigv4_scope scope = {
	    .region = {(const uint8_t *)"us-west-2", 9},
	    .service = {(const uint8_t *)"bedrock", 7}};
	static const char *const none[] = {"", "Bearer AKID",
	    "AWS4-HMAC-SHA256 Credential=", "AWS4-HMAC-SHA256 Credential=AKID",
	    "AWS4-HMAC-SHA256 Credential=AKID/20261122/us-west-2/bedrock/"
	    "aws4_request",
	    "AWS4-HMAC-SHA256 Credential=/20261122/us-west-2/bedrock/"
	    "aws4_request, SignedHeaders=host, Signature=00",
	    "AWS4-HMAC-SHA256 Credential=AKID/20261122/us-east-1/bedrock/"
	    "aws4_request, SignedHeaders=host, Signature=00",
	    "AWS4-HMAC-SHA256 Credential=AKID/20261122/us-west-2/s3/"
	    "aws4_request, SignedHeaders=host, Signature=00",
	    "AWS4-HMAC-SHA256 Credential=AKID/2026112/us-west-2/bedrock/"
	    "aws4_request, SignedHeaders=host, Signature=00",
	    "AWS4-HMAC-SHA256 Credential=AKID/20261122/us-west-2/bedrock/"
	    "aws5_request, SignedHeaders=host, Signature=00",
	    "AWS4-HMAC-SHA512 Credential=AKID/20261122/us-west-2/bedrock/"
	    "aws4_request, SignedHeaders=host, Signature=00",
	    "aws4-hmac-sha256 Credential=AKID/20261122/us-west-2/bedrock/"
	    "aws4_request, SignedHeaders=host, Signature=00",
	    "AWS4-HMAC-SHA256 SignedHeaders=host, Credential=AKID/20261122/"
	    "us-west-2/bedrock/aws4_request, Signature=00",
	    "AWS4-HMAC-SHA256  Credential=AKID/20261122/us-west-2/bedrock/"
	    "aws4_request, SignedHeaders=host, Signature=00"};
	struct span id;

	id = sigv4_claimed(
	    SPAN("AWS4-HMAC-SHA256 Credential=AKID/20261122/us-west-2/"
		 "bedrock/aws4_request, SignedHeaders=host, Signature=00"),
	    &scope);
	ok(span_is(id, "AKID"), "the key's id");
	for (size_t i = 0; i < nitems(none); i++)
		ok(sigv4_claimed(span_str(none[i]), &scope).p == NULL,
		    "none: %s", none[i]);
}

/*
 * Sign each line of standard input: id, secret, region, service, method,
 * prefix, path, query, date, body, and pairs of name and value, separated by
 * tabs.
 */
static int
sign_lines(void)
{
	static struct sigv4_field fields[SIGV4_MAX_FIELDS];
	static uint8_t out[65536];
	char *line = NULL, *p, *part[11 + 2 * SIGV4_MAX_FIELDS];
	size_t cap = 0, len;
	unsigned n;

	while (getline(&line, &cap, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		p = line;
		for (n = 0; n < 11 + 2 * SIGV4_MAX_FIELDS; n++)
			if ((part[n] = strsep(&p, "\t")) == NULL)
				break;
		struct sigv4_key key = {.id = span_str(part[0]),
		    .secret = span_str(part[1])};
		struct sigv4_scope scope = {.region = span_str(part[2]),
		    .service = span_str(part[3])};
		struct sigv4_request r = {.method = span_str(part[4]),
		    .prefix = span_str(part[5]),
		    .path = span_str(part[6]),
		    .query = span_str(part[7]),
		    .date = part[8],
		    .body = part[9],
		    .fields = fields};

		for (unsigned i = 10; i + 1 < n; i += 2)
			fields[r.nfields++] = (struct sigv4_field){
			    span_str(part[i]), span_str(part[i + 1])};
		if (sigv4_sign(&key, &scope, &r, out, sizeof(out), &len) == -1)
			return 1;
		printf("%.*s\n", (int)len, (const char *)out);
	}
	free(line);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--sign") == 0)
		return sign_lines();
	test_suite();
	test_limits();
	test_claimed();
	return tap_done();
}
