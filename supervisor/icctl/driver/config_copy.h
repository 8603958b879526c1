/* SPDX-License-Identifier: ISC */
/* A copy of config.json for some sessions only. */
#ifndef CONFIG_COPY_H
#define CONFIG_COPY_H

#include <json-c/json.h>

#include "base/fault.h"

/*
 * Read the file, or IRONCURTAIN_HOME's own if `file` is NULL, which may be
 * absent. The caller owns the result. Returns NULL with the fault set.
 */
struct json_object *config_copy_read(
    const char *home, const char *file, struct fault *);
/* Write it, mode 0600. Returns 0, or -1 with the fault set. */
int config_copy_write(const char *path, struct json_object *, struct fault *);

#endif
