/* SPDX-License-Identifier: ISC */
/* The first use of an agent in a container: the person may have its image
 * built. */
#ifndef ICCTL_IMAGE_FIRST_H
#define ICCTL_IMAGE_FIRST_H

#include <stdbool.h>

struct icctl;

/* Options of a start; each may be NULL. */
struct image_start {
	const char *runtime, *image, *agent, *config, *profile;
	bool unit; /* it will be a unit of systemd */
};

/*
 * On a terminal, offer to build the image that the session needs and the engine
 * does not have. Returns 0 to go on with the start, or an exit status.
 */
int image_first_use(struct icctl *, const struct image_start *);

#endif
