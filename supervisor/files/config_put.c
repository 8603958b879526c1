/* SPDX-License-Identifier: ISC */
#include "files/config_pack.h"

#include <string.h>

#include "files/providers/destinations.h"

int
config_put(struct buf *b, const struct config *c)
{
	(void)pack_put(b, config_rows, config_nrows, c);
	for (size_t i = 0; i < c->ndestinations; i++)
		buf_add(b, c->destinations[i].kind->name,
		    strlen(c->destinations[i].kind->name) + 1);
	return buf_check(b);
}
