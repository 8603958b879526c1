/* SPDX-License-Identifier: ISC */
/*
 * Recognizes errors of a sandboxed MCP server that read like a refusal by the
 * kernel. The words are the server's: they decide only how its error is
 * labelled, and which hint the agent gets with it.
 */
#include "backd/backd.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Text behind this point of a block is not searched. */
#define BLOCKED_MAX ((size_t)64 << 10)

/* Returns true if `s` has the word, not as a part of a longer one. */
static bool
blocked_has(struct span s, const char *word, bool exact)
{
	const char *p = (const char *)s.p;
	size_t n = strlen(word);

	for (size_t i = 0; s.len >= n && i <= s.len - n; i++) {
		if (exact ? strncmp(p + i, word, n) != 0
			  : strncasecmp(p + i, word, n) != 0)
			continue;
		if ((i == 0 || !isalnum((unsigned char)p[i - 1])) &&
		    (i + n == s.len || !isalnum((unsigned char)p[i + n])))
			return true;
	}
	return false;
}

bool
blocked_text(struct span s)
{
	static const struct {
		const char *word;
		bool exact;
	} words[] = {{"EACCES", true}, {"EPERM", true}, {"EROFS", true},
	    {"operation not permitted", false}, {"permission denied", false},
	    {"read-only file system", false}};

	if (s.p == NULL)
		return false;
	if (s.len > BLOCKED_MAX)
		s.len = BLOCKED_MAX;
	for (size_t i = 0; i < nitems(words); i++)
		if (blocked_has(s, words[i].word, words[i].exact))
			return true;
	return false;
}

bool
blocked_result(const struct value *result)
{
	const struct value *content = value_get(result, "content");

	if (content == NULL || content->type != VALUE_ARRAY ||
	    !value_bool(result, "isError", false))
		return false;
	for (const struct value *v = content->child; v != NULL; v = v->next)
		if (span_is(value_str(v, "type"), "text") &&
		    blocked_text(value_str(v, "text")))
			return true;
	return false;
}
