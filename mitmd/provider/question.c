/* SPDX-License-Identifier: ISC */
#include "provider/question.h"

#include <stdio.h>
#include <string.h>

#include "provider/check.h"

static bool
question_speaks(enum filter_dialect dialect)
{
	switch (dialect) {
	case FILTER_ANTHROPIC:
	case FILTER_CHAT:
	case FILTER_RESPONSES:
	case FILTER_GEMINI:
		return true;
	case FILTER_NONE:
	case FILTER_BEDROCK:
	case FILTER_CONVERSE:
	case FILTER_DIALECTS:
		break;
	}
	return false;
}

/* Write the pattern with the model in place of its only asterisk, if any. */
static int
question_path(struct span pattern, struct span model, char *dst)
{
	const uint8_t *star = memchr(pattern.p, '*', pattern.len);
	size_t before = star == NULL ? pattern.len
				     : (size_t)(star - pattern.p);
	size_t after = star == NULL ? 0 : pattern.len - before - 1;
	int n;

	if (pattern.len >= QUESTION_MAX_PATH ||
	    model.len >= QUESTION_MAX_PATH ||
	    (after != 0 && memchr(star + 1, '*', after) != NULL))
		return -1;
	n = snprintf(dst, QUESTION_MAX_PATH, "%.*s%.*s%.*s", (int)before,
	    (const char *)pattern.p, star == NULL ? 0 : (int)model.len,
	    (const char *)model.p, (int)after,
	    star == NULL ? "" : (const char *)star + 1);
	return n > 0 && (size_t)n < QUESTION_MAX_PATH ? 0 : -1;
}

int
question_route(const struct provider *p, struct span model,
    char path[QUESTION_MAX_PATH])
{
	const struct provider_route *r;

	for (unsigned i = 0; i < p->nroutes; i++) {
		r = &p->routes[i];
		if (!r->turn || r->websocket || r->ask || r->answer != 0 ||
		    r->capture != 0 || provider_is_digested(r) ||
		    r->host != 0 || !span_is(r->method, "POST") ||
		    !question_speaks(r->dialect) ||
		    !provider_type_ok(r, SPAN("application/json")) ||
		    question_path(r->path, model, path) == -1)
			continue;
		if (provider_match_route(p, i, 0, span_str(path), SPAN("")) ==
		    PROVIDER_OK)
			return (int)i;
	}
	return -1;
}

bool
provider_answers(struct span file, struct span model)
{
	char path[QUESTION_MAX_PATH], err[512];
	struct provider *p = provider_parse(file, err, sizeof(err));
	bool found = p != NULL && question_route(p, model, path) != -1;

	provider_free(p);
	return found;
}
