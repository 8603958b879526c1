/* SPDX-License-Identifier: ISC */
/*
 * The paths that no setting permits. They are refused as all paths that have no
 * route; this list makes the refusal say so, and is matched first, so that a
 * route that were added by mistake would not be reached. Letters count without
 * their case here, since a server may read them so.
 */
#include "common/forge/forge_priv.h"

/* Returns true if the parts from `n` on match a pattern of parts. */
static bool
never_matches(const char *pattern, const struct forge_target *t)
{
	struct span part;
	const char *end;
	size_t n = 0;

	while (*pattern == '/') {
		pattern++;
		end = strchrnul(pattern, '/');
		part = span_of(pattern, (size_t)(end - pattern));
		pattern = end;
		if (span_is(part, "**"))
			return true;
		if (n == t->nparts ||
		    (!span_is(part, "*") && !span_ieq(part, t->parts[n])))
			return false;
		n++;
	}
	return n == t->nparts;
}

static bool
method_matches(const char *want, struct span method)
{
	if (want == NULL)
		return !span_is(method, "GET") && !span_is(method, "HEAD");
	return strcmp(want, "*") == 0 || span_is(method, want);
}

const char *
forge_never_why(const struct forge_table *table, struct span method,
    const struct forge_target *t)
{
	for (const struct forge_never *n = table->never; n->path != NULL; n++) {
		if (method_matches(n->method, method) &&
		    never_matches(n->path, t))
			return n->why;
	}
	return NULL;
}
