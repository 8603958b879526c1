/* SPDX-License-Identifier: ISC */
/* Collects the rows that `plan` and `restore` report. */

#include "workers/snap/snap.h"

#include <string.h>

struct buf snap_rows;

void
snap_row(enum snap_row what, bool later, struct span path, const char *why)
{
	buf_addc(&snap_rows, (uint8_t)what);
	buf_addc(&snap_rows, later ? '!' : ' ');
	buf_addspan(&snap_rows, path);
	buf_addc(&snap_rows, '\0');
	if (what == SNAP_FAILED)
		buf_add(&snap_rows, why, strlen(why) + 1);
}
