/* SPDX-License-Identifier: ISC */
/*
 * Lines of a text that are commands: GitLab carries them out with the rights of
 * whoever wrote the text, and bots of other forges do alike.
 */
#include "common/forge/forge_priv.h"

static bool
is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_';
}

bool
forge_quick_action(struct span text, struct span *word)
{
	struct span line;

	while (span_line(&text, &line)) {
		size_t i = 0, from, begin;

		/* Also within a quotation, a list or other blanks. */
		while (
		    i < line.len && (line.p[i] <= 0x20 || line.p[i] == '>' ||
					line.p[i] == '*' || line.p[i] == '-'))
			i++;
		if (i == line.len || line.p[i] != '/')
			continue;
		/* GitLab removes carriage returns before it looks. */
		for (from = i++; i < line.len && line.p[i] == '\r'; i++)
			continue;
		for (begin = i; i < line.len && is_word(line.p[i]); i++)
			continue;
		/* A path, such as /usr/lib, is no command. */
		if (i == begin || (i < line.len && line.p[i] > 0x20))
			continue;
		*word = span_of(line.p + from, i - from);
		return true;
	}
	return false;
}
