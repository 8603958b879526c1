/* SPDX-License-Identifier: ISC */
/*
 * The shipped files of Bedrock and Vertex, with a region and a project filled
 * in as icsupervisor does: the paths and host of each route, and that every
 * signed request announces its digest. argv[1]: the directory of the files.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "mitmd/provider/check.h"
#include "mitmd/provider/provider.h"
#include "tap.h"

#define RG "us-west-2"
#define ARN "arn:aws:bedrock:" RG ":123456789012:"
#define MODEL "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
#define V "/v1/projects/proj-1/locations/" RG "/publishers/"

struct row {
	unsigned host;
	const char *text;
	enum provider_result want;
};

static const struct row bedrock_rows[] = {
    {0, "POST /model/" MODEL "/invoke", PROVIDER_OK},
    {0, "POST /model/us.anthropic.claude-opus-5-5/invoke-with-response-stream",
	PROVIDER_OK},
    {0, "POST /model/us.anthropic.claude-x-v1%3A0/invoke", PROVIDER_OK},
    {0, "POST /model/" ARN "application-inference-profile%2Fabcd1234/invoke",
	PROVIDER_OK},
    {0, "POST /model/arn%3Aaws%3Abedrock%3A" RG "%3A123456789012%3A"
	"inference-profile%2F" MODEL "/converse", PROVIDER_OK},
    {0, "POST /model/arn:aws:bedrock:" RG "::foundation-model%2Fanthropic."
	"claude-x/converse-stream", PROVIDER_OK},
    {0, "POST /model/arn:aws-us-gov:bedrock:" RG ":123456789012:"
	"provisioned-model%2Fabc/count-tokens", PROVIDER_OK},
    {1, "GET /inference-profiles", PROVIDER_OK},
    {1, "GET /inference-profiles?type=SYSTEM_DEFINED&maxResults=1000",
	PROVIDER_OK},
    {1, "GET /inference-profiles/arn%3Aaws%3Abedrock%3A" RG
	"%3A123456789012%3Aapplication-inference-profile%2Fabcd1234",
	PROVIDER_OK},
    {1, "GET /foundation-models/anthropic.claude-x", PROVIDER_OK},
    /* other hosts, methods, operations */
    {1, "POST /model/" MODEL "/invoke", PROVIDER_NO_ROUTE},
    {0, "GET /inference-profiles", PROVIDER_NO_ROUTE},
    {0, "GET /model/" MODEL "/invoke", PROVIDER_NO_METHOD},
    {0, "POST /model/" MODEL "/invoke?x=1", PROVIDER_NO_PARAM},
    {1, "GET /inference-profiles?type=X", PROVIDER_NO_PARAM},
    {0, "POST /model/" MODEL "/invoke-with-bidirectional-stream",
	PROVIDER_NO_ROUTE},
    {0, "POST /model/" MODEL "/async-invoke", PROVIDER_NO_ROUTE},
    {0, "POST /async-invoke", PROVIDER_NO_ROUTE},
    {0, "POST /guardrail/a/version/1/apply", PROVIDER_NO_ROUTE},
    {0, "POST /agents/a/agentAliases/b/sessions/c/text", PROVIDER_NO_ROUTE},
    {0, "POST /retrieveAndGenerate", PROVIDER_NO_ROUTE},
    {1, "POST /model-customization-jobs", PROVIDER_NO_ROUTE},
    {1, "DELETE /inference-profiles/x", PROVIDER_NO_METHOD},
    {0, "POST /model/invoke", PROVIDER_NO_ROUTE},
    {0, "POST /model/a/b/invoke", PROVIDER_NO_ROUTE},
    /* escapes other than those two */
    {0, "POST /model/a%3a0/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%2f0/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%253A0/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%3/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%3A%/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%00/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%20b/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/%61/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%5Cb/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a%25/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a@b/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a+b/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/a;b/invoke", PROVIDER_BAD_PATH},
    /* a slash outside an ARN, or an ARN of something else */
    {0, "POST /model/a%2Fb/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/..%2F..%2Fx/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/%2F/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/" ARN "inference-profile%2F../invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/" ARN "inference-profile%2F./invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/" ARN "inference-profile%2F/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/" ARN "inference-profile%2Fa%2Fb/invoke",
	PROVIDER_BAD_PATH},
    {0, "POST /model/" ARN "prompt%2Fabc/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/" ARN "%2Fabc/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/arn:aws:bedrock:us-east-1:123456789012:"
	"inference-profile%2Fa/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/arn:aws:bedrock::123456789012:inference-profile%2Fa/"
	"invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/arn:aws:s3:" RG ":123456789012:inference-profile%2Fa/"
	"invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/arn:aws:bedrock:" RG ":12345678901:inference-profile%2Fa/"
	"invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/arn:aws:bedrock:" RG ":12345678901x:inference-profile%2Fa"
	"/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/arn:evil:bedrock:" RG ":123456789012:inference-profile"
	"%2Fa/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/x" ARN "inference-profile%2Fa/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/../model/a/invoke", PROVIDER_BAD_PATH},
    {0, "POST /model//invoke", PROVIDER_BAD_PATH},
    {0, "POST /model/%2E%2E/invoke", PROVIDER_BAD_PATH},
};

