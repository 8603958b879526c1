/* SPDX-License-Identifier: ISC */
/* Writes the syntax of git's configuration, for any text without a NUL. */
#include "repo/user.h"

#include <string.h>

void
repo_section_put(struct buf *b, const char *section, struct span sub)
{
	buf_printf(b, "[%s", section);
	if (sub.len != 0) {
		buf_adds(b, " \"");
		for (size_t i = 0; i < sub.len; i++) {
			if (sub.p[i] == '"' || sub.p[i] == '\\')
				buf_addc(b, '\\');
			buf_addc(b, sub.p[i]);
		}
		buf_addc(b, '"');
	}
	buf_adds(b, "]\n");
}

void
repo_value_put(struct buf *b, const char *name, struct span value)
{
	buf_printf(b, "\t%s = \"", name);
	for (size_t i = 0; i < value.len; i++) {
		switch (value.p[i]) {
		case '"':
		case '\\':
			buf_addc(b, '\\');
			buf_addc(b, value.p[i]);
			break;
		case '\n':
			buf_adds(b, "\\n");
			break;
		default:
			buf_addc(b, value.p[i]);
		}
	}
	buf_adds(b, "\"\n");
}

void
repo_pair_put(struct buf *b, const char *key, const char *value)
{
	static const char odd[] = "[]\"\\\n\t #;=";
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	char section[64], name[64];

	if (first == NULL || last[1] == '\0' ||
	    (size_t)(first - key) >= sizeof(section) ||
	    strlcpy(name, last + 1, sizeof(name)) >= sizeof(name))
		return;
	memcpy(section, key, (size_t)(first - key));
	section[first - key] = '\0';
	if (strpbrk(section, odd) != NULL || strpbrk(name, odd) != NULL ||
	    strchr(key, '\n') != NULL)
		return;
	repo_section_put(b, section,
	    first == last ? span_of("", 0)
			  : span_of(first + 1, (size_t)(last - first) - 1));
	repo_value_put(b, name, span_str(value));
}
