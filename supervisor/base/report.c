/* SPDX-License-Identifier: ISC */
#include "base/report.h"

#include <string.h>
#include <unistd.h>

void
report_add(struct buf *b, int letter, const char *text)
{
	buf_addc(b, (uint8_t)letter);
	buf_add(b, text, strlen(text) + 1);
}

bool
report_next(struct span *rest, int *letter, const char **text)
{
	const uint8_t *end;
	size_t n;

	if (rest->len < 2 ||
	    (end = memchr(rest->p + 1, '\0', rest->len - 1)) == NULL)
		return false;
	n = (size_t)(end - rest->p) + 1;
	*letter = rest->p[0];
	*text = (const char *)rest->p + 1;
	*rest = span_of(rest->p + n, rest->len - n);
	return true;
}

int
report_read(void *to, size_t cap, struct span *all)
{
	size_t len = 0;
	ssize_t n = 0;

	while (len < cap &&
	       (n = read(STDIN_FILENO, (char *)to + len, cap - len)) > 0)
		len += (size_t)n;
	*all = span_of(to, len);
	return n == -1 || len == cap ? -1 : 0;
}
