/* SPDX-License-Identifier: ISC */
/*
 * A forge's list of repositories, as `icctl doctor --check-api` gets it: what
 * leaves ic-asker has only its own words and plain names, and is bounded.
 */
#include <stdlib.h>

#include "check.h"
#include "workers/asker/list.h"

/* Returns true for a line of ic-asker's. */
static bool
line_ok(struct span s)
{
	const bool scopes = span_starts(s, SPAN("scopes ")),
		   name = span_starts(s, SPAN("repository "));

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < ' ' || s.p[i] > '~' ||
		    strchr("\"'<>&;$`\\", s.p[i]) != NULL)
			return false;
	if (!name)
		return scopes && s.len <= 7 + LIST_MAX_SCOPES;
	return s.len <= 11 + LIST_MAX_NAME + 6 &&
	       (span_is(span_of(s.p + s.len - 5, 5), " read") ||
		   span_is(span_of(s.p + s.len - 6, 6), " write"));
}

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	const struct span in = span_of(p, len);
	struct span rest, line;
	unsigned n = 0;
	struct buf out;

	buf_init(&out, 65536);
	(void)list_complete(in);
	(void)list_read(in, &out);
	rest = buf_span(&out);
	while (span_line(&rest, &line)) {
		CHECK(line_ok(line));
		n++;
	}
	CHECK(n <= LIST_MAX_NAMES + 1);
	buf_free(&out);
	return 0;
}
