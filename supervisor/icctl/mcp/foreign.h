/* SPDX-License-Identifier: ISC */
/*
 * Reads a configuration file of another program: JSON, JSON with comments and
 * trailing commas, TOML (a name that ends in .toml) or YAML (.yaml or .yml). A confined child
 * process parses it, and its output is parsed again by our strict parser.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/fault.h"
#include "common/buf.h"

#define FOREIGN_MAX (1U << 20)

enum foreign_kind {
	FOREIGN_JSON,
	FOREIGN_TOML,
	FOREIGN_YAML,
};

/*
 * Returns an object that the caller owns, or NULL with the fault set; errno is
 * ENOENT if there is no such file. If `strict`, a symbolic link is refused: a
 * project's file may have been written by an agent.
 */
struct json_object *foreign_read(
    const char *path, bool strict, struct fault *fault);

/* Do the same with an open file, which stays open; messages call it `path`. */
struct json_object *foreign_read_fd(int fd, const char *path, struct fault *);

/*
 * The part that runs in the child: parse a whole text and write canonical JSON.
 * Returns 0, or -1 with a message for a person in `why`.
 */
int foreign_convert(
    struct span text, enum foreign_kind, struct buf *out, char *why, size_t cap);

#endif
