/* SPDX-License-Identifier: ISC */
/*
 * The hosts that are connected to directly although there is a corporate proxy:
 * the rows of no_proxy, or of proxy.noProxy in config.json.  icsupervisor
 * parses them, dialerd applies them.  A row is one of
 *
 *	NAME  .NAME  *.NAME	that name and every name below it
 *	ADDRESS  NET/BITS	a host that is written as an address
 *	*			everything
 *
 * and a name or address may be followed by a port, as :N.  This machine
 * (localhost, 127/8, ::1) is never reached through a proxy.
 */
#ifndef NO_PROXY_H
#define NO_PROXY_H

#include "common/net/egress_list.h"
#include "common/span.h"

#define NO_PROXY_MAX_ROWS 256U
#define NO_PROXY_MAX_TEXT 16384U /* all rows, with one byte after each */

enum no_proxy_kind {
	NO_PROXY_ALL,
	NO_PROXY_NAME,
	NO_PROXY_NET
};

struct no_proxy_row {
	enum no_proxy_kind kind;
	char host[EGRESS_MAX_HOST + 1]; /* NAME: lower-case, no leading dot */
	uint8_t addr[16];               /* NET: IPv4 as ::ffff:a.b.c.d */
	unsigned bits; /* NET: prefix length in those 128 bits */
	uint16_t port; /* 0: any */
};

struct no_proxy {
	struct no_proxy_row rows[NO_PROXY_MAX_ROWS];
	unsigned n;
};

/*
 * Add a row.  Returns 0, or -1 with errno EINVAL (malformed) or ENOBUFS (too
 * many).
 */
int no_proxy_add(struct no_proxy *, struct span row);
/*
 * Returns true if the host, in the spelling of egress_host(), is reached
 * directly.
 */
bool no_proxy_direct(const struct no_proxy *, const char *host, uint16_t port);

#endif
