/* SPDX-License-Identifier: ISC */
/* --publish of the command line. */
#ifndef PUBLISH_OPTION_H
#define PUBLISH_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

struct publish_option {
	uint16_t port;      /* in the sandbox */
	uint16_t host_port; /* at the session's own loopback address */
	bool plain;         /* at 127.0.0.1 instead */
};

/*
 * Add the port of [[127.0.0.1:]HOSTPORT:]PORT to a list with room for
 * PROTO_MAX_PORTS. Returns 0, or -1 with the fault set.
 */
int publish_option(struct publish_option *list, unsigned *n, const char *text,
    struct fault *);

#endif
