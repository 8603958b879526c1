/* SPDX-License-Identifier: ISC */
#include "files/servers_pack.h"

int
servers_put(struct buf *b, const struct servers *s)
{
	const struct server_def *d;

	(void)pack_put(b, servers_rows, SERVERS_ROWS, s);
	for (unsigned i = 0; i < s->n; i++) {
		d = &s->defs[i];
		buf_addc(b, d->egress != NULL);
		if (d->egress != NULL)
			(void)pack_put(b, servers_egress_rows,
			    SERVERS_EGRESS_ROWS, d->egress);
		buf_addc(b, d->remote != NULL);
		if (d->remote != NULL)
			(void)pack_put(b, servers_remote_rows,
			    SERVERS_REMOTE_ROWS, d->remote);
	}
	return buf_check(b);
}
