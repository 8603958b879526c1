/* SPDX-License-Identifier: ISC */
/*
 * Marks values that cannot be read, so that those beside them can.  The reader
 * calls this for bytes of an MCP server; what is skipped is not looked at.
 */
#include "common/json/reader.h"

const struct span json_unread = SPAN("\0unread");

void
json_reader_mark(struct value *v)
{
	v->type = VALUE_STRING;
	v->text = json_unread;
	v->child = v->last = NULL;
	v->count = 0;
}

int
json_reader_skip(struct json_reader *r)
{
	bool string = false;
	unsigned open = 0;

	for (; r->p < r->end; r->p++) {
		uint8_t c = *r->p;

		if (string && c == '\\') {
			r->p += r->end - r->p > 1;
		} else if (c == '"') {
			string = !string;
		} else if (!string && (c == '{' || c == '[')) {
			open++;
		} else if (!string && (c == '}' || c == ']') && --open == 0) {
			r->p++;
			return 0;
		}
	}
	return json_reader_fail(r, JSON_TRUNCATED, r->end);
}
