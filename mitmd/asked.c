/* SPDX-License-Identifier: ISC */
/*
 * The model, the speed, the tier and the place that a request asks for. They
 * decide the price of its answer where the answer does not name them itself;
 * `out` is the length of the longest answer that it asks for, or 0.
 * The agent wrote them: they are copied, and compared with words.
 */
#include "mitmd.h"

#include "body/filter.h"

static void
asked_copy(struct span s, char *dst, size_t cap)
{
	int n = body_json_unescape(s, (uint8_t *)dst, cap - 1);

	dst[n == -1 ? 0 : n] = '\0';
}

void
asked_body(struct exchange *x, const struct filter *f)
{
	static const struct {
		const char *word;
		enum meter_tier tier;
	} words[] = {{"batch", METER_BATCH}, {"flex", METER_FLEX},
	    {"priority", METER_PRIORITY}, {"fast", METER_PRIORITY}};
	struct meter_usage *u = &x->asked;
	char text[32];

	*u = (struct meter_usage){.seen = false};
	if (f == NULL)
		return;
	u->out = f->most;
	asked_copy(f->model, u->model, sizeof(u->model));
	asked_copy(f->speed, text, sizeof(text));
	u->fast = strcmp(text, "fast") == 0;
	asked_copy(f->tier, text, sizeof(text));
	for (size_t i = 0; i < nitems(words); i++) {
		if (strcmp(text, words[i].word) == 0)
			u->tier = words[i].tier;
	}
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
 * Bedrock's paths name the model, "us.anthropic.claude-x"; answers of Converse
 * do not. The part before the vendor's name is a region, or "global".
 */
static void
asked_bedrock(struct meter_usage *u, struct span s)
{
	struct span maker = SPAN("anthropic.");
	const uint8_t *at;

	if ((at = memmem(s.p, s.len, maker.p, maker.len)) != NULL) {
		u->regional = !span_starts(s, SPAN("global."));
		at += maker.len;
		s = span_of(at, s.len - (size_t)(at - s.p));
	}
	if (span_copy(s, u->model, sizeof(u->model)) == -1)
		u->model[0] = '\0';
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
	    span_copy(s, x->asked.model, sizeof(x->asked.model)) == -1)
		x->asked.model[0] = '\0';
}
