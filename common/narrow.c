/* SPDX-License-Identifier: ISC */
/* Reads one text that takes something from the policy. */
#include "common/narrow.h"

#include <string.h>

/* Returns true for a name of letters, digits, _, -, . and also `more`. */
static bool
is_name(struct span s, const char *more)
{
	for (size_t i = 0; i < s.len; i++)
		if (strchr(
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_-.",
			s.p[i]) == NULL &&
		    strchr(more, s.p[i]) == NULL)
			return false;
	return s.len != 0 && memchr(s.p, '\0', s.len) == NULL;
}

static int
parse_tool(struct span s, struct narrow *n)
{
	const uint8_t *slash = memchr(s.p, '/', s.len);

	if (slash == NULL)
		return -1;
	n->server = span_of(s.p, (size_t)(slash - s.p));
	n->tool = span_of(slash + 1, s.len - n->server.len - 1);
	return is_name(n->server, "") && is_name(n->tool, "*") ? 0 : -1;
}

/* Returns true for a path that has one spelling. */
static bool
is_path(struct span s)
{
	size_t part = 0;

	for (size_t i = 0; i <= s.len; i++) {
		if (i < s.len && s.p[i] != '/') {
			if (s.p[i] < ' ' || s.p[i] == 127 ||
			    strchr("*?[\\", s.p[i]) != NULL)
				return false;
			continue;
		}
		if (i == part || (i - part == 1 && s.p[part] == '.') ||
		    (i - part == 2 && memcmp(s.p + part, "..", 2) == 0))
			return false;
		part = i + 1;
	}
	return true;
}

static int
parse_path(struct span s, struct narrow *n)
{
	if (span_is(s, "**")) {
		n->path = SPAN("");
		return 0;
	}
	if (s.len > 3 && memcmp(s.p + s.len - 3, "/**", 3) == 0)
		s.len -= 3;
	n->path = s;
	return is_path(s) ? 0 : -1;
}

int
narrow_parse(struct span text, struct narrow *n)
{
	static const char *const kinds[] = {[NARROW_TOOL] = "tool ",
	    [NARROW_READ] = "read ",
	    [NARROW_WRITE] = "write "};
	struct span rest;

	if (text.len > NARROW_TEXT)
		return -1;
	for (size_t i = 0; i < nitems(kinds); i++) {
		if (!span_starts(text, span_str(kinds[i])))
			continue;
		*n = (struct narrow){.kind = (enum narrow_kind)i};
		rest = span_of(
		    text.p + strlen(kinds[i]), text.len - strlen(kinds[i]));
		return i == NARROW_TOOL ? parse_tool(rest, n)
					: parse_path(rest, n);
	}
	return -1;
}

int
narrow_read(struct span text, struct narrow *n)
{
	const bool ask = span_starts(text, SPAN("ask "));
	const size_t skip = ask ? sizeof("ask ") - 1 : sizeof("deny ") - 1;

	if (!ask && !span_starts(text, SPAN("deny ")))
		return -1;
	if (narrow_parse(span_of(text.p + skip, text.len - skip), n) == -1)
		return -1;
	n->ask = ask;
	return 0;
}
