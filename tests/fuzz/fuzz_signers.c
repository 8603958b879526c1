/* SPDX-License-Identifier: ISC */
/*
 * The file of approvers, and signatures of an answer, with a zero byte between
 * them. Names that are taken are plain, and a signature is one whole block.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/workers/signed/signers.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct signers s;
	const uint8_t *end = n == 0 ? NULL : memchr(p, '\0', n);
	struct signers_entry e;
	struct span rest;
	char why[SIGNERS_WHY];

	if (end == NULL)
		return 0;
	if (signers_read(&s, span_of(p, (size_t)(end - p)), why) == 0 &&
	    (s.n == 0 || s.names > s.n))
		abort();
	for (unsigned i = 0; i < s.n; i++)
		if (strcspn((const char *)s.list[i].name.p, "*,! ") <
		    s.list[i].name.len)
			abort();
	rest = span_of(end + 1, n - (size_t)(end + 1 - p));
	while (signers_next(&rest, &e, why) == 1)
		if (e.name[0] == '\0' ||
		    !span_starts(e.armor, SPAN("-----BEGIN SSH SIGNATURE")) ||
		    e.armor.len > SIGNERS_ARMOR + 81)
			abort();
	return 0;
}
