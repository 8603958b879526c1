/* SPDX-License-Identifier: ISC */
/*
 * The destinations that an MCP server may connect to: names with ports, from
 * its `network.allowedDomains` and `deniedDomains`.  egressd checks the
 * server's request against its copy, and dialerd checks again against its own.
 * Host names here are lower-case, without a trailing dot.
 */
#ifndef EGRESS_LIST_H
#define EGRESS_LIST_H

#include "common/span.h"

#define EGRESS_MAX_ROWS 128U /* per server */
#define EGRESS_MAX_HOST 253U

struct egress_row {
	char host[EGRESS_MAX_HOST + 1]; /* name, "*.name", "*", address */
	uint16_t port;
	bool denied;
	bool opaque; /* any protocol, not TLS alone */
};

struct egress_list {
	struct egress_row rows[EGRESS_MAX_ROWS];
	unsigned n;
	bool private_ok; /* private addresses are allowed too */
};

/*
 * Add a row.  `host` is a name, `*.name` (the name and every name below it),
 * `*` (every name, but no address) or an address.  Returns 0, or -1 with errno
 * EINVAL or ENOBUFS.
 */
int egress_add(struct egress_list *, struct span host, uint16_t port,
    bool denied);
/*
 * Returns true if a row allows the destination.  A denied row wins, whatever
 * its port.
 */
bool egress_allows(const struct egress_list *, const char *host, uint16_t port);
/* Returns true if a row that allows the destination allows any protocol. */
bool egress_is_opaque(
    const struct egress_list *, const char *host, uint16_t port);
/* Returns true if `host`, in this spelling, is an address and not a name. */
bool egress_is_address(const char *host);
/* Returns true if `host` matches the pattern of one row. */
bool egress_matches(const char *pattern, const char *host);
/*
 * Write the host of a request into `dst`, in the spelling used here; IPv6
 * addresses are given without brackets.  Returns 0, or -1 with errno EINVAL if
 * it is neither a name nor an address.
 */
int egress_host(struct span, char dst[EGRESS_MAX_HOST + 1]);
/*
 * Parse "host:port" or "[address]:port".  Returns 0, or -1 with errno EINVAL.
 */
int egress_target(
    struct span, char host[EGRESS_MAX_HOST + 1], uint16_t *port);

#endif
