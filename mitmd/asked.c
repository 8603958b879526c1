/* SPDX-License-Identifier: ISC */
/*
 * The model, the speed, the tier and the place that a request asks for. They
 * decide the price of its answer where the answer does not name them itself;
 * `out` is the length of the longest answer that it asks for, or 0.
 * The agent wrote them: they are copied, and compared with words.
 */
#include "mitmd.h"

#include <strings.h>

#include "body/filter.h"

static void
asked_copy(struct span s, char *dst, size_t cap)
{
	int n = body_json_unescape(s, (uint8_t *)dst, cap - 1);

	dst[n == -1 ? 0 : n] = '\0';
}

static const struct {
	const char *word;
	enum meter_tier tier;
} asked_tiers[] = {{"batch", METER_BATCH}, {"flex", METER_FLEX},
    {"priority", METER_PRIORITY}, {"fast", METER_PRIORITY}};

/* Take the tier that is asked for; Google's words begin with SERVICE_TIER_. */
static void
asked_tier(struct meter_usage *u, const char *text)
{
	static const char begins[] = "service_tier_";

	if (strncasecmp(text, begins, sizeof(begins) - 1) == 0)
		text += sizeof(begins) - 1;
	for (size_t i = 0; i < nitems(asked_tiers); i++) {
		if (strcasecmp(text, asked_tiers[i].word) == 0)
			u->tier = asked_tiers[i].tier;
	}
}

static void
asked_speed(struct meter_usage *u, const char *text)
{
	u->fast |=
	    strcasecmp(text, "fast") == 0 || strcasecmp(text, "optimized") == 0;
}

/* Returns the most tokens that are asked for; 0: the request does not say. */
static uint64_t
asked_longest(const struct filter *f)
{
	uint64_t one = f->most;

	if (f->times <= 1)
		return one;
	/* A choice is an answer of its own. */
	if (one < PROTO_RESERVED_OUT)
		one = PROTO_RESERVED_OUT;
	return f->times < METER_MAX_COUNT / one ? f->times * one
						: METER_MAX_COUNT;
}

void
asked_body(struct exchange *x, const struct filter *f)
{
	struct meter_usage *u = &x->asked;
	char text[32];

	*u = (struct meter_usage){.seen = false};
	if (f == NULL)
		return;
	u->out = asked_longest(f);
	asked_copy(f->model, u->model, sizeof(u->model));
	asked_copy(f->speed, text, sizeof(text));
	asked_speed(u, text);
	asked_copy(f->tier, text, sizeof(text));
	asked_tier(u, text);
}

/* InvokeModel has its tier and its speed in headers. */
static void
asked_headers(struct exchange *x)
{
	struct span headers = x->req.headers, name, value;
	char text[32];

	while (provider_unpack(&headers, &name, &value) == 1) {
		if (span_copy(value, text, sizeof(text)) == -1)
			continue;
		if (span_ieq(name, SPAN("x-amzn-bedrock-service-tier")))
			asked_tier(&x->asked, text);
		else if (span_ieq(name,
			     SPAN("x-amzn-bedrock-performanceconfig-latency")))
			asked_speed(&x->asked, text);
	}
}

static int
asked_digit(uint8_t c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c | 0x20);

	return at == NULL ? -1 : (int)(at - digits);
}

/*
 * Copy a part of a path, with its escapes written as they read: an SDK sends
 * "v1%3A0" where another one sends "v1:0". Returns false if it does not fit.
 */
static bool
asked_plain(struct span s, char *dst, size_t cap)
{
	size_t n = 0;
	int a, b;

	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (c == '%' && s.len - i > 2 &&
		    (a = asked_digit(s.p[i + 1])) != -1 &&
		    (b = asked_digit(s.p[i + 2])) != -1) {
			c = (uint8_t)(a << 4 | b);
			i += 2;
		}
		if (c == '\0' || n == cap - 1)
			return false;
		dst[n++] = (char)c;
	}
	dst[n] = '\0';
	return true;
}

/* Returns the segment after `mark`, up to the next slash or colon. */
static struct span
asked_segment(struct span path, struct span mark)
{
	const uint8_t *at, *end = path.p + path.len, *p;

	if ((at = memmem(path.p, path.len, mark.p, mark.len)) == NULL)
		return span_of(NULL, 0);
	at += mark.len;
	for (p = at; p < end && *p != '/' && *p != ':'; p++)
		;
	return span_of(at, (size_t)(p - at));
}

/*
 * Bedrock's paths name the model, "us.anthropic.claude-x", or an ARN that ends
 * so; answers of Converse do not. The part before the vendor's name is a
 * region, or "global".
 */
static void
asked_bedrock(struct meter_usage *u, struct span s)
{
	static const char maker[] = "anthropic.";
	char text[512];
	const char *name, *at;

	u->model[0] = '\0';
	if (!asked_plain(s, text, sizeof(text)))
		return;
	name = strrchr(text, '/') != NULL ? strrchr(text, '/') + 1 : text;
	u->regional = strncmp(name, "global.", 7) != 0;
	if ((at = strstr(name, maker)) != NULL)
		name = at + sizeof(maker) - 1;
	if (strlen(name) < sizeof(u->model))
		memcpy(u->model, name, strlen(name) + 1);
}

void
asked_path(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct span path = x->req.path, s;

	switch (p->alphabet) {
	case PROVIDER_BEDROCK:
		s = SPAN("/model/");
		if (!span_starts(path, s))
			return;
		s = span_of(path.p + s.len, path.len - s.len);
		if (memchr(s.p, '/', s.len) != NULL)
			s.len =
			    (size_t)((const uint8_t *)memchr(s.p, '/', s.len) -
				     s.p);
		asked_bedrock(&x->asked, s);
		asked_headers(x);
		return;
	case PROVIDER_VERTEX:
		s = asked_segment(path, SPAN("/locations/"));
		x->asked.regional = s.len != 0 && !span_is(s, "global");
		break;
	case PROVIDER_WORDS:
		break;
	}
	s = asked_segment(path, SPAN("/models/"));
	if (s.len != 0 && x->asked.model[0] == '\0' &&
	    !asked_plain(s, x->asked.model, sizeof(x->asked.model)))
		x->asked.model[0] = '\0';
}
