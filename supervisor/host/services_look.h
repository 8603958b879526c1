/* SPDX-License-Identifier: ISC */
/* Has ic-look look at services of the host. */
#ifndef HOST_SERVICES_LOOK_H
#define HOST_SERVICES_LOOK_H

#include "base/fault.h"
#include "files/config.h"
#include "host/service_look.h"

#define SERVICES_TEXT 400U

struct service_found {
	struct service_seen seen;
	int error; /* the kernel does not tell who listens: the errno; or 0 */
	/* The texts of `seen`. */
	char refused[SERVICES_TEXT], kind[SERVICES_TEXT], can[SERVICES_TEXT];
};

/*
 * Look at all services of config.json. Returns 0, or -1 with the fault set if
 * nothing is known of them.
 */
int services_look(const struct config *, const char *libexecdir,
    struct service_found found[PROTO_MAX_SERVICES], struct fault *);

#endif
