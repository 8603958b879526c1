/* SPDX-License-Identifier: ISC */
/*
 * The session's one sandbox, as far as others than box/runtime.c need to know
 * it.
 */
#ifndef BOX_SANDBOX_H
#define BOX_SANDBOX_H

#include <sys/types.h>

#include <stdbool.h>

#include "base/fault.h"

/* ic-bridge's place in every sandbox. */
#define SANDBOX_BRIDGE "/opt/ironcurtain/bin/ic-bridge"

struct sandbox {
	char *bridge;    /* the path of ic-bridge on the host */
	char image[400]; /* a container's, "NAME (ID)"; "": it is none */
	pid_t first;     /* process 1 on the host; 0: it has not connected */
};

extern struct sandbox sandbox;

/*
 * Returns the process of the host below which everything in the sandbox is, or
 * 0 if there is none.
 */
pid_t sandbox_root(void);

/*
 * engine/engine.c: Find containers of the runtime's engine whose icsupervisor is gone,
 * add their ids to `ids`, and remove them if `remove`. Returns 0, or -1 with the
 * fault set.
 */
struct json_object;
int sandbox_sweep(bool remove, struct json_object *ids, struct fault *);
/*
 * engine/image.c: Do what the plan in `file` says: images to build and to
 * remove. Then add those that are there to `out`. Returns 0, or -1 with the
 * fault set.
 */
int sandbox_images(const char *file, struct json_object *out, struct fault *);

#endif
