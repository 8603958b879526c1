/* SPDX-License-Identifier: ISC */
/*
 * The members that servers_parse() sets. Each of them has a row here, or
 * icsupervisor does not get it: tests/unit/config/test_servers_pack.c finds one
 * that has none.
 */
#include "files/servers_pack.h"

#include <stdlib.h>
#include <string.h>

#include "files/config_pack.h"
#include "files/pack_rows.h"

/* clang-format off */
/* `egress` and `remote` follow behind everything else. */
static const struct pack_row def_rows[] = {
	STRING(server_def, name), STRING(server_def, command),
	STRINGS(server_def, args), STRINGS(server_def, env),
	STRING(server_def, entry), STRINGS(server_def, allow_read),
	STRINGS(server_def, allow_write), STRINGS(server_def, deny_read),
	STRINGS(server_def, deny_write), STRING(server_def, domains),
	NUMBER(server_def, nplain, UINT16_MAX), BOOL(server_def, workspace),
	BOOL(server_def, sandboxed), BOOL(server_def, git),
	BOOL(server_def, internal), BOOL(server_def, shell),
	STRING(server_def, copy), TEXT(server_def, copy_sum),
	BOOL(server_def, secret), STRINGS(server_def, tools),
	BOOL(server_def, silent),
};

static const struct pack_row egress_rows[] = {
	TEXT(egress_row, host), NUMBER(egress_row, port, UINT16_MAX),
	BOOL(egress_row, denied), BOOL(egress_row, opaque),
};

const struct pack_row servers_rows[SERVERS_ROWS] = {
	STRING(servers, file), NUMBER(servers, n, PROTO_FIRST_INSTANCE),
	BOOL(servers, no_files), LIST(servers, defs, n, def_rows),
};

const struct pack_row servers_egress_rows[SERVERS_EGRESS_ROWS] = {
	NUMBER(egress_list, n, EGRESS_MAX_ROWS),
	BOOL(egress_list, private_ok), LIST(egress_list, rows, n, egress_rows),
};

const struct pack_row servers_remote_rows[SERVERS_REMOTE_ROWS] = {
	PART(server_remote, as, config_provider_rows),
	BOOL(server_remote, public), BOOL(server_remote, login),
	JSON(server_remote, file),
};
/* clang-format on */

/* Take the byte that says whether a part follows: 0, 1, or -1. */
static int
take_there(struct span *s)
{
	const uint8_t b = s->len == 0 ? 2 : s->p[0];

	if (b > 1)
		return -1;
	*s = span_of(s->p + 1, s->len - 1);
	return b;
}

static int
take_def(struct server_def *d, struct span *s)
{
	int there;

	if ((there = take_there(s)) == -1)
		return -1;
	if (there == 1 &&
	    ((d->egress = calloc(1, sizeof(*d->egress))) == NULL ||
		pack_take(s, servers_egress_rows, SERVERS_EGRESS_ROWS,
		    d->egress) == -1))
		return -1;
	if ((there = take_there(s)) == -1)
		return -1;
	if (there == 1 &&
	    ((d->remote = calloc(1, sizeof(*d->remote))) == NULL ||
		pack_take(s, servers_remote_rows, SERVERS_REMOTE_ROWS,
		    d->remote) == -1))
		return -1;
	return 0;
}

/* Returns true if what the rest of icsupervisor takes for granted is there. */
static bool
def_whole(const struct server_def *d)
{
	size_t n = 0;

	if (d->name == NULL || d->command == NULL || d->args == NULL ||
	    d->env == NULL || d->entry == NULL || d->internal ||
	    (d->egress == NULL) != (d->domains == NULL))
		return false;
	while (d->env[n] != NULL)
		n++;
	return d->nplain <= n &&
	       (d->remote == NULL || (d->remote->as.name != NULL &&
					 d->remote->as.nupstreams != 0 &&
					 d->remote->file != NULL));
}

int
servers_take(struct servers *to, struct span s)
{
	int rv;

	memset(to, 0, sizeof(*to));
	rv = pack_take(&s, servers_rows, SERVERS_ROWS, to);
	for (unsigned i = 0; rv == 0 && i < to->n; i++)
		if (take_def(&to->defs[i], &s) == -1 ||
		    !def_whole(&to->defs[i]))
			rv = -1;
	if (rv == 0 && s.len == 0 && to->file != NULL)
		return 0;
	servers_free(to);
	return -1;
}
