/* SPDX-License-Identifier: ISC */
/* The failures of all parts of the JSON reader. */
#include "common/json/reader.h"

#include "common/json/text.h"

int
json_reader_fail(
    struct json_reader *r, enum json_error error, const uint8_t *at)
{
	r->fail.error = error;
	r->fail.at = (size_t)(at - r->base);
	return -1;
}

int
json_reader_unexpected(struct json_reader *r)
{
	static const struct span bom = SPAN("\xef\xbb\xbf");
	struct span rest = span_of(r->p, (size_t)(r->end - r->p));

	if (r->p == r->end)
		return json_reader_fail(r, JSON_TRUNCATED, r->p);
	if ((r->p == r->base && span_starts(rest, bom)) ||
	    text_utf8_len(r->p, r->end) == 0)
		return json_reader_fail(r, JSON_UTF8, r->p);
	return json_reader_fail(r, JSON_SYNTAX, r->p);
}
