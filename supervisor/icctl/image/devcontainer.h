/* SPDX-License-Identifier: ISC */
/*
 * The workspace's devcontainer.json, which an agent may have written: an image
 * or a Dockerfile, and constant variables. Nothing else of it has an effect.
 */
#ifndef ICCTL_IMAGE_DEVCONTAINER_H
#define ICCTL_IMAGE_DEVCONTAINER_H

#include <limits.h>

#include "base/fault.h"
#include "common/buf.h"

struct devcontainer {
	const char *file;    /* its name in the workspace */
	char *image;         /* or NULL */
	char *dockerfile;    /* its text, or NULL */
	char name[PATH_MAX]; /* the Dockerfile's, in the workspace */
	int context;         /* the directory it copies from, or -1 */
	struct buf env;      /* lines of a Dockerfile, ENV NAME="VALUE" */
	struct buf ignored;  /* names of keys without effect, "a, b" */
};

/*
 * Read it, in the open directory of the workspace. Returns 0, or -1 with the
 * fault set. devcontainer_free() follows in both cases.
 */
int devcontainer_read(struct devcontainer *, int workspace, struct fault *);
void devcontainer_free(struct devcontainer *);

#endif
