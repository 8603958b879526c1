/* SPDX-License-Identifier: ISC */
/*
 * Changes JSON files of IRONCURTAIN_HOME: read strictly, changed, written to a
 * new file that replaces the old one whole.
 */
#ifndef MCP_STORE_H
#define MCP_STORE_H

#include <json-c/json.h>

#include "config/fault.h"

/* The object in dir/name, an empty one if there is no such file, or NULL. */
struct json_object *store_read(
    const char *dir, const char *name, struct fault *fault);
/* Replace dir/name, mode 0600. A failure leaves the old file as it was. */
int store_write(const char *dir, const char *name, struct json_object *root,
    struct fault *fault);

#endif
