/* SPDX-License-Identifier: ISC */
/*
 * The names of images that IronCurtain builds. Their registry is the host
 * "localhost", so that an engine that lacks one never fetches an image of that
 * name from anywhere.
 */
#ifndef CONFIG_IMAGE_H
#define CONFIG_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/jsonfile.h"

#define IMAGE_PREFIX "localhost/ironcurtain/"
#define IMAGE_NAME 256U

/* How --image names the image that the workspace's devcontainer.json describes.
 */
#define IMAGE_DEVCONTAINER "devcontainer"

/* Returns true if it can be the name of an image that is built:
 * Dockerfile.NAME. */
bool image_is_built(const char *name);
/* Read the member "image" of an adapter. Returns 0, or -1 with the fault set.
 */
int config_built(const struct jsonfile *, struct json_object *,
    const char *where, char **out);
/* Write the name of the image that Dockerfile.NAME makes. Returns `dst`. */
char *image_built_name(const char *name, char dst[IMAGE_NAME]);
/*
 * Write the name of the image of a workspace, with an agent in it unless
 * `agent` is NULL. Returns `dst`.
 */
char *image_devcontainer_name(
    const char *workspace, const char *agent, char dst[IMAGE_NAME]);

#endif
