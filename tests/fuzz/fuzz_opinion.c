/* SPDX-License-Identifier: ISC */
/*
 * A provider's answer to the approver, of any bytes; the first byte chooses the
 * dialect. An approval has the word, and a reasoning without control characters.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "approver/opinion.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct opinion o;

	if (n == 0)
		return 0;
	if (p[0] % 5 == 4)
		opinion_text(&o, span_of(p + 1, n - 1));
	else
		opinion_read(&o,
		    (enum filter_dialect)(FILTER_ANTHROPIC + p[0] % 4),
		    span_of(p + 1, n - 1));
	if (o.reasoning[0] == '\0' || strlen(o.reasoning) > OPINION_MAX_REASON)
		abort();
	for (const char *s = o.reasoning; *s != '\0'; s++)
		if ((uint8_t)*s < 0x20 || *s == 0x7f)
			abort();
	if (o.decision == PROTO_OPINION_APPROVE &&
	    memmem(p, n, "ove", 3) == NULL &&
	    memmem(p, n, "\\u", 2) == NULL)
		abort();
	return 0;
}
