/* SPDX-License-Identifier: ISC */
/* Token buckets.  The caller owns each bucket and supplies the time. */
#include "common/bucket.h"

bool
bucket_take(struct bucket *k, uint64_t now)
{
	uint64_t n = k->since == 0 ? k->burst : (now - k->since) / k->ms;

	if (n != 0) {
		k->level =
		    n > k->burst - k->level ? k->burst : k->level + (unsigned)n;
		k->since = now;
	}
	if (k->level == 0)
		return false;
	k->level--;
	return true;
}
