/* SPDX-License-Identifier: ISC */
/*
 * Reads a JSON file of a session directory that only we write. Everything about
 * it must be as we would have written it: a plain file of this user, mode 0600,
 * with one name, of limited size. A file that is not is refused, never repaired.
 */
#ifndef OWN_FILE_H
#define OWN_FILE_H

#include <json-c/json.h>

#include "base/fault.h"

#define OWN_FILE_MAX (64U << 10)

/*
 * Read dirfd/name, an object. `dir` is the directory's path for messages.
 * Returns NULL with the fault set; errno is ENOENT if there is no such file.
 */
struct json_object *own_file_read(
    int dirfd, const char *dir, const char *name, struct fault *);

#endif
