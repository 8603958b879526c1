/* SPDX-License-Identifier: ISC */
/*
 * What is connected to directly although there is a corporate proxy: the rows
 * of no_proxy, or of config.json's proxy.noProxy.  icsupervisor reads them,
 * dialerd goes by them.  A row is one of
 *
 *	NAME  .NAME  *.NAME	that name and every name below it
 *	ADDRESS  NET/BITS	a host that is written as an address
 *	*			everything
 *
 * and a name or address may have a port, :N behind it.  This machine
 * (localhost, 127/8, ::1) is never reached through a proxy.
 */
#ifndef NO_PROXY_H
#define NO_PROXY_H

#include "common/net/egress_list.h"
#include "common/span.h"

#define NO_PROXY_MAX_ROWS 256U
#define NO_PROXY_MAX_TEXT 16384U /* of all rows, a byte behind each */

enum no_proxy_kind {
	NO_PROXY_ALL,
	NO_PROXY_NAME,
	NO_PROXY_NET
};

struct no_proxy_row {
	enum no_proxy_kind kind;
	char host[EGRESS_MAX_HOST + 1]; /* NAME: lower-case, no dot before */
	uint8_t addr[16];               /* NET: IPv4 as ::ffff:a.b.c.d */
	unsigned bits;                  /* NET: of those 128 */
	uint16_t port;                  /* 0: any */
};

struct no_proxy {
	struct no_proxy_row rows[NO_PROXY_MAX_ROWS];
	unsigned n;
};

/* -1: EINVAL no such row, ENOBUFS too many. */
int no_proxy_add(struct no_proxy *, struct span row);
/* host: as egress_host() spells it. */
bool no_proxy_direct(const struct no_proxy *, const char *host, uint16_t port);

#endif
