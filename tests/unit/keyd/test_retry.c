/* SPDX-License-Identifier: ISC */
/* The time at which a provider takes requests again, from the heads of a 429. */
#include <stdlib.h>

#include "mitmd/keyd/answer.h"
#include "mitmd/keyd/retry.h"
#include "tap.h"

#define NOW 1795320000 /* Sun, 22 Nov 2026 04:00:00 GMT */
#define AFTER "Retry-After: "
#define A "anthropic-ratelimit-"
#define X "x-ratelimit-"

static const struct {
	const char *name, *headers;
	uint32_t want;
} rows[] = {
    {"no header", "", 0},
    {"seconds", AFTER "3600\r\n", 3600},
    {"at once", AFTER "0\r\n", 0},
    {"31 days", AFTER "2678400\r\n", 2678400},
    {"one second more", AFTER "2678401\r\n", 0},
    {"more than 64 bits", AFTER "99999999999999999999999\r\n", 0},
    {"signed", AFTER "-5\r\n", 0},
    {"with a fraction", AFTER "1.5\r\n", 0},
    {"a word", AFTER "tomorrow\r\n", 0},
    {"empty", AFTER "\r\n", 0},
    {"twice", AFTER "5\r\n" AFTER "5\r\n", 0},
    {"a date", AFTER "Sun, 22 Nov 2026 05:00:00 GMT\r\n", 3600},
    {"a date that is over", AFTER "Sun, 22 Nov 2026 03:59:59 GMT\r\n", 0},
    {"a date in 31 days", AFTER "Wed, 23 Dec 2026 04:00:00 GMT\r\n", 2678400},
    {"a second more", AFTER "Wed, 23 Dec 2026 04:00:01 GMT\r\n", 0},
    {"a date far ahead", AFTER "Fri, 31 Dec 9999 23:59:59 GMT\r\n", 0},
    {"an obsolete form", AFTER "Sunday, 22-Nov-26 05:00:00 GMT\r\n", 0},
    {"the other one", AFTER "Sun Nov 22 05:00:00 2026\r\n", 0},
    {"a date is counted from the provider's own",
	"Date: Mon, 23 Nov 2026 04:00:00 GMT\r\n" AFTER
	"Mon, 23 Nov 2026 04:00:07 GMT\r\n", 7},
    {"of two of those, from neither",
	"Date: Mon, 23 Nov 2026 04:00:00 GMT\r\n"
	"Date: Mon, 23 Nov 2026 04:00:00 GMT\r\n" AFTER
	"Sun, 22 Nov 2026 04:00:09 GMT\r\n", 9},
    {"one that is none is as absent", "Date: now\r\n" AFTER
	"Sun, 22 Nov 2026 04:00:08 GMT\r\n", 8},

    {"Anthropic: requests", A "requests-remaining: 0\r\n" A
	"requests-reset: 2026-11-22T04:00:30Z\r\n", 30},
    {"tokens", A "tokens-remaining: 0\r\n" A
	"tokens-reset: 2026-11-22T04:00:31Z\r\n", 31},
    {"input", A "input-tokens-remaining: 0\r\n" A
	"input-tokens-reset: 2026-11-22T05:00:32+01:00\r\n", 32},
    {"output", A "output-tokens-remaining: 0\r\n" A
	"output-tokens-reset: 2026-11-22T04:00:33Z\r\n", 33},
    {"in capitals", "ANTHROPIC-RateLimit-Requests-Remaining: 0\r\n"
	"Anthropic-RATELIMIT-Requests-Reset: 2026-11-22T04:00:34Z\r\n", 34},
    {"some remain", A "requests-remaining: 1\r\n" A
	"requests-reset: 2026-11-22T04:00:30Z\r\n", 0},
    {"nothing says how many remain", A
	"requests-reset: 2026-11-22T04:00:30Z\r\n", 0},
    {"what remains of another limit", A "tokens-remaining: 0\r\n" A
	"requests-reset: 2026-11-22T04:00:30Z\r\n", 0},
    {"the longest of those that are used up",
	A "requests-remaining: 0\r\n" A
	"requests-reset: 2026-11-22T04:00:30Z\r\n" A
	"tokens-remaining: 0\r\n" A
	"tokens-reset: 2026-11-22T04:02:00Z\r\n" A
	"input-tokens-remaining: 9\r\n" A
	"input-tokens-reset: 2026-11-22T04:09:00Z\r\n", 120},
    {"too far ahead", A "requests-remaining: 0\r\n" A
	"requests-reset: 2027-11-22T04:00:30Z\r\n", 0},
    {"no time", A "requests-remaining: 0\r\n" A
	"requests-reset: 2026-11-31T04:00:30Z\r\n", 0},
    {"subscription", A "unified-reset: 1795338000\r\n", 18000},
    {"rejected", A "unified-status: rejected\r\n" A
	"unified-reset: 1795338000\r\n", 18000},
    {"its limit is not the reason", A "unified-status: allowed\r\n" A
	"unified-reset: 1795338000\r\n", 0},
    {"nor then", A "unified-status: allowed_warning\r\n" A
	"unified-reset: 1795338000\r\n", 0},
    {"over", A "unified-reset: 3\r\n", 0},
    {"31 days ahead", A "unified-reset: 1797998400\r\n", 2678400},
    {"beyond", A "unified-reset: 1797998401\r\n", 0},
    {"milliseconds", A "unified-reset: 1795338000000\r\n", 0},
    {"the largest", A "unified-reset: 18446744073709551615\r\n", 0},
    {"signed", A "unified-reset: -1795338000\r\n", 0},

    {"OpenAI: minutes", X "remaining-requests: 0\r\n" X
	"reset-requests: 6m0s\r\n", 360},
    {"a second", X "remaining-tokens: 0\r\n" X "reset-tokens: 1s\r\n", 1},
    {"less, rounded up", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 250ms\r\n", 1},
    {"a fraction", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 2m59.56s\r\n", 180},
    {"hours and days", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 1d2h3m4s5ms\r\n", 93785},
    {"31 days", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 744h\r\n", 2678400},
    {"more", X "remaining-tokens: 0\r\n" X "reset-tokens: 744h1ms\r\n", 0},
    {"no unit", X "remaining-tokens: 0\r\n" X "reset-tokens: 60\r\n", 0},
    {"no number", X "remaining-tokens: 0\r\n" X "reset-tokens: s\r\n", 0},
    {"a unit twice", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 1s1s\r\n", 0},
    {"units in another order", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 1s1m\r\n", 0},
    {"after a fraction", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 1.5m1s\r\n", 0},
    {"no digit after the point", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 1.s\r\n", 0},
    {"ten digits", X "remaining-tokens: 0\r\n" X
	"reset-tokens: 1000000000ms\r\n", 0},
    {"a space", X "remaining-tokens: 0\r\n" X "reset-tokens: 1s 1ms\r\n", 0},
    {"a sign", X "remaining-tokens: 0\r\n" X "reset-tokens: -1s\r\n", 0},
    {"empty", X "remaining-tokens: 0\r\n" X "reset-tokens: \r\n", 0},
    {"some remain", X "remaining-tokens: 4\r\n" X "reset-tokens: 1s\r\n", 0},
    {"unknown how many", X "remaining-tokens: -1\r\n" X
	"reset-tokens: 1s\r\n", 0},

    {"Retry-After comes first", AFTER "5\r\n" A "unified-reset: 1795338000\r\n",
	5},
    {"and says at once", AFTER "0\r\n" A "unified-reset: 1795338000\r\n", 0},
    {"unless it cannot be read",
	AFTER "soon\r\n" A "unified-reset: 1795338000\r\n", 18000},
};

static void
test_heads(void)
{
	char text[2048];
	static struct http1_head h;

	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(text, sizeof(text), "HTTP/1.1 429 No\r\n%s\r\n",
		    rows[i].headers);
		if (http1_response(span_str(text), &h) != HTTP1_OK)
			ok(false, "%s: the head is good", rows[i].name);
		else
			is_int(retry_seconds(&h, NOW), rows[i].want, "%s",
			    rows[i].name);
	}
}

/* keyd keeps the time of a 429 alone. */
static void
test_answer(const char *status, const char *headers, uint32_t want,
    const char *name)
{
	static const char file[] =
	    "{\"name\":\"t\",\"host\":\"t.example\",\"credential\":{\"env\":"
	    "\"T_KEY\",\"sentinel\":\"sk-t-ironcurtain-\",\"headers\":"
	    "[{\"name\":\"x-api-key\"}]},\"requestHeaders\":[],"
	    "\"responseHeaders\":[],\"routes\":[{\"method\":\"GET\",\"path\":"
	    "\"/v1/x\"}]}";
	static _Alignas(uint16_t) uint8_t mem[1 << 16];
	struct span key = SPAN("sk-0123456789abcdef-KEY");
	struct provider *provider;
	struct scrub scrub;
	struct reply r;
	struct buf out;
	char text[512], err[256];

	provider = provider_parse(span_str(file), err, sizeof(err));
	if (provider == NULL ||
	    scrub_build(&scrub, &key, 1, mem, sizeof(mem)) == -1)
		abort();
	snprintf(text, sizeof(text),
	    "HTTP/1.1 %s\r\n%sContent-Length: 0\r\n\r\n", status, headers);
	buf_init(&out, 1 << 16);
	reply_init(&r, 1, false);
	is_int(reply_feed(&r, provider, &scrub, span_str(text), &out),
	    REPLY_DONE, "%s: an answer", name);
	is_int(r.retry, want, "%s", name);
	reply_free(&r);
	buf_free(&out);
	provider_free(provider);
}

int
main(void)
{
	test_heads();
	test_answer("429 No", "Date: Sun, 22 Nov 2026 04:00:00 GMT\r\n" AFTER
	    "Sun, 22 Nov 2026 05:00:00 GMT\r\n", 3600, "a 429 with a date");
	test_answer("200 OK", AFTER "5\r\n", 0, "a 200 names no time");
	test_answer("503 No", AFTER "5\r\n", 0, "nor does a 503");
	return tap_done();
}
