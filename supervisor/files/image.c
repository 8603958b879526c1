/* SPDX-License-Identifier: ISC */
/* Makes the names of images that IronCurtain builds. */
#include "files/image.h"

#include <stdio.h>
#include <string.h>

#include "common/sha256.h"

#define IMAGE_BUILT_MAX 64U
#define IMAGE_WORKSPACE 16 /* digits that tell workspaces apart */

bool
image_is_built(const char *name)
{
	return name[0] != '\0' && name[0] != '-' &&
	       strlen(name) <= IMAGE_BUILT_MAX &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] ==
		   '\0';
}

int
config_built(const struct jsonfile *j, struct json_object *o, const char *where,
    char **out)
{
	return jsonfile_copy(j, o, where, "image", image_is_built,
	    "must be NAME of a Dockerfile.NAME: lower-case letters, digits "
	    "and -",
	    out);
}

char *
image_built_name(const char *name, char dst[IMAGE_NAME])
{
	snprintf(dst, IMAGE_NAME, IMAGE_PREFIX "%.64s", name);
	return dst;
}

char *
image_devcontainer_name(
    const char *workspace, const char *agent, char dst[IMAGE_NAME])
{
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];

	sha256_span(span_str(workspace), sum);
	sha256_hex(sum, hex);
	snprintf(dst, IMAGE_NAME, IMAGE_PREFIX "devcontainer%s%.64s:%.*s",
	    agent != NULL ? "-" : "", agent != NULL ? agent : "",
	    IMAGE_WORKSPACE, hex);
	return dst;
}
