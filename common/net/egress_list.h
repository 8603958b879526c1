/* SPDX-License-Identifier: ISC */
/*
 * Where an MCP server may connect to: names with ports, from its
 * `network.allowedDomains` and `deniedDomains`.  egressd checks what the
 * server asks for against its copy, dialerd checks it again against its own.
 * Host names here are lower-case, without a trailing dot.
 */
#ifndef EGRESS_LIST_H
#define EGRESS_LIST_H

#include "common/span.h"

#define EGRESS_MAX_ROWS 128U /* of one server */
#define EGRESS_MAX_HOST 253U

struct egress_row {
	char host[EGRESS_MAX_HOST + 1]; /* name, "*.name", "*", address */
	uint16_t port;
	bool denied;
};

struct egress_list {
	struct egress_row rows[EGRESS_MAX_ROWS];
	unsigned n;
	bool private_ok; /* private addresses, too */
};

/*
 * `host` is a name, `*.name` (it and every name below), `*` (every name, no
 * address) or an address. -1: EINVAL, ENOBUFS.
 */
int egress_add(struct egress_list *, struct span host, uint16_t port,
    bool denied);
/* A denied row wins, whatever its port. */
bool egress_allows(const struct egress_list *, const char *host, uint16_t port);
/* Does one row's host stand for this one? */
bool egress_matches(const char *pattern, const char *host);
/*
 * Host of a request, in that spelling; v6 addresses without brackets. -1
 * EINVAL: neither a name nor an address.
 */
int egress_host(struct span, char dst[EGRESS_MAX_HOST + 1]);
/* "host:port" or "[address]:port". -1 EINVAL. */
int egress_target(
    struct span, char host[EGRESS_MAX_HOST + 1], uint16_t *port);

#endif
