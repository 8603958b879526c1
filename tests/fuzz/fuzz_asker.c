/* SPDX-License-Identifier: ISC */
/*
 * A forge's list of repositories, as `icctl doctor --check-api` gets it: what
 * leaves ic-asker has only its own words and plain names, and is bounded.
 */
#include <stdlib.h>

#include "check.h"
#include "workers/asker/list.h"

static bool
line_ends(struct span s, const char *end)
{
	size_t n = strlen(end);

	return s.len > n && memcmp(s.p + s.len - n, end, n) == 0;
}

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
	if (span_is(s, "unread"))
		return true;
	if (!name)
		return scopes && s.len <= 7 + LIST_MAX_SCOPES;
	if (s.len > 11 + LIST_MAX_NAME + 17)
		return false;
	if (line_ends(s, " runners"))
		s.len -= 8;
	return line_ends(s, " read") || line_ends(s, " write") ||
	       line_ends(s, " maintain") || line_ends(s, " admin") ||
	       line_ends(s, " unknown");
}

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	const struct span in = span_of(p, len);
	struct span rest, line;
	struct list_page page;
	unsigned n = 0;
	struct buf out;

	buf_init(&out, 65536);
	(void)list_complete(in);
	(void)list_read(in, &out, &page);
	rest = buf_span(&out);
	while (span_line(&rest, &line)) {
		CHECK(line_ok(line));
		n++;
	}
	CHECK(n <= LIST_MAX_NAMES + 1 && page.n <= LIST_MAX_NAMES);
	buf_free(&out);
	return 0;
}
