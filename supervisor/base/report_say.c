/* SPDX-License-Identifier: ISC */
#include "base/report.h"

#include <stdlib.h>
#include <unistd.h>

void
report_say(int letter, const char *text, size_t max)
{
	struct buf b;

	buf_init(&b, max);
	report_add(&b, letter, text);
	if (buf_check(&b) == -1 ||
	    span_write(STDOUT_FILENO, buf_span(&b)) == -1)
		exit(1);
	buf_free(&b);
}