static const struct row vertex_rows[] = {
    {0, "POST " V "anthropic/models/claude-x@20250514:streamRawPredict",
	PROVIDER_OK},
    {0, "POST " V "anthropic/models/claude-opus-5-5:rawPredict", PROVIDER_OK},
    {0, "POST " V "google/models/gemini-2.5-pro:generateContent", PROVIDER_OK},
    {0, "POST " V "google/models/gemini-x@001:streamGenerateContent?alt=sse",
	PROVIDER_OK},
    {0, "POST " V "google/models/gemini:streamGenerateContent?alt=json",
	PROVIDER_NO_PARAM},
    {0, "GET " V "anthropic/models/claude-x@1:rawPredict",
	PROVIDER_NO_METHOD},
    {0, "POST " V "anthropic/models/claude-x@1:predict", PROVIDER_NO_ROUTE},
    {0, "POST " V "anthropic/models/:rawPredict", PROVIDER_NO_ROUTE},
    {0, "POST " V "meta/models/llama:rawPredict", PROVIDER_NO_ROUTE},
    {0, "POST " V "google/models/gemini:predictLongRunning",
	PROVIDER_NO_ROUTE},
    {0, "POST /v1/projects/proj-2/locations/" RG
	"/publishers/anthropic/models/a:rawPredict", PROVIDER_NO_ROUTE},
    {0, "POST /v1/projects/proj-1/locations/us-east1"
	"/publishers/anthropic/models/a:rawPredict", PROVIDER_NO_ROUTE},
    {0, "POST " V "anthropic/models/a@b@c:rawPredict", PROVIDER_BAD_PATH},
    {0, "POST " V "anthropic/models/@b:rawPredict", PROVIDER_BAD_PATH},
    {0, "POST " V "anthropic/models/a@/x", PROVIDER_BAD_PATH},
    {0, "POST " V "anthropic/models/a%40b:rawPredict", PROVIDER_BAD_PATH},
    {0, "POST " V "anthropic/models/a%3Ab:rawPredict", PROVIDER_BAD_PATH},
    /* A name that begins with dots is not a dot segment. */
    {0, "POST " V "anthropic/models/..:rawPredict", PROVIDER_OK},
    {0, "POST " V "../models/a:rawPredict", PROVIDER_BAD_PATH},
};

/* Fill in the parameters like providers_params.c. */
static struct span
fill(struct buf *b, const char *dir, const char *name)
{
	static const char *const words[][2] = {
	    {"{region}", RG}, {"{project}", "proj-1"}};
	char path[4096], *text = NULL, *p, *end;
	size_t cap = 0, n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.json", dir, name);
	if ((f = fopen(path, "re")) == NULL ||
	    getdelim(&text, &cap, '\0', f) == -1)
		exit(99);
	fclose(f);
	/* "parameters" is for icsupervisor only, which removes it. */
	if ((p = strstr(text, "  \"parameters\"")) != NULL) {
		end = strstr(p, "\n  },\n");
		memmove(p, end + 6, strlen(end + 6) + 1);
	}
	for (p = text; *p != '\0';) {
		n = 0;
		for (size_t i = 0; i < 2; i++) {
			if (strncmp(p, words[i][0], strlen(words[i][0])) != 0)
				continue;
			n = strlen(words[i][0]);
			buf_adds(b, words[i][1]);
		}
		if (n == 0)
			buf_addc(b, (uint8_t)*p++);
		p += n;
	}
	free(text);
	return buf_span(b);
}

static void
test_rows(const struct provider *p, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *space = strchr(rows[i].text, ' ');
		const char *mark = strchr(rows[i].text, '?');
		struct span method = span_of(
		    rows[i].text, (size_t)(space - rows[i].text));
		struct span path = span_str(space + 1), query = {NULL, 0};
		enum provider_result r, want = rows[i].want;
		unsigned route = 0;

		if (mark != NULL) {
			path.len = (size_t)(mark - space - 1);
			query = span_str(mark + 1);
		}
		r = provider_match(
		    p, rows[i].host, method, path, query, &route);
		is_int(r, want, "%s", rows[i].text);
		if (r == PROVIDER_OK)
			is_int(provider_match_route(
				   p, route, rows[i].host, path, query),
			    PROVIDER_OK, "... and keyd's check agrees");
	}
}

