/* SPDX-License-Identifier: ISC */
/*
 * A message and the value of a call, with a zero byte between them; the first
 * byte chooses the role. The line about a value that is accepted is short text
 * without zero bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "auto/mention.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const struct span roles[] = {SPAN("read-path"),
	    SPAN("delete-path"), SPAN("fetch-url"), SPAN("git-remote-url"),
	    SPAN("email-address"), SPAN("branch-name")};
	struct mention_thing t;
	const uint8_t *end;
	struct span said;
	struct buf lines;

	if (n < 2 || (end = memchr(p + 1, '\0', n - 1)) == NULL)
		return 0;
	said = span_of(p + 1, (size_t)(end - (p + 1)));
	t = (struct mention_thing){.role = roles[p[0] % nitems(roles)],
	    .value = span_of(end + 1, n - (size_t)(end + 1 - p))};
	buf_init(&lines, 4096);
	if (mention_check(said, SPAN("/home/me"), &t, 1, &lines) == NULL) {
		/* An accepted value is short, and the line about it is text. */
		if (said.len == 0 || t.value.len > MENTION_MAX_TEXT ||
		    lines.len == 0 ||
		    memchr(buf_span(&lines).p, '\0', lines.len) != NULL)
			abort();
	}
	buf_free(&lines);
	return 0;
}
