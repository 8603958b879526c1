/* SPDX-License-Identifier: ISC */
/*
 * A text in which secrets are masked, with some known values. The work is
 * linear in its length; what is written has the length that was measured, and
 * none of the known values is left in it, unless a mask made it anew.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "common/mask/mask.h"

#define STEPS 300U /* for each byte, and for an empty text */

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static const uint8_t key[MASK_KEY] = "fuzz";
	static const char *const values[] = {
	    "swordfish", "aaaaaa", "a value with blanks", "password=x"};
	struct mask_known *known = mask_known_new(key);
	struct mask_known_row row;
	uint64_t steps = 0;
	bool changed = false, again = false;
	uint8_t *out;
	size_t n;

	CHECK(known != NULL);
	for (size_t i = 0; i < nitems(values); i++) {
		mask_known_row(key, span_str(values[i]), &row);
		CHECK(mask_known_add(known, &row) == 0);
	}
	n = mask_text(span_of(p, len), known, NULL, &changed, &steps);
	CHECK(steps <= STEPS * (len + 1));
	CHECK(changed || n == len);
	CHECK(n <= 2 * len);
	out = malloc(n + 1);
	CHECK(out != NULL);
	CHECK(mask_text(span_of(p, len), known, out, &again, NULL) == n);
	CHECK(again == changed);
	if (!changed)
		CHECK(len == 0 || memcmp(out, p, len) == 0);
	/* Each known value has a letter or blank that no mask writes. */
	CHECK(memmem(out, n, values[2], strlen(values[2])) == NULL);
	free(out);
	mask_known_free(known);
	return 0;
}