static struct provider *
load(struct buf *b, const char *dir, const char *name)
{
	struct provider *p;
	char err[256];

	buf_reset(b, 1U << 20);
	p = provider_parse(fill(b, dir, name), err, sizeof(err));
	ok(p != NULL, "%s: loads (%s)", name, p == NULL ? err : "");
	return p;
}

/* The parts of the files that icsupervisor uses. */
static void
test_facts(struct buf *b, const char *dir)
{
	const struct provider_place *l;
	struct provider_facts f;
	char err[256];

	buf_reset(b, 1U << 20);
	if (provider_facts_read(
		&f, fill(b, dir, "bedrock"), err, sizeof(err)) == -1)
		errx(1, "bedrock: %s", err);
	ok(span_is(f.name, "bedrock") && f.nhosts != 0 && f.parts != NULL &&
		span_is(f.parts[0], "AWS_ACCESS_KEY_ID") &&
		span_is(f.parts[2], "AWS_SESSION_TOKEN"),
	    "bedrock: the variables of a key in parts");
	provider_facts_free(&f);
	buf_reset(b, 1U << 20);
	if (provider_facts_read(
		&f, fill(b, dir, "anthropic"), err, sizeof(err)) == -1)
		errx(1, "anthropic: %s", err);
	ok(f.parts == NULL && f.nlogins == 2, "anthropic: two logins");
	l = f.logins[0];
	ok(span_is(l->name, "claude-code") &&
		span_is(l->file, "~/.claude/.credentials.json") &&
		l->ndirs == 1 && span_is(l->dirs[0][0], "CLAUDE_CONFIG_DIR") &&
		span_is(l->dirs[0][1], ".credentials.json"),
	    "anthropic: where the login is");
	ok(l->url.len != 0 && l->sentinel.len != 0 && l->nlocks[0] == 2 &&
		l->nlocks[1] == 0,
	    "anthropic: its endpoint, placeholder and lock");
	provider_facts_free(&f);
	ok(provider_facts_read(&f, SPAN("{}"), err, sizeof(err)) == -1 &&
		strncmp(err, "file:", 5) != 0,
	    "a file that is none: %s", err);
}

int
main(int argc, char **argv)
{
	struct provider *p;
	bool digests = true;
	struct buf b;
	char err[256];

	if (argc != 2)
		return 99;
	buf_init(&b, 1U << 20);
	if ((p = load(&b, argv[1], "bedrock")) != NULL) {
		ok(span_is(p->hosts[0], "bedrock-runtime." RG ".amazonaws.com"),
		    "bedrock: the region is in its host");
		ok(span_is(p->sigv4.region, RG) &&
			span_is(p->sigv4.service, "bedrock"),
		    "bedrock: and in what is signed");
		for (unsigned i = 0; i < p->nroutes; i++)
			digests = digests && provider_is_digested(&p->routes[i]);
		ok(digests, "bedrock: every route announces a digest");
		test_rows(p, bedrock_rows,
		    nitems(bedrock_rows));
	}
	provider_free(p);
	if ((p = load(&b, argv[1], "vertex")) != NULL) {
		ok(span_is(p->hosts[0], RG "-aiplatform.googleapis.com"),
		    "vertex: the region is in its host");
		is_int(p->logins[0].unit, PROVIDER_EXPIRES_NONE,
		    "vertex: its login holds no token");
		test_rows(p, vertex_rows,
		    nitems(vertex_rows));
	}
	provider_free(p);
	/* A placeholder that was not filled in permits nothing. */
	buf_reset(&b, 1U << 20);
	buf_adds(&b, "{\"name\":\"x\",\"host\":\"{region}.example.com\","
		     "\"credential\":{\"env\":\"A\",\"sentinel\":\"a\","
		     "\"headers\":[{\"name\":\"authorization\"}]},"
		     "\"requestHeaders\":[],\"responseHeaders\":[],"
		     "\"routes\":[{\"method\":\"GET\",\"path\":\"/a\"}]}");
	p = provider_parse(buf_span(&b), err, sizeof(err));
	ok(p == NULL, "a name that was not put in does not load: %s", err);
	provider_free(p);
	test_facts(&b, argv[1]);
	buf_free(&b);
	return tap_done();
}
