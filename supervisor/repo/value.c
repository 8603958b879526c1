/* SPDX-License-Identifier: ISC */
/* Writes the syntax of git's configuration, for any text without a NUL. */
#include "repo/user.h"

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
