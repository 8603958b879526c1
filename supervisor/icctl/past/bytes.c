/* SPDX-License-Identifier: ISC */
/*
 * Looks for a text in the bytes of a log, without reading a record: a program
 * is started only for a file that has it.
 */
#include "icctl/past/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_PIECE (1U << 20)

bool
past_has(int fd, struct span text)
{
	uint8_t *p = malloc(BYTES_PIECE + text.len);
	size_t have = 0;
	off_t at = 0;
	ssize_t n;
	bool has = false;

	/* ic-report says it of a file that cannot be read here. */
	if (p == NULL || text.len == 0) {
		free(p);
		return true;
	}
	for (;;) {
		n = pread(fd, p + have, BYTES_PIECE, at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		have += (size_t)n;
		if (span_find(span_of(p, have), text) != NULL) {
			has = true;
			break;
		}
		/* The text may begin in this piece and end in the next. */
		if (have >= text.len) {
			memmove(p, p + have - (text.len - 1), text.len - 1);
			have = text.len - 1;
		}
	}
	free(p);
	return has || n == -1;
}
