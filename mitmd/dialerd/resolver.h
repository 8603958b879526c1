/* SPDX-License-Identifier: ISC */
/*
 * Messages between dialerd and its resolvers, which are the same binary and
 * icsupervisor's children, as dialerd is. A keyd's name is declared once for
 * each index, and then asked for by index alone. The hosts of servers are
 * declared as patterns before the first question; a question of a server has a
 * name that matches one of them.
 */
#ifndef DIALERD_RESOLVER_H
#define DIALERD_RESOLVER_H

#include "dialerd/dialerd.h"

#define RESOLVER_NAME "resolver"	/* as ps shows it */
#define RESOLVER_PATTERN UINT32_MAX	/* index of a declaration */
#define RESOLVER_MAX_PATTERNS (PROTO_MAX_SERVERS * EGRESS_MAX_ROWS)

struct resolver_ask {
	uint32_t index;
	uint32_t serial;	/* repeated in the answer */
	char name[254];		/* NUL-terminated */
};

struct resolver_answer {
	uint32_t index;
	uint32_t serial;
	uint32_t n;
	uint16_t family[DIALERD_MAX_ADDRS];
	uint8_t addr[DIALERD_MAX_ADDRS][16];
};

/* Run the resolver; `fd` is blocking. */
void resolver_run(int fd) __attribute__((noreturn));

#endif
